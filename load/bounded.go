package load

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// mostUnpacked is the most bytes of text that one file may hold, unpacked: far above those of
// a recording that fits in memory, which takes several times as much.
const mostUnpacked = 2 << 30

// ErrTraceTooLarge means that a file, or a line of it, is longer than any that is meant to be
// read. It keeps a small packed file from filling the memory.
var ErrTraceTooLarge = fmt.Errorf(
	"it is longer than the %d GiB of text, %d MiB in a line, that are read: record for a shorter "+
		"time, or fewer resources", mostUnpacked>>30, maxTraceLine>>20)

// bounded reads mostUnpacked bytes at most, and maxTraceLine of them since line was set.
type bounded struct {
	in         io.Reader
	file, line int64 // bytes that may still be read
}

func newBounded(in io.Reader) *bounded { return &bounded{in, mostUnpacked, mostUnpacked} }

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.file, b.line = b.file-int64(n), b.line-int64(n)
	if b.file < 0 || b.line < 0 {
		return 0, ErrTraceTooLarge
	}
	return n, err
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
func unzipped(name string, file io.Reader) (*bounded, error) {
	in := bufio.NewReader(file)
	begin, err := in.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if what := packedBy(begin); what != "" {
		return nil, fmt.Errorf("%s is %s: unpack it first; gzip is read as it is", name, what)
	}
	if !bytes.HasPrefix(begin, gzipMagic) {
		return newBounded(in), nil
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged gzip: %w", name, err)
	}
	return newBounded(zip), nil
}
