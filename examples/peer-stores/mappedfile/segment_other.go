//go:build !unix

package mappedfile

import (
	"errors"
	"fmt"
	"runtime"
)

func newSegment(string, int) (*segment, error) {
	return nil, fmt.Errorf("mapped files on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (s *segment) close() error { return s.file.Close() }
