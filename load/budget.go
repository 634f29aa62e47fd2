package load

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
)

// ErrTraceTooLarge means that reading a file would allocate more than its size allows:
// TraceMemoryMultiple bytes for each byte of the file, plus TraceMemoryFloor.
var ErrTraceTooLarge = errors.New(
	"reading it would take too much memory: unpack it first if it is compressed by gzip, or record " +
		"it again with this benchrun")

// The memory that reading a file may allocate. A decoded recording takes some hundred times
// the memory of its file, because of compression and maps. TraceWriter compresses less
// where it would take more. Without this bound, a crafted file of 64 KB took 2.4 GB.
const (
	TraceMemoryMultiple = 1000
	TraceMemoryFloor    = 32 << 20
)

// budget bounds the memory that reading a file allocates by the bytes read so far.
type budget struct {
	file *countingReader
	used int64
}

// newBudget makes a budget of zero bytes read. The file must be read through budget.file.
func newBudget(file io.Reader) *budget { return &budget{file: &countingReader{in: file}} }

// charge counts bytes that are about to be allocated.
func (b *budget) charge(bytes int64) error {
	b.used += bytes
	if limit := b.limit(); b.used > limit {
		return fmt.Errorf("more than %s for the %s read so far (%d times that, and %s): %w",
			humanize.IBytes(uint64(limit)), humanize.IBytes(uint64(b.file.n)), TraceMemoryMultiple,
			humanize.IBytes(TraceMemoryFloor), ErrTraceTooLarge)
	}
	return nil
}

func (b *budget) limit() int64 { return memoryLimit(b.file.n) }

// memoryLimit is the number of bytes that a reader may allocate after reading read bytes of
// a file.
func memoryLimit(read int64) int64 { return TraceMemoryFloor + TraceMemoryMultiple*read }

type countingReader struct {
	in io.Reader
	n  int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// chargedReader charges each decompressed byte. A line without end is therefore refused
// before the reader above has buffered it.
type chargedReader struct {
	in     io.Reader
	budget *budget
}

func (c *chargedReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if e := c.budget.charge(int64(n) * unzippedB); e != nil {
		return n, e
	}
	return n, err
}

// Estimates of the bytes that decoding allocates, garbage included.
// TestBombsAreRefusedInTime checks them against the measured allocations.
const (
	copies    = 4   // of each byte of a text: buffers that grow, strings
	unzippedB = 10  // for each decompressed byte: all of them may be one line
	objectB   = 512 // an object: a map and its first group of slots
	listB     = 64
	elementB  = 96 // a slot of a map or a list that grew, a boxed number
	eventB    = 512
	cloneB    = 96   // for each field of a copied map
	podEventB = 4096 // a whole pod, made for a line of a pod's life
	rowB      = 2048 // a row of a CSV: a pod and its events
	fieldB    = 160  // a field of a CSV
)

// jsonCost bounds the bytes that decoding a JSON text allocates, without decoding it.
func jsonCost(text []byte) int64 {
	cost := int64(len(text)) * copies
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			cost += objectB
		case c == '[':
			cost += listB
		case c == ',' || c == ':':
			cost += elementB
		}
	}
	return cost
}

// gzipMagic begins a gzip file.
var gzipMagic = []byte{0x1f, 0x8b}

// packers are the first bytes of files in unsupported packed formats, and the names of the
// formats.
var packers = map[string]string{"PK\x03\x04": "a zip archive",
	"\x28\xb5\x2f\xfd": "compressed by zstd", "BZh": "compressed by bzip2",
	"\xfd7zXZ": "compressed by xz"}

// packedBy returns the kind of a packed file by its first bytes, or "".
func packedBy(begin []byte) string {
	for magic, what := range packers {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return what
		}
	}
	return ""
}

// unzipped reads a file that may be compressed by gzip. For any other packed format the
// error names it.
func unzipped(name string, b *budget) (io.Reader, error) {
	in := bufio.NewReader(b.file)
	begin, err := in.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if what := packedBy(begin); what != "" {
		return nil, fmt.Errorf("%s is %s: unpack it first; gzip is read as it is", name, what)
	}
	if !bytes.HasPrefix(begin, gzipMagic) {
		return in, nil
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged gzip: %w", name, err)
	}
	return &chargedReader{zip, b}, nil
}
