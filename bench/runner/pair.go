package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
)

// RecordCommand is the hidden command that asks another benchrun what it would run. It
// reads Options as JSON from standard input, verifies, and writes the record of a run that
// has not begun to standard output.
const RecordCommand = "record-process"

// The folders of a pair.
const (
	BaseDir = "base"
	HeadDir = "head"
)

// Pair measures the plan twice, as base and as head, into two folders below the plan's.
// Operations measured alone take turns, process with process. All else is measured by forks
// that alternate, so that a drift of the machine affects both alike. base is the
// program that measures the base; "" is this program. Then the code is the same, and only a
// planted slowdown, which base does not have, tells them apart. The results are base's and
// head's, in this order.
//
// The budget goes to the gates that are inconclusive, or without gates to the verdicts. A gate
// that can match nothing of the plan is an error before anything is measured: a
// *compare.GateError.
func Pair(ctx context.Context, p *Plan, base string, out io.Writer,
	gates ...compare.Gate) (results [2]Result, err error) {
	if err := compare.CheckGates(&record.Run{Cells: p.cells(p.entries)}, gates); err != nil {
		return results, err
	}
	lock, err := p.hold()
	if err != nil {
		return results, err
	}
	defer release(lock, &err)
	headRun, err := p.record(ctx, out)
	if err != nil {
		return results, err
	}
	baseRun, err := p.baseRecord(ctx, base, headRun, out)
	if err != nil {
		return results, err
	}
	if err := sameMeasured(baseRun, headRun); err != nil {
		return results, err
	}
	turns := baseRun.Schema >= record.TurnsSchema
	if !turns {
		fmt.Fprintln(out, "the base's benchrun is too old to take turns with this one, process with "+
			"process: the forks of each alternate, which is less exact")
	}
	var sides []*side
	for _, s := range []struct {
		run *record.Run
		dir string
		exe string
	}{{baseRun, BaseDir, base}, {headRun, HeadDir, ""}} {
		s.run.Name = filepath.Join(filepath.Base(p.options.Out), s.dir)
		s.run.Started = headRun.Started // by which record.Halves knows them
		s.run.Settings.Pair, s.run.Settings.Turns = true, turns
		// This program writes and judges both; sameMeasured has checked that the numbers mean the same.
		s.run.Schema, s.run.Settings.Rule = record.Schema, headRun.Settings.Rule
		j, err := begin(filepath.Join(p.options.Out, s.dir), s.run)
		if err != nil {
			return results, err
		}
		sides = append(sides, &side{Journal: j, exe: s.exe, machine: headRun.Environment.Host})
	}
	both, err := finish(sides, measureAll(ctx, sides, out, gates...))
	return [2]Result(both), err
}

// baseRecord is the record that the base's forks will fill.
func (p *Plan) baseRecord(ctx context.Context, base string, head *record.Run,
	out io.Writer) (*record.Run, error) {
	if base != "" {
		o := p.options
		o.Plant = nil
		run, err := recordOf(ctx, base, o, out)
		if err == nil {
			run.Environment.Resume(&head.Environment)
		}
		return run, err
	}
	run := *head
	if plant := head.Settings.Plant; plant != nil {
		run.Settings.Plant = &record.Plant{Impl: plant.Impl}
	}
	return &run, nil
}

// ExitFailed is the exit code of a benchrun whose error wraps ErrFailed.
const ExitFailed = 1

// ExitRefused is the exit code of a benchrun whose input is wrong.
const ExitRefused = 2

// recordOf asks another program for the record of its run.
func recordOf(ctx context.Context, exe string, o Options, out io.Writer) (*record.Run, error) {
	// This process has locked the pair's own folder, which also holds the lock file.
	o.Out = filepath.Join(o.Out, BaseDir)
	o.WorkTree = "" // that of this program: the other one names the commit that it was built from
	in, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, RecordCommand)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, out
	if err := cmd.Run(); cmd.ProcessState.ExitCode() == ExitFailed {
		return nil, fmt.Errorf(
			"%w: %s found something broken before it measured, which its output above names: %w", ErrFailed,
			exe, err)
	} else if cmd.ProcessState.ExitCode() == ExitRefused {
		return nil, fmt.Errorf(
			"%s cannot measure this (%w); its message is above: if it lacks an implementation or a "+
				"preset, choose with --impl, --component and --preset what both builds have; if it does not "+
				"know %s, build it from newer code", exe, err, RecordCommand)
	} else if err != nil {
		return nil, fmt.Errorf("asking %s what it would run: %w; is it a benchrun that knows pairs?", exe,
			err)
	}
	var run record.Run
	if err := json.Unmarshal(stdout.Bytes(), &run); err != nil {
		return nil, fmt.Errorf("reading what %s would run: %w", exe, err)
	}
	return &run, nil
}

