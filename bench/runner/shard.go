package runner

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
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
	"github.com/informerbench/informerbench/report"
)

// Shard says which part of a run to measure: Index of Of, from 1. The zero value is the whole.
type Shard struct{ Index, Of int }

func (s Shard) isSet() bool { return s.Of > 0 }

// suffix is the end of a folder's name.
func (s Shard) suffix() string {
	if !s.isSet() {
		return ""
	}
	return fmt.Sprintf("-shard-%d-of-%d", s.Index, s.Of)
}

// divide makes the shards, if the options ask for one of them. The division depends on the plan
// alone: on the workloads, the implementations before they are verified, and the forks.
func (p *Plan) divide() (err error) {
	s := p.options.Shard
	if !s.isSet() {
		return nil
	}
	if p.shards, err = record.Divide(p.cells(p.entries), p.options.Forks, p.options.Profile, p.cost(),
		s.Of); err != nil {
		return fmt.Errorf("--shard %d/%d: %w", s.Index, s.Of, err)
	}
	p.shard = &p.shards[s.Index-1]
	return nil
}

// cost returns the expected time of a fork of a cell.
func (p *Plan) cost() func(record.Cell) time.Duration {
	of := map[string]time.Duration{}
	for _, v := range p.variants {
		of[p.cell(catalog.Entry{Component: v.Workload.Component}, v).WorkloadKey()] = Expected(v.Workload)
	}
	return func(c record.Cell) time.Duration { return of[c.WorkloadKey()] }
}

// Load is the expected time of all forks of the plan, or of its shard. The time of
// the verification is not in it.
func (p *Plan) Load() time.Duration { return p.load(p.shard) }

// LargestLoad is the expected time of the shard that takes longest, of those of the plan. The time
// of the verification is not in it.
func (p *Plan) LargestLoad() (most time.Duration) {
	for i := range p.shards {
		most = max(most, p.load(&p.shards[i]))
	}
	return most
}

// load is the expected time of the forks of a shard, or of all.
func (p *Plan) load(shard *record.Shard) (load time.Duration) {
	cost := p.cost()
	run := record.Run{Cells: p.cells(p.entries),
		Settings: record.Settings{Forks: p.options.Forks, Profile: p.options.Profile,
			Seed: p.options.Seed, Shard: shard}}
	for _, planned := range run.Schedule() {
		load += cost(planned.Cell)
	}
	return load
}

// own are the entries that the run, or its shard, measures.
func (p *Plan) own(run *record.Run) []catalog.Entry {
	if p.shard == nil {
		return p.entries
	}
	return slices.DeleteFunc(slices.Clone(p.entries), func(e catalog.Entry) bool {
		return !slices.ContainsFunc(run.Cells, func(c record.Cell) bool {
			return c.Component == e.Component && p.shard.Measures(c.WorkloadKey())
		})
	})
}

// begunIn reports whether a run was begun in dir.
func begunIn(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.RunFile))
	return err == nil
}

// goOn continues the run in the plan's folder, if it is one of the same plan.
func (p *Plan) goOn(ctx context.Context, out io.Writer) (Result, error) {
	dir := p.options.Out
	draft, err := p.draft()
	if err != nil {
		return Result{}, err
	}
	same := func(r *record.Run) error {
		problems := record.SamePlan(record.ShardDir{Dir: "the run in the folder", Run: r},
			record.ShardDir{Dir: "this command", Run: draft})
		if a, b := shardText(r), shardText(draft); a != b {
			problems = append(problems, fmt.Errorf("the folder has %s, this command is for %s", a, b))
		}
		if len(problems) > 0 {
			return fmt.Errorf("%w; choose another folder with -o", errors.Join(problems...))
		}
		return nil
	}
	result, err := resume(ctx, dir, p.options, same, out)
	if !errors.Is(err, record.ErrComplete) {
		return result, err
	}
	run, err := record.ReadRun(dir)
	if err != nil {
		return Result{}, err
	}
	if err := same(run); err != nil {
		return Result{}, err
	}
	here := sysinfo.ReadEnvironment(p.options.WorkTree)
	if err := mayGoOn(run, &here); err != nil {
		return Result{}, fmt.Errorf(
			"%s is complete, and not what this command would measure: %w; choose another folder with -o",
			dir, err)
	}
	fmt.Fprintf(out, "%s is complete: nothing is left to measure\n", dir)
	return Result{Dir: dir, Run: run}, failures(run)
}

func shardText(r *record.Run) string {
	if r.Settings.Shard == nil {
		return "a whole run"
	}
	return "shard " + r.Settings.Shard.String()
}

// MergeOptions are the arguments of benchrun merge.
type MergeOptions struct {
	Out string // folder of the joined run
	// From are folders of shards, and folders that hold such folders.
	From []string
	// Wait is how long to wait for shards that are missing, not finished, or have given up
	// processes; 0 does not wait.
	Wait time.Duration
	// Command is as typed, for the record and for the lock of the folder.
	Command []string
}

// pollEvery is how often a merge that waits looks at the folders.
const pollEvery = 10 * time.Second

