// Package runner carries out a run: it resolves the options into cells, verifies the
// implementations and starts a process per fork in shuffled blocks. It writes every fork to
// disk as it arrives, and at the end run.json, bench.txt, report.md and the profiles.
//
// The flow: plan.go (options -> Plan; every error of the options is found here, before
// anything is written), verify.go (conformance), runner.go (the forks, of one run or of two
// that take turns), budget.go (more forks for inconclusive workloads), progress.go (the
// output meanwhile). pair.go and selfcheck.go build on these.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
	"github.com/informerbench/informerbench/report"
)

// ForkCommand is the hidden command with which benchrun starts itself to measure one fork.
// It reads a bench.Request as JSON from standard input and writes a record.Fork as JSON to
// standard output.
const ForkCommand = "fork-process"

// TurnsCommand is the hidden command with which two benchruns are started that measure a fork
// in turns. Each carries out bench.Play.
const TurnsCommand = "turns-process"

// ErrInterrupted is wrapped by the error of a run that was interrupted. The measured forks
// are kept.
var ErrInterrupted = errors.New("interrupted")

// ErrFailed is wrapped by the error of a run that ended but found a defect: an
// implementation that failed its suite, or a check that failed.
var ErrFailed = errors.New("failed")

// Result is a run's record and its folder.
type Result struct {
	Dir string
	Run *record.Run
	// Report is the one that was written; nil if there was nothing to write, or it failed.
	Report *report.Report
}

// Execute carries out a plan. Progress goes to out. When ctx ends, Execute keeps the
// measured forks and writes the reports from them. The error then wraps ErrInterrupted and
// says how to resume.
func Execute(ctx context.Context, p *Plan, out io.Writer) (result Result, err error) {
	lock, err := p.hold()
	if err != nil {
		return Result{}, err
	}
	defer release(lock, &err)
	if p.begun {
		return p.goOn(ctx, out)
	}
	run, err := p.record(ctx, out)
	if err != nil {
		return Result{}, err
	}
	j, err := begin(p.options.Out, run)
	if err != nil {
		return Result{}, err
	}
	return drive(ctx, j, p.options.Machine, out)
}

// hold takes the lock of the run's folder, so that a second run in it is refused.
func (p *Plan) hold() (*record.Lock, error) {
	lock, err := record.LockDir(p.options.Out, p.options.Command)
	if record.DiskFull(err) {
		return nil, nothingMeasured(err)
	}
	return lock, err
}

// release unlocks the folder and joins a failure to do so to the run's error.
func release(lock *record.Lock, err *error) { *err = errors.Join(*err, lock.Unlock()) }

// begin makes the folder of a run.
func begin(dir string, run *record.Run) (*record.Journal, error) {
	j, err := record.CreateJournal(dir, run)
	if record.DiskFull(err) {
		return nil, nothingMeasured(err)
	}
	return j, err
}

func nothingMeasured(full error) error {
	return fmt.Errorf("%w: the disk is full, nothing was measured: %w; make room and begin again",
		ErrFailed, full)
}

// Resume continues the interrupted run in dir. The machine and the code must be those that
// the run was begun with: of the same class, and the same commit. It takes the Command,
// WorkTree and Machine of the options.
func Resume(ctx context.Context, dir string, o Options, out io.Writer) (result Result, err error) {
	if _, err := record.ReadRun(dir); err != nil {
		return Result{}, err // before a lock file is created where there is no run
	}
	lock, err := record.LockDir(dir, o.Command)
	if record.DiskFull(err) {
		err = fmt.Errorf("%w: the disk is full: %w; what was measured is kept: make room and go on "+
			"with: %s", ErrFailed, err, record.ResumeCommand(dir))
	}
	if err != nil {
		return Result{}, err
	}
	defer release(lock, &err)
	return resume(ctx, dir, o, func(*record.Run) error { return nil }, out)
}

// resume is Resume in a locked folder. check may refuse the run.
func resume(ctx context.Context, dir string, o Options, check func(*record.Run) error,
	out io.Writer) (Result, error) {
	here := sysinfo.ReadEnvironment(o.WorkTree)
	j, err := record.OpenJournal(dir, func(r *record.Run) error {
		return errors.Join(mayGoOn(r, &here), check(r))
	})
	if err != nil {
		return Result{}, err
	}
	before := j.Run()
	machine := cmp.Or(o.Machine, here.Host)
	if n := len(before.Forks); o.Machine == "" && n > 0 && before.Environment.Host == here.Host {
		machine = cmp.Or(before.Forks[n-1].Machine, machine) // as it was called when the run began
	}
	before.Environment.Resume(&here)
	return drive(ctx, j, machine, out)
}

