//go:build unix

package mappedfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// newSegment maps a new file that has no name any more, so that it goes with the process.
func newSegment(dir string, slot int) (*segment, error) {
	f, err := os.CreateTemp(dir, "mappedfile-*")
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Remove(f.Name()), f.Truncate(segmentBytes))
	var mem []byte
	if err == nil {
		mem, err = unix.Mmap(int(f.Fd()), 0, segmentBytes, unix.PROT_READ, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &segment{file: f, mem: mem, slot: slot}, nil
}

func (s *segment) close() error { return errors.Join(unix.Munmap(s.mem), s.file.Close()) }
