package mechanical

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Journal writes verdicts to disk as they arrive, so that an interrupted run can continue.
// Kills hold as long as the mutated code stays the same. Survivors are judged again,
// because a suite may have a new case for them.
type Journal struct {
	file  *os.File
	Known map[string]Verdict // the kills read from the file
}

// OpenJournal opens or creates the file.
func OpenJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f, Known: map[string]Verdict{}}
	d := json.NewDecoder(f)
	for {
		var v Verdict
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) { // the run was killed while it wrote this one
			if err = j.cut(d.InputOffset()); err == nil {
				break
			}
		}
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("%s is no journal of verdicts: %w", path, err)
		}
		if v.Clause != "" {
			j.Known[v.Key()] = v
		}
	}
	return j, nil
}

// cut truncates the file at offset, where Add then writes.
func (j *Journal) cut(offset int64) error {
	if err := j.file.Truncate(offset); err != nil {
		return err
	}
	_, err := j.file.Seek(offset, io.SeekStart)
	return err
}

// Add writes one verdict.
func (j *Journal) Add(v Verdict) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
