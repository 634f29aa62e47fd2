package recorder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrKept is wrapped by the error of a recording that ended early and left a file: the file
// has all events until then.
var ErrKept = errors.New("what was recorded is kept")

// File records into a new file. It leaves no file where nothing can be recorded: the
// options are wrong, the cluster cannot be reached or refuses, the file exists, or the
// first lists fail or are interrupted. The error says what to do. From then on the file
// stays, and an error wraps ErrKept.
func (c *Cluster) File(ctx context.Context, path string, o Options) (Progress, error) {
	// Checked first, so that the user does not wait for a cluster in vain.
	if _, err := os.Lstat(path); err == nil {
		return Progress{}, fmt.Errorf("%s exists: choose another file with -o", path)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return Progress{}, fmt.Errorf("%s is no folder: make it first, or choose another file with -o",
			filepath.Dir(path))
	}
	if err := c.Probe(ctx, o); err != nil {
		return Progress{}, err
	}
	// a cluster's contents may be confidential
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return Progress{}, fmt.Errorf("%s exists: choose another file with -o", path)
	}
	if err != nil {
		return Progress{}, fmt.Errorf("%w: choose another file with -o", err)
	}
	p, err := c.Record(ctx, f, o)
	if p.Listing {
		return p, errors.Join(err, f.Close(), os.Remove(path))
	}
	closed := errors.Join(f.Sync(), f.Close())
	if closed == nil && errors.As(err, new(*missingError)) {
		return p, fmt.Errorf("%w; %w: %s is whole until then", err, ErrKept, path)
	}
	if err = errors.Join(err, closed); err != nil {
		return p, fmt.Errorf(
			"%w; %w: %d objects and %d events or some fewer are in %s; benchrun trace salvage makes a "+
				"whole trace of them", err, ErrKept, p.Initial, p.Events, path)
	}
	return p, nil
}
