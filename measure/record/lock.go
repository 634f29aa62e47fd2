package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lockFile is the name of the file that a run's process locks, in the run's folder.
const lockFile = ".benchrun.lock"

// Lock marks a folder as in use by this process. The operating system releases it when the
// process ends, however it ends.
type Lock struct {
	file *os.File
	made []string // the folders that LockDir made, the outermost first
}

// holder is the lock file's description of the process that holds the lock.
type holder struct {
	PID     int       `json:"pid"`
	Command []string  `json:"command"`
	Since   time.Time `json:"since"`
}

// HeldError is the error of a folder in which another process works.
type HeldError struct {
	Dir    string
	holder *holder // nil where the lock file does not say
}

// Error names the folder and the process, and says what to do.
func (e *HeldError) Error() string {
	by := "another benchrun"
	if h := e.holder; h != nil {
		by = fmt.Sprintf("process %d (%q) since %s", h.PID, strings.Join(h.Command, " "),
			h.Since.UTC().Format(time.DateTime)+" UTC")
	}
	return fmt.Sprintf("%s is in use by %s: wait until it ends, or choose another folder", e.Dir, by)
}

// NoLinks refuses a folder of results that has a symbolic link anywhere in it, and names the link:
// results may come from someone else, and what is written or removed through a link lies elsewhere.
// dir itself may be one. A folder that does not exist has none.
func NoLinks(dir string) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil //nolint:nilerr // whoever opens it says so better
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, which a folder of results does not have: remove it", path)
		}
		return nil
	})
}

// LockDir locks dir for this process, and creates dir if necessary. If another process
// holds the lock, the error is a *HeldError. command describes this process to others.
func LockDir(dir string, command []string) (*Lock, error) {
	l := &Lock{made: missing(dir)}
	path := filepath.Join(dir, lockFile)
	for {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			l.removeFolders()
			return nil, err
		}
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file: remove it, or choose another folder", path)
		}
		if err := NoLinks(dir); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process made the folder and has just removed it
		}
		if err != nil {
			l.removeFolders()
			return nil, fmt.Errorf("%s cannot take a lock: %w; choose another folder", dir, err)
		}
		if held, err := tryLongEnough(f); err != nil || held {
			if held {
				err = &HeldError{Dir: dir, holder: readHolder(f)}
			} else {
				err = fmt.Errorf("%s cannot be locked: %w; choose a folder on a local disk", dir, err)
			}
			return nil, errors.Join(err, f.Close())
		}
		// The process that held the lock may have removed the file after this one opened
		// it. This lock is then on a file that the next process will not find.
		if same(f, path) {
			l.file = f
			break
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	if err := l.write(holder{os.Getpid(), command, time.Now()}); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

func (l *Lock) write(h holder) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(append(b, '\n'), 0)
	return err
}

// Unlock removes the lock file, and the folders that LockDir made if they are empty.
func (l *Lock) Unlock() error {
	path := l.file.Name()
	// the folder was moved: the path leads to another process's lock, or nowhere
	if !same(l.file, path) {
		return l.file.Close()
	}
	// The file is removed before it is closed, while it is still locked. A process that has
	// opened it then sees that it is gone. Windows removes no open file, so there it is
	// closed first.
	err := os.Remove(path)
	if removesOpenFiles && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, l.file.Close())
	}
	err = l.file.Close()
	if !removesOpenFiles {
		_ = os.Remove(path) // another process may have opened it by now
	}
	l.removeFolders()
	return err
}

// removeFolders removes the folders that LockDir made, from the innermost to the first that
// is not empty.
func (l *Lock) removeFolders() {
	for i := len(l.made) - 1; i >= 0; i-- {
		if os.Remove(l.made[i]) != nil {
			break // not empty: the run left something, as intended
		}
	}
}

// checkUnlocked returns a *HeldError if another process works in dir. It changes nothing.
func checkUnlocked(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR, 0)
	if err != nil {
		return nil // no lock file, or a folder whose error LockDir will report
	}
	defer f.Close() // which releases the lock
	if held, err := tryLongEnough(f); err == nil && held {
		return &HeldError{Dir: dir, holder: readHolder(f)}
	}
	return nil
}

// inherited is how long a lock may outlive its process: a child that the process was just
// starting has the file open until its exec.
const inherited = 2 * time.Second

// tryLongEnough is tryLock, retried for up to inherited where the holder has ended.
func tryLongEnough(f *os.File) (held bool, err error) {
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		held, err = tryLock(f)
		if h := readHolder(f); !held || h == nil || h.lives() || time.Since(begin) > inherited {
			return held, err
		}
	}
}

// missing returns the folders on the path to dir that do not exist, the outermost first.
func missing(dir string) []string {
	var out []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out = append([]string{d}, out...)
	}
}

func same(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func readHolder(f *os.File) *holder {
	var h holder
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<16))
	if err != nil || json.Unmarshal(b, &h) != nil || h.PID == 0 {
		return nil
	}
	return &h
}
