package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Journal writes a run's forks to disk as they arrive, one file each. An interruption at
// any moment loses at most the fork in progress.
//
// The folder holds run.json from the beginning, with complete: false until every fork is
// measured. ReadRun adds the forks from their own files. These files are removed last,
// after the reports are written: as long as they exist, --resume has something to do.
type Journal struct {
	dir string
	run *Run
}

const forksDir = "forks"

// temporary matches the names of ReplaceFile's temporary files. A kill may leave one
// behind.
var temporary = regexp.MustCompile(`^\.[^.].*\.(json|md|html|txt)\d+$`)

// EmptyDir returns an error unless dir can take a new run. Either it does not exist, or it
// contains nothing except the leftovers of a run that was killed before its first fork. If another
// process works in it, the error is a *HeldError.
func EmptyDir(dir string) error {
	if err := checkUnlocked(dir); err != nil {
		return err
	}
	return empty(dir)
}

// EmptyHeld is EmptyDir for the holder of the folder's lock.
func EmptyHeld(dir string) error { return empty(dir) }

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == lockFile || temporary.MatchString(e.Name())
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot take the results: %w; choose another folder", dir, err)
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == RunFile }):
		return cmp.Or(NoLinks(dir), fmt.Errorf(
			"%s has a run: choose another folder, or if it was interrupted, go on with it: %s", dir,
			ResumeCommand(dir)))
	case len(entries) > 0:
		return fmt.Errorf("%s exists and is not empty: choose another folder", dir)
	}
	return nil
}

// CreateJournal begins a run in dir, which EmptyDir must accept. The caller holds the lock
// of dir, or of the folder above it (LockDir).
func CreateJournal(dir string, run *Run) (*Journal, error) {
	if err := empty(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := errors.Join(removeTemporary(dir), WriteRun(dir, run)); err != nil {
		return nil, err
	}
	return &Journal{dir: dir, run: run}, nil
}

// ErrComplete is wrapped by the error of a run that has nothing left to measure.
var ErrComplete = errors.New("is complete")

// OpenJournal continues the run in dir: one that was interrupted, or that gave up a cell.
// check says whether this machine and this code may continue it. The caller holds the lock
// of dir (LockDir).
func OpenJournal(dir string, check func(*Run) error) (*Journal, error) {
	run, err := ReadRun(dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, run: run}
	if run.Complete && !j.unfinished() {
		return nil, fmt.Errorf(
			"%s %w: there is nothing to resume; benchrun report %s makes its reports again", dir,
			ErrComplete, ShellWord(dir))
	}
	if err := check(run); err != nil {
		return nil, fmt.Errorf("%s cannot be resumed here: %w", dir, err)
	}
	return j, errors.Join(removeTemporary(dir), removeTemporary(filepath.Join(dir, forksDir)))
}

// ResumeCommand is the command that goes on with the run in dir.
func ResumeCommand(dir string) string { return "benchrun run --resume " + ShellWord(dir) }

// ShellWord writes a word so that a shell takes it as one.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("._-/=:+,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// unfinished reports whether a complete run still has work: forks of a cell that was given
// up, or the last step before which it was killed.
func (j *Journal) unfinished() bool {
	if _, err := os.Stat(filepath.Join(j.dir, forksDir)); err == nil {
		return true
	}
	return len(j.run.Lacking()) > 0
}

func removeTemporary(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if temporary.MatchString(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Run is the record, with all forks so far.
func (j *Journal) Run() *Run { return j.run }

// Dir is the run's folder.
func (j *Journal) Dir() string { return j.dir }

// Done reports whether the planned fork has been measured.
func (j *Journal) Done(p Planned) bool { return j.run.has(p.Cell, p.Index) }

// Keep writes one fork to disk.
func (j *Journal) Keep(f Fork) error {
	dir := filepath.Join(j.dir, forksDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, fmt.Sprintf("%s_%d.json", f.Cell.FileName(), f.Index)),
		f); err != nil {
		return err
	}
	j.run.Forks = append(j.run.Forks, f)
	return nil
}

// Warn adds a warning to the record and saves it.
func (j *Journal) Warn(text string) error {
	j.run.Warnings = append(j.run.Warnings, text)
	return j.Save()
}

// Save writes the record with all forks so far to run.json.
func (j *Journal) Save() error { return WriteRun(j.dir, j.run) }

// Close saves and, if the run is complete, removes the forks' own files. It is the last
// step, after the reports.
func (j *Journal) Close() error {
	if err := j.Save(); err != nil || !j.run.Complete {
		return err
	}
	return os.RemoveAll(filepath.Join(j.dir, forksDir))
}

// DiskFull reports whether err says that a disk or a quota is full.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// mergeForks adds the forks that have a file of their own and are not in run.json. Each
// file was written whole or not at all. An unreadable file is therefore damaged, and the
// error names it.
func mergeForks(folder fs.FS, dir string, r *Run) error {
	files, err := fs.Glob(folder, forksDir+"/*.json")
	if err != nil {
		return err
	}
	for _, name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		b, err := fs.ReadFile(folder, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the run has just ended and removed the file
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		var f Fork
		if err := decode(path, unseal(b), &f, r.Schema); err != nil {
			return err
		}
		if err := f.Validate(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.ID() == f.Cell.ID() }) {
			return fmt.Errorf("%s: cell: %s is not among the run's cells", path, f.Cell.ID())
		}
		if !r.has(f.Cell, f.Index) {
			r.Forks = append(r.Forks, f)
		}
	}
	return nil
}
