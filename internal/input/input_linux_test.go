package input

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := fifo(t)
	go func() { _ = os.WriteFile(pipe, []byte("text"), 0o600) }()
	for _, path := range []string{file, pipe} {
		if b, err := ReadFile(path); err != nil || string(b) != "text" {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, Limit+1); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/dev/zero": "is a device", t.TempDir(): "is a folder",
		large: "more than 4 GiB", filepath.Join(t.TempDir(), "x"): "no such file"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := OpenFile(pipe); err == nil || !strings.Contains(err.Error(), "more than once") {
		t.Errorf("a pipe that is read more than once: %v", err)
	}
}

// A pipe that brings nothing more is given up, and what comes slowly is not.
func TestSilentPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			for range 5 {
				time.Sleep(silence - time.Second)
				_, _ = w.Write([]byte("x"))
			}
		}()
		begin := time.Now()
		_, err := drain(nil, "pipe", func() (io.Reader, error) { return r, nil })
		if took := time.Since(begin); err == nil ||
			!strings.Contains(err.Error(), "brought nothing for 5s") ||
			took < 5*(silence-time.Second) {
			t.Errorf("after %s: %v", took, err)
		}
		_ = w.Close()
	})
}
