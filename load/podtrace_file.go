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
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// PodTraceVersion is the version of the format that WritePodTrace writes, in which a line
// is an event of a pod's life. Files of TraceVersion hold whole objects of a cluster.
// ReadTrace reads both.
const PodTraceVersion = 1

const (
	traceFormat  = "informerbench-trace"
	maxTraceLine = 1 << 20
)

// The lines of a file: one header, the events, one trailer with the SHA-256 of
// every byte before it. The whole is compressed by gzip.
type (
	podTraceHeader struct {
		Format   string  `json:"format"`
		Version  int     `json:"version"`
		Source   string  `json:"source"`
		Seed     uint64  `json:"seed"`
		Compress float64 `json:"compress"`
		Initial  int     `json:"initial,omitempty"` // older readers replay these events at 0
	}
	podTraceLine struct {
		At     *int64          `json:"at,omitempty"` // nanoseconds
		Type   PodEventType    `json:"type,omitempty"`
		Pod    int             `json:"pod"`
		Node   string          `json:"node,omitempty"`
		Phase  corev1.PodPhase `json:"phase,omitempty"`
		Record *TracePod       `json:"record,omitempty"` // of a created event
	}
	podTraceTrailer struct {
		Events *int   `json:"events"`
		SHA256 string `json:"sha256"`
	}
)

// WritePodTrace writes a trace in a format that ReadTrace reads. It refuses an invalid
// trace.
func WritePodTrace(w io.Writer, t *PodTrace) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	zip, sum := gzip.NewWriter(w), sha256.New()
	enc := json.NewEncoder(io.MultiWriter(zip, sum))
	err := enc.Encode(podTraceHeader{traceFormat, PodTraceVersion, t.Source, t.Seed, t.Compress,
		t.Initial})
	for _, e := range t.Events {
		if err != nil {
			break
		}
		at := int64(e.At)
		line := podTraceLine{At: &at, Type: e.Type, Pod: e.Pod, Node: e.Node, Phase: e.Phase}
		if e.Type == TraceCreated {
			line.Record = &t.Pods[e.Pod]
		}
		err = enc.Encode(line)
	}
	if err == nil {
		events := len(t.Events)
		err = json.NewEncoder(zip).Encode(podTraceTrailer{&events, hex.EncodeToString(sum.Sum(nil))})
	}
	if err = errors.Join(err, zip.Close()); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

// podTraceReader reads and checks the output of WritePodTrace; a trace read without an
// error is complete and valid. text, if not nil, gets the lines.
type podTraceReader struct {
	trace *PodTrace
	check *podChecker
	done  bool // the trailer was read
	text  io.Writer
}

// unread says how far the reader came. The decompressor's errors tell whether the end is
// missing or the middle was changed; any other error is the reader's.
func (t *podTraceReader) unread(err error) error {
	var flateErr flate.CorruptInputError
	switch {
	case errors.Is(err, ErrTraceTooLarge):
		return fmt.Errorf("line %d: %w", len(t.trace.Events)+2, err) // the first is the header
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("truncated after event %d: %w", len(t.trace.Events), ErrTraceTruncated)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &flateErr):
		return t.damaged(err)
	default:
		return fmt.Errorf("after event %d: %w", len(t.trace.Events), err)
	}
}

func (t *podTraceReader) damaged(err error) error {
	return fmt.Errorf("damaged after event %d (%w): %w", len(t.trace.Events), err, ErrTraceCorrupt)
}

// open begins to decompress.
func (t *podTraceReader) open(r io.Reader) (*bufio.Reader, error) {
	zip, err := gzip.NewReader(r)
	if errors.Is(err, gzip.ErrHeader) {
		return nil, ErrNotTrace
	}
	if err != nil {
		return nil, t.unread(err)
	}
	return bufio.NewReader(newBounded(zip)), nil
}

func (t *podTraceReader) read(lines *bufio.Reader) error {
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
		if t.text != nil {
			if _, err := t.text.Write(line); err != nil {
				return err
			}
		}
	}
}

var errEndless = fmt.Errorf("a line is longer than %d bytes", maxTraceLine)

// readLine reads a line of bounded length, including its end.
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

func (t *podTraceReader) header(line []byte) error {
	var h podTraceHeader
	if json.Unmarshal(line, &h) != nil || h.Format != traceFormat {
		return ErrNotTrace
	}
	if h.Version != PodTraceVersion {
		return otherVersion(strconv.Itoa(h.Version))
	}
	if !(h.Compress > 0) || h.Initial < 0 {
		return t.damaged(fmt.Errorf("compressed by %v, %d events of the start", h.Compress, h.Initial))
	}
	t.trace.Initial, t.check.initial = h.Initial, h.Initial
	t.trace.Source, t.trace.Seed, t.trace.Compress = WithoutCredentials(h.Source), h.Seed, h.Compress
	return nil
}

func (t *podTraceReader) line(line []byte, sum func([]byte) []byte) error {
	if bytes.HasPrefix(line, []byte(`{"events":`)) {
		return t.trailer(line, sum(nil))
	}
	var l podTraceLine
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	if l.At == nil || (l.Record != nil) != (l.Type == TraceCreated) {
		return errors.New("the line is no event")
	}
	e := PodEvent{At: time.Duration(*l.At), Type: l.Type, Pod: l.Pod, Node: l.Node, Phase: l.Phase}
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

func (t *podTraceReader) trailer(line, sum []byte) error {
	var end podTraceTrailer
	if err := json.Unmarshal(line, &end); err != nil || end.Events == nil {
		return errors.New("the trailer is none")
	}
	if *end.Events != len(t.trace.Events) || end.SHA256 != hex.EncodeToString(sum) {
		return fmt.Errorf("the checksum over %d events does not fit", *end.Events)
	}
	if t.check.initial > 0 {
		return fmt.Errorf("%d events of the start are missing", t.check.initial)
	}
	t.done = true
	return nil
}
