package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Journal keeps a run's forks on disk as they come, one file each, so that an
// interruption at any moment loses at most the fork that was under way. When
// the run is done the files are merged into run.json and removed.
//
// The folder holds run.json from the first moment, with complete: false until the
// end; ReadRun adds the forks that still lie in files of their own.
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
	return &Journal{dir: dir, run: run}, nil
}

// Run is the record as far as it is merged.
func (j *Journal) Run() *Run { return j.run }

// Dir is the run's folder.
func (j *Journal) Dir() string { return j.dir }

// Done reports whether the planned fork is already there.
func (j *Journal) Done(p Planned) bool { return j.run.has(p.Cell, p.Index) }

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

// mergeForks adds the forks of an interrupted run that have a file of their own
// and are not in run.json. Each was written whole or not at all, so a file that
// cannot be read is damage, and it is named.
func mergeForks(dir string, r *Run) error {
	files, err := filepath.Glob(filepath.Join(dir, forksDir, "*.json"))
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
		if err := f.validate(r.cellIDs()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !r.has(f.Cell, f.Index) {
			r.Forks = append(r.Forks, f)
		}
	}
	return nil
}
