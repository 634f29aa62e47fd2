package load

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
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
)

var (
	podsResource        = TraceResource{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	deploymentsResource = TraceResource{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}
)

// anObject is a version of an object: its spec stays, its status tells the version.
func anObject(r TraceResource, name, uid string, version int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "a", "name": name, "uid": uid, "resourceVersion": fmt.Sprint(version)},
		"spec":     map[string]any{"nodeName": "node-" + uid, "replicas": int64(3), "share": 0.5, "text": "<never changes> " + uid},
		"status":   map[string]any{"phase": fmt.Sprint("version ", version)},
	}}
	u.SetGroupVersionKind(r.GVK())
	return u
}

// aRecording is what a recorder writes: several blocks, two resources, a relist.
func aRecording(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewTraceWriter(&out, TraceHeader{
		Source: "a test", Recorded: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC), Resources: []TraceResource{podsResource, deploymentsResource}, Dropped: []string{"nothing"},
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
		w.Changed(4*time.Second, 0, anObject(podsResource, "two", "u3", 7)), // another object of that name
		w.Deleted(4*time.Second, 0, anObject(podsResource, "nobody", "u9", 8)),
		w.Note(TraceNote{At: 5 * time.Second, Resource: 0, What: NoteRelisted, Why: "gone", Modified: 1}),
		w.Flush(),
		w.Changed(5*time.Second, 0, anObject(podsResource, "two", "u3", 9)),
		w.Changed(1*time.Second, 0, anObject(podsResource, "three", "u4", 10)), // a clock that was set back
		w.Gone(6*time.Second, 1, "a/one"),
		w.Gone(6*time.Second, 1, "a/one"),
		w.Close(10*time.Second, ""),
	} {
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if s := w.Stats(); s.Initial != 2 || s.Events != 9 || s.Live != 2 || s.Bytes != int64(out.Len()) || s.Blocks != 6 {
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
		got = append(got, fmt.Sprintf("%v %s %s %s %s@%s", e.At, e.Type, tr.Resources[e.Resource], e.Key, u.GetUID(), u.GetResourceVersion()))
		if want := anObject(tr.Resources[e.Resource], u.GetName(), string(u.GetUID()), int(VersionOf(u))); !reflect.DeepEqual(u, want) {
			t.Errorf("got  %v\nwant %v", u, want)
		}
	}
	want := []string{
		"1s MODIFIED pods a/one u1@3", "2s ADDED pods a/two u2@4", "2s DELETED pods a/one u1@5", "3s MODIFIED deployments.apps a/one d1@6",
		"4s DELETED pods a/two u2@4", "4s ADDED pods a/two u3@7", "5s MODIFIED pods a/two u3@9", "5s ADDED pods a/three u4@10", "6s DELETED deployments.apps a/one d1@6",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(tr.Notes) != 1 || tr.Notes[0].Modified != 1 || tr.Length != 10*time.Second || tr.Ended != "" || tr.Recorded.Year() != 2026 || tr.Compress != 1 {
		t.Errorf("notes %+v, length %v, ended %q, %+v", tr.Notes, tr.Length, tr.Ended, tr.TraceHeader)
	}
	final := tr.FinalState()
	if len(final[0]) != 2 || len(final[1]) != 0 || VersionOf(final[0]["a/two"]) != 9 {
		t.Errorf("final state %v", final)
	}
	if info := tr.Info(); info.Objects != 4 || info.Initial != 2 || info.PeakLive != 3 || info.FinalLive != 2 || info.Total != 9 || info.Nodes != 5 || info.Resources[1].Events != 2 {
		t.Errorf("info %+v", info)
	}
	// What a version leaves as it was is neither written nor held again.
	text := inflated(t, aRecording(t))
	if n := strings.Count(text, "never changes"); n != 5 {
		t.Errorf("the spec was written %d times, want once for each of 5 objects:\n%s", n, text)
	}
	a, b := tr.Events[5].Object.(*unstructured.Unstructured), tr.Events[6].Object.(*unstructured.Unstructured)
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
	if n := strings.Count(whole, "\n"); n != 1+2+9+1+1 || !strings.HasPrefix(whole, `{"source":"a test"`) {
		t.Errorf("%d lines, want the header, 2 objects, 9 events, a note and the end:\n%s", n, whole)
	}
	var part bytes.Buffer
	if err := CatTrace(&part, "t", bytes.NewReader(data[:len(data)-1])); !errors.Is(err, ErrTraceTruncated) || !strings.HasPrefix(whole, part.String()) || part.Len() == 0 {
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

// A trace that was read and is written again is the same; so is one of typed
// objects, but for their type.
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

// asJSON is a state as text, without the kind that typed objects do not have.
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

// isPrefix checks that what was saved is the beginning of the whole.
func isPrefix(t *testing.T, saved, whole *Trace) {
	t.Helper()
	if len(saved.Initial) > len(whole.Initial) || len(saved.Events) > len(whole.Events) ||
		len(saved.Initial) > 0 && !reflect.DeepEqual(saved.Initial, whole.Initial[:len(saved.Initial)]) ||
		len(saved.Events) > 0 && !reflect.DeepEqual(saved.Events, whole.Events[:len(saved.Events)]) {
		t.Fatalf("what was saved is no beginning of the whole: %d and %d", len(saved.Initial), len(saved.Events))
	}
	if err := saved.Validate(); err != nil {
		t.Fatal(err)
	}
}

// Cut at every byte: what lies before the cut is there, and the cut is told.
func TestCutRecording(t *testing.T) {
	t.Parallel()
	data := aRecording(t)
	whole := readWhole(t, data)
	before := 0
	for n := 1; n < len(data); n++ {
		saved, err := ReadTrace("cut.trace", bytes.NewReader(data[:n]))
		var d *TraceDamage
		if !errors.Is(err, ErrTraceTruncated) || !errors.As(err, &d) || !strings.HasPrefix(err.Error(), "trace cut.trace: block ") {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(data), err)
		}
		if (saved == nil) != (d.Block == 0) || d.Offset > int64(n) {
			t.Fatalf("cut after %d bytes: a trace: %v, damage %+v", n, saved != nil, d)
		}
		if saved == nil {
			continue
		}
		isPrefix(t, saved, whole)
		if d.Events != len(saved.Events) || d.Initial != len(saved.Initial) || d.Events+d.Initial < before {
			t.Fatalf("cut after %d bytes: %+v", n, d)
		}
		before = d.Events + d.Initial
	}
	if before != len(whole.Initial)+len(whole.Events) {
		t.Errorf("without its last byte %d of %d are saved", before, len(whole.Initial)+len(whole.Events))
	}
}

// Change every byte: no change passes unnoticed, and what lies before is saved.
func TestCorruptRecording(t *testing.T) {
	t.Parallel()
	data := aRecording(t)
	whole := readWhole(t, data)
	last := 0
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x20
		saved, err := ReadTrace("bad", bytes.NewReader(bad))
		if err == nil {
			t.Fatalf("byte %d was changed and nobody noticed", i)
		}
		if saved == nil {
			continue
		}
		isPrefix(t, saved, whole)
		last = len(saved.Events)
	}
	if last != len(whole.Events) {
		t.Errorf("with the end damaged %d of %d events are saved", last, len(whole.Events))
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"another version": {bytes.Replace(data, []byte("trace 2\n"), []byte("trace 9\n"), 1), ErrTraceVersion},
		"a tail":          {append(bytes.Clone(data), 'x'), ErrTraceCorrupt},
		"text":            {[]byte("informerbench-trace is what it says, and then it goes on for long"), ErrNotTrace},
		"a block twice":   {append(bytes.Clone(data), data[30:]...), ErrTraceCorrupt},
		"a claim of 128M": {claim(data), ErrTraceTruncated},
	} {
		if _, err := ReadTrace(name, bytes.NewReader(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	gone := errors.New("the disk is gone")
	if _, err := ReadTrace("x", io.MultiReader(bytes.NewReader(data[:len(data)-5]), failingReader{gone})); !errors.Is(err, gone) || errors.Is(err, ErrTraceCorrupt) {
		t.Errorf("a reader's error became %v", err)
	}
}

// claim makes the first block say that it is as long as a block may be.
func claim(data []byte) []byte {
	data = bytes.Clone(data)
	binary.BigEndian.PutUint32(data[bytes.IndexByte(data, '\n')+1+16:], 2*maxBlock)
	return data
}

// Records that a writer never writes are refused.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	const one = `{"type":"INITIAL","r":0,"key":"a/one","object":{"metadata":{"namespace":"a","name":"one"}}}`
	for _, c := range []struct{ name, records, says string }{
		{"no JSON", "hello", "record 0"},
		{"unknown type", strings.Replace(one, "INITIAL", "MOVED", 1), "MOVED"},
		{"no such resource", strings.Replace(one, `"r":0`, `"r":2`, 1), "resource 2"},
		{"another key", strings.Replace(one, "a/one", "a/two", 1), "a/two"},
		{"twice", one + "\n" + one, "exists"},
		{"backwards", strings.Replace(one, "INITIAL", `ADDED","at":"5`, 1), "record 0"},
		{"not there", `{"type":"DELETED","r":0,"key":"a/one"}`, "not there"},
		{"keeps what is not there", strings.Replace(one, `"object"`, `"keep":["spec"],"object"`, 1), "not there"},
		{"keeps a field that is not there", one + "\n" + `{"type":"MODIFIED","r":0,"key":"a/one","keep":["metadata","spec"]}`, `no "spec"`},
		{"no metadata", strings.Replace(one, "metadata", "metaldata", 1), "metadata"},
		{"metadata of a strange shape", `{"type":"INITIAL","r":0,"key":"a/one","object":{"metadata":7}}`, "metadata"},
		{"starts late", `{"type":"ADDED","at":1,"r":0,"key":"a/x","object":{"metadata":{"namespace":"a","name":"x"}}}` + "\n" + one, "after an event"},
		{"before its predecessor", `{"type":"ADDED","at":9,"r":0,"key":"a/x","object":{"metadata":{"namespace":"a","name":"x"}}}` + "\n" +
			`{"type":"DELETED","at":8,"r":0,"key":"a/x"}`, "before its predecessor"},
		{"an empty note", `{"type":"NOTE","r":0}`, "note"},
	} {
		saved, err := ReadTrace("x", bytes.NewReader(withRecords(t, c.records)))
		if !errors.Is(err, ErrTraceCorrupt) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.says)
		}
		if saved == nil || len(saved.Initial)+len(saved.Events) > 0 {
			t.Errorf("%s: part of the block was taken over: %+v", c.name, saved)
		}
	}
}

// withRecords is a file whose one block of records is as given, with a good checksum.
func withRecords(t testing.TB, records string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewTraceWriter(&out, TraceHeader{Resources: []TraceResource{podsResource, deploymentsResource}})
	if err != nil {
		t.Fatal(err)
	}
	w.block.WriteString(records)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// storedRecords is withRecords, whose block is stored as it is: a compressor clears most of
// a megabyte for each block, which is more than all else that the fuzzing does with it.
func storedRecords(t testing.TB, head []byte, zip *flate.Writer, records string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip.Reset(&packed)
	if _, err := io.WriteString(zip, records); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	h := blockHeader{Mark: [4]byte([]byte(blockMark)), Kind: blockRecords, Index: 1, Raw: uint32(len(records)), Packed: uint32(packed.Len())}
	h.Sum = h.sum(packed.Bytes())
	out, err := binary.Append(bytes.Clone(head), binary.BigEndian, h)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, packed.Bytes()...)
}

func FuzzReadTrace(f *testing.F) {
	data, head := aRecording(f), withRecords(f, "")
	zip, err := flate.NewWriter(io.Discard, flate.NoCompression)
	if err != nil {
		f.Fatal(err)
	}
	text := inflated(f, data)
	lines := strings.SplitN(text, "\n", 2)
	f.Add(data, lines[1])
	f.Add(data[:len(data)/2], strings.Replace(lines[1], `"r":0`, `"r":1`, 3))
	f.Add([]byte(traceMagic), `{"type":"INITIAL","r":0,"key":"a/b","object":{"metadata":{"name":"b","namespace":"a"}}}`)
	f.Fuzz(func(t *testing.T, file []byte, records string) {
		if len(records) > 1<<16 || len(file) > 1<<16 {
			t.Skip("too long to be quick")
		}
		// In a file nearly every change is a broken checksum, so the records are tried by themselves too.
		for _, data := range [][]byte{file, storedRecords(t, head, zip, records)} {
			tr, err := ReadTrace("fuzz", bytes.NewReader(data))
			if tr == nil {
				if err == nil {
					t.Fatal("no trace and no error")
				}
				continue
			}
			if err := tr.Validate(); err != nil {
				t.Fatalf("ReadTrace returned a trace that is not valid: %v", err)
			}
			if len(tr.Initial)+len(tr.Events)+len(tr.Notes) == 0 {
				continue // most inputs; writing costs a compressor
			}
			tr.FinalState()
			tr.Info()
			if err := WriteTrace(io.Discard, tr); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
		}
	})
}

type failingWriter struct{ left int }

var errNoSpace = errors.New("no space left")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errNoSpace
	}
	return len(b), nil
}

