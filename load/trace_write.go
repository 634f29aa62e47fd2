package load

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// TraceWriter writes a trace as it happens, a block at a time. What it is given is
// safe once a Flush has returned without an error: a reader gets at it even if
// nothing is written any more.
//
// It knows which objects exist, so that every file keeps the rules of a [Trace]: an
// object that is changed and was not known is added, one that comes with another
// UID is a deletion and a new object, a deletion of what is not known is nothing. For
// each live object it holds the key, UID, version and a digest for each field, not the object.
//
// Of a version it writes the fields (metadata, spec, status...) that are not as they
// were in the version before. An event costs the JSON of the object and the
// compression of what changed.
//
// One goroutine at a time may call its methods. After an error every call returns it.
type TraceWriter struct {
	out    io.Writer
	header TraceHeader
	known  []map[string]*recordedVersion // by resource
	last   time.Duration
	block  bytes.Buffer // the records of the block that is being filled
	packed bytes.Buffer
	cost   int64 // what reading all of it charges its budget, up to the last block
	stats  TraceStats
	err    error

	zip, huffman, stored *flate.Writer // of the usual compression, of little and of none
}

// TraceStats is what a TraceWriter was given so far.
type TraceStats struct {
	Initial int   // objects at the start
	Events  int   // since
	Live    int   // objects that exist now
	Blocks  int   // written
	Bytes   int64 // written; what waits for its block is not among them
}

// recordedVersion is the last version of an object that lives.
type recordedVersion struct {
	uid     types.UID
	version string
	fields  map[string]digest
}

// digest is the beginning of a SHA-256: long enough for equality to mean equality.
type digest [16]byte

// NewTraceWriter writes the header.
func NewTraceWriter(out io.Writer, header TraceHeader) (*TraceWriter, error) {
	if header.Compress == 0 {
		header.Compress = 1
	}
	if len(header.Resources) == 0 {
		return nil, fmt.Errorf("write the trace: it is about no resource")
	}
	w := &TraceWriter{out: out, header: header, known: make([]map[string]*recordedVersion, len(header.Resources))}
	for i := range w.known {
		w.known[i] = map[string]*recordedVersion{}
	}
	for level, zip := range map[int]**flate.Writer{flate.DefaultCompression: &w.zip, flate.HuffmanOnly: &w.huffman, flate.NoCompression: &w.stored} {
		var err error
		if *zip, err = flate.NewWriter(io.Discard, level); err != nil {
			return nil, err
		}
	}
	w.write([]byte(fmt.Sprintf("%s%d\n", traceMagic, TraceVersion)))
	w.json(header)
	w.cut(blockHead)
	return w, w.err
}

// Stats returns what was written so far.
func (w *TraceWriter) Stats() TraceStats { return w.stats }

// Known returns UID and resource version of an object that lives.
func (w *TraceWriter) Known(resource int, key string) (uid types.UID, version string, ok bool) {
	k, ok := w.known[resource][key]
	if !ok {
		return "", "", false
	}
	return k.uid, k.version, true
}

// Keys returns the keys of the objects that live, sorted.
func (w *TraceWriter) Keys(resource int) []string {
	return slices.Sorted(maps.Keys(w.known[resource]))
}

// Initial writes an object that is there at the start. It comes before all events.
func (w *TraceWriter) Initial(resource int, obj runtime.Object) error {
	if w.err == nil && w.stats.Events > 0 {
		return fmt.Errorf("write the trace: %s comes at the start, and there are events already", Key(obj))
	}
	key := Key(obj)
	if _, _, known := w.Known(resource, key); known {
		return fmt.Errorf("write the trace: %s is there at the start twice", key)
	}
	if w.version(0, recordInitial, resource, key, obj) {
		w.stats.Initial++
	}
	return w.err
}

// Changed writes the next version of an object, or its first: whether it is added or
// modified the writer knows.
func (w *TraceWriter) Changed(at time.Duration, resource int, obj runtime.Object) error {
	key, kind := Key(obj), watch.Modified
	uid, _, known := w.Known(resource, key)
	if known && uid != accessor(obj).GetUID() {
		if err := w.Gone(at, resource, key); err != nil {
			return err
		}
		known = false
	}
	if !known {
		kind = watch.Added
	}
	if w.version(at, string(kind), resource, key, obj) {
		w.stats.Events++
	}
	return w.err
}

// Deleted writes the deletion of an object, with its last state.
func (w *TraceWriter) Deleted(at time.Duration, resource int, obj runtime.Object) error {
	key := Key(obj)
	uid, _, known := w.Known(resource, key)
	if !known {
		return w.err
	}
	if uid != accessor(obj).GetUID() {
		return w.Gone(at, resource, key) // what was known went, and so did this, which nobody saw
	}
	if w.version(at, string(watch.Deleted), resource, key, obj) {
		w.stats.Events++
		w.forget(resource, key)
	}
	return w.err
}

// Gone writes the deletion of an object whose last state nobody saw: it is the last
// that was written.
func (w *TraceWriter) Gone(at time.Duration, resource int, key string) error {
	if _, _, known := w.Known(resource, key); !known {
		return w.err
	}
	w.record(traceRecord{At: w.time(at), Type: string(watch.Deleted), Resource: resource, Key: key})
	if w.err == nil {
		w.stats.Events++
		w.forget(resource, key)
	}
	return w.err
}

func (w *TraceWriter) forget(resource int, key string) {
	delete(w.known[resource], key)
	w.stats.Live--
}

// Note writes what the recorder met with.
func (w *TraceWriter) Note(n TraceNote) error {
	n.At = time.Duration(w.time(n.At))
	w.record(traceRecord{At: int64(n.At), Type: recordNote, Resource: n.Resource, Note: &n})
	return w.err
}

