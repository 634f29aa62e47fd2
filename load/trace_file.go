package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/internal/input"
)

// TraceVersion is the version of the format that WriteTrace writes: whole objects of any
// resource. ReadTrace reads it and PodTraceVersion.
//
// A file is the line "informerbench-trace 2", followed by blocks: the header's, those of
// the records, the end's. A block is a blockHeader, all numbers big endian, and the DEFLATE
// of lines of JSON. A growing file is therefore always readable up to its last block, and
// damage costs only the blocks from there on.
const TraceVersion = 2

const traceMagic = traceFormat + " "

// The defects of a trace file.
var (
	// ErrNotTrace: the file is something else.
	ErrNotTrace = errors.New(
		"not a trace file: make one with benchrun record or benchrun trace import")
	// ErrTraceVersion: the file is of another version of the format.
	ErrTraceVersion = errors.New(
		"the trace has another version of the format: make it again with this program")
	// ErrTraceTruncated: the end is missing.
	ErrTraceTruncated = errors.New("the trace's end is missing: copy or make it again")
	// ErrTraceCorrupt: the contents were changed.
	ErrTraceCorrupt = errors.New("the trace is damaged: copy or make it again")
)

// TraceDamage says how far a damaged file could be read. It wraps ErrTraceTruncated or
// ErrTraceCorrupt.
type TraceDamage struct {
	Block   int   // the first lost block; 0 is the header's
	Offset  int64 // of that block in the file, in bytes
	Initial int   // initial objects that were saved
	Events  int   // events that were saved
	Cause   error
}

// Error names block and offset, the saved part, and the commands that can use it.
func (d *TraceDamage) Error() string {
	saved := "nothing is saved"
	if d.Block > 0 {
		saved = fmt.Sprintf(
			"saved are the %d objects and %d events before it; benchrun trace salvage makes a whole "+
				"trace of them", d.Initial, d.Events)
	}
	return fmt.Sprintf("block %d, at byte %d of the file: %v; %s", d.Block, d.Offset, d.Cause, saved)
}

// Unwrap gives the cause.
func (d *TraceDamage) Unwrap() error { return d.Cause }

// blockMark begins every block.
const blockMark = "IBTR"

// The kinds of blocks, in their order in a file.
const (
	blockHead    = 'H' // one: a TraceHeader
	blockRecords = 'R' // traceRecords
	blockEnd     = 'E' // one: a traceEnd
)

// blockHeader precedes a block's DEFLATE, as encoding/binary writes it.
type blockHeader struct {
	Mark   [4]byte
	Kind   byte
	Pad    [3]byte // zero
	Index  uint32  // from 0, so that a missing or misplaced block is noticed
	Raw    uint32  // bytes before compression
	Packed uint32  // bytes after compression
	Sum    uint32  // CRC-32C of the fields above and of the packed bytes
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	// blockSize is the size, in bytes of JSON, at which a block is closed.
	blockSize = 1 << 20
	// maxBlock bounds the memory that a block may demand of a reader. It also bounds an
	// object: etcd refuses those above 1.5 MB.
	maxBlock = 64 << 20
)

// traceRecord is a line of a block of records.
type traceRecord struct {
	At       int64  `json:"at,omitempty"` // nanoseconds
	Type     string `json:"type"`         // a watch.EventType, recordInitial or recordNote
	Resource int    `json:"r"`
	Key      string `json:"key,omitempty"`
	// Keep names the object's fields that are unchanged from its previous version. A
	// deletion without Object and Keep has the last state.
	Keep   []string                   `json:"keep,omitempty"`
	Object map[string]json.RawMessage `json:"object,omitempty"`
	Note   *TraceNote                 `json:"note,omitempty"`
}

const (
	recordInitial = "INITIAL"
	recordNote    = "NOTE"
)

// traceEnd is in the last block. Its numbers must be those of the file.
type traceEnd struct {
	Initial int           `json:"initial"`
	Events  int           `json:"events"`
	Length  time.Duration `json:"length"`
	Ended   string        `json:"ended,omitempty"`
}

