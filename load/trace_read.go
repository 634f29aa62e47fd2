package load

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
)

// blockReader reads the blocks of a file one after the other.
type blockReader struct {
	in     *bufio.Reader
	trace  *Trace // nil until the header is read
	rules  *traceRules
	latest []map[string]*unstructured.Unstructured // the last version of each live object, by resource
	index  uint32
	offset int64 // of the current block
	ended  bool
	text   io.Writer // gets the lines of each intact block, if not nil
	raw    int64     // bytes of the blocks so far, unpacked
}

// readBlocks reads a file of TraceVersion from its first line on.
func readBlocks(in *bufio.Reader, text io.Writer) (*Trace, error) {
	offset, err := readMagic(in)
	if err != nil {
		return nil, err
	}
	r := &blockReader{in: in, offset: offset, text: text}
	for {
		err := r.next()
		if errors.Is(err, ErrTraceTooLarge) {
			return nil, fmt.Errorf("block %d, at byte %d of the file: %w", r.index, r.offset, err)
		}
		if errors.Is(err, io.EOF) {
			return r.trace, nil
		}
		if err != nil {
			return r.trace, r.damaged(err)
		}
	}
}

// damaged adds how far the reader came; errors that are not the file's fault stay
// unchanged.
func (r *blockReader) damaged(err error) error {
	var flateErr flate.CorruptInputError
	// of a file that is gzipped as a whole
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) ||
		errors.As(err, &flateErr) {
		err = corrupt("gzip: %w", err)
	}
	if !errors.Is(err, ErrTraceTruncated) && !errors.Is(err, ErrTraceCorrupt) {
		return err
	}
	d := &TraceDamage{Block: int(r.index), Offset: r.offset, Cause: err}
	if r.trace != nil {
		d.Initial, d.Events = len(r.trace.Initial), len(r.trace.Events)
		r.trace.Length = r.trace.Span()
	}
	return d
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w (%w)", ErrTraceCorrupt, fmt.Errorf(format, args...))
}

// next reads a block. io.EOF is the end of a complete file.
func (r *blockReader) next() error {
	var h blockHeader
	head := make([]byte, binary.Size(h))
	n, err := io.ReadFull(r.in, head)
	switch {
	case r.ended && n > 0:
		return corrupt("something follows the end")
	case r.ended && errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTraceTruncated
	case err != nil:
		return err
	}
	if _, err := binary.Decode(head, binary.BigEndian, &h); err != nil {
		return corrupt("header: %w", err)
	}
	if string(h.Mark[:]) != blockMark || h.Index != r.index || h.Raw > maxBlock ||
		h.Packed > 2*maxBlock {
		return corrupt("no block %d begins here", r.index)
	}
	// The buffer grows with the bytes read, not with the header's claim.
	var packed bytes.Buffer
	// the latter if the file is gzipped
	if _, err := io.CopyN(&packed, r.in, int64(h.Packed)); errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTraceTruncated
	} else if err != nil {
		return err
	}
	if h.sum(packed.Bytes()) != h.Sum {
		return corrupt("the checksum does not fit")
	}
	// From here on an error is the writer's: the block is as it was written.
	if r.raw += int64(h.Raw); r.raw > mostUnpacked {
		return ErrTraceTooLarge
	}
	var raw bytes.Buffer
	zip := flate.NewReader(&packed)
	if n, err := io.Copy(&raw, io.LimitReader(zip, int64(h.Raw)+1)); err != nil || n != int64(h.Raw) {
		return corrupt("%d bytes are packed, want %d: %v", n, h.Raw, err)
	}
	if err := r.block(h.Kind, raw.Bytes()); err != nil {
		return err
	}
	if r.text != nil {
		if _, err := r.text.Write(raw.Bytes()); err != nil {
			return err
		}
	}
	r.index++
	r.offset += int64(len(head)) + int64(h.Packed)
	return nil
}

func (r *blockReader) block(kind byte, raw []byte) error {
	switch {
	case kind == blockHead && r.index == 0:
		return r.header(raw)
	case kind == blockRecords && r.index > 0:
		return r.records(raw)
	case kind == blockEnd && r.index > 0:
		return r.end(raw)
	}
	return corrupt("a block of kind %q has no place here", kind)
}

// maxResources keeps a header from demanding unlimited memory.
const maxResources = 10_000