// mayGoOn returns an error unless this machine and this code may measure the rest of a run.
func mayGoOn(r *record.Run, here *sysinfo.Environment) error {
	if err := r.Environment.SameMachine(here); err != nil {
		return err
	}
	switch {
	case r.Environment.CgroupCPUs != here.CgroupCPUs:
		return fmt.Errorf("the container's limit of CPUs differs: begun with %g, this has %g (0 is none)",
			r.Environment.CgroupCPUs, here.CgroupCPUs)
	case r.Environment.Revision != here.Revision:
		return fmt.Errorf("the code has changed: begun at commit %q, this is %q", r.Environment.Revision,
			here.Revision)
	case r.Schema != record.Schema:
		return fmt.Errorf(
			"its files are of schema %d, this benchrun writes %d: resume it with the benchrun that began it",
			r.Schema, record.Schema)
	case r.Settings.Pair:
		return errors.New(
			"it is one half of a pair, whose forks take turns with the other half's: measure the pair again")
	case len(r.Shards) > 0:
		return errors.New(
			"it was joined from shards: resume the shard that lacks something, and merge again")
	}
	return sameTrace(r.Settings)
}

// drive measures the missing forks of a run on the named machine and writes the reports.
func drive(ctx context.Context, j *record.Journal, machine string, out io.Writer) (Result, error) {
	sides := []*side{{Journal: j, machine: cmp.Or(machine, j.Run().Environment.Host)}}
	results, err := finish(sides, measureAll(ctx, sides, out))
	return results[0], err
}

// side is one of the runs whose forks take turns: a single run has one side, a pair two.
type side struct {
	*record.Journal
	exe     string // the program that measures it; "" is this one
	machine string // as Fork.Machine
	report  *report.Report
}

// goOn says, after the given words, how to resume a run that did not end.
func (s *side) goOn(words string) string {
	if s.Run().Settings.Pair {
		return "a pair cannot be resumed: measure it again; what was measured is kept in " +
			filepath.Dir(s.Dir())
	}
	return words + ": " + record.ResumeCommand(s.Dir())
}

// finish completes the records of the sides and writes their reports. measured is how the
// measuring ended. On a full disk no result is returned; the forks are kept all the same.
func finish(sides []*side, measured error) (results []Result, err error) {
	errs := []error{measured}
	for _, s := range sides {
		errs = append(errs, s.finish(measured))
		results = append(results, Result{s.Dir(), s.Run(), s.report})
	}
	err = errors.Join(errs...)
	if record.DiskFull(err) {
		return make([]Result, len(sides)),
			fmt.Errorf("%w: the disk is full: %w; make room first; %s", ErrFailed, err,
				sides[0].goOn("what was measured is kept: go on with"))
	}
	return results, err
}

// finish completes the record of a side and writes its reports. The error is one of writing,
// or says what the run has found.
func (s *side) finish(measured error) error {
	run := s.Run()
	if measured == nil || errors.Is(measured, ErrFailed) {
		run.Complete = true
		run.Checks = checks(run)
	}
	run.Finished = time.Now()
	if run.Finished.Before(run.Started) {
		run.Finished = run.Started // the clock was set back
	}
	var conditions []map[string]float64
	for _, f := range run.Forks {
		conditions = append(conditions, f.Process)
	}
	run.Environment.Finish(conditions)
	if record.DiskFull(measured) {
		return nil
	}
	var err error
	if s.report, err = write(s.Journal); err != nil {
		return err
	}
	return failures(run)
}

// write writes the record and the reports in an order in which --resume can complete an
// interrupted write.
func write(j *record.Journal) (*report.Report, error) {
	if err := j.Save(); err != nil {
		return nil, err
	}
	r, err := report.Write(j.Dir())
	if err != nil {
		return r, err
	}
	return r, j.Close()
}

// measureAll measures the missing forks of the sides, and then more forks of inconclusive
// workloads while the budget lasts.
func measureAll(ctx context.Context, sides []*side, out io.Writer, gates ...compare.Gate) error {
	for {
		if err := forks(ctx, sides, out); err != nil {
			if errors.Is(err, ErrFailed) && sides[0].Run().Settings.Budget > 0 {
				fmt.Fprintf(out, "the budget is not spent: a cell was given up; %s\n",
					sides[0].goOn("to measure it again, and then spend the budget"))
			}
			return err
		}
		looks, err := look(sides, out, gates...)
		if err != nil || len(looks) == 0 {
			return err
		}
		for _, s := range sides {
			s.Run().Looks = append(s.Run().Looks, looks...)
			if err := s.Save(); err != nil {
				return err
			}
		}
	}
}

// task is a planned fork of one side, or of both sides of a pair, whose processes then take
// turns.
type task struct {
	sides []*side
	record.Planned
}

func (t task) done() bool {
	return !slices.ContainsFunc(t.sides, func(s *side) bool { return !s.Done(t.Planned) })
}

