package load

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/load/synthetic"
)

// block compresses a block as far as possible.
func block(t *testing.T, kind byte, index int, raw string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zip.Write([]byte(raw)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	h := blockHeader{Mark: [4]byte([]byte(blockMark)), Kind: kind, Index: uint32(index),
		Raw: uint32(len(raw)), Packed: uint32(packed.Len())}
	h.Sum = h.sum(packed.Bytes())
	head, err := binary.Append(nil, binary.BigEndian, h)
	if err != nil {
		t.Fatal(err)
	}
	return append(head, packed.Bytes()...)
}

// bombs are small files that demand much memory, by the way in which they do so.
func bombs(t *testing.T) map[string][]byte {
	const head = `{"source":"x","compress":1,"resources":[{"version":"v1","resource":"pods","kind":"Pod","namespaced":true}]}` + "\n"
	blocks := func(records ...string) []byte {
		out := append([]byte(fmt.Sprintf("%s%d\n", traceMagic, TraceVersion)),
			block(t, blockHead, 0, head)...)
		for i, r := range records {
			out = append(out, block(t, blockRecords, i+1, r)...)
		}
		return out
	}
	object := func(kind, spec string) string {
		return `{"type":"` + kind + `","r":0,"key":"a/x","object":{"metadata":{"namespace":"a","name":"x"},"spec":` + spec + "}}\n"
	}
	const mega = 1 << 20
	fields := make([]string, 50_000)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"%d":0`, i)
	}
	wide := `{"type":"INITIAL","r":0,"key":"a/x","object":{"metadata":{"namespace":"a","name":"x"},` +
		strings.Join(fields, ",") + "}}\n"
	gzipped := func(text string) []byte {
		var out bytes.Buffer
		zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := zip.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	lives := `{"format":"informerbench-trace","version":1,"source":"x","seed":1,"compress":1}` + "\n" +
		`{"at":0,"type":"created","pod":0,"record":{"namespace":"a","name":"x","cpu_milli":0,"memory_mib":0,"qos":"LS"}}` + "\n"
	var pods strings.Builder
	pods.WriteString(lives)
	for i := 1; i < 50_000; i++ {
		fmt.Fprintf(&pods, `{"at":0,"type":"deleted","pod":%d}`+"\n"+
			`{"at":0,"type":"created","pod":%d,"record":{"namespace":"a","name":"x","cpu_milli":0,"memory_mib":0,"qos":"LS"}}`+"\n", i-1, i)
	}
	return map[string][]byte{
		"empty objects":        blocks(object("INITIAL", "["+strings.Repeat("{},", 4*mega)+"0]")),
		"objects of one field": blocks(object("INITIAL", "["+strings.Repeat(`{"":0},`, 2*mega)+"0]")),
		"empty lists":          blocks(object("INITIAL", "["+strings.Repeat("[],", 4*mega)+"0]")),
		"numbers":              blocks(object("INITIAL", "["+strings.Repeat("0,", 6*mega)+"0]")),
		"one string":           blocks(object("INITIAL", `"`+strings.Repeat("x", 12*mega)+`"`)),
		"versions of one": blocks(
			object("INITIAL", "0") + strings.Repeat(
				`{"type":"MODIFIED","r":0,"key":"a/x","keep":["metadata","spec"]}`+"\n", 200_000)),
		"copies of a wide one": blocks(
			wide + strings.Repeat(`{"type":"MODIFIED","r":0,"key":"a/x"}`+"\n", 1000)),
		"notes": blocks(
			strings.Repeat(`{"type":"NOTE","r":0,"note":{"r":0}}`+"\n", mega/3)),
		"several blocks": blocks(object("INITIAL", "["+strings.Repeat("0,", mega/4)+"0]"),
			object("MODIFIED", "["+strings.Repeat("{},", 4*mega)+"0]")),
		"resources": append([]byte(fmt.Sprintf("%s%d\n", traceMagic, TraceVersion)),
			block(t, blockHead, 0, `{"resources":[`+strings.Repeat("{},", 4*mega)+"{}]}\n")...),
		"a gzipped recording": gzipped(
			string(blocks(object("INITIAL", "["+strings.Repeat("{},", 4*mega)+"0]")))),
		"lives of pods":         gzipped(pods.String()),
		"a line without an end": gzipped(lives + strings.Repeat(" ", 40*mega)),
	}
}

// allocated is the number of bytes that f allocates, garbage included. No other test may
// run meanwhile.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A file is refused before it has allocated more than its size allows, in whichever way.
// (Not parallel: the allocations of other tests would count.)
func TestBombsAreRefusedInTime(t *testing.T) {
	for name, file := range bombs(t) {
		var err error
		took := allocated(func() { _, err = ReadTrace(name, bytes.NewReader(file)) })
		limit := int64(TraceMemoryFloor + TraceMemoryMultiple*len(file))
		t.Logf("%s: %d KB in the file, %d MB allocated, the limit is %d MB: %v", name, len(file)>>10,
			took>>20, limit>>20, err)
		if float64(took) > allocationSlack*float64(limit) {
			t.Errorf("%s: a file of %d bytes made reading allocate %d, more than %d", name, len(file), took,
				limit)
		}
		if len(file) < 200<<10 && !errors.Is(err, ErrTraceTooLarge) && !errors.Is(err, ErrTraceCorrupt) {
			t.Errorf("%s: got %v, want that it is too large", name, err)
		}
		if errors.Is(err, ErrTraceTooLarge) &&
			(!strings.Contains(err.Error(), "block") && !strings.Contains(err.Error(), "line") ||
				!strings.Contains(err.Error(), "MiB")) {
			t.Errorf("%s: the error does not say where, and what the limit is: %v", name, err)
		}
	}
}

// CSVs have the same bound, compressed or not.
func TestCSVBombsAreRefusedInTime(t *testing.T) {
	header := strings.Join(podColumns, ",") + "\n"
	nodes := strings.Join(nodeColumns, ",") + "\nn,1,1,1,m\n"
	zip := func(text string) []byte {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text)) // into memory
		_ = w.Close()
		return out.Bytes()
	}
	for name, file := range map[string][]byte{
		"a quote without an end": zip(header + `"` + strings.Repeat("x", 40<<20)),
		"broken rows":            zip(header + strings.Repeat("x\n", 2<<20)),
		"empty fields":           zip(header + strings.Repeat(strings.Repeat(",", 1000)+"\n", 8_000)),
		"broken rows, plain":     []byte(header + strings.Repeat("x\n", 1<<18)),
		"a header without end":   zip(strings.Repeat("x,", 20<<20)),
		"columns, plain":         []byte(strings.Repeat("x,", 1<<19) + "\n" + strings.Repeat(",", 1<<19)),
		"many fields, plain":     []byte(header + strings.Repeat("\"\n\",", 1<<18)),
		"the same row":           zip("name,creation_time\n" + strings.Repeat("a,\n", 1<<20)),
		"one row that is taken":  zip("name,creation_time\n" + strings.Repeat("a,\n", 11_000)),
	} {
		var err error
		took := allocated(func() {
			_, _, err = ImportCSV(CSVFile{"pods.csv.gz", bytes.NewReader(file)},
				CSVFile{"nodes.csv", strings.NewReader(nodes)}, ImportOptions{})
			if strings.Contains(name, "row ") || strings.HasSuffix(name, " row") {
				_, _, err = ImportCSV(CSVFile{"pods.csv.gz", bytes.NewReader(file)}, CSVFile{},
					ImportOptions{SkipBadRows: true})
			}
		})
		limit := int64(TraceMemoryFloor + TraceMemoryMultiple*len(file))
		t.Logf("%s: %d KB in the file, %d MB allocated, the limit is %d MB: %.200v", name, len(file)>>10,
			took>>20, limit>>20, err)
		if float64(took) > allocationSlack*float64(limit) || err == nil {
			t.Errorf("%s: a file of %d bytes made reading allocate %d, more than %d (%.200v)", name,
				len(file), took, limit, err)
		}
	}
}

// The output of recorders stays far below the limit, even where all objects are alike.
func TestHonestTracesAreRead(t *testing.T) {
	t.Parallel()
	pods := synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 300, Namespaces: 3}, 1)
	var file bytes.Buffer
	w, err := NewTraceWriter(&file, TraceHeader{Source: "x", Resources: []TraceResource{podsResource}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := w.Initial(0, pods.At(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		if err := w.Changed(0, 0, pods.At(i%300)); err != nil { // a heartbeat: nothing has changed
			t.Fatal(err)
		}
	}
	if err := w.Close(0, ""); err != nil {
		t.Fatal(err)
	}
	readWithRoomToSpare(t, file.Bytes())
}

// readWithRoomToSpare reads an honest trace, which may be charged three quarters of the
// bytes that its size allows.
func readWithRoomToSpare(t *testing.T, file []byte) *Trace {
	t.Helper()
	b := newBudget(bytes.NewReader(file))
	tr, err := readTrace(b, nil)
	if err != nil {
		t.Fatalf("%d KB: %v", len(file)>>10, err)
	}
	t.Logf("%d KB in the file, %d MB charged, %d times", len(file)>>10, b.used>>20,
		b.used/int64(len(file)))
	if b.used > b.limit()*3/4 {
		t.Errorf("an honest trace is charged %d of %d", b.used, b.limit())
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
	if tr := readWithRoomToSpare(t, file.Bytes()); len(tr.Events) != versions {
		t.Errorf("%d events, want %d", len(tr.Events), versions)
	}
}

// So can the lives of pods, in which a line of few bytes becomes a whole pod.
func TestHonestPodTracesAreRead(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	lives := &PodTrace{Source: "x", Seed: 1, Compress: 1}
	at := time.Duration(0)
	for i := range 8000 {
		lives.Pods = append(lives.Pods,
			TracePod{Namespace: fmt.Sprintf("ns-%02d", rng.IntN(20)), Name: fmt.Sprintf("openb-pod-%04d", i),
				CPUMilli: 1000 * rng.Int64N(16), MemoryMiB: 1024 * rng.Int64N(64), QOS: "LS"})
		for _, e := range []PodEvent{{Type: TraceCreated},
			{Type: TraceScheduled, Node: fmt.Sprintf("openb-node-%04d", rng.IntN(1500))},
			{Type: TracePhase, Phase: "Running"}, {Type: TraceDeleted}} {
			at += time.Duration(rng.IntN(1e9))
			e.At, e.Pod = at, i
			lives.Events = append(lives.Events, e)
		}
	}
	var file bytes.Buffer
	if err := WritePodTrace(&file, lives); err != nil {
		t.Fatal(err)
	}
	readWithRoomToSpare(t, file.Bytes())
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
		if tr := readWithRoomToSpare(t, file.Bytes()); len(tr.Events)+
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
