package record

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const removesOpenFiles = false

// tryLock reports whether another process, or another open file of this one, holds the
// lock. Otherwise f holds it from now on, until f is closed. On Windows no other process
// can read a locked range, so the lock covers one byte far behind the text.
func tryLock(f *os.File) (held bool, err error) {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// lives is always true: on Windows a child inherits no open file, so a lock ends with its
// process.
func (h *holder) lives() bool { return true }