func TestTraceWriterKeepsItsError(t *testing.T) {
	t.Parallel()
	w, err := NewTraceWriter(&failingWriter{left: 1000}, TraceHeader{Resources: []TraceResource{podsResource}})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil && i < 1000; i++ {
		if err = w.Changed(0, 0, anObject(podsResource, fmt.Sprint("pod-", i), "u", i)); err == nil {
			err = w.Flush()
		}
	}
	if !errors.Is(err, errNoSpace) || !errors.Is(w.Close(0, ""), errNoSpace) || !errors.Is(w.Gone(0, 0, "a/pod-0"), errNoSpace) {
		t.Errorf("got %v, and another error later", err)
	}
	if err := w.Initial(0, anObject(podsResource, "late", "u", 1)); !errors.Is(err, errNoSpace) {
		t.Errorf("Initial: %v", err)
	}
}

// A source of unstructured objects gives versions without changing what it was given, and
// its bookmarks have the kind.
func TestSourceOfUnstructured(t *testing.T) {
	t.Parallel()
	first, second := anObject(podsResource, "one", "u1", 5), anObject(podsResource, "one", "u1", 6)
	before := first.DeepCopy()
	s := NewSource([]runtime.Object{first}, SourceOptions{})
	defer s.Stop()
	written, err := s.Update(second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(first); err != nil {
		t.Fatal(err)
	}
	if VersionOf(written) != 6 || !reflect.DeepEqual(first, before) || s.ResourceVersion() != "7" {
		t.Errorf("written as %d, the first is %v, the source at %s", VersionOf(written), first, s.ResourceVersion())
	}
	send := true
	w, err := s.Watch(metav1.ListOptions{SendInitialEvents: &send, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	<-w.ResultChan()
	if e := <-w.ResultChan(); e.Type != watch.Bookmark || e.Object.GetObjectKind().GroupVersionKind() != podsResource.GVK() {
		t.Errorf("got %v", e)
	}
}

// Events come to the sources when they are due, and lead to the trace's final state.
func TestPlay(t *testing.T) {
	for _, compress := range []float64{0, 4} {
		synctest.Test(t, func(t *testing.T) {
			tr := readWhole(t, aRecording(t))
			sources := tr.Sources(SourceOptions{})
			start, n := time.Now(), 0
			speed := max(1, compress)
			err := Play(t.Context(), tr, sources, PlayOptions{Compress: compress, Applied: func(e TraceEvent, due time.Time, written runtime.Object) {
				want := start.Add(time.Duration(float64(e.At) / speed))
				if !due.Equal(want) || !time.Now().Equal(want) || Key(written) != e.Key {
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
		sources := tr.Sources(SourceOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if err := Play(ctx, tr, sources, PlayOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := Play(t.Context(), tr, sources, PlayOptions{}); err == nil || !strings.Contains(err.Error(), "play event 0, MODIFIED of pods a/one") {
			t.Errorf("played over another state: %v", err)
		}
		for _, s := range sources {
			s.Stop()
		}
	})
}
