package mechanical

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/internal/mechanical/active"
)

// Verdict is the outcome for a mutant.
type Verdict struct {
	Mutant
	// Clause is the clause whose case detected it; "" if it survived.
	Clause string
	// How says on one line what the case found, or how the process ended.
	How string
	// Reached reports whether any case reached the mutated place.
	Reached bool
}

// Options select the mutants and the effort. The zero value runs everything.
type Options struct {
	// Pick chooses the mutants; nil takes all.
	Pick func(Mutant) bool
	// Begin gets the number of mutants to judge, Progress each verdict; both must be set.
	Begin    func(mutants int)
	Progress func(done, of int, v Verdict)
	// Known are verdicts of an interrupted run, by Mutant.Key; their mutants are not judged
	// again.
	Known map[string]Verdict
	// Rounds are the suites' efforts that a mutant must survive, one after the other, each
	// with a seed of its own; nil means DefaultRounds.
	Rounds []float64
}

// DefaultRounds begin with little effort, because most mutants are killed at once.
var DefaultRounds = []float64{0.02, 0.2, 1}

// mostTime bounds one process in wall-clock time. The suites end cases that hang by
// themselves; this is for those that they cannot end.
const mostTime = 30 * time.Minute

// task is the cases of one clause over one entry.
type task struct{ entry, clause string }

func (t task) String() string { return t.entry + "=" + t.clause }

// traced is the result of a run over the original code.
type traced struct {
	elapsed map[task]time.Duration
	reached map[int][]task // by the first mutant of a place
}

// Run judges the target's mutants, one process at a time and at the lowest priority.
func Run(ctx context.Context, root string, target Target, opts Options) ([]Verdict, error) {
	tmp, err := os.MkdirTemp("", "mechanical-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	bin, mutants, err := Build(ctx, root, target, tmp)
	if err != nil {
		return nil, err
	}
	r := &runner{judge: bin, tmp: tmp}
	rounds := opts.Rounds
	if rounds == nil {
		rounds = DefaultRounds
	}
	healthy, err := r.trace(ctx, target.tasks(), rounds[min(1, len(rounds)-1)])
	if err != nil {
		return nil, err
	}
	if opts.Pick != nil {
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(m Mutant) bool { return !opts.Pick(m) })
	}
	opts.Begin(len(mutants))
	sound := map[int]bool{} // rounds that the original code survives
	var out []Verdict
	for i, m := range mutants {
		if v, known := opts.Known[m.Key()]; known {
			v.Mutant = m
			out = append(out, v)
			continue
		}
		v := Verdict{Mutant: m}
		tasks := healthy.tasksOf(m.ID)
		v.Reached = len(tasks) > 0
		for n, effort := range rounds {
			if v.Clause != "" || !v.Reached {
				break
			}
			if !sound[n] {
				if err := r.survives(ctx, target.tasks(), effort, uint64(n+1)); err != nil {
					return out, err
				}
				sound[n] = true
			}
			if v.Clause, v.How, err = r.one(ctx, m.ID, tasks, effort, uint64(n+1)); err != nil {
				return out, err
			}
		}
		out = append(out, v)
		opts.Progress(i+1, len(mutants), v)
	}
	return out, nil
}

// tasks are all clauses of the target's component over each of its entries.
func (t Target) tasks() (out []task) {
	for _, e := range t.Entries {
		for _, c := range contract.ClausesOf(t.Component) {
			out = append(out, task{string(t.Component) + "/" + e, c.ID})
		}
	}
	return out
}

// tasksOf are the tasks that reach the mutant's place, the quickest first.
func (h traced) tasksOf(id int) []task {
	place := 0
	for first := range h.reached {
		if first <= id && first > place {
			place = first
		}
	}
	// A place has at most three mutants, and unreached places may lie in between.
	if place == 0 || id-place > 2 {
		return nil
	}
	tasks := slices.Clone(h.reached[place])
	slices.SortFunc(tasks, func(a, b task) int { return cmp.Compare(h.elapsed[a], h.elapsed[b]) })
	return tasks
}

type runner struct{ judge, tmp string }

