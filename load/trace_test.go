package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/load/synthetic"
)

var (
	podsResource        = TraceResource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	deploymentsResource = TraceResource{Group: "apps", Version: "v1", Resource: "deployments",
		Kind: "Deployment", Namespaced: true}
)

// anObject is a version of an object: its spec stays, its status contains the version.
func anObject(r TraceResource, name, uid string, version int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "a", "name": name, "uid": uid,
			"resourceVersion": fmt.Sprint(version)},
		"spec": map[string]any{"nodeName": "node-" + uid, "replicas": int64(3), "share": 0.5,
			"text": "<never changes> " + uid},
		"status": map[string]any{"phase": fmt.Sprint("version ", version)},
	}}
	u.SetGroupVersionKind(r.GVK())
	return u
}

// aRecording is a recorder's output: several blocks, two resources, a relist.
func aRecording(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewTraceWriter(&out, TraceHeader{
		Source: "a test", Recorded: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC),
		Resources: []TraceResource{podsResource, deploymentsResource}, Dropped: []string{"nothing"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		w.Initial(0, anObject(podsResource, "one", "u1", 1)),
		w.Initial(1, anObject(deploymentsResource, "one", "d1", 2)),
		w.Flush(),
		w.Changed(1*time.Second, 0, anObject(podsResource, "one", "u1", 3)),
		w.Changed(2*time.Second, 0, anObject(podsResource, "two", "u2", 4)),
		w.Deleted(2*time.Second, 0, anObject(podsResource, "one", "u1", 5)),
		w.Flush(),
		w.Changed(3*time.Second, 1, anObject(deploymentsResource, "one", "d1", 6)),
		// another object of that name
		w.Changed(4*time.Second, 0, anObject(podsResource, "two", "u3", 7)),
		w.Deleted(4*time.Second, 0, anObject(podsResource, "nobody", "u9", 8)),
		w.Note(TraceNote{At: 5 * time.Second, Resource: 0, What: NoteRelisted, Why: "gone", Modified: 1}),
		w.Flush(),
		w.Changed(5*time.Second, 0, anObject(podsResource, "two", "u3", 9)),
		// a clock that was set back
		w.Changed(1*time.Second, 0, anObject(podsResource, "three", "u4", 10)),
		w.Gone(6*time.Second, 1, "a/one"),
		w.Gone(6*time.Second, 1, "a/one"),
		w.Close(10*time.Second, ""),
	} {
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if s := w.Stats(); s.Initial != 2 || s.Events != 9 || s.Live != 2 || s.Bytes != int64(out.Len()) ||
		s.Blocks != 6 {
		t.Errorf("stats %+v of %d bytes", s, out.Len())
	}
	if err := w.Flush(); err == nil {
		t.Error("a closed writer writes on")
	}
	return out.Bytes()
}

func readWhole(t testing.TB, data []byte) *Trace {
	t.Helper()
	tr, err := ReadTrace("t", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestRecording(t *testing.T) {
	t.Parallel()
	tr := readWhole(t, aRecording(t))
	var got []string
	for _, e := range tr.Events {
		u := e.Object.(*unstructured.Unstructured)
		got = append(got, fmt.Sprintf("%v %s %s %s %s@%s", e.At, e.Type, tr.Resources[e.Resource], e.Key,
			u.GetUID(), u.GetResourceVersion()))
		if want := anObject(tr.Resources[e.Resource], u.GetName(), string(u.GetUID()),
			int(synthetic.VersionOf(u))); !reflect.DeepEqual(u, want) {
			t.Errorf("got  %v\nwant %v", u, want)
		}
	}
	want := []string{
		"1s MODIFIED pods a/one u1@3", "2s ADDED pods a/two u2@4", "2s DELETED pods a/one u1@5",
		"3s MODIFIED deployments.apps a/one d1@6",
		"4s DELETED pods a/two u2@4", "4s ADDED pods a/two u3@7", "5s MODIFIED pods a/two u3@9",
		"5s ADDED pods a/three u4@10", "6s DELETED deployments.apps a/one d1@6",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(tr.Notes) != 1 || tr.Notes[0].Modified != 1 || tr.Length != 10*time.Second ||
		tr.Ended != "" || tr.Recorded.Year() != 2026 || tr.Compress != 1 {
		t.Errorf("notes %+v, length %v, ended %q, %+v", tr.Notes, tr.Length, tr.Ended, tr.TraceHeader)
	}
	final := tr.FinalState()
	if len(final[0]) != 2 || len(final[1]) != 0 || synthetic.VersionOf(final[0]["a/two"]) != 9 {
		t.Errorf("final state %v", final)
	}
	if info := tr.Info(); info.Objects != 4 || info.Initial != 2 || info.PeakLive != 3 ||
		info.FinalLive != 2 || info.Total != 9 || info.Nodes != 5 || info.Resources[1].Events != 2 {
		t.Errorf("info %+v", info)
	}
	// Fields that a version does not change are neither written nor stored again.
	text := inflated(t, aRecording(t))
	if n := strings.Count(text, "never changes"); n != 5 {
		t.Errorf("the spec was written %d times, want once for each of 5 objects:\n%s", n, text)
	}
	a, b := tr.Events[5].Object.(*unstructured.Unstructured),
		tr.Events[6].Object.(*unstructured.Unstructured)
	if reflect.ValueOf(a.Object["spec"]).Pointer() != reflect.ValueOf(b.Object["spec"]).Pointer() {
		t.Error("two versions hold a spec each")
	}
}

// inflated is what all blocks of a file hold.
func inflated(t testing.TB, data []byte) string {
	t.Helper()
	var text bytes.Buffer
	if err := CatTrace(&text, "t", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestCatTrace(t *testing.T) {
	t.Parallel()
	data := aRecording(t)
	whole := inflated(t, data)
	if n := strings.Count(whole, "\n"); n != 1+2+9+1+1 ||
		!strings.HasPrefix(whole, `{"source":"a test"`) {
		t.Errorf("%d lines, want the header, 2 objects, 9 events, a note and the end:\n%s", n, whole)
	}
	var part bytes.Buffer
	if err := CatTrace(&part, "t", bytes.NewReader(data[:len(data)-1])); !errors.Is(err,
		ErrTraceTruncated) || !strings.HasPrefix(whole, part.String()) || part.Len() == 0 {
		t.Errorf("a cut file: %v, %d of %d bytes", err, part.Len(), len(whole))
	}
	tr, _ := importFixture(t, ImportOptions{})
	if text := inflated(t, written(t, tr)); text != unzip(t, written(t, tr)) {
		t.Errorf("an imported trace is %s", text)
	}
	full := &failingWriter{left: 10}
	if err := CatTrace(full, "t", bytes.NewReader(data)); !errors.Is(err, errNoSpace) {
		t.Errorf("a writer's error became %v", err)
	}
}

// A trace that is read and written again is the same; so is one of typed objects, except
// for their type.
func TestWriteTrace(t *testing.T) {
	t.Parallel()
	recorded := readWhole(t, aRecording(t))
	var again bytes.Buffer
	if err := WriteTrace(&again, recorded); err != nil {
		t.Fatal(err)
	}
	if got := readWhole(t, again.Bytes()); !reflect.DeepEqual(got, recorded) {
		t.Errorf("got  %+v\nwant %+v", got, recorded)
	}
	imported, _ := importFixture(t, ImportOptions{})
	whole := imported.Trace()
	again.Reset()
	if err := WriteTrace(&again, whole); err != nil {
		t.Fatal(err)
	}
	got := readWhole(t, again.Bytes())
	for n := range len(whole.Events) + 1 {
		if a, b := asJSON(t, got.StateAfter(n)), asJSON(t, whole.StateAfter(n)); a != b {
			t.Fatalf("after %d events\n%s\nwant\n%s", n, a, b)
		}
	}
	if err := WriteTrace(io.Discard, &Trace{TraceHeader: TraceHeader{Compress: 1}}); err == nil {
		t.Error("a trace about nothing was written")
	}
}

// asJSON is a state as text, without the kind, which typed objects lack.
func asJSON(t *testing.T, state []map[string]runtime.Object) string {
	t.Helper()
	var b strings.Builder
	for _, objects := range state {
		plain := map[string]any{}
		for key, obj := range objects {
			m, err := asMap(obj, podsResource)
			if err != nil {
				t.Fatal(err)
			}
			plain[key] = m
		}
		text, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// A source of unstructured objects gives versions without changing what it was given, and
// its bookmarks have the kind.
func TestSourceOfUnstructured(t *testing.T) {
	t.Parallel()
	first, second := anObject(podsResource, "one", "u1", 5), anObject(podsResource, "one", "u1", 6)
	before := first.DeepCopy()
	s := synthetic.NewSource([]runtime.Object{first}, synthetic.SourceOptions{})
	defer s.Stop()
	written, err := s.Update(second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(first); err != nil {
		t.Fatal(err)
	}
	if synthetic.VersionOf(written) != 6 || !reflect.DeepEqual(first, before) ||
		s.ResourceVersion() != "7" {
		t.Errorf("written as %d, the first is %v, the source at %s", synthetic.VersionOf(written), first,
			s.ResourceVersion())
	}
	send := true
	w, err := s.Watch(metav1.ListOptions{SendInitialEvents: &send,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	<-w.ResultChan()
	if e := <-w.ResultChan(); e.Type != watch.Bookmark ||
		e.Object.GetObjectKind().GroupVersionKind() != podsResource.GVK() {
		t.Errorf("got %v", e)
	}
}

// Events come to the sources when they are due, and lead to the trace's final state.
func TestPlay(t *testing.T) {
	for _, compress := range []float64{0, 4} {
		synctest.Test(t, func(t *testing.T) {
			tr := readWhole(t, aRecording(t))
			sources := tr.Sources(synthetic.SourceOptions{})
			start, n := time.Now(), 0
			speed := max(1, compress)
			err := Play(t.Context(), tr, sources,
				PlayOptions{Compress: compress,
					Applied: func(e TraceEvent, due time.Time, written runtime.Object) {
						want := start.Add(time.Duration(float64(e.At) / speed))
						if !due.Equal(want) || !time.Now().Equal(want) || synthetic.Key(written) != e.Key {
							t.Errorf("%s of %s: due at %v, done at %v, want %v", e.Type, e.Key, due, time.Now(), want)
						}
						n++
					}})
			if err != nil || n != len(tr.Events) {
				t.Errorf("%d of %d events played: %v", n, len(tr.Events), err)
			}
			for i, want := range tr.FinalState() {
				source := sources[tr.Resources[i].GVR()]
				source.Stop()
				got := source.Snapshot()
				if len(got) != len(want) {
					t.Errorf("%s: %d objects, want %d", tr.Resources[i], len(got), len(want))
				}
				for key, obj := range want {
					u := got[key].(*unstructured.Unstructured).DeepCopy()
					u.SetResourceVersion(obj.(*unstructured.Unstructured).GetResourceVersion())
					if !reflect.DeepEqual(u, obj) {
						t.Errorf("%s is %v, want %v", key, u, obj)
					}
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		tr := readWhole(t, aRecording(t))
		sources := tr.Sources(synthetic.SourceOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if err := Play(ctx, tr, sources, PlayOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := Play(t.Context(), tr, sources, PlayOptions{}); err == nil ||
			!strings.Contains(err.Error(), "play event 0, MODIFIED of pods a/one") {
			t.Errorf("played over another state: %v", err)
		}
		for _, s := range sources {
			s.Stop()
		}
	})
}
