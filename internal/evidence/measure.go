package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

const (
	// Next is the folder, within that of the results, of what is not finished.
	Next = "next"
	// revisionFile, in Next, holds the commit that is measured.
	revisionFile = "revision"
)

// ErrUnfinished is the error of a Measure that has to be called again.
var ErrUnfinished = errors.New("not finished")

// Options say what Measure does.
type Options struct {
	// Results is the folder of the runs.
	Results string
	// Presets are measured in this order; AllPresets for evidence that docs/ may cite.
	Presets []string
	// Only, if not empty, are those of the presets that this machine measures. Another one
	// measures the others, at the same commit.
	Only []string
	// Head returns the commit of the work tree, or an error if it has changes: a run of them
	// could not be repeated. It is asked only where nothing was begun.
	Head func(context.Context) (revision string, err error)
	// Program makes the benchrun of a commit, which Run then starts in the folder that has
	// that commit's files. It is asked only where something is to be measured.
	Program func(ctx context.Context, revision string) (dir, program string, err error)
	// Run starts a program in a folder. It interrupts the program when the context ends.
	Run func(ctx context.Context, dir, program string, args ...string) error
	// Out takes the progress.
	Out io.Writer
}

// AllPresets are the names of all presets.
func AllPresets() (names []string) {
	for _, p := range load.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// Measure measures what is not there yet, and publishes the runs when all presets have one.
// When ctx ends it returns ErrUnfinished, and so it does if a preset fails; what was measured
// is kept. Only one Measure may work in a folder.
func Measure(ctx context.Context, o Options) error {
	next := filepath.Join(o.Results, Next)
	revision, err := o.revision(ctx, next)
	if err != nil {
		return err
	}
	open, others, err := o.open(next, revision)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%d of %d presets are to be measured at commit %s: %s (remove %s to begin at another commit)\n", len(open), len(o.Presets), revision, o.forecast(open), next)
	if len(open) > 0 {
		if err := o.measure(ctx, next, revision, open); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(o.Out, "not published: %s have no run of this commit. Copy their folders into %s and call this again, or call it without -presets\n", strings.Join(others, ", "), next)
		return nil
	}
	return o.publish(next)
}

// measure measures the open presets into the folder next.
func (o Options) measure(ctx context.Context, next, revision string, open []string) error {
	dir, program, err := o.Program(ctx, revision)
	if err != nil {
		return err
	}
	// Only now: a commit that does not build is not begun with.
	if err := os.MkdirAll(next, 0o777); err != nil {
		return err
	}
	if err := record.WriteFile(filepath.Join(next, revisionFile), []byte(revision+"\n")); err != nil {
		return err
	}
	for i, preset := range open {
		fmt.Fprintf(o.Out, "\n%s: %s; then %s\n", preset, o.forecast(open[i:i+1]), o.forecast(open[i+1:]))
		out, err := filepath.Abs(filepath.Join(next, preset))
		if err != nil {
			return err
		}
		if err := o.dropOthers(out); err != nil {
			return err
		}
		err = o.Run(ctx, dir, program, "run", "--continue", "-o", out, "--preset", preset)
		if err == nil && !finished(out, revision) {
			err = fmt.Errorf("%s has no whole run of %s", out, revision)
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w; what was measured is in %s: the same command goes on", preset, ErrUnfinished, err, next)
		}
	}
	return nil
}

// dropOthers removes a run that was begun on a machine of another class, where it cannot go
// on: a preset is measured on one. It is an error if only settings differ, such as GOGC.
func (o Options) dropOthers(dir string) error {
	r, err := record.ReadRun(dir)
	if err != nil {
		return nil // none was begun, or the program says what is wrong with it
	}
	began, here := r.Environment, sysinfo.ReadEnvironment(dir)
	other := began.SameMachine(&here)
	switch {
	case other == nil:
		return nil
	case began.CPU == here.CPU && began.Cores == here.Cores && began.OS == here.OS && began.Arch == here.Arch:
		return fmt.Errorf("%s was begun with other settings: %w: set them as they were, or remove that folder to begin it again", dir, other)
	default:
		fmt.Fprintf(o.Out, "%s was begun on another machine (%s): its %d forks are removed, and it begins again here\n", dir, other, len(r.Forks))
		return os.RemoveAll(dir)
	}
}

// revision is the commit that was begun with, or else that of the work tree.
func (o Options) revision(ctx context.Context, next string) (string, error) {
	b, err := os.ReadFile(filepath.Join(next, revisionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return o.Head(ctx)
	}
	return strings.TrimSpace(string(b)), err
}

// open are the presets that have no whole run of the commit: those that are this machine's,
// and the others.
func (o Options) open(next, revision string) (own, others []string, err error) {
	for _, preset := range o.Only {
		if !slices.Contains(o.Presets, preset) {
			return nil, nil, fmt.Errorf("no preset %q; there are %s", preset, strings.Join(o.Presets, ", "))
		}
	}
	for _, preset := range o.Presets {
		if _, err := load.LookupPreset(preset); err != nil {
			return nil, nil, err
		}
		switch {
		// The latter if publish was interrupted.
		case finished(filepath.Join(next, preset), revision), finished(filepath.Join(o.Results, preset), revision):
		case len(o.Only) == 0, slices.Contains(o.Only, preset):
			own = append(own, preset)
		default:
			others = append(others, preset)
		}
	}
	return own, others, nil
}

func finished(dir, revision string) bool {
	r, err := record.ReadRun(dir)
	return err == nil && r.Complete && r.Environment.Revision == revision
}

// publish puts the runs into the place of the former ones and writes the index.
func (o Options) publish(next string) error {
	for _, preset := range o.Presets {
		run, place := filepath.Join(next, preset), filepath.Join(o.Results, preset)
		switch _, err := os.Stat(run); {
		case errors.Is(err, fs.ErrNotExist):
			continue // it is in its place
		case err != nil:
			return err
		}
		if err := os.RemoveAll(place); err != nil {
			return err
		}
		if err := os.Rename(run, place); err != nil {
			return err
		}
	}
	if err := UpdateIndex(o.Results, o.Presets); err != nil {
		return err
	}
	return os.RemoveAll(next)
}
