package load

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// isPrefix checks that the saved trace is the beginning of the whole one.
func isPrefix(t *testing.T, saved, whole *Trace) {
	t.Helper()
	if len(saved.Initial) > len(whole.Initial) || len(saved.Events) > len(whole.Events) ||
		len(saved.Initial) > 0 && !reflect.DeepEqual(saved.Initial, whole.Initial[:len(saved.Initial)]) ||
		len(saved.Events) > 0 && !reflect.DeepEqual(saved.Events, whole.Events[:len(saved.Events)]) {
		t.Fatalf("what was saved is no beginning of the whole: %d and %d", len(saved.Initial),
			len(saved.Events))
	}
	if err := saved.Validate(); err != nil {
		t.Fatal(err)
	}
}

// A file is cut at every byte: the records before the cut are saved, and the cut is
// reported.
func TestCutRecording(t *testing.T) {
	t.Parallel()
	data := aRecording(t)
	whole := readWhole(t, data)
	before := 0
	for n := 1; n < len(data); n++ {
		saved, err := ReadTrace("cut.trace", bytes.NewReader(data[:n]))
		var d *TraceDamage
		if !errors.Is(err, ErrTraceTruncated) || !errors.As(err, &d) ||
			!strings.HasPrefix(err.Error(), "trace cut.trace: block ") {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(data), err)
		}
		if (saved == nil) != (d.Block == 0) || d.Offset > int64(n) {
			t.Fatalf("cut after %d bytes: a trace: %v, damage %+v", n, saved != nil, d)
		}
		if saved == nil {
			continue
		}
		isPrefix(t, saved, whole)
		if d.Events != len(saved.Events) || d.Initial != len(saved.Initial) ||
			d.Events+d.Initial < before {
			t.Fatalf("cut after %d bytes: %+v", n, d)
		}
		before = d.Events + d.Initial
	}
	if before != len(whole.Initial)+len(whole.Events) {
		t.Errorf("without its last byte %d of %d are saved", before, len(whole.Initial)+len(whole.Events))
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// A gzipped file is cut: what was read before the cut is saved.
func TestCutGzippedRecording(t *testing.T) {
	t.Parallel()
	data := aRecording(t)
	whole := readWhole(t, data)
	packed := gzipped(t, data)
	for _, n := range []int{len(packed) / 2, len(packed) - 30} {
		saved, err := ReadTrace("cut.trace.gz", bytes.NewReader(packed[:n]))
		if !errors.Is(err, ErrTraceTruncated) || !errors.As(err, new(*TraceDamage)) || saved == nil {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(packed), err)
		}
		isPrefix(t, saved, whole)
	}
}

// A gzipped file is damaged in its middle, or in its checksum at the end: what was read before
// is saved.
func TestCorruptGzippedRecording(t *testing.T) {
	t.Parallel()
	data := aRecording(t)
	whole := readWhole(t, data)
	packed := gzipped(t, data)
	saves := 0
	for at := len(packed) / 3; at < len(packed); at++ {
		bad := bytes.Clone(packed)
		bad[at] ^= 0x20
		saved, err := ReadTrace("bad.trace.gz", bytes.NewReader(bad))
		// a bit that only fills up the last byte changes nothing
		if err != nil && !errors.As(err, new(*TraceDamage)) {
			t.Fatalf("byte %d of %d is changed: %v", at, len(packed), err)
		}
		if saved != nil {
			isPrefix(t, saved, whole)
			saves++
		}
		if err == nil && len(saved.Events) != len(whole.Events) {
			t.Fatalf("byte %d of %d is changed: %d events of %d, and no error", at, len(packed),
				len(saved.Events), len(whole.Events))
		}
	}
	if saves == 0 {
		t.Error("nothing was saved")
	}
}

// Every byte is changed: each change is noticed, and the records before it are saved.
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
		"another version": {bytes.Replace(data, []byte("trace 2\n"), []byte("trace 9\n"), 1),
			ErrTraceVersion},
		"a tail": {append(bytes.Clone(data), 'x'), ErrTraceCorrupt},
		"text": {[]byte("informerbench-trace is what it says, and then it goes on for long"),
			ErrNotTrace},
		"a block twice":   {append(bytes.Clone(data), data[30:]...), ErrTraceCorrupt},
		"a claim of 128M": {claim(data), ErrTraceTruncated},
	} {
		if _, err := ReadTrace(name, bytes.NewReader(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	gone := errors.New("the disk is gone")
	if _, err := ReadTrace(
		"x", io.MultiReader(bytes.NewReader(data[:len(data)-5]), failingReader{gone})); !errors.Is(err,
		gone) || errors.Is(err, ErrTraceCorrupt) {
		t.Errorf("a reader's error became %v", err)
	}
}

// claim makes the first block claim the greatest length of a block.
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
		{"keeps what is not there", strings.Replace(one, `"object"`, `"keep":["spec"],"object"`, 1),
			"not there"},
		{"keeps a field that is not there",
			one + "\n" + `{"type":"MODIFIED","r":0,"key":"a/one","keep":["metadata","spec"]}`, `no "spec"`},
		{"no metadata", strings.Replace(one, "metadata", "metaldata", 1), "metadata"},
		{"metadata of a strange shape", `{"type":"INITIAL","r":0,"key":"a/one","object":{"metadata":7}}`,
			"metadata"},
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

// withRecords is a file whose only block of records has the given text and a correct
// checksum.
func withRecords(t testing.TB, records string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewTraceWriter(&out,
		TraceHeader{Resources: []TraceResource{podsResource, deploymentsResource}})
	if err != nil {
		t.Fatal(err)
	}
	w.block.WriteString(records)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// storedRecords is withRecords without compression. A compressor clears most of a megabyte
// for each block, which costs more than the rest of the fuzzing.
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
	h := blockHeader{Mark: [4]byte([]byte(blockMark)), Kind: blockRecords, Index: 1,
		Raw: uint32(len(records)), Packed: uint32(packed.Len())}
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
		// In a file nearly every change is a broken checksum, so the records are also
		// fuzzed by themselves.
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
	w, err := NewTraceWriter(&failingWriter{left: 1000},
		TraceHeader{Resources: []TraceResource{podsResource}})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil && i < 1000; i++ {
		if err = w.Changed(0, 0, anObject(podsResource, fmt.Sprint("pod-", i), "u", i)); err == nil {
			err = w.Flush()
		}
	}
	if !errors.Is(err, errNoSpace) || !errors.Is(w.Close(0, ""), errNoSpace) ||
		!errors.Is(w.Gone(0, 0, "a/pod-0"), errNoSpace) {
		t.Errorf("got %v, and another error later", err)
	}
	if err := w.Initial(0, anObject(podsResource, "late", "u", 1)); !errors.Is(err, errNoSpace) {
		t.Errorf("Initial: %v", err)
	}
}
