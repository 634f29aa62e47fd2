package load

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load/synthetic"
)

func written(t testing.TB, tr *PodTrace) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WritePodTrace(&out, tr); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unzip(t testing.TB, data []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	// it is fast, and some tests zip thousands of times
	w, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestTraceRoundTrip(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{Compress: 10})
	data := written(t, tr)
	got, err := readPodTrace(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, tr) {
		t.Errorf("read back\n%+v\nwritten\n%+v", got, tr)
	}
	if !bytes.Equal(written(t, got), data) {
		t.Error("written again, the file is another")
	}
	path := filepath.Join(t.TempDir(), "t.trace")
	if _, err := ReadTraceFile(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadTraceFile(path); err != nil || !reflect.DeepEqual(got, tr.Trace()) {
		t.Errorf("read from a file: %v", err)
	}
}

// TestTruncated cuts a file at every byte: each cut must be reported as one.
func TestTruncated(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{})
	data := written(t, tr)
	told := regexp.MustCompile(`^trace short: truncated after event \d+: `)
	for n := range data {
		_, err := ReadTrace("short", bytes.NewReader(data[:n]))
		if !errors.Is(err, ErrTraceTruncated) || !told.MatchString(err.Error()) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(data), err)
		}
	}
	text := unzip(t, data)
	for i := range text {
		if text[i] != '\n' || i == len(text)-1 {
			continue
		}
		_, err := ReadTrace("short", bytes.NewReader(zipped(t, text[:i+1])))
		if !errors.Is(err, ErrTraceTruncated) {
			t.Fatalf("a whole gzip without the lines after byte %d: %v", i, err)
		}
	}
}

// TestCorrupt changes every byte of a file, and every fifth byte of its text in an intact
// gzip: every change must be noticed.
func TestCorrupt(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{})
	data := written(t, tr)
	for i := range data {
		if i >= 3 && i < 10 {
			continue // the gzip header's flags and times, which are no part of the data
		}
		bad := bytes.Clone(data)
		bad[i] ^= 0x55
		if got, err := ReadTrace("bad", bytes.NewReader(bad)); err == nil &&
			!reflect.DeepEqual(got, tr.Trace()) {
			t.Fatalf("byte %d was changed and the trace read as another", i)
		} else if err == nil {
			t.Fatalf("byte %d was changed and nobody noticed", i)
		}
	}
	text := unzip(t, data)
	for i := 0; i < len(text); i += 5 {
		bad := []byte(text)
		bad[i] ^= 1
		if _, err := ReadTrace("bad", bytes.NewReader(zipped(t, string(bad)))); err == nil {
			t.Fatalf("byte %d of the text was changed and nobody noticed", i)
		}
	}
}

// summed adds a valid trailer to lines without events.
func summed(lines string) string {
	return fmt.Sprintf(`%s{"events":0,"sha256":"%x"}`+"\n", lines, sha256.Sum256([]byte(lines)))
}

func TestBadTraces(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{})
	text := unzip(t, written(t, tr))
	header, _, _ := strings.Cut(text, "\n")
	gone := errors.New("the disk is gone")
	for _, c := range []struct {
		name string
		data []byte
		want error
		says string
	}{
		{"no gzip", []byte("name,qos\n1,2\n 3333333333"), ErrNotTrace, "benchrun trace import"},
		{"another gzip", zipped(t, "hello\n"), ErrNotTrace, "benchrun trace import"},
		{"a newer version", zipped(t, strings.Replace(text, `"version":1`, `"version":2`, 1)),
			ErrTraceVersion, "version 2, this program reads versions 1 and 2"},
		{"a changed number", zipped(t, strings.Replace(text, `"cpu_milli":4000`, `"cpu_milli":4001`, 1)),
			ErrTraceCorrupt, "the checksum"},
		{"a missing line", zipped(t, header+text[strings.LastIndex(text[:len(text)-1], "\n"):]),
			ErrTraceCorrupt, "the checksum"},
		{"a tail", zipped(t, text+"{}\n"), ErrTraceCorrupt, "something follows the trailer"},
		{"a tail without an end", zipped(t, text+"{"), ErrTraceCorrupt, "something follows the trailer"},
		{"a tail after the gzip", append(written(t, tr), "tail"...), nil, "trace x: "},
		{"fewer events than those of the start",
			zipped(t, summed(strings.Replace(header, `"initial":1`, `"initial":1000`, 1)+"\n")),
			ErrTraceCorrupt, "1000 events of the start are missing"},
		{"no events", zipped(t, header+"\n{\"pod\":1}\n"), ErrTraceCorrupt, "no event"},
		{"no JSON", zipped(t, header+"\nhello\n"), ErrTraceCorrupt, "damaged after event 0"},
		{"an endless line", zipped(t, header+"\n"+strings.Repeat("x", maxTraceLine+1)), ErrTraceCorrupt,
			"longer than"},
	} {
		_, err := ReadTrace("x", bytes.NewReader(c.data))
		if err == nil || c.want != nil && !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v with %q", c.name, err, c.want, c.says)
		}
	}
	if _, err := ReadTrace("x", failingReader{gone}); !errors.Is(err, gone) ||
		errors.Is(err, ErrTraceCorrupt) {
		t.Errorf("a reader's error became %v", err)
	}
}

