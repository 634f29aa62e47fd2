package load

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TraceVersion is the version of the format that WriteTrace writes. ReadTrace
// refuses any other.
const TraceVersion = 1

const (
	traceFormat  = "informerbench-trace"
	maxTraceLine = 1 << 20
)

// What may be wrong with a trace file.
var (
	// ErrNotTrace: the file is something else.
	ErrNotTrace = errors.New("this is no trace: make one with benchrun trace import")
	// ErrTraceVersion: the file is of another version of the format.
	ErrTraceVersion = errors.New("the trace has another version of the format: import it again with this program")
	// ErrTraceTruncated: the end is missing.
	ErrTraceTruncated = errors.New("the trace's end is missing: copy or import it again")
	// ErrTraceCorrupt: something in it was changed.
	ErrTraceCorrupt = errors.New("the trace is damaged: copy or import it again")
)

// The lines of a file: one header, the events, one trailer with the SHA-256 of
// every byte before it. The whole is compressed by gzip.
type (
	traceHeader struct {
		Format   string  `json:"format"`
		Version  int     `json:"version"`
		Source   string  `json:"source"`
		Seed     uint64  `json:"seed"`
		Compress float64 `json:"compress"`
	}
	traceLine struct {
		At     *int64          `json:"at,omitempty"` // nanoseconds
		Type   TraceEventType  `json:"type,omitempty"`
		Pod    int             `json:"pod"`
		Node   string          `json:"node,omitempty"`
		Phase  corev1.PodPhase `json:"phase,omitempty"`
		Record *TracePod       `json:"record,omitempty"` // of a created event
	}
	traceTrailer struct {
		Events *int   `json:"events"`
		SHA256 string `json:"sha256"`
	}
)

// WriteTrace writes a trace in the format that ReadTrace reads. It refuses a
// trace that is not valid.
func WriteTrace(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	zip := gzip.NewWriter(w)
	sum := sha256.New()
	enc := json.NewEncoder(io.MultiWriter(zip, sum))
	err := enc.Encode(traceHeader{traceFormat, TraceVersion, t.Source, t.Seed, t.Compress})
	for _, e := range t.Events {
		if err != nil {
			break
		}
		at := int64(e.At)
		line := traceLine{At: &at, Type: e.Type, Pod: e.Pod, Node: e.Node, Phase: e.Phase}
		if e.Type == TraceCreated {
			line.Record = &t.Pods[e.Pod]
		}
		err = enc.Encode(line)
	}
	if err == nil {
		events := len(t.Events)
		err = json.NewEncoder(zip).Encode(traceTrailer{&events, hex.EncodeToString(sum.Sum(nil))})
	}
	if err = errors.Join(err, zip.Close()); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

// ReadTraceFile reads a trace from a file. See ReadTrace.
func ReadTraceFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	return ReadTrace(path, f)
}

// ReadTrace reads what WriteTrace wrote and checks all of it; a trace that it
// returns is complete and valid. name is the file's name in messages. The error
// is one of ErrNotTrace, ErrTraceVersion, ErrTraceTruncated and ErrTraceCorrupt,
// or one of the reader's.
func ReadTrace(name string, r io.Reader) (*Trace, error) {
	t := &traceReader{trace: &Trace{}, check: newTraceChecker()}
	if err := t.read(r); err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, err)
	}
	return t.trace, nil
}

type traceReader struct {
	trace *Trace
	check *traceChecker
	done  bool // the trailer was read
}

// unread says how far the reader came. The errors of the compression tell
// whether the end is missing or the middle was changed; any other is the reader's.
func (t *traceReader) unread(err error) error {
	var flateErr flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("truncated after event %d: %w", len(t.trace.Events), ErrTraceTruncated)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &flateErr):
		return t.damaged(err)
	default:
		return fmt.Errorf("after event %d: %w", len(t.trace.Events), err)
	}
}

func (t *traceReader) damaged(err error) error {
	return fmt.Errorf("damaged after event %d (%w): %w", len(t.trace.Events), err, ErrTraceCorrupt)
}

func (t *traceReader) read(r io.Reader) error {
	zip, err := gzip.NewReader(r)
	if errors.Is(err, gzip.ErrHeader) {
		return ErrNotTrace
	}
	if err != nil {
		return t.unread(err)
	}
	lines := bufio.NewReader(zip)
	sum := sha256.New()
	for n := 0; ; n++ {
		line, err := readLine(lines)
		switch {
		case t.done && len(line) > 0:
			return t.damaged(errors.New("something follows the trailer"))
		case t.done && errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errEndless):
			return t.damaged(err)
		case err != nil:
			return t.unread(err)
		case n == 0:
			err = t.header(line)
		default:
			if err = t.line(line, sum.Sum); err != nil {
				err = t.damaged(err)
			}
		}
		if err != nil {
			return err
		}
		_, _ = sum.Write(line) // never fails
	}
}

var errEndless = fmt.Errorf("a line is longer than %d bytes", maxTraceLine)

// readLine reads a line with its end, of a bounded length.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxTraceLine:
			return nil, errEndless
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

func (t *traceReader) header(line []byte) error {
	var h traceHeader
	if json.Unmarshal(line, &h) != nil || h.Format != traceFormat {
		return ErrNotTrace
	}
	if h.Version != TraceVersion {
		return fmt.Errorf("version %d, this program reads version %d: %w", h.Version, TraceVersion, ErrTraceVersion)
	}
	if !(h.Compress > 0) {
		return t.damaged(fmt.Errorf("compressed by %v", h.Compress))
	}
	t.trace.Source, t.trace.Seed, t.trace.Compress = h.Source, h.Seed, h.Compress
	return nil
}

func (t *traceReader) line(line []byte, sum func([]byte) []byte) error {
	if bytes.HasPrefix(line, []byte(`{"events":`)) {
		return t.trailer(line, sum(nil))
	}
	var l traceLine
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	if l.At == nil || (l.Record != nil) != (l.Type == TraceCreated) {
		return errors.New("the line is no event")
	}
	e := TraceEvent{At: time.Duration(*l.At), Type: l.Type, Pod: l.Pod, Node: l.Node, Phase: l.Phase}
	err := t.check.check(e, func(n int) TracePod {
		if l.Record != nil {
			return *l.Record
		}
		return t.trace.Pods[n]
	})
	if err != nil {
		return err
	}
	if l.Record != nil {
		t.trace.Pods = append(t.trace.Pods, *l.Record)
	}
	t.trace.Events = append(t.trace.Events, e)
	return nil
}

func (t *traceReader) trailer(line, sum []byte) error {
	var end traceTrailer
	if err := json.Unmarshal(line, &end); err != nil || end.Events == nil {
		return errors.New("the trailer is none")
	}
	if *end.Events != len(t.trace.Events) || end.SHA256 != hex.EncodeToString(sum) {
		return fmt.Errorf("the checksum over %d events does not fit", *end.Events)
	}
	t.done = true
	return nil
}
