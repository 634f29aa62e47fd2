package load

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A small packed file, or a line without an end, does not fill the memory.
func TestBombsAreRefusedInTime(t *testing.T) {
	t.Parallel()
	zip := func(lines ...string) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		for _, line := range lines {
			_, _ = w.Write([]byte(line)) // into memory
		}
		_ = w.Close()
		return out.Bytes()
	}
	long := strings.Repeat("x", maxTraceLine)
	for name, file := range map[string][]byte{
		"a line without an end": zip(`{"format":"informerbench-trace","version":1,"compress":1}`+"\n",
			long, long),
		"a block longer than any": []byte(fmt.Sprintf("%s%d\n%s%c\x00\x00\x00%s", traceMagic,
			TraceVersion, blockMark, blockHead, strings.Repeat("\xff", 16))),
	} {
		if _, err := ReadTrace(name, bytes.NewReader(file)); !errors.Is(err, ErrTraceCorrupt) {
			t.Errorf("%s: got %v, want that it is no trace", name, err)
		}
	}
	for name, file := range map[string][]byte{
		"a quote without an end": zip("name,creation_time\n\"", long, long),
		"a header without end":   zip(long, long),
	} {
		if _, _, err := ImportCSV(CSVFile{"pods.csv", bytes.NewReader(file)}, CSVFile{},
			ImportOptions{SkipBadRows: true}); !errors.Is(err, ErrTraceTooLarge) {
			t.Errorf("%s: got %v, want that it is too large", name, err)
		}
	}
	file := newBounded(strings.NewReader("abc"))
	file.file = 2
	if _, err := io.ReadAll(file); !errors.Is(err, ErrTraceTooLarge) {
		t.Errorf("a long file: got %v, want that it is too large", err)
	}
}

// readBack reads a trace that this program has written.
func readBack(t *testing.T, file []byte) *Trace {
	t.Helper()
	tr, err := ReadTrace("x", bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%d KB: %v", len(file)>>10, err)
	}
	return tr
}

// One large object that changes often compresses best. The writer's output for it can be
// read.
func TestOneObjectThatChangesOften(t *testing.T) {
	t.Parallel()
	var images []any
	for i := range 40 {
		images = append(images, map[string]any{
			"names": []any{fmt.Sprintf("registry/image-%d@sha256:%064x", i, i*7919*104729),
				fmt.Sprintf("registry/image-%d:v1", i)}, "sizeBytes": int64(i)})
	}
	var file bytes.Buffer
	w, err := NewTraceWriter(&file,
		TraceHeader{Source: "x", Resources: []TraceResource{
			{Version: "v1", Resource: "nodes", Kind: "Node"}}})
	if err != nil {
		t.Fatal(err)
	}
	const versions = 2500
	for i := range versions {
		err := w.Changed(0, 0, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": "n", "uid": "u", "resourceVersion": fmt.Sprint(i + 1)},
			"status":   map[string]any{"images": images, "heartbeat": int64(i)},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(0, ""); err != nil {
		t.Fatal(err)
	}
	if tr := readBack(t, file.Bytes()); len(tr.Events) != versions {
		t.Errorf("%d events, want %d", len(tr.Events), versions)
	}
}

// Regular names and times compress by far more than what reading them takes. The writer's
// output for them can be read.
func TestRegularPodTracesAreRead(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(i, event int) time.Duration{
		"all at once": func(_, event int) time.Duration {
			return time.Duration(event) * time.Second
		},
		"one every second":   func(i, _ int) time.Duration { return time.Duration(i) * time.Second },
		"batches of hundred": func(i, _ int) time.Duration { return time.Duration(i/100) * time.Minute },
	} {
		lives := &PodTrace{Source: "x", Seed: 1, Compress: 1}
		for i := range 20_000 {
			lives.Pods = append(lives.Pods,
				TracePod{Namespace: "default", Name: fmt.Sprintf("worker-%d", i), CPUMilli: 1000,
					MemoryMiB: 1024, QOS: "LS"})
			for k, e := range []PodEvent{{Type: TraceCreated}, {Type: TraceScheduled, Node: "node-1"},
				{Type: TracePhase, Phase: "Running"}, {Type: TraceDeleted}} {
				e.At, e.Pod = at(i, k), i
				lives.Events = append(lives.Events, e)
			}
		}
		slices.SortStableFunc(lives.Events, func(a, b PodEvent) int { return cmp.Compare(a.At, b.At) })
		var file bytes.Buffer
		if err := WritePodTrace(&file, lives); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if tr := readBack(t, file.Bytes()); len(tr.Events)+
			len(tr.Initial) != len(lives.Events) {
			t.Errorf("%s: %d events and %d objects of %d events", name, len(tr.Events), len(tr.Initial),
				len(lives.Events))
		}
	}
}

// Packed files are read, or the error names their format.
func TestPackedFiles(t *testing.T) {
	t.Parallel()
	recording := aRecording(t)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(recording); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if tr, err := ReadTrace("x.trace.gz", &zipped); err != nil || len(tr.Events) != 9 {
		t.Errorf("a gzipped recording: %v", err)
	}
	var pods bytes.Buffer
	w = gzip.NewWriter(&pods)
	fmt.Fprintf(w, "%s\np,1,1,0,0,,LS,Running,0,9,1\n", strings.Join(podColumns, ","))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	nodes := strings.Join(nodeColumns, ",") + "\nn,1,1,1,m\n"
	if lives, _, err := ImportCSV(CSVFile{"pods.csv.gz", &pods},
		CSVFile{"nodes.csv", strings.NewReader(nodes)}, ImportOptions{}); err != nil ||
		len(lives.Pods) != 1 {
		t.Errorf("a gzipped CSV: %v", err)
	}
	for begin, want := range map[string]string{"PK\x03\x04": "zip archive", "\x28\xb5\x2f\xfd": "zstd",
		"BZh9": "bzip2", "\xfd7zXZ\x00": "xz"} {
		if _, err := ReadTrace("x", strings.NewReader(begin+strings.Repeat("\x00", 100))); !errors.Is(err,
			ErrNotTrace) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "unpack") {
			t.Errorf("%s: %v", want, err)
		}
		if _, _, err := ImportCSV(CSVFile{"pods.csv", strings.NewReader(begin)},
			CSVFile{"nodes.csv", strings.NewReader(begin)}, ImportOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("a CSV, %s: %v", want, err)
		}
	}
}