func TestTraceValidate(t *testing.T) {
	t.Parallel()
	one := TracePod{Namespace: "a", Name: "b"}
	created := PodEvent{Type: TraceCreated}
	for _, c := range []struct {
		name   string
		pods   []TracePod
		events []PodEvent
		says   string
	}{
		{"backwards", []TracePod{one},
			[]PodEvent{{At: 2, Type: TraceCreated}, {At: 1, Type: TraceDeleted}}, "before its predecessor"},
		{"unknown type", []TracePod{one}, []PodEvent{{Type: "moved"}},
			"use one of created, scheduled, phase, deleted"},
		{"no such pod", []TracePod{one}, []PodEvent{{Type: TraceCreated, Pod: 7}}, "there is no pod 7"},
		{"not created", []TracePod{one}, []PodEvent{{Type: TraceDeleted}}, "does not exist"},
		{"created twice", []TracePod{one}, []PodEvent{created, created}, "the next one is 1"},
		{"same key", []TracePod{one, one}, []PodEvent{created, {Type: TraceCreated, Pod: 1}},
			"which is alive"},
		{"twice", []TracePod{one}, []PodEvent{created, {Type: TracePhase, Phase: corev1.PodRunning},
			{Type: TraceScheduled, Node: "n"}}, "comes after phase"},
		{"after the end", []TracePod{one},
			[]PodEvent{created, {Type: TraceDeleted}, {Type: TraceDeleted}}, "does not exist"},
		{"no node", []TracePod{one}, []PodEvent{created, {Type: TraceScheduled}}, "with the node \"\""},
		{"bad phase", []TracePod{one}, []PodEvent{created, {Type: TracePhase, Phase: corev1.PodPending}},
			"use one of Running, Succeeded, Failed"},
		{"no name", []TracePod{{}}, []PodEvent{created}, "no name"},
		{"never created", []TracePod{one}, nil, "1 pods are never created"},
	} {
		tr := &PodTrace{Compress: 1, Pods: c.pods, Events: c.events}
		if err := WritePodTrace(io.Discard, tr); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.says)
		}
	}
	again := &PodTrace{Compress: 1, Pods: []TracePod{one, one},
		Events: []PodEvent{created, {Type: TraceDeleted}, {Type: TraceCreated, Pod: 1}}}
	if err := again.Validate(); err != nil {
		t.Errorf("a key that is free again: %v", err)
	}
	if err := (&PodTrace{}).Validate(); err == nil {
		t.Error("a compression of 0 was accepted")
	}
	for says, tr := range map[string]*PodTrace{
		"stands among": {Compress: 1, Initial: 2, Pods: []TracePod{one},
			Events: []PodEvent{created, {At: 1, Type: TracePhase, Phase: corev1.PodRunning}}},
		"deleted at 0s": {Compress: 1, Initial: 2, Pods: []TracePod{one},
			Events: []PodEvent{created, {Type: TraceDeleted}}},
		"the first 2 events": {Compress: 1, Initial: 2, Pods: []TracePod{one},
			Events: []PodEvent{created}},
	} {
		if err := tr.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d of %d events at the start: got %v, want %q", tr.Initial, len(tr.Events), err, says)
		}
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{})
	store := cache.NewThreadSafeStore(synthetic.Indexers(), cache.Indices{})
	whole := tr.Trace()
	if err := whole.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, e := range whole.Initial {
		ApplyEvent(store, e)
	}
	i := 0
	var last time.Duration
	for n, e := range tr.lives() {
		if n < tr.Initial {
			continue
		}
		pod := e.Object.(*corev1.Pod)
		if e.At < last || e.Key != synthetic.Key(pod) || pod.ResourceVersion == "" {
			t.Fatalf("event %d: %v %s %s@%s", i, e.At, e.Key, synthetic.Key(pod), pod.ResourceVersion)
		}
		before, existed := store.Get(e.Key)
		if existed != (e.Type != watch.Added) {
			t.Fatalf("event %d: %s of %s, which is there: %v", i, e.Type, e.Key, existed)
		}
		if existed && before.(*corev1.Pod).UID != pod.UID {
			t.Fatalf("event %d: %s has another UID", i, e.Key)
		}
		ApplyEvent(store, e)
		last = e.At
		i++
		want := whole.StateAfter(i)[0]
		got := map[string]runtime.Object{}
		for _, key := range store.ListKeys() {
			obj, _ := store.Get(key)
			got[key] = obj.(*corev1.Pod)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("after %d events the store has %d pods, the oracle %d, or they differ", i, len(got),
				len(want))
		}
	}
	if i != len(tr.Events)-tr.Initial || tr.Initial != 1 {
		t.Errorf("%d events were replayed of %d", i, len(tr.Events))
	}
	final := whole.FinalState()[0]
	if len(final) != 1 || !reflect.DeepEqual(final, tr.Trace().FinalState()[0]) {
		t.Errorf("%d pods are left, want 1, and the same at each call", len(final))
	}
}