// keep keeps the forks of the sides, in their order.
func (t task) keep(forks []record.Fork) error {
	for i, s := range t.sides {
		if err := s.Keep(forks[i]); err != nil {
			return err
		}
	}
	return nil
}

// warn adds a warning to the record of each side.
func (t task) warn(text string) error {
	for _, s := range t.sides {
		if err := s.Warn(text); err != nil {
			return err
		}
	}
	return nil
}

// schedule lets the processes of both sides take turns where they can. Elsewhere it
// alternates the sides; each is first in every other turn.
func schedule(sides []*side) ([]task, error) {
	run := sides[0].Run()
	var plan []task
	for i, p := range run.Schedule() {
		w, err := workloadOf(run, p.Cell)
		if err != nil {
			return nil, err
		}
		if run.Settings.Turns && !p.Profile && inTurns(w, run.Settings.Trace) {
			plan = append(plan, task{sides, p})
			continue
		}
		for k := range sides {
			plan = append(plan, task{[]*side{sides[(i+k)%len(sides)]}, p})
		}
	}
	return plan, nil
}

func workloadOf(run *record.Run, c record.Cell) (load.Workload, error) {
	text, err := run.Workload(c)
	if err != nil {
		return load.Workload{}, err
	}
	return load.ParseWorkload(text.Name, []byte(text.YAML))
}

// forks runs the processes of the schedule one after the other. A cell whose process fails
// or hangs is given up, with a warning in the record; the others continue.
func forks(ctx context.Context, sides []*side, out io.Writer) error {
	plan, err := schedule(sides)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(plan), task.done)
	if len(left) == 0 {
		return nil
	}
	bar, err := newForecast(out, left)
	if err != nil {
		return err
	}
	defer bar.line.End()
	// A cell that is measured again is no longer given up, and the run not whole until it is.
	for _, s := range sides {
		s.Run().Complete = false
		s.Run().Warnings = slices.DeleteFunc(s.Run().Warnings, func(w string) bool {
			return slices.ContainsFunc(left, func(t task) bool {
				return record.WhichGaveUp(w) == t.Cell.ID()
			})
		})
	}
	given := map[string]bool{} // the cells given up, by ID
	kept := len(plan) - len(left)
	var failed []error
	for _, next := range left {
		id := next.Cell.ID()
		if given[id] {
			bar.skip(next.Planned)
			continue
		}
		bar.begin(next.Planned)
		measured, err := persistently(ctx, next, patience*bar.expected[id]+leastPatience)
		if err == nil {
			if err := next.keep(measured); err != nil {
				return err
			}
			kept++
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("%w after %d of %d forks; %s", ErrInterrupted, kept, len(plan),
				next.sides[0].goOn("go on with"))
		case record.DiskFull(err):
			return err
		case err != nil:
			err = fmt.Errorf("%s%w\n%s", record.GivenUp(next.Cell), err,
				next.sides[0].goOn("to measure it again"))
			given[id], failed = true, append(failed, fmt.Errorf("%w: %w", ErrFailed, err))
			bar.line.Say(report.Visible(err.Error()))
			if err := next.warn(err.Error()); err != nil {
				return err
			}
		}
		bar.end(next.Planned)
	}
	return errors.Join(failed...)
}

// request builds the request for the process of one side.
func (t task) request(s *side) (bench.Request, error) {
	settings := s.Run().Settings
	w, err := s.Run().Workload(t.Cell)
	r := bench.Request{Cell: t.Cell, Index: t.Index, Block: t.Block, Workload: w.YAML,
		Trace: settings.Trace, Times: settings.Times}
	if settings.Trace == "" && !t.Profile && len(t.sides) == 1 {
		r.Against = s.Run().Against(t.Cell)
	}
	if t.Profile {
		r.ProfileDir = filepath.Join(s.Dir(), profilesDir, t.Cell.FileName())
	}
	if p := settings.Plant; p != nil && t.Cell.Component == contract.ComponentStore {
		if p.Impl == t.Cell.Impl {
			r.Plant = &p.Share
		}
		if p.Impl == r.Against {
			r.AgainstPlant = &p.Share
		}
	}
	return r, err
}

// failures returns the defects that a finished run has found.
func failures(run *record.Run) error {
	var errs []error
	for _, im := range run.Impls {
		if im.Verified == record.VerifyFailed {
			errs = append(errs, fmt.Errorf(
				"%w: %s/%s does not keep the contract and was not measured: see %s", ErrFailed, im.Component,
				im.Name, verifyAgain(im, catalog.BriefEffort)))
		}
	}
	for _, c := range run.Checks {
		if !c.Passed {
			errs = append(errs, fmt.Errorf("%w: %s: %s", ErrFailed, c.Name, c.Detail))
		}
	}
	return errors.Join(errs...)
}
