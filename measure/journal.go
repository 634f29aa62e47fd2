package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
)

// Journal keeps a run's forks on disk as they come, one file each, so that an
// interruption at any moment loses at most the fork that was under way.
//
// The folder holds run.json from the first moment, with complete: false until all
// is measured; ReadRun adds the forks that lie in files of their own. These files
// go last, when the reports are written too: as long as they are there, there is
// something left that --resume does.
type Journal struct {
	dir string
	run *Run
}

const forksDir = "forks"

// temporary is the name that ReplaceFile gives a file before it is whole. A kill may
// leave one behind.
var temporary = regexp.MustCompile(`^\.[^.].*\.(json|md|html|txt)\d+$`)

// EmptyDir returns an error unless dir can take a new run: it does not exist, or
// it is a folder with nothing in it but what a run that was killed before its
// first fork left. Where another process works in it, the error is a *HeldError.
func EmptyDir(dir string) error {
	if err := checkUnlocked(dir); err != nil {
		return err
	}
	return empty(dir)
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == lockFile || temporary.MatchString(e.Name()) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot take the results: %w; choose another folder with -o", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("%s exists and is not empty: choose another folder with -o, or continue the run in it with --resume %s", dir, dir)
	}
	return nil
}

// CreateJournal begins a run in dir, which EmptyDir must accept. The caller has the
// lock of dir, or of the folder above it (LockDir).
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

// OpenJournal continues the run in dir: one that was interrupted, or one that
// gave up a cell. check says whether this machine and this code may do so. The caller
// has the lock of dir (LockDir).
func OpenJournal(dir string, check func(*Run) error) (*Journal, error) {
	run, err := ReadRun(dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, run: run}
	if run.Complete && !j.unfinished() {
		return nil, fmt.Errorf("%s is complete: there is nothing to resume; benchrun report %s makes its reports again", dir, dir)
	}
	if err := check(run); err != nil {
		return nil, fmt.Errorf("%s cannot be resumed here: %w", dir, err)
	}
	return j, errors.Join(removeTemporary(dir), removeTemporary(filepath.Join(dir, forksDir)))
}

// unfinished reports whether a complete run has forks to measure after all, those
// of a cell that was given up, or was killed before its last step.
func (j *Journal) unfinished() bool {
	if _, err := os.Stat(filepath.Join(j.dir, forksDir)); err == nil {
		return true
	}
	s := j.run.Settings
	return slices.ContainsFunc(Schedule(j.run.Cells, j.run.ForksOf, s.Profile, s.Seed), func(p Planned) bool { return !j.Done(p) })
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

// Run is the record as far as it is merged.
func (j *Journal) Run() *Run { return j.run }

// Dir is the run's folder.
func (j *Journal) Dir() string { return j.dir }

// Done reports whether the planned fork is already there.
func (j *Journal) Done(p Planned) bool { return j.run.has(p.Cell, p.Index) }

// Keep writes one fork to disk.
func (j *Journal) Keep(f Fork) error {
	dir := filepath.Join(j.dir, forksDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, fmt.Sprintf("%s_%d.json", f.Cell.FileName(), f.Index)), f); err != nil {
		return err
	}
	j.run.Forks = append(j.run.Forks, f)
	return nil
}

// Warn adds a warning to the record, on disk at once.
func (j *Journal) Warn(text string) error {
	j.run.Warnings = append(j.run.Warnings, text)
	return j.Save()
}

// Save merges what is there into run.json.
func (j *Journal) Save() error { return WriteRun(j.dir, j.run) }

// Close saves and, if the run is complete, removes the forks' own files. It is
// the last step, when the reports are written.
func (j *Journal) Close() error {
	if err := j.Save(); err != nil || !j.run.Complete {
		return err
	}
	return os.RemoveAll(filepath.Join(j.dir, forksDir))
}

// DiskFull reports whether err came of a disk, or a quota, without room.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// mergeForks adds the forks that have a file of their own and are not in
// run.json. Each was written whole or not at all, so a file that cannot be read is
// damage, and it is named.
func mergeForks(dir string, r *Run) error {
	files, err := filepath.Glob(filepath.Join(dir, forksDir, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the run came to its end at this moment
		}
		if err != nil {
			return err
		}
		var f Fork
		file := unseal(b)
		if err := decode(path, file.text, &f, r.Schema); err != nil {
			return err
		}
		if err := f.validate(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.ID() == f.Cell.ID() }) {
			return fmt.Errorf("%s: cell: %s is not among the run's cells", path, f.Cell.ID())
		}
		if err := file.check(r.Schema); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !r.has(f.Cell, f.Index) {
			r.Forks = append(r.Forks, f)
		}
	}
	return nil
}