// TestReplayedPods checks the pods of a life: what each event changes and what it keeps.
func TestReplayedPods(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{})
	type seen struct {
		phase corev1.PodPhase
		node  bool
	}
	got := map[string][]seen{}
	for _, e := range tr.lives() {
		_, name, _ := strings.Cut(e.Key, "/")
		pod := e.Object.(*corev1.Pod)
		got[name] = append(got[name], seen{pod.Status.Phase, pod.Spec.NodeName != ""})
		data, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		size := len(data)
		if pod.Status.Phase == corev1.PodRunning && (size < 8_100 || size > 9_900) {
			t.Errorf("%s is %d bytes of JSON, want 9000 give or take 10 percent", name, size)
		}
		if name == "fails" {
			r := pod.Spec.Containers[0].Resources.Requests
			gpus := r[resourceGPU]
			if r.Cpu().MilliValue() != 32_000 || r.Memory().Value() != 8192<<20 || gpus.Value() != 2 ||
				pod.Status.QOSClass != corev1.PodQOSGuaranteed {
				t.Errorf("the pod asks for %v as %s", r, pod.Status.QOSClass)
			}
		}
	}
	p, r, s, f := corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed
	want := map[string][]seen{
		"runs-on":         {{p, false}, {p, true}, {r, true}, {r, true}},
		"never-scheduled": {{p, false}, {p, false}},
		"finishes":        {{p, false}, {p, true}, {s, true}, {s, true}},
		"fails":           {{p, false}, {p, true}, {f, true}, {f, true}},
		"instant":         {{p, false}, {p, true}, {f, true}, {f, true}},
		"evicted":         {{p, false}, {f, false}, {f, false}},
		"still-there":     {{p, false}, {p, true}, {r, true}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	tr, _ := importFixture(t, ImportOptions{Namespaces: 1})
	whole := tr.Trace()
	info := whole.Info()
	want := TraceInfo{
		Span: 1000 * time.Second, Objects: 7, Initial: 1, PeakLive: 5, FinalLive: 1, Total: 23,
		Events:     map[watch.EventType]int{watch.Added: 6, watch.Modified: 11, watch.Deleted: 6},
		Namespaces: 1, Nodes: info.Nodes, MeanRate: 0.023, PeakRate: 4,
		Resources: []TraceResourceInfo{
			{TraceResource: whole.Resources[0], Objects: 7, Initial: 1, PeakLive: 5, FinalLive: 1,
				Events: 23}},
	}
	if !reflect.DeepEqual(info, want) || info.Nodes < 2 || info.Nodes > 3 {
		t.Errorf("got  %+v\nwant %+v", info, want)
	}
	if whole.Source != "imported from pods.csv and nodes.csv" || whole.Seed != DefaultSeed ||
		whole.Compress != 1 || whole.Length != info.Span {
		t.Errorf("header %+v", whole.TraceHeader)
	}
}

func FuzzReadPodTrace(f *testing.F) {
	tr, _ := importFixture(f, ImportOptions{})
	text := unzip(f, written(f, tr))
	// The fuzzer works on the text, because every change in the gzip is a broken checksum.
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add(strings.Replace(text, `"pod":1`, `"pod":-1`, 1))
	f.Add("{\"format\":\"informerbench-trace\",\"version\":1,\"compress\":1}\n{\"at\":0,\"type\":\"created\",\"pod\":9}\n")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := ReadTrace("fuzz", bytes.NewReader(zipped(t, text)))
		if err != nil {
			return
		}
		if err := tr.Validate(); err != nil {
			t.Fatalf("ReadTrace returned a trace that is not valid: %v", err)
		}
		_ = tr.FinalState()
	})
}

// readPodTrace reads the format of WritePodTrace and no other.
func readPodTrace(r io.Reader, text io.Writer) (*PodTrace, error) {
	t := &podTraceReader{trace: &PodTrace{}, check: newPodChecker(0), text: text}
	lines, err := t.open(r)
	if err != nil {
		return nil, err
	}
	if err := t.read(lines); err != nil {
		return nil, err
	}
	return t.trace, nil
}
