package load

import (
	"bytes"
	"cmp"
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

	"github.com/informerbench/informerbench/load/synthetic"
)

// TraceWriter writes a trace as it happens, a block at a time. Its records are safe once a
// Flush has returned without an error: they are then readable even if nothing more is
// written.
//
// It tracks the existing objects, so that every file follows the rules of a [Trace]. A
// changed object that was unknown is added. An object with another UID is a deletion and a
// new object. The deletion of an unknown object is ignored. For each live object it holds
// the key, UID, version and a digest of each field, not the object.
//
// Of a version it writes only the fields (metadata, spec, status...) that differ from the
// previous version. An event costs the JSON of the object and the compression of the
// changed fields.
//
// Its methods must not be called concurrently. After an error every call returns that
// error.
type TraceWriter struct {
	out    io.Writer
	header TraceHeader
	known  []map[string]*recordedVersion // by resource
	last   time.Duration
	block  bytes.Buffer // the records of the current block
	packed bytes.Buffer
	stats  TraceStats
	err    error
	zip    *flate.Writer
}

// TraceStats are the counts of a TraceWriter so far.
type TraceStats struct {
	Initial int   // objects at the start
	Events  int   // since
	Live    int   // objects that exist now
	Blocks  int   // written
	Bytes   int64 // written, without the current block
}

// recordedVersion is the last version of a live object.
type recordedVersion struct {
	uid     types.UID
	version string
	fields  map[string]digest
}

// digest is the beginning of a SHA-256, long enough that equal digests mean equal fields.
type digest [16]byte

// NewTraceWriter writes the header.
func NewTraceWriter(out io.Writer, header TraceHeader) (*TraceWriter, error) {
	header.Compress = cmp.Or(header.Compress, 1)
	if len(header.Resources) == 0 {
		return nil, fmt.Errorf("write the trace: it is about no resource")
	}
	w := &TraceWriter{out: out, header: header,
		known: make([]map[string]*recordedVersion, len(header.Resources))}
	for i := range w.known {
		w.known[i] = map[string]*recordedVersion{}
	}
	var err error
	if w.zip, err = flate.NewWriter(io.Discard, flate.DefaultCompression); err != nil {
		return nil, err
	}
	w.write([]byte(fmt.Sprintf("%s%d\n", traceMagic, TraceVersion)))
	w.json(header)
	w.cut(blockHead)
	return w, w.err
}

// Stats returns the counts so far.
func (w *TraceWriter) Stats() TraceStats { return w.stats }

// Known returns UID and resource version of a live object.
func (w *TraceWriter) Known(resource int, key string) (uid types.UID, version string, ok bool) {
	k, ok := w.known[resource][key]
	if !ok {
		return "", "", false
	}
	return k.uid, k.version, true
}

// Keys returns the keys of the live objects, sorted.
func (w *TraceWriter) Keys(resource int) []string {
	return slices.Sorted(maps.Keys(w.known[resource]))
}

// Initial writes an initial object. All of them come before the events.
func (w *TraceWriter) Initial(resource int, obj runtime.Object) error {
	if w.err == nil && w.stats.Events > 0 {
		return fmt.Errorf("write the trace: %s comes at the start, and there are events already",
			synthetic.Key(obj))
	}
	key := synthetic.Key(obj)
	if _, _, known := w.Known(resource, key); known {
		return fmt.Errorf("write the trace: %s is there at the start twice", key)
	}
	if w.version(0, recordInitial, resource, key, obj) {
		w.stats.Initial++
	}
	return w.err
}

// Changed writes the next or first version of an object. The writer decides whether that is
// an addition or a modification.
func (w *TraceWriter) Changed(at time.Duration, resource int, obj runtime.Object) error {
	key, kind := synthetic.Key(obj), watch.Modified
	uid, _, known := w.Known(resource, key)
	if known && uid != synthetic.Accessor(obj).GetUID() {
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
	key := synthetic.Key(obj)
	uid, _, known := w.Known(resource, key)
	if !known {
		return w.err
	}
	if uid != synthetic.Accessor(obj).GetUID() {
		// the known object went, and so did this one, which the trace never had
		return w.Gone(at, resource, key)
	}
	if w.version(at, string(watch.Deleted), resource, key, obj) {
		w.stats.Events++
		w.forget(resource, key)
	}
	return w.err
}

// Gone writes the deletion of an object whose last state is unknown: the state written last
// is used.
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

// Note writes a note of the recorder.
func (w *TraceWriter) Note(n TraceNote) error {
	n.At = time.Duration(w.time(n.At))
	w.record(traceRecord{At: int64(n.At), Type: recordNote, Resource: n.Resource, Note: &n})
	return w.err
}

// Flush writes the current block, unless it is empty.
func (w *TraceWriter) Flush() error {
	if w.block.Len() > 0 {
		w.cut(blockRecords)
	}
	return w.err
}

// Close writes the end, which completes the trace. It does not close the file.
func (w *TraceWriter) Close(length time.Duration, ended string) error {
	if err := w.Flush(); err != nil {
		return err
	}
	w.json(traceEnd{Initial: w.stats.Initial, Events: w.stats.Events, Length: max(length, w.last),
		Ended: ended})
	w.cut(blockEnd)
	if w.err != nil {
		return w.err
	}
	w.err = fmt.Errorf("write the trace: it is closed")
	return nil
}

// time makes the times of events non-decreasing, in the order of writing.
func (w *TraceWriter) time(at time.Duration) int64 {
	w.last = max(w.last, at)
	return int64(w.last)
}

// version writes the changed fields of an object. It reports whether it did.
func (w *TraceWriter) version(at time.Duration, kind string, resource int, key string,
	obj runtime.Object) bool {
	if w.err != nil {
		return false
	}
	object, err := asMap(obj, w.header.Resources[resource])
	if err != nil {
		w.err = fmt.Errorf("write the trace: %s: %w", key, err)
		return false
	}
	r := traceRecord{At: w.time(at), Type: kind, Resource: resource, Key: key,
		Object: map[string]json.RawMessage{}}
	before := w.known[resource][key]
	m := synthetic.Accessor(obj)
	now := &recordedVersion{uid: m.GetUID(), version: m.GetResourceVersion(),
		fields: make(map[string]digest, len(object))}
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
		err = fmt.Errorf("a record of %d bytes is longer than the %d that are allowed", n,
			maxBlock-blockSize)
	}
	if err != nil {
		w.block.Truncate(before)
		w.err = fmt.Errorf("write the trace: %w", err)
	}
}

// pack compresses the block.
func (w *TraceWriter) pack() error {
	w.packed.Reset()
	w.zip.Reset(&w.packed)
	if _, err := w.zip.Write(w.block.Bytes()); err != nil {
		return err
	}
	return w.zip.Close()
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
	h := blockHeader{Mark: [4]byte([]byte(blockMark)), Kind: kind, Index: uint32(w.stats.Blocks),
		Raw: uint32(w.block.Len()), Packed: uint32(w.packed.Len())}
	h.Sum = h.sum(w.packed.Bytes())
	head, err := binary.Append(nil, binary.BigEndian, h)
	if err != nil {
		w.err = fmt.Errorf("write the trace: %w", err)
		return
	}
	// in one call, so that a block is mostly written whole or not at all
	w.write(append(head, w.packed.Bytes()...))
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