// WriteRecord carries out RecordCommand.
func WriteRecord(ctx context.Context, in io.Reader, out, progress io.Writer) error {
	var o Options
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("reading the options: %w", err)
	}
	p, err := NewPlan(o)
	if err != nil {
		return err
	}
	run, err := p.record(ctx, progress)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(run)
}

// sameMeasured returns an error unless both would measure the same cells by the same workloads,
// in the same way. It is found before anything is measured. The error wraps ErrFailed where an
// implementation keeps its contract in one of them only.
func sameMeasured(base, head *record.Run) error {
	if !record.SameNumbers(base.Schema, head.Schema) {
		return fmt.Errorf(
			"base writes schema %d, head %d: measure them apart, and hold them against each other with "+
				"benchrun compare --force", base.Schema, head.Schema)
	}
	if err := base.Environment.SameMachine(&head.Environment); err != nil {
		return fmt.Errorf(
			"base and head cannot be compared: %w: build both with the same Go and flags, and give both "+
				"the same GOGC and GOMEMLIMIT", err)
	}
	problems := record.SameCells(record.ShardDir{Dir: "base", Run: base},
		record.ShardDir{Dir: "head", Run: head})
	problems = append(problems, failedInOne(base, head, "head")...)
	problems = append(problems, failedInOne(head, base, "base")...)
	if len(problems) == 0 && !slices.EqualFunc(base.Cells, head.Cells, func(a, b record.Cell) bool {
		return a.ID() == b.ID()
	}) {
		problems = append(problems, errors.New("base and head order their cells differently"))
	}
	if len(problems) > 0 {
		return fmt.Errorf(
			"%w\nchoose with --impl and --component what both have and what passes its suite in both, or "+
				"give both one workload with -f", errors.Join(problems...))
	}
	return nil
}

// failedInOne names the implementations that pass their suite in one run and fail it in the other.
func failedInOne(passes, fails *record.Run, failing string) (problems []error) {
	for _, im := range fails.Impls {
		passed := slices.ContainsFunc(passes.Impls, func(o record.Implementation) bool {
			return o.Component == im.Component && o.Name == im.Name && o.Verified != record.VerifyFailed
		})
		if im.Verified == record.VerifyFailed && passed {
			problems = append(problems,
				fmt.Errorf("%w: %s/%s does not keep the contract in %s, and does in the other", ErrFailed,
					im.Component, im.Name, failing))
		}
	}
	return problems
}

// answerWithin and mostAnswered bound a program's answer that it is a benchrun.
const (
	answerWithin = 20 * time.Second
	mostAnswered = 64 << 10
)

var versionLine = regexp.MustCompile(`(?m)^run\.json schema (\d+)$`)

// Benchrun checks that path is a benchrun whose numbers mean the same as this one's, by
// running it for its version. It returns the absolute path.
func Benchrun(ctx context.Context, path string) (string, error) {
	exe, err := filepath.Abs(path)
	if err == nil {
		_, err = exec.LookPath(exe) // which says why it is no program
	}
	if err != nil {
		return "", fmt.Errorf("%s is not a program: %w; build one with: go build -o benchrun-base "+
			"./cmd/benchrun", path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "version")
	cmd.WaitDelay = time.Second
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	said, _ := io.ReadAll(io.LimitReader(pipe, mostAnswered)) // Wait tells its end
	_ = pipe.Close()                                          // it ends, if it writes for ever
	if err = cmd.Wait(); err == nil {
		err = errors.New(`its answer to "version" names no schema of run.json`)
	}
	schema := versionLine.FindSubmatch(said)
	if !bytes.HasPrefix(said, []byte("benchrun ")) || schema == nil {
		return "", fmt.Errorf(
			"%s is not a benchrun, or prints something else first: %w; build one with: go build -o "+
				"benchrun-base ./cmd/benchrun", path, err)
	}
	if n, err := strconv.Atoi(string(schema[1])); err != nil || !record.SameNumbers(n, record.Schema) {
		return "", fmt.Errorf(
			"%s writes schema %s, this benchrun %d, whose numbers mean something else: measure them "+
				"apart, and hold them against each other with benchrun compare --force", path, schema[1],
			record.Schema)
	}
	return exe, nil
}
