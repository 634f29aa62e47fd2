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

// ErrTraceTooLarge is wrapped by the error of a file that would take more memory than
// its size allows: TraceMemoryMultiple bytes for each of its own, and TraceMemoryFloor.
var ErrTraceTooLarge = errors.New("reading it would take too much memory: unpack it first if it is compressed by gzip, or record it again with this benchrun")

// The memory that reading a file may allocate. Compression and the maps of decoded
// objects make honest recordings some hundred times as large as their files; TraceWriter
// compresses less where it would be more. 64 KB that were made for it could take 2.4 GB.
const (
	TraceMemoryMultiple = 1000
	TraceMemoryFloor    = 32 << 20
)

// budget bounds what reading a file allocates by the bytes of it that were read.
type budget struct {
	file *countingReader
	used int64
}

// newBudget begins to count what is read of a file; the file is read through budget.file.
func newBudget(file io.Reader) *budget { return &budget{file: &countingReader{in: file}} }

// charge takes bytes before they are allocated.
func (b *budget) charge(bytes int64) error {
	b.used += bytes
	if limit := b.limit(); b.used > limit {
		return fmt.Errorf("more than %s for the %s read so far (%d times that, and %s): %w", humanize.IBytes(uint64(limit)), humanize.IBytes(uint64(b.file.n)), TraceMemoryMultiple, humanize.IBytes(TraceMemoryFloor), ErrTraceTooLarge)
	}
	return nil
}

func (b *budget) limit() int64 { return memoryLimit(b.file.n) }

// memoryLimit is what reading so many bytes of a file may allocate.
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

// chargedReader charges what comes out of a compressed file, so that no reader above it
// gathers a line without end.
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

// What decoding allocates, with what is garbage soon: the test of the bombs holds
// these to what is measured.
const (
	copies    = 4   // of each byte of a text: buffers that grow, strings
	unzippedB = 10  // of each byte that comes out of gzip: it may all be one line
	objectB   = 512 // an object: a map and its first group of slots
	listB     = 64
	elementB  = 96 // a slot of a map or a list that grew, a boxed number
	eventB    = 512
	cloneB    = 96   // for each field of a map that is copied
	podEventB = 4096 // a whole pod, made for a line of a pod's life
	rowB      = 1024 // a row of a CSV: a pod and its events
)

// jsonCost is what decoding a JSON text takes at most, found without decoding it.
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

// packers begin files that have to be unpacked first.
var packers = map[string]string{"PK\x03\x04": "a zip archive", "\x28\xb5\x2f\xfd": "compressed by zstd", "BZh": "compressed by bzip2", "\xfd7zXZ": "compressed by xz"}

// packedBy says what a file is that begins so; "" if nothing that is known.
func packedBy(begin []byte) string {
	for magic, what := range packers {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return what
		}
	}
	return ""
}

// unzipped reads a file that may be compressed by gzip. One that is packed in
// another way is an error that says so.
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