// Flush writes the block that is being filled, if there is anything in it.
func (w *TraceWriter) Flush() error {
	if w.block.Len() > 0 {
		w.cut(blockRecords)
	}
	return w.err
}

// Close writes the end: the trace is whole. It does not close the file.
func (w *TraceWriter) Close(length time.Duration, ended string) error {
	if err := w.Flush(); err != nil {
		return err
	}
	w.json(traceEnd{Initial: w.stats.Initial, Events: w.stats.Events, Length: max(length, w.last), Ended: ended})
	w.cut(blockEnd)
	if w.err != nil {
		return w.err
	}
	w.err = fmt.Errorf("write the trace: it is closed")
	return nil
}

// time keeps the events in the order in which they are written.
func (w *TraceWriter) time(at time.Duration) int64 {
	w.last = max(w.last, at)
	return int64(w.last)
}

// version writes the fields of an object that are not as they were. It reports
// whether it did.
func (w *TraceWriter) version(at time.Duration, kind string, resource int, key string, obj runtime.Object) bool {
	if w.err != nil {
		return false
	}
	object, err := asMap(obj, w.header.Resources[resource])
	if err != nil {
		w.err = fmt.Errorf("write the trace: %s: %w", key, err)
		return false
	}
	r := traceRecord{At: w.time(at), Type: kind, Resource: resource, Key: key, Object: map[string]json.RawMessage{}}
	before := w.known[resource][key]
	m := accessor(obj)
	now := &recordedVersion{uid: m.GetUID(), version: m.GetResourceVersion(), fields: make(map[string]digest, len(object))}
	for field, value := range object {
		text, err := json.Marshal(value)
		if err != nil {
			w.err = fmt.Errorf("write the trace: %s: %s: %w", key, field, err)
			return false
		}
		sum := sha256.Sum256(text)
		now.fields[field] = digest(sum[:])
		if before != nil && before.fields[field] == now.fields[field] {
			r.Keep = append(r.Keep, field)
		} else {
			r.Object[field] = text
		}
	}
	slices.Sort(r.Keep)
	w.record(r)
	if w.err != nil {
		return false
	}
	if before == nil {
		w.stats.Live++
	}
	w.known[resource][strings.Clone(key)] = now
	return true
}

// asMap is an object as a map, with its kind. The map may be the object's own.
func asMap(obj runtime.Object, resource TraceResource) (map[string]any, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	object["apiVersion"], object["kind"] = resource.GVK().ToAPIVersionAndKind()
	return object, nil
}

// record adds a record to the block, and writes the block if that fills it.
func (w *TraceWriter) record(r traceRecord) {
	if r.Object == nil && r.Keep == nil && r.Type != recordNote {
		w.cost += int64(len(w.known[r.Resource][r.Key].fields)) * cloneB // the reader copies the last version
	}
	w.json(r)
	if w.block.Len() >= blockSize {
		w.cut(blockRecords)
	}
}

// json adds a line to the block.
func (w *TraceWriter) json(v any) {
	if w.err != nil {
		return
	}
	before := w.block.Len()
	err := json.NewEncoder(&w.block).Encode(v)
	if n := w.block.Len() - before; err == nil && n > maxBlock-blockSize {
		err = fmt.Errorf("a record of %d bytes is longer than the %d that are allowed", n, maxBlock-blockSize)
	}
	if err != nil {
		w.block.Truncate(before)
		w.err = fmt.Errorf("write the trace: %w", err)
	}
}

// pack compresses the block. The versions of a large object that changes often compress
// several hundred times, and reading them takes more memory than ReadTrace allows for a
// file of that size. Such a block is compressed less, so that every file can be read.
func (w *TraceWriter) pack() error {
	w.cost += int64(w.block.Len()) * copies
	for line := range bytes.Lines(w.block.Bytes()) {
		w.cost += jsonCost(line) + eventB
	}
	for _, zip := range []*flate.Writer{w.zip, w.huffman, w.stored} {
		w.packed.Reset()
		zip.Reset(&w.packed)
		if _, err := zip.Write(w.block.Bytes()); err != nil {
			return err
		}
		if err := zip.Close(); err != nil {
			return err
		}
		// A quarter of the limit stays free.
		if w.cost <= memoryLimit(w.stats.Bytes+int64(w.packed.Len()))/4*3 {
			break
		}
	}
	return nil
}

// cut writes the block.
func (w *TraceWriter) cut(kind byte) {
	if w.err != nil {
		return
	}
	if err := w.pack(); err != nil {
		w.err = fmt.Errorf("write the trace: %w", err)
		return
	}
	h := blockHeader{Mark: [4]byte([]byte(blockMark)), Kind: kind, Index: uint32(w.stats.Blocks), Raw: uint32(w.block.Len()), Packed: uint32(w.packed.Len())}
	h.Sum = h.sum(w.packed.Bytes())
	head, err := binary.Append(nil, binary.BigEndian, h)
	if err != nil {
		w.err = fmt.Errorf("write the trace: %w", err)
		return
	}
	w.write(append(head, w.packed.Bytes()...)) // in one call, so that a block is mostly there or not
	w.stats.Blocks++
	w.block.Reset()
}

func (w *TraceWriter) write(data []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(data)
	w.stats.Bytes += int64(n)
	if err != nil {
		w.err = fmt.Errorf("write the trace: %w", err)
	}
}

// sum is the checksum over a block's header and packed bytes.
func (h blockHeader) sum(packed []byte) uint32 {
	h.Sum = 0
	head, err := binary.Append(nil, binary.BigEndian, h)
	if err != nil {
		panic(fmt.Sprintf("load: a header of fixed size cannot be encoded: %v", err))
	}
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, packed)
}
