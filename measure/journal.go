package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Journal keeps a run's forks on disk as they come, one file each, so that an
// interruption at any moment loses at most the fork that was under way. When
// the run is done the files are merged into run.json and removed.
//
// The folder then holds run.json from the first moment: the plan with what was
// merged so far, and complete: false until the end.
type Journal struct {
	dir string
	run *Run
}

const forksDir = "forks"

// EmptyDir returns an error unless dir can take a new run: it does not exist, or
// it is an empty folder.
func EmptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
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

// CreateJournal begins a run in dir, which must not exist or be empty.
func CreateJournal(dir string, run *Run) (*Journal, error) {
	if err := EmptyDir(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, forksDir), 0o755); err != nil {
		return nil, err
	}
	if err := WriteRun(dir, run); err != nil {
		return nil, err
	}
	return &Journal{dir: dir, run: run}, nil
}

// OpenJournal continues the interrupted run in dir. check says whether this
// machine and this code may do so.
func OpenJournal(dir string, check func(*Run) error) (*Journal, error) {
	run, err := ReadRun(dir)
	if err != nil {
		return nil, err
	}
	if run.Complete {
		return nil, fmt.Errorf("%s is complete: there is nothing to resume", dir)
	}
	if err := check(run); err != nil {
		return nil, fmt.Errorf("%s cannot be resumed here: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, forksDir), 0o755); err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, run: run}
	return j, j.merge()
}

// Run is the record as far as it is merged.
func (j *Journal) Run() *Run { return j.run }

// Dir is the run's folder.
func (j *Journal) Dir() string { return j.dir }

// Done reports whether the planned fork is already there.
func (j *Journal) Done(p Planned) bool {
	return slices.ContainsFunc(j.run.Forks, func(f Fork) bool {
		return f.Cell.ID() == p.Cell.ID() && f.Index == p.Index
	})
}

// Keep writes one fork to disk.
func (j *Journal) Keep(f Fork) error {
	if err := writeJSON(filepath.Join(j.dir, forksDir, fmt.Sprintf("%s_%d.json", f.Cell.FileName(), f.Index)), f); err != nil {
		return err
	}
	j.run.Forks = append(j.run.Forks, f)
	return nil
}

// Close merges what is there into run.json. The forks' own files go only when
// the run is complete and the merged record is on disk.
func (j *Journal) Close() error {
	if err := WriteRun(j.dir, j.run); err != nil || !j.run.Complete {
		return err
	}
	return os.RemoveAll(filepath.Join(j.dir, forksDir))
}

// merge adds the forks that have a file but are not in run.json. A file that
// cannot be read is a fork that was being written when the machine stopped:
// writes are atomic, so this is damage, and it is named.
func (j *Journal) merge() error {
	files, err := filepath.Glob(filepath.Join(j.dir, forksDir, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var f Fork
		if err := json.Unmarshal(b, &f); err != nil {
			return jsonError(path, err)
		}
		if err := f.validate(nil); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !j.Done(Planned{Cell: f.Cell, Index: f.Index}) {
			j.run.Forks = append(j.run.Forks, f)
		}
	}
	return nil
}
