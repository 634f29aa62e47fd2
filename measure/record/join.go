package record

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/measure/sysinfo"
)

// ShardDir is a shard that was read from a folder.
type ShardDir struct {
	Dir string
	Run *Run
}

// ErrIncomplete is wrapped by Join's error if all that is wrong are shards that are missing or
// not finished.
var ErrIncomplete = errors.New("the run is not whole")

// Join makes one run of the shards of a run: every fork once, in the order of the whole
// schedule. The implementations that failed their suite on any machine are left out, as in a
// run. It alters no argument.
//
// The error names all that is wrong: folders that are no shard, or an unfinished one; shards
// that are missing or there twice; shards of another run, revision, workload or class of
// machine than the first.
func Join(shards []ShardDir) (*Run, error) {
	if len(shards) == 0 {
		return nil, fmt.Errorf("%w: there are no shards", ErrIncomplete)
	}
	if err := areShards(shards); err != nil {
		return nil, err
	}
	shards = slices.SortedStableFunc(slices.Values(shards), func(a, b ShardDir) int {
		return cmp.Compare(a.Run.Settings.Shard.Index, b.Run.Settings.Shard.Index)
	})
	var problems []error
	for _, s := range shards[1:] {
		problems = append(problems, sameRun(shards[0], s)...)
	}
	problems = append(problems, twice(shards)...)
	missing := incomplete(shards)
	if len(problems) == 0 && len(missing) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, errors.Join(missing...))
	}
	if err := errors.Join(append(problems, missing...)...); err != nil {
		return nil, err
	}
	if err := dividedAlike(shards); err != nil {
		return nil, err
	}
	first := shards[0].Run
	out := *first
	out.Settings.Shard = nil
	out.Impls, out.Forks, out.Shards, out.Checks = nil, nil, nil, nil
	failed := map[string]bool{}
	for _, s := range shards {
		r := s.Run
		out.Complete = out.Complete && r.Complete
		if r.Started.Before(out.Started) {
			out.Started = r.Started
		}
		if r.Finished.After(out.Finished) {
			out.Finished = r.Finished
		}
		for _, im := range r.Impls {
			out.Impls = withImplementation(out.Impls, im)
			failed[im.id()] = failed[im.id()] || im.Verified == VerifyFailed
		}
		if len(r.Cells) > len(out.Cells) {
			out.Cells = r.Cells
		}
		out.Shards = append(out.Shards,
			ShardRun{r.Settings.Shard.Index, r.Machines(), r.Started, r.Finished, r.Environment})
	}
	out.Cells = slices.DeleteFunc(slices.Clone(out.Cells), func(c Cell) bool {
		return failed[implOf(c)]
	})
	out.Forks = inOrder(&out, shards)
	out.Warnings = joinWarnings(shards)
	out.Environment = joinEnvironments(shards, &out)
	return &out, out.validate()
}

// areShards returns an error that names the folders that are no shards.
func areShards(shards []ShardDir) error {
	var problems []error
	for _, s := range shards {
		switch {
		case s.Run.Settings.Shard != nil:
		case len(s.Run.Shards) > 0:
			problems = append(problems, fmt.Errorf("%s was joined from shards already", s.Dir))
		default:
			problems = append(problems,
				fmt.Errorf("%s is a whole run, not a shard, which benchrun run --shard 1/%d measures", s.Dir,
					max(2, len(shards))))
		}
	}
	return errors.Join(problems...)
}

// twice names the shards that are there more than once.
func twice(shards []ShardDir) (problems []error) {
	first := map[int]string{}
	for _, s := range shards {
		shard := s.Run.Settings.Shard
		if dir, ok := first[shard.Index]; ok {
			problems = append(problems, fmt.Errorf("shard %s is there twice: %s and %s", shard, dir, s.Dir))
		} else {
			first[shard.Index] = s.Dir
		}
	}
	return problems
}

