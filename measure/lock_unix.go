//go:build unix

package measure

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const removesOpenFiles = true

// tryLock reports whether another process, or another open file of this one, has the
// lock; else it is f's from now on, until f is closed.
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

// lives reports whether the process is there still, as far as this one can see.
func (h *holder) lives() bool { return !errors.Is(unix.Kill(h.PID, 0), unix.ESRCH) }