// Merge joins the shards of a run into one run and writes its record, reports and profiles.
// Out must be empty, not exist, or hold a run that was joined from the same plan and commit
// before, which is then written anew. Errors of record.Join name what is wrong with the shards;
// nothing is written then. While it waits, each change of what is missing goes to out.
func Merge(ctx context.Context, o MergeOptions, out io.Writer) (result Result, err error) {
	if err := mayJoinInto(o.Out, record.EmptyDir); err != nil {
		return Result{}, err
	}
	run, shards, err := joinWhenWhole(ctx, o, out)
	if err != nil {
		return Result{}, err
	}
	lock, err := record.LockDir(o.Out, o.Command)
	if err != nil {
		return Result{}, err
	}
	defer release(lock, &err)
	// another run may have been made there meanwhile
	if err := mayJoinInto(o.Out, record.EmptyHeld); err != nil {
		return Result{}, err
	}
	if err := sameJoined(o.Out, run); err != nil {
		return Result{}, err
	}
	run.Name, run.Joined = filepath.Base(o.Out), o.Command
	run.Checks = checks(run)
	written, err := writeJoined(o.Out, run, shards)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w; the same command writes the run again", ErrFailed, err)
	}
	return Result{o.Out, run, written}, errors.Join(failures(run),
		givenUpShards(shards, ErrFailed, func(s record.ShardDir) string {
			return "measure them with " + record.ResumeCommand(s.Dir) + ", and merge again"
		}))
}

// sameJoined returns an error if a folder holds a joined run of something else: it would be
// overwritten.
func sameJoined(dir string, run *record.Run) error {
	before, err := record.ReadRun(dir)
	if err != nil {
		return nil // there is none: mayJoinInto has looked
	}
	problems := record.SamePlan(record.ShardDir{Dir: dir, Run: before},
		record.ShardDir{Dir: "the shards", Run: run})
	if a, b := before.Environment.Revision, run.Environment.Revision; a != b {
		problems = append(problems, fmt.Errorf("%s is of commit %q, the shards are of %q", dir, a, b))
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s holds another run that was joined: %w; name another folder, or remove it",
			dir, errors.Join(problems...))
	}
	return nil
}

// writeJoined writes a joined run, its record first: where that is, a merge that was killed can be
// made again.
func writeJoined(dir string, run *record.Run, shards []record.ShardDir) (*report.Report, error) {
	target := filepath.Join(dir, profilesDir)
	if err := record.WriteRun(dir, run); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(target); err != nil { // those of a former merge
		return nil, err
	}
	if err := copyProfiles(target, shards); err != nil {
		return nil, err
	}
	return report.Write(dir)
}

// mayJoinInto returns the error of empty, unless a folder holds a run that was joined.
func mayJoinInto(dir string, empty func(string) error) error {
	if before, err := record.ReadRun(dir); err == nil && len(before.Shards) > 0 {
		return nil
	}
	return empty(dir)
}

// joinWhenWhole joins the shards, and waits for those that are missing as long as it may.
func joinWhenWhole(ctx context.Context, o MergeOptions, out io.Writer) (*record.Run,
	[]record.ShardDir, error) {
	deadline := time.Now().Add(o.Wait)
	said := ""
	for {
		shards, err := readShards(o.From, o.Wait > 0)
		if err == nil {
			var run *record.Run
			run, err = record.Join(shards)
			if err == nil && time.Now().Before(deadline) {
				err = givenUpShards(shards, record.ErrIncomplete, func(record.ShardDir) string {
					return "another try may measure them; without --wait it is joined as it is"
				})
			}
			if err == nil {
				return run, shards, nil
			}
		}
		if !errors.Is(err, record.ErrIncomplete) || !time.Now().Before(deadline) {
			return nil, nil, err
		}
		if err.Error() != said {
			said = err.Error()
			fmt.Fprintf(out, "waiting for shards in %s until %s UTC: %s\n", strings.Join(o.From, ", "),
				deadline.UTC().Format(time.DateTime), said)
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w while waiting for shards: %w", ErrInterrupted, err)
		case <-time.After(pollEvery):
		}
	}
}

// givenUpShards names the shards that lack processes of cells that were given up, and what to do.
// They can be joined all the same. The error wraps kind.
func givenUpShards(shards []record.ShardDir, kind error, do func(record.ShardDir) string) error {
	var problems []error
	for _, s := range shards {
		if n := len(s.Run.Lacking()); n > 0 {
			problems = append(problems,
				fmt.Errorf("%w: %s: shard %s has given up %d of %d forks: %s", kind, s.Dir,
					s.Run.Settings.Shard, n, len(s.Run.Schedule()), do(s)))
		}
	}
	return errors.Join(problems...)
}

// readShards reads the shards in the folders, and in the folders directly below a folder that
// holds no run. incomplete allows for folders that do not exist yet.
func readShards(folders []string, incomplete bool) (out []record.ShardDir, err error) {
	var dirs []string
	for _, dir := range folders {
		entries, err := os.ReadDir(dir)
		if mayCome := incomplete && errors.Is(err, fs.ErrNotExist); err != nil && !mayCome {
			return nil, err
		}
		if begunIn(dir) {
			dirs = append(dirs, dir)
			continue
		}
		found := 0
		for _, e := range entries {
			if below := filepath.Join(dir, e.Name()); e.IsDir() && begunIn(below) {
				dirs = append(dirs, below)
				found++
			}
		}
		if found == 0 && !incomplete {
			return nil, fmt.Errorf(
				"%s: neither a shard nor a folder of shards: there is no %s in it or one level below", dir,
				record.RunFile)
		}
	}
	for _, dir := range dirs {
		run, e := record.ReadRun(dir)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		out = append(out, record.ShardDir{Dir: dir, Run: run})
	}
	return out, err
}

// profilesDir is the folder of the profiles within a run's.
const profilesDir = "profiles"

// copyProfiles copies the profiles of all shards into one folder.
func copyProfiles(to string, shards []record.ShardDir) error {
	for _, s := range shards {
		source := filepath.Join(s.Dir, profilesDir)
		if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.CopyFS(to, os.DirFS(source)); err != nil {
			return fmt.Errorf("copying the profiles of %s: %w", s.Dir, err)
		}
	}
	return nil
}