// incomplete names the shards that are missing or not finished.
func incomplete(shards []ShardDir) (problems []error) {
	there := map[int]bool{}
	for _, s := range shards {
		there[s.Run.Settings.Shard.Index] = true
		if !s.Run.Complete {
			problems = append(problems,
				fmt.Errorf("%s: shard %s is not finished, it has %d of %d forks; go on with: %s", s.Dir,
					s.Run.Settings.Shard, len(s.Run.Forks), len(s.Run.Schedule()), ResumeCommand(s.Dir)))
		}
	}
	total := shards[0].Run.Settings.Shard.Of
	var missing []string
	for i := 1; i <= total; i++ {
		if !there[i] {
			missing = append(missing, strconv.Itoa(i))
		}
	}
	if gone := len(missing); gone > 0 {
		first := missing[0]
		if more := len(missing) - mostNamed; more > 0 {
			missing = append(missing[:mostNamed], fmt.Sprintf("and %d more", more))
		}
		problems = append(
			problems, fmt.Errorf(
				"%d of %d shards are missing: %s; measure each with the command of the others and --shard "+
					"%s/%d", gone, total, strings.Join(missing, ", "), first, total))
	}
	return problems
}

// mostNamed is how many missing shards an error names.
const mostNamed = 20

// dividedAlike returns an error unless each fork of the run belongs to one shard. Two versions
// of benchrun may divide a run differently.
func dividedAlike(shards []ShardDir) error {
	first := shards[0].Run
	for _, p := range Schedule(first.Cells, first.ForksOf, first.Settings.Profile,
		first.Settings.Seed) {
		var in []string
		for _, s := range shards {
			if s.Run.Settings.Shard.has(p) {
				in = append(in, s.Dir)
			}
		}
		switch {
		case len(in) == 0:
			return fmt.Errorf(
				"no shard measures fork %d of %s: the shards were divided by different versions of benchrun",
				p.Index, p.Cell.WorkloadKey())
		case len(in) > 1:
			return fmt.Errorf(
				"%s measure fork %d of %s: they were divided by different versions of benchrun",
				strings.Join(in, " and "), p.Index, p.Cell.WorkloadKey())
		}
	}
	return nil
}

// compared is a value that should be the same in two records.
type compared struct {
	what string
	a, b any
}

// differ names the values that are not the same.
func differ(first, other ShardDir, values ...compared) (problems []error) {
	for _, d := range values {
		if !reflect.DeepEqual(d.a, d.b) {
			problems = append(problems, fmt.Errorf("%s and %s differ in %s: %v against %v", first.Dir,
				other.Dir, d.what, d.a, d.b))
		}
	}
	return problems
}

// sameRun says in what a shard is of another run than the first.
func sameRun(first, other ShardDir) []error {
	a, b := first.Run, other.Run
	if x, y := a.Settings.Shard.Of, b.Settings.Shard.Of; x != y {
		return []error{fmt.Errorf("%s is one of %d shards, %s of %d: they are of two runs", first.Dir, x,
			other.Dir, y)}
	}
	x, y := a.Environment, b.Environment
	values := []compared{{"schema", a.Schema, b.Schema},
		{"revision of the code", cmp.Or(x.Revision, "unknown"), cmp.Or(y.Revision, "unknown")},
		{"CPUs of the container", x.CgroupCPUs, y.CgroupCPUs}}
	for _, module := range slices.Sorted(maps.Keys(x.Modules)) {
		values = append(values,
			compared{"the version of " + module, x.Modules[module], y.Modules[module]})
	}
	problems := differ(first, other, values...)
	if err := x.SameMachine(&y); err != nil {
		problems = append(
			problems, fmt.Errorf("%s and %s are of two classes of machines: %w", first.Dir, other.Dir, err))
	}
	return append(problems, SamePlan(first, other)...)
}

// SamePlan says in what two records differ of what is to be measured, beside the shard.
func SamePlan(first, other ShardDir) []error {
	a, b := first.Run.Settings, other.Run.Settings
	values := []compared{{"preset", first.Run.Preset, other.Run.Preset},
		{"forks", a.Forks, b.Forks}, {"seed", a.Seed, b.Seed}, {"profile", a.Profile, b.Profile},
		{"skipVerify", a.SkipVerify, b.SkipVerify}, {"budget", a.Budget, b.Budget},
		{"rule", a.Rule, b.Rule}, {"plant", plantText(a.Plant), plantText(b.Plant)}}
	// the same trace may lie elsewhere on another machine
	if a.TraceSum == "" || a.TraceSum != b.TraceSum {
		values = append(values, compared{"trace", a.Trace, b.Trace},
			compared{"the trace's content (SHA-256)", a.TraceSum, b.TraceSum})
	}
	return append(differ(first, other, values...), SameCells(first, other)...)
}