// WriteTrace writes a whole trace. It refuses an invalid one. Objects that are not
// unstructured are written as JSON, and read back as unstructured.
func WriteTrace(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	out, err := NewTraceWriter(w, t.TraceHeader)
	if err != nil {
		return err
	}
	for _, e := range t.Initial {
		if err := out.Initial(e.Resource, e.Object); err != nil {
			return err
		}
	}
	notes := t.Notes
	for _, e := range t.Events {
		for ; len(notes) > 0 && notes[0].At < e.At; notes = notes[1:] {
			if err := out.Note(notes[0]); err != nil {
				return err
			}
		}
		if e.Type == watch.Deleted {
			err = out.Deleted(e.At, e.Resource, e.Object)
		} else {
			err = out.Changed(e.At, e.Resource, e.Object)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range notes {
		if err := out.Note(n); err != nil {
			return err
		}
	}
	return out.Close(t.Length, t.Ended)
}

// ReadTraceFile reads a trace from a file. See ReadTrace.
func ReadTraceFile(path string) (*Trace, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	defer f.Close() // only read: nothing can be lost
	return ReadTrace(path, f)
}

// ReadTrace reads and checks the output of WriteTrace, a [TraceWriter] or WritePodTrace.
// name is the file's name in messages. A trace returned without an error is complete and
// valid.
//
// The error is one of ErrNotTrace, ErrTraceVersion, ErrTraceTruncated, ErrTraceCorrupt and
// ErrTraceTooLarge, or one of the reader's. If it is a *TraceDamage of a block after the
// header's, the returned trace is not nil. It is the part before the damage and is valid.
//
// A recording may also be compressed by gzip.
//
// The whole trace is in memory. The parts of an object that an event does not change are
// shared.
func ReadTrace(name string, r io.Reader) (*Trace, error) {
	t, err := readTrace(r, nil)
	if err != nil {
		return t, fmt.Errorf("trace %s: %w", name, err)
	}
	return t, nil
}

// CatTrace reads a trace as ReadTrace does and writes the file's decompressed lines of JSON
// to w, for a look at a trace before passing it on. Of a damaged recording it writes the
// part before the damage.
func CatTrace(w io.Writer, name string, r io.Reader) error {
	if _, err := readTrace(r, w); err != nil {
		return fmt.Errorf("trace %s: %w", name, err)
	}
	return nil
}

func readTrace(file io.Reader, text io.Writer) (*Trace, error) {
	r := bufio.NewReaderSize(file, 1<<16)
	begin, err := r.Peek(len(traceMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if isBlocks(begin) {
		return readBlocks(r, text)
	}
	if what := packedBy(begin); what != "" {
		return nil, fmt.Errorf("it is %s: unpack it first: %w", what, ErrNotTrace)
	}
	pods := &podTraceReader{trace: &PodTrace{}, check: newPodChecker(0), text: text}
	lines, err := pods.open(r)
	if err != nil {
		return nil, err
	}
	if begin, _ := lines.Peek(len(traceMagic)); isBlocks(begin) { // errors in the rest are found below
		return readBlocks(lines, text)
	}
	if err := pods.read(lines); err != nil {
		return nil, err
	}
	return pods.trace.Trace(), nil
}

func isBlocks(begin []byte) bool {
	return len(begin) > 0 && strings.HasPrefix(traceMagic, string(begin))
}

func otherVersion(version string) error {
	return fmt.Errorf("version %s, this program reads versions %d and %d: %w", version,
		PodTraceVersion, TraceVersion, ErrTraceVersion)
}

// readMagic reads the first line.
func readMagic(r *bufio.Reader) (int64, error) {
	line, err := r.ReadSlice('\n')
	if err != nil && len(line) <= len(traceMagic)+4 {
		return 0, &TraceDamage{Cause: ErrTraceTruncated}
	}
	version, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte(traceMagic))
	switch {
	case err != nil || !ok:
		return 0, ErrNotTrace
	case string(version) != fmt.Sprint(TraceVersion):
		return 0, otherVersion(fmt.Sprintf("%q", version))
	}
	return int64(len(line)), nil
}
