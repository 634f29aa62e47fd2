//go:build unix

package record

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const removesOpenFiles = true

// tryLock reports whether another process, or another open file of this one, holds the
// lock. Otherwise f holds it from now on, until f is closed.
func tryLock(f *os.File) (held bool, err error) {
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// lives reports whether the process still exists, as far as this process can see.
func (h *holder) lives() bool { return !errors.Is(unix.Kill(h.PID, 0), unix.ESRCH) }