func (r *blockReader) header(raw []byte) error {
	var h TraceHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		return corrupt("header: %w", err)
	}
	if n := len(h.Resources); n == 0 || n > maxResources || !(h.Compress > 0) ||
		math.IsInf(h.Compress, 0) {
		return corrupt("a header of %d resources, compressed by %v", n, h.Compress)
	}
	h.Source = WithoutCredentials(h.Source) // an older recorder wrote the URL with credentials
	r.trace = &Trace{TraceHeader: h}
	r.rules = newTraceRules(len(h.Resources))
	for range h.Resources {
		r.latest = append(r.latest, map[string]*unstructured.Unstructured{})
	}
	return nil
}

// records adds a block of records to the trace, all of them or none.
func (r *blockReader) records(raw []byte) error {
	t := r.trace
	initial, events, notes := len(t.Initial), len(t.Events), len(t.Notes)
	n := 0
	for line := range bytes.Lines(raw) {
		var rec traceRecord
		err := json.Unmarshal(line, &rec)
		if err == nil {
			err = r.record(&rec)
		}
		if err != nil {
			t.Initial, t.Events, t.Notes = t.Initial[:initial], t.Events[:events], t.Notes[:notes]
			return corrupt("record %d: %w", n, err)
		}
		n++
	}
	return nil
}

func (r *blockReader) record(rec *traceRecord) error {
	t := r.trace
	if rec.Resource < 0 || rec.Resource >= len(t.Resources) {
		return fmt.Errorf("there is no resource %d", rec.Resource)
	}
	if rec.Type == recordNote {
		if rec.Note == nil || rec.Note.Resource != rec.Resource {
			return errors.New("a note that says nothing, or of another resource")
		}
		t.Notes = append(t.Notes, *rec.Note)
		return nil
	}
	e := TraceEvent{At: time.Duration(rec.At), Type: watch.EventType(rec.Type), Resource: rec.Resource,
		Key: rec.Key}
	if rec.Type == recordInitial {
		e.Type = watch.Added
	}
	obj, err := r.object(rec)
	if err != nil {
		return fmt.Errorf("%s: %w", rec.Key, err)
	}
	e.Object = obj
	if rec.Type == recordInitial {
		err = r.rules.initial(e)
		t.Initial = append(t.Initial, e)
	} else {
		err = r.rules.event(e)
		t.Events = append(t.Events, e)
	}
	if e.Type == watch.Deleted {
		delete(r.latest[e.Resource], e.Key)
	} else {
		r.latest[e.Resource][e.Key] = obj
	}
	return err
}

// object assembles a version from the changed and the unchanged fields.
func (r *blockReader) object(rec *traceRecord) (*unstructured.Unstructured, error) {
	before := r.latest[rec.Resource][rec.Key]
	if before == nil && (rec.Object == nil || len(rec.Keep) > 0) {
		return nil, errors.New("it stands on a version that is not there")
	}
	if rec.Object == nil && rec.Keep == nil {
		return &unstructured.Unstructured{Object: maps.Clone(before.Object)}, nil
	}
	obj := &unstructured.Unstructured{Object: make(map[string]any, len(rec.Object)+len(rec.Keep))}
	for _, field := range rec.Keep {
		value, ok := before.Object[field]
		if !ok {
			return nil, fmt.Errorf("the version before has no %q", field)
		}
		obj.Object[field] = value
	}
	for field, text := range rec.Object {
		var value any
		if err := utiljson.Unmarshal(text, &value); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		obj.Object[field] = value
	}
	metadata, ok := obj.Object["metadata"].(map[string]any)
	if name, _ := metadata["name"].(string); !ok || name == "" {
		return nil, errors.New("it has no metadata with a name")
	}
	return obj, nil
}

func (r *blockReader) end(raw []byte) error {
	var end traceEnd
	if err := json.Unmarshal(raw, &end); err != nil {
		return corrupt("end: %w", err)
	}
	t := r.trace
	if end.Initial != len(t.Initial) || end.Events != len(t.Events) || end.Length < t.Span() {
		return corrupt("it ends after %d objects and %d events, want %d and %d", len(t.Initial),
			len(t.Events), end.Initial, end.Events)
	}
	t.Length, t.Ended, r.ended = end.Length, end.Ended, true
	return nil
}