// trace runs the suites over the original code and records which places each clause
// reaches. A failure here would make every verdict worthless.
func (r *runner) trace(ctx context.Context, tasks []task, effort float64) (traced, error) {
	h := traced{elapsed: map[task]time.Duration{}, reached: map[int][]task{}}
	out, errs, err := r.start(ctx, "trace", tasks, effort, 1)
	if err != nil {
		return h, fmt.Errorf("the judge over the original code: %w\n%s", err, errs)
	}
	survived := false
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "killed":
			return h, fmt.Errorf("a suite accuses the original code: %s", line)
		case f[0] == "survived":
			survived = true
		case f[0] == "reached" && len(f) >= 4:
			t := task{f[1], f[2]}
			ns, _ := strconv.ParseInt(f[3], 10, 64)
			h.elapsed[t] = time.Duration(ns)
			for _, id := range f[4:] {
				n, err := strconv.Atoi(id)
				if err != nil {
					return h, fmt.Errorf("the judge prints %q", line)
				}
				h.reached[n] = append(h.reached[n], t)
			}
		}
	}
	if !survived {
		return h, fmt.Errorf("the judge over the original code does not end: %q", errs)
	}
	return h, nil
}

// survives runs a round over the original code. A round that fails there, such as by the
// bound on a case's time, would count survivors as killed.
func (r *runner) survives(ctx context.Context, tasks []task, effort float64, seed uint64) error {
	clause, how, err := r.one(ctx, 0, tasks, effort, seed)
	if err == nil && clause != "" {
		err = fmt.Errorf("at effort %g a suite accuses the original code: %s: %s", effort, clause, how)
	}
	return err
}

// one runs the tasks over one mutant and returns the clause that killed it, if any.
func (r *runner) one(ctx context.Context, id int, tasks []task, effort float64, seed uint64) (clause, how string, err error) {
	out, errs, err := r.start(ctx, strconv.Itoa(id), tasks, effort, seed)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	last := ""
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "case":
			last = f[2]
		case len(f) > 3 && f[0] == "killed":
			return f[2], strings.Join(f[3:], " "), nil
		case len(f) == 1 && f[0] == "survived":
			return "", "", nil
		}
	}
	if last == "" {
		return "", "", fmt.Errorf("mutant %d ended before any case: %w\n%s", id, err, errs)
	}
	return last, fmt.Sprintf("the process ended: %v: %s", err, firstLine(errs)), nil
}

// start runs the judge. It keeps only the beginning of its standard error.
func (r *runner) start(ctx context.Context, mutant string, tasks []task, effort float64, seed uint64) (out, errs string, err error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	tmp, err := os.MkdirTemp(r.tmp, "run-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	args := []string{r.judge, fmt.Sprint("-effort=", effort), fmt.Sprint("-seed=", seed)}
	for _, t := range tasks {
		args = append(args, t.String())
	}
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", strconv.Itoa(niceness)}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), active.Env+"="+mutant, "TMPDIR="+tmp)
	cmd.Dir = tmp
	cmd.WaitDelay = 5 * time.Second
	var stdout bytes.Buffer
	stderr := &head{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// niceness is the lowest priority, so that other processes come first.
var niceness = 19

// head keeps the beginning of the written bytes.
type head struct {
	most int
	bytes.Buffer
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.most - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// firstLine is the first line that gives the reason why a process ended.
func firstLine(errs string) string {
	scan := bufio.NewScanner(strings.NewReader(errs))
	for scan.Scan() {
		for _, begin := range []string{"fatal error:", "panic:", "runtime:", "SIG"} {
			if strings.HasPrefix(scan.Text(), begin) {
				return scan.Text()
			}
		}
	}
	first, _, _ := strings.Cut(errs, "\n")
	return first
}

// Clauses counts the kills of each clause, in the order of their names.
func Clauses(verdicts []Verdict) (names []string, kills map[string]int) {
	kills = map[string]int{}
	for _, v := range verdicts {
		if v.Clause != "" {
			kills[v.Clause]++
		}
	}
	return slices.Sorted(maps.Keys(kills)), kills
}

// Root is the module's folder: the working folder or its nearest parent with go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod in this folder or above")
		}
		dir = up
	}
}
