// Package runner carries out a run: it resolves what is asked for into cells,
// verifies the implementations, drives a process per fork in shuffled blocks,
// keeps every fork on disk as it comes, and leaves run.json, bench.txt,
// report.md and the profiles behind.
//
// The flow: plan.go (what is asked for -> Plan, everything that can be wrong is
// found here, before anything is written), verify.go (conformance), runner.go
// (the forks), progress.go (what a person sees meanwhile).
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/measure"
	"github.com/informerbench/informerbench/report"
)

// ForkCommand is the hidden command by which benchrun starts itself to measure
// one fork: it reads a bench.Request as JSON from standard input and writes a
// measure.Fork as JSON to standard output.
const ForkCommand = "fork-process"

// ErrInterrupted is wrapped by the error of a run that was cut short. What was
// measured is kept.
var ErrInterrupted = errors.New("interrupted")

// ErrFailed is wrapped by the error of a run that ended but found something
// broken: an implementation that failed its suite, or a check.
var ErrFailed = errors.New("failed")

// Result is where a run's record is, and the record.
type Result struct {
	Dir string
	Run *measure.Run
}

// Execute carries out a plan. Progress goes to out. When ctx ends, what was
// measured is kept, the reports are written from it, and the error wraps
// ErrInterrupted and says how to go on.
func Execute(ctx context.Context, p *Plan, out io.Writer) (Result, error) {
	j, err := p.begin(ctx, out)
	if measure.DiskFull(err) {
		return Result{}, fmt.Errorf("%w: the disk is full, nothing was measured: %w; make room and begin again", ErrFailed, err)
	}
	if err != nil {
		return Result{}, err
	}
	return drive(ctx, j, out)
}

// Resume goes on with the interrupted run in dir, on the machine and the code
// that it was begun with. workTree is as in Options.
func Resume(ctx context.Context, dir, workTree string, out io.Writer) (Result, error) {
	here := measure.ReadEnvironment(workTree)
	j, err := measure.OpenJournal(dir, func(r *measure.Run) error {
		if err := r.Environment.SameMachine(&here); err != nil {
			return err
		}
		if r.Environment.Revision != here.Revision {
			return fmt.Errorf("the code is another: begun at commit %q, this is %q", r.Environment.Revision, here.Revision)
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	j.Run().Environment.Resume(&here)
	return drive(ctx, j, out)
}

// drive measures what the journal lacks and writes the reports.
func drive(ctx context.Context, j *measure.Journal, out io.Writer) (Result, error) {
	run := j.Run()
	err := forks(ctx, j, out)
	if err == nil || errors.Is(err, ErrFailed) {
		run.Complete = true
		run.Checks = checks(run)
	}
	run.Finished = time.Now()
	if run.Finished.Before(run.Started) {
		run.Finished = run.Started // the clock was set back
	}
	run.Environment.Finish(run.Forks)
	if !measure.DiskFull(err) {
		err = errors.Join(err, finish(j))
	}
	if measure.DiskFull(err) {
		return Result{}, fmt.Errorf("%w: the disk is full: %w; what was measured is kept: make room and go on with: benchrun run --resume %s", ErrFailed, err, j.Dir())
	}
	return Result{j.Dir(), run}, errors.Join(err, failures(run))
}

// finish writes the record and the reports, in the order that lets --resume do
// what an interruption leaves undone.
func finish(j *measure.Journal) error {
	if err := j.Save(); err != nil {
		return err
	}
	if err := report.Write(j.Dir()); err != nil {
		return err
	}
	return j.Close()
}

// forks runs one process after the other through the schedule. A cell whose
// process fails or hangs is given up, with a warning in the record; the others go on.
func forks(ctx context.Context, j *measure.Journal, out io.Writer) error {
	run := j.Run()
	plan := measure.Schedule(run.Cells, run.ForksOf, run.Settings.Profile, run.Settings.Seed)
	left := slices.DeleteFunc(slices.Clone(plan), j.Done)
	bar, err := newProgress(out, run, left)
	if err != nil {
		return err
	}
	defer bar.finish()
	// What is measured again is not given up any more.
	run.Warnings = slices.DeleteFunc(run.Warnings, func(w string) bool {
		return slices.ContainsFunc(left, func(p measure.Planned) bool { return strings.HasPrefix(w, givenUp(p.Cell.ID())) })
	})
	given := map[string]error{} // up, by cell
	for i, next := range left {
		id := next.Cell.ID()
		if given[id] != nil {
			continue
		}
		bar.begin(next)
		f, err := persistently(ctx, j, next, patience*bar.expected[id]+leastPatience)
		if err == nil {
			if err := j.Keep(f); err != nil {
				return err
			}
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("%w after %d of %d forks; go on with: benchrun run --resume %s", ErrInterrupted, len(plan)-len(left)+i, len(plan), j.Dir())
		case measure.DiskFull(err):
			return err
		case err != nil:
			err = fmt.Errorf("%s%w\nto measure it again: benchrun run --resume %s", givenUp(id), err, j.Dir())
			given[id] = fmt.Errorf("%w: %w", ErrFailed, err)
			if err := j.Warn(err.Error()); err != nil {
				return err
			}
		}
		bar.end(next)
	}
	return errors.Join(slices.Collect(maps.Values(given))...)
}

// request is what the process of one fork is asked for.
func request(j *measure.Journal, next measure.Planned) (bench.Request, error) {
	w, err := j.Run().Workload(next.Cell)
	r := bench.Request{Cell: next.Cell, Index: next.Index, Block: next.Block, Workload: w.YAML, Trace: j.Run().Settings.Trace}
	if next.Profile {
		r.ProfileDir = filepath.Join(j.Dir(), "profiles", next.Cell.FileName())
	}
	return r, err
}

// failures says what a run that ended has found broken.
func failures(run *measure.Run) error {
	var errs []error
	for _, im := range run.Impls {
		if im.Verified == measure.VerifyFailed {
			errs = append(errs, fmt.Errorf("%w: %s/%s does not keep the contract and was not measured; see benchrun verify --impl %s", ErrFailed, im.Component, im.Name, im.Name))
		}
	}
	for _, c := range run.Checks {
		if !c.Passed {
			errs = append(errs, fmt.Errorf("%w: %s: %s", ErrFailed, c.Name, c.Detail))
		}
	}
	return errors.Join(errs...)
}