// SameCells says in what workloads and cells two records differ.
func SameCells(first, other ShardDir) []error {
	return append(sameWorkloads(first, other), sameCells(first, other)...)
}

func plantText(p *Plant) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("%s=%g%%", p.Impl, 100*p.Share)
}

// sameWorkloads names the first workload that differs, with the first line that does.
func sameWorkloads(first, other ShardDir) []error {
	a, b := first.Run.Workloads, other.Run.Workloads
	for i := range max(len(a), len(b)) {
		var x, y WorkloadText
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		switch {
		case x.Key != y.Key:
			return []error{fmt.Errorf("workload %d is %s in %s and %s in %s", i+1, cmp.Or(x.Key, "missing"),
				first.Dir, cmp.Or(y.Key, "missing"), other.Dir)}
		case x.YAML != y.YAML:
			line, otherLine := differingLines(x.YAML, y.YAML)
			return []error{fmt.Errorf("workload %s is another in %s than in %s: %q against %q", x.Key,
				first.Dir, other.Dir, line, otherLine)}
		}
	}
	return nil
}

// differingLines are the first lines in which two texts differ.
func differingLines(a, b string) (x, y string) {
	for a != "" || b != "" {
		x, a, _ = strings.Cut(a, "\n")
		y, b, _ = strings.Cut(b, "\n")
		if x != y {
			return strings.TrimSpace(x), strings.TrimSpace(y)
		}
	}
	return "", ""
}

// sameCells names the first cell that only one shard plans. The cells of an implementation
// that failed its suite there do not count.
func sameCells(first, other ShardDir) []error {
	for _, d := range []struct{ has, lacks ShardDir }{{first, other}, {other, first}} {
		for _, c := range d.has.Run.Cells {
			left := slices.ContainsFunc(d.lacks.Run.Impls, func(im Implementation) bool {
				return im.id() == implOf(c) && im.Verified == VerifyFailed
			})
			if !left && !d.lacks.Run.hasCell(c) {
				return []error{fmt.Errorf("cell %s is in %s and not in %s: they do not measure the same",
					c.ID(), d.has.Dir, d.lacks.Dir)}
			}
		}
	}
	return nil
}

func (r *Run) hasCell(c Cell) bool {
	return slices.ContainsFunc(r.Cells, func(o Cell) bool { return o.ID() == c.ID() })
}

func (im *Implementation) id() string { return im.Component + "/" + im.Name }

func implOf(c Cell) string { return string(c.Component) + "/" + c.Impl }

// withImplementation adds what a shard says of an implementation. A failure counts more than
// what others say.
func withImplementation(impls []Implementation, im Implementation) []Implementation {
	i := slices.IndexFunc(impls, func(o Implementation) bool { return o.id() == im.id() })
	switch {
	case i < 0:
		return append(impls, im)
	case im.Verified == VerifyFailed && impls[i].Verified != VerifyFailed:
		impls[i] = im
	}
	return impls
}

// inOrder are the forks of the shards in the order of the whole run's schedule.
func inOrder(whole *Run, shards []ShardDir) (out []Fork) {
	forks := map[forkKey]Fork{}
	for _, s := range shards {
		for _, f := range s.Run.Forks {
			forks[forkKey{f.Cell.ID(), f.Index}] = f
		}
	}
	for _, p := range whole.Schedule() {
		if f, ok := forks[forkKey{p.Cell.ID(), p.Index}]; ok {
			out = append(out, f)
		}
	}
	return out
}

// joinWarnings are the warnings of the shards. One that all have stands once; the others name
// their shard.
func joinWarnings(shards []ShardDir) (out []string) {
	times := map[string]int{}
	for _, s := range shards {
		for _, w := range s.Run.Warnings {
			times[w]++
		}
	}
	for _, s := range shards {
		for _, w := range s.Run.Warnings {
			if times[w] != len(shards) {
				w = fmt.Sprintf("shard %d: %s", s.Run.Settings.Shard.Index, w)
			}
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// joinEnvironments describes the class of the machines, with the worst conditions of any.
func joinEnvironments(shards []ShardDir, joined *Run) sysinfo.Environment {
	var of []sysinfo.Environment
	for _, s := range shards {
		of = append(of, s.Run.Environment)
	}
	var conditions []map[string]float64
	for _, f := range joined.Forks {
		conditions = append(conditions, f.Process)
	}
	return sysinfo.Worst(of, conditions)
}
