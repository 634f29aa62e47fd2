// Package input opens what a user names as input: a file, a pipe or - for standard input. What
// would never end, or never begin, is an error.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Limit is the most that is read of one input, in bytes.
const Limit = 4 << 30

// silence is how long a pipe may bring nothing.
const silence = 5 * time.Second

// Open opens a file of at most Limit bytes, or reads a pipe, or standard input for "-", to its end.
// The error says what else path is: a folder, a device, a socket; or that nothing came for five
// seconds, that more than Limit did, or that the program was interrupted.
func Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return pipe("standard input", func() (io.Reader, error) { return os.Stdin, nil })
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return open(path, info)
	case mode&os.ModeNamedPipe != 0:
		return pipe(path, func() (io.Reader, error) { return os.Open(path) })
	default:
		return nil, fmt.Errorf("%s is %s: give a file, a pipe or - for standard input", path, what(mode))
	}
}

// OpenFile is Open of a file alone: for what is read more than once.
func OpenFile(path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s, and it is read more than once: save it as a file first", path,
			what(info.Mode()))
	}
	return open(path, info)
}

// ReadFile reads what Open opens.
func ReadFile(path string) ([]byte, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close() // only read: nothing can be lost
	return io.ReadAll(r)
}

func open(path string, info os.FileInfo) (io.ReadCloser, error) {
	if info.Size() > Limit {
		return nil, tooLarge(path)
	}
	return os.Open(path)
}

func tooLarge(name string) error {
	return fmt.Errorf("%s has more than %d GiB, which no input of this program has", name, Limit>>30)
}

func what(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&os.ModeDevice != 0:
		return "a device"
	case mode&os.ModeSocket != 0:
		return "a socket"
	case mode&os.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "no regular file"
}

// pipe is drain until the program is interrupted.
func pipe(name string, open func() (io.Reader, error)) (io.ReadCloser, error) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupted)
	return drain(interrupted, name, open)
}

// drain reads a pipe to its end. To open one or to read from it may take for ever, so a goroutine
// does it, which is left behind on an error: the program is about to end.
func drain(interrupted <-chan os.Signal, name string,
	open func() (io.Reader, error)) (io.ReadCloser, error) {
	type piece struct {
		bytes []byte
		err   error
	}
	pieces, over := make(chan piece), make(chan struct{})
	defer close(over)
	go func() {
		f, err := open()
		for err == nil {
			p := piece{bytes: make([]byte, 64<<10)}
			var n int
			n, err = f.Read(p.bytes)
			p.bytes = p.bytes[:n]
			select {
			case pieces <- p:
			case <-over:
				return
			}
		}
		select {
		case pieces <- piece{err: err}:
		case <-over:
		}
	}()
	var all bytes.Buffer
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		select {
		case p := <-pieces:
			if errors.Is(p.err, io.EOF) {
				return io.NopCloser(&all), nil
			}
			if p.err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, p.err)
			}
			if all.Write(p.bytes); int64(all.Len()) > Limit {
				return nil, tooLarge(name)
			}
			timer.Reset(silence)
		case <-timer.C:
			return nil, fmt.Errorf("%s brought nothing for %s: does a program write to it?", name, silence)
		case <-interrupted:
			return nil, fmt.Errorf("interrupted while reading %s", name)
		}
	}
}
