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
	run.Environment.Finish()
	result := Result{j.Dir(), run}
	if e := errors.Join(j.Close(), report.Write(j.Dir())); e != nil {
		return result, errors.Join(err, e)
	}
	return result, errors.Join(err, failures(run))
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
	given := map[string]error{} // up, by cell
	for i, next := range left {
		id := next.Cell.ID()
		if given[id] != nil {
			continue
		}
		bar.begin(next)
		f, err := fork(ctx, j, next, patience*bar.expected[id]+leastPatience)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w after %d of %d forks; go on with: benchrun run --resume %s", ErrInterrupted, len(plan)-len(left)+i, len(plan), j.Dir())
		case err != nil:
			given[id] = fmt.Errorf("%w: %s was given up: %w", ErrFailed, id, err)
			run.Warnings = append(run.Warnings, given[id].Error())
		default:
			if err := j.Keep(f); err != nil {
				return err
			}
		}
		bar.end(next)
	}
	return errors.Join(slices.Collect(maps.Values(given))...)
}

// A fork may take so many times what is expected of it, and at least so long,
// before it is taken to hang.
const (
	patience      = 20
	leastPatience = 2 * time.Minute
)

// fork measures one fork in a process of its own.
func fork(ctx context.Context, j *measure.Journal, next measure.Planned, limit time.Duration) (measure.Fork, error) {
	req, err := request(j, next)
	if err != nil {
		return measure.Fork{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %s", limit))
	defer cancel()
	f, err := measure.ForkProcess(ctx, next.Cell.Procs, req, ForkCommand)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return f, err
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
