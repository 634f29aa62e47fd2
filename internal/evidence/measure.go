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
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

const (
	// Next is the folder, within that of the results, of what is not finished.
	Next = "next"
	// revisionFile, in Next, holds the commit that is measured.
	revisionFile = "revision"
	// forksInTurns are the processes of each cell of a preset in which everything takes turns
	// with the reference: a verdict needs four. Others have the default, of which a verdict
	// on medians needs all.
	forksInTurns = 4
)

// ErrUnfinished is the error of a Measure that has to be called again.
var ErrUnfinished = errors.New("not finished")

// Options say what Measure does.
type Options struct {
	// Results is the folder of the runs.
	Results string
	// Presets are measured in this order; AllPresets for evidence that docs/ may cite.
	Presets []string
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

// Measure measures what is not there yet. When ctx ends it returns ErrUnfinished, and so it
// does if a preset fails; what was measured is kept. Only one Measure may work in a folder.
func Measure(ctx context.Context, o Options) error {
	next := filepath.Join(o.Results, Next)
	revision, err := o.revision(ctx, next)
	if err != nil {
		return err
	}
	open, err := o.open(next, revision)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%d of %d presets are to be measured at commit %s: %s (remove %s to begin at another commit)\n", len(open), len(o.Presets), revision, forecast(open), next)
	if len(open) > 0 {
		if err := o.measure(ctx, next, revision, open); err != nil {
			return err
		}
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
		fmt.Fprintf(o.Out, "\n%s: %s; then %s\n", preset, forecast(open[i:i+1]), forecast(open[i+1:]))
		out, err := filepath.Abs(filepath.Join(next, preset))
		if err != nil {
			return err
		}
		if err := o.dropOthers(out); err != nil {
			return err
		}
		err = o.Run(ctx, dir, program, append([]string{"run", "--continue", "-o", out, "--preset", preset}, flags(preset)...)...)
		if err == nil && !finished(out, revision) {
			err = fmt.Errorf("%s has no whole run of %s", out, revision)
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w; what was measured is in %s: the same command goes on", preset, ErrUnfinished, err, next)
		}
	}
	return nil
}

// flags are those of a preset's run beside the folder and the preset's name.
func flags(preset string) []string {
	if n := planned(preset).Forks; n > 0 {
		return []string{"--forks", strconv.Itoa(n)}
	}
	return nil
}

// dropOthers removes a run that was begun on a machine of another class, where it cannot go
// on: a preset is measured on one.
func (o Options) dropOthers(dir string) error {
	r, err := record.ReadRun(dir)
	if err != nil {
		return nil // none was begun, or the program says what is wrong with it
	}
	if other := r.Environment.SameMachine(new(sysinfo.ReadEnvironment(dir))); other != nil {
		fmt.Fprintf(o.Out, "begun again on this machine: %s\n", other)
		return os.RemoveAll(dir)
	}
	return nil
}

// revision is the commit that was begun with, or else that of the work tree.
func (o Options) revision(ctx context.Context, next string) (string, error) {
	b, err := os.ReadFile(filepath.Join(next, revisionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return o.Head(ctx)
	}
	return strings.TrimSpace(string(b)), err
}

// open are the presets that have no whole run of the commit.
func (o Options) open(next, revision string) (open []string, err error) {
	for _, preset := range o.Presets {
		if _, err := load.LookupPreset(preset); err != nil {
			return nil, err
		}
		// The latter if publish was interrupted.
		if !finished(filepath.Join(next, preset), revision) && !finished(filepath.Join(o.Results, preset), revision) {
			open = append(open, preset)
		}
	}
	return open, nil
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

// planned are the options of a preset's run, for its flags and its forecast.
func planned(preset string) runner.Options {
	o := runner.Options{Preset: preset, Out: filepath.Join(os.TempDir(), "informerbench-forecast"), Profile: true}
	if p, err := load.LookupPreset(preset); err == nil && !slices.ContainsFunc(p.Workloads, outOfTurns) {
		o.Forks = forksInTurns
	}
	return o
}

// outOfTurns reports whether a workload has something that does not take turns with the
// reference: groups, or an informer.
func outOfTurns(w load.Workload) bool {
	return len(w.Groups) > 0 || w.Component == contract.ComponentInformer
}

// forecast says how long presets take by their plans.
func forecast(presets []string) string {
	var sum time.Duration
	for _, name := range presets {
		p, err := runner.NewPlan(planned(name))
		if err != nil {
			return "for an unknown time: " + err.Error()
		}
		sum += p.Load()
	}
	return "some " + sum.Round(time.Minute).String()
}
