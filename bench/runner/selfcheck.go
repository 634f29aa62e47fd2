package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// SelfCheckOptions say how much is checked.
type SelfCheckOptions struct {
	Rounds   int       // comparisons of the same code
	Plants   []float64 // slowdowns of single operations, in percent; 0 plants none
	Cells    int       // cells measured with each slowdown
	Builds   int       // pairs of two builds, one of them slower, and as many of the same
	Out      string    // folder that keeps the runs; "" keeps none
	Command  []string
	WorkTree string
}

// selfCheckImpls are this project's own implementations, one of each component.
var selfCheckImpls = []string{"mutexmap", "deltafifo", "binaryheap", "workqueue"}

// plantedStore is the store that is slowed down.
const plantedStore = "mutexmap"

// SelfCheck tests on this machine whether verdicts hold, and writes its findings as
// Markdown to out. The error wraps ErrFailed if one does not.
func SelfCheck(ctx context.Context, o SelfCheckOptions, out, progress io.Writer) (failed error) {
	if o.Rounds < 0 || o.Builds < 0 || o.Cells < 0 {
		return fmt.Errorf("--rounds %d, --builds %d, --cells %d: want 0 or more of each", o.Rounds,
			o.Builds, o.Cells)
	}
	if i := slices.IndexFunc(o.Plants, func(p float64) bool {
		return p != 0 && !(p >= 1 && p <= 1000)
	}); i >= 0 {
		return fmt.Errorf("--plant %g: want percent, 0 or from 1 to 1000: nothing is promised below 1",
			o.Plants[i])
	}
	if o.Rounds == 0 && o.Builds == 0 && (o.Cells == 0 || len(o.Plants) == 0) {
		return errors.New("nothing to check: give one of --rounds, --cells and --builds above 0")
	}
	if o.Out == "" {
		dir, err := os.MkdirTemp("", "benchrun-selfcheck-")
		if err != nil {
			return err
		}
		defer func() {
			_ = os.RemoveAll(dir) // of the system's temporary folder
			if failed != nil {
				failed = fmt.Errorf("%w\nwithout -o FOLDER no run is kept: %s was removed", failed, dir)
			}
		}()
		o.Out = dir
	} else {
		if err := record.EmptyDir(o.Out); err != nil {
			return err
		}
		lock, err := record.LockDir(o.Out, o.Command)
		if err != nil {
			return err
		}
		defer release(lock, &failed)
	}
	env := sysinfo.ReadEnvironment(o.WorkTree)
	fmt.Fprintf(out, "# Does benchrun hold what it says? A check on this machine\n\n`%s`, %s, %s, "+
		"%d cores, %s, commit %s\n\n",
		strings.Join(o.Command, " "), time.Now().UTC().Format(time.DateOnly), env.CPU, env.Cores,
		env.GoVersion, orNone(env.Revision))
	c := &selfCheck{o: o, out: out, progress: progress}
	var sections []func() error
	if o.Rounds > 0 {
		sections = append(sections, func() error { return c.sameCode(ctx) })
	}
	if o.Cells > 0 {
		for _, percent := range o.Plants {
			sections = append(sections, func() error { return c.sharpness(ctx, percent) })
		}
	}
	if o.Builds > 0 {
		sections = append(sections, func() error { return c.builds(ctx) })
	}
	var findings []error
	for _, section := range sections {
		err := section()
		if err != nil && ctx.Err() != nil && !errors.Is(err, ErrInterrupted) {
			err = fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		if err != nil && (!errors.Is(err, ErrFailed) || record.DiskFull(err)) {
			return errors.Join(append(findings, err)...)
		}
		findings = append(findings, err)
	}
	failures := slices.DeleteFunc(slices.Clone(findings), func(err error) bool { return err == nil })
	fmt.Fprintf(out, "The check came to its end: of %d sections %d failed.\n", len(findings),
		len(failures))
	return errors.Join(findings...)
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

type selfCheck struct {
	o             SelfCheckOptions
	out, progress io.Writer
	verified      bool
}

// pair measures and compares one pair. Only the first pair runs the suites.
func (c *selfCheck) pair(ctx context.Context, name string, o Options) (*compare.Result, error) {
	o.Command, o.WorkTree, o.Out = c.o.Command, c.o.WorkTree, filepath.Join(c.o.Out, name)
	o.SkipVerify = c.verified
	fmt.Fprintf(c.progress, "%s\n", name)
	p, err := NewPlan(o)
	if err != nil {
		return nil, err
	}
	results, err := Pair(ctx, p, "", c.progress)
	if err != nil {
		return nil, err
	}
	c.verified = true
	return compare.Runs(results[0].Run, results[1].Run, false)
}

// sameCode compares the same code under two names, Rounds times.
func (c *selfCheck) sameCode(ctx context.Context) error {
	fmt.Fprintf(c.out, "## The same code under two names\n\nThe default preset over %s, %d forks "+
		"of each cell as base and as head, in turns: a false verdict would be any better or worse.\n\n",
		strings.Join(selfCheckImpls, ", "), DefaultForks)
	fmt.Fprintf(c.out, "| comparison | verdicts | same | inconclusive | better | worse | interval, "+
		"half its width, median over the rows |\n|---|---|---|---|---|---|---|\n")
	var wrong []string
	total := 0
	for round := range c.o.Rounds {
		r, err := c.pair(ctx, fmt.Sprintf("same-code-%02d", round+1),
			Options{Impls: selfCheckImpls, Forks: DefaultForks, Seed: uint64(round + 1)})
		if err != nil {
			return err
		}
		if err := r.Judge(nil); err != nil {
			return err
		}
		count := map[stats.Verdict]int{}
		var widths []float64
		for _, v := range r.Judged() {
			count[v.Verdict]++
			if v.Ratio != nil {
				widths = append(widths, (v.Ratio.Hi-v.Ratio.Lo)/2)
			}
			if v.Verdict == stats.Better || v.Verdict == stats.Worse {
				wrong = append(wrong, fmt.Sprintf("comparison %d: %s is called %s (%.3gx, q=%.2g)", round+1,
					v.Name, v.Verdict, v.Ratio.Estimate, v.Ratio.Q))
			}
		}
		total += len(r.Judged())
		fmt.Fprintf(c.out, "| %d | %d | %d | %d | %d | %d | ±%.1f%% |\n", round+1, len(r.Judged()),
			count[stats.Same], count[stats.Inconclusive], count[stats.Better], count[stats.Worse],
			100*stats.MedianOf(widths))
	}
	return c.conclude(fmt.Sprintf("%d false verdicts among %d, in %d comparisons.", len(wrong), total,
		c.o.Rounds), wrong)
}

// builtPlant is how much slower the second of two builds is, in percent.
const builtPlant = 10

// buildsOperation is the time of the operation in a process, and buildsForks the number of
// processes of each cell and build.
const (
	buildsOperation = 100 * time.Millisecond
	buildsForks     = 10
)

// buildsGate must find that slowdown and pass without it.
const buildsGate = "store/*/" + string(load.OpUpdate) + "/" + plantedStore + "/ns/op <= +5%"

// buildCase is one kind of pair of two builds, and what the gate may say of it.
type buildCase struct {
	percent float64 // by which head's store is slower
	busy    bool    // another process keeps a core busy meanwhile
	may     []compare.Outcome
	within  time.Duration // the longest that a pair may take
}

var buildCases = []buildCase{
	{builtPlant, false, []compare.Outcome{compare.Regression}, 45 * time.Second},
	{0, false, []compare.Outcome{compare.Pass}, 90 * time.Second},
	{builtPlant, true, []compare.Outcome{compare.Regression}, 2 * time.Minute},
	{0, true, []compare.Outcome{compare.Pass, compare.Undetermined}, 2 * time.Minute},
}

func (b buildCase) String() string {
	busy := "machine alone"
	if b.busy {
		busy = "a core busy"
	}
	return fmt.Sprintf("slower by %g%%, %s", b.percent, busy)
}

// builds compares two builds by a gate, again and again: one store's Update a tenth slower
// in head, and not slower, on the machine alone and beside another process. The builds are
// this program.
func (c *selfCheck) builds(ctx context.Context) error {
	fmt.Fprintf(c.out, "## Two builds and a gate\n\n`benchrun pair --component store --impl "+
		"clientgo,%s -f update.yaml --forks %d --gate '%s'`: Update of 10,000 pods alone, %s of it in "+
		"a process, %d processes of each. Head's %s is slower by the share given.\n\n", plantedStore,
		buildsForks, buildsGate, buildsOperation, buildsForks, plantedStore)
	fmt.Fprintf(c.out, "| head's %s | exit 1 | exit 3 | exit 0 | ratio, median | time of a pair, "+
		"median; longest |\n|---|---|---|---|---|---|\n", plantedStore)
	gate, err := compare.ParseGate(buildsGate)
	if err != nil {
		return err
	}
	file := filepath.Join(c.o.Out, "update.yaml")
	text := fmt.Sprintf(
		"name: update\ncomponent: store\nobjects:\n  kind: pod\n  count: 10000\nops: [%s]\nduration: "+
			"%s\n", load.OpUpdate, buildsOperation)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	var wrong []string
	for _, b := range buildCases {
		outcomes := map[compare.Outcome]int{}
		var took, ratios []float64
		for k := range c.o.Builds {
			began := time.Now()
			r, err := c.build(ctx, b, k, Options{
				File: file, Impls: []string{"clientgo", plantedStore}, Forks: buildsForks, Seed: uint64(k + 1),
				Plant: &record.Plant{Impl: plantedStore, Share: b.percent / 100},
			})
			if err != nil {
				return err
			}
			if err := r.Judge([]compare.Gate{gate}); err != nil {
				return err
			}
			took = append(took, time.Since(began).Seconds())
			outcomes[r.Outcome()]++
			for _, v := range r.Judged() {
				if v.Name.String() == r.Gates[0].Name {
					ratios = append(ratios, v.Ratio.Estimate)
				}
			}
			if !slices.Contains(b.may, r.Outcome()) {
				wrong = append(wrong, fmt.Sprintf("%s: pair %d says %s: %s", b, k+1, r.Outcome(),
					r.Gates[0].Detail))
			}
		}
		fmt.Fprintf(c.out, "| %s | %d | %d | %d | %.3f | %.0f s; %.0f s |\n", b,
			outcomes[compare.Regression], outcomes[compare.Undetermined], outcomes[compare.Pass],
			stats.MedianOf(ratios), stats.MedianOf(took), slices.Max(took))
		if longest := slices.Max(took); longest > b.within.Seconds() {
			wrong = append(wrong, fmt.Sprintf("%s: a pair took %.0f s, want %s at most", b, longest,
				b.within))
		}
	}
	return c.conclude(fmt.Sprintf("%d pairs of each kind.", c.o.Builds), wrong)
}

// build measures the k-th pair of a kind.
func (c *selfCheck) build(ctx context.Context, b buildCase, k int, o Options) (r *compare.Result,
	err error) {
	name := fmt.Sprintf("builds-%g-%02d", b.percent, k+1)
	if b.busy {
		name += "-busy"
		stop := keepBusy(ctx)
		defer func() { err = errors.Join(err, stop()) }()
	}
	return c.pair(ctx, name, o)
}

// BusyCommand is the hidden command that keeps a core busy until it is killed.
const BusyCommand = "busy-process"

// Busy carries out BusyCommand. It reads memory, as other programs do, and so takes cache and
// bandwidth beside the core.
func Busy(ctx context.Context) {
	memory, sum := make([]byte, 64<<20), byte(0)
	for ctx.Err() == nil {
		for i := 0; i < len(memory); i += 64 {
			memory[i] += sum
			sum += memory[i]
		}
	}
}

// keepBusy starts a process that keeps a core busy, and returns what ends it.
func keepBusy(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := sysinfo.Child{Args: []string{BusyCommand}, Procs: 1}.Run(ctx, nil, new(any))
		done <- err
	}()
	return func() error {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the process that was to keep a core busy ended: %w", err)
		}
		return nil
	}
}

// conclude writes a section's last line.
func (c *selfCheck) conclude(seen string, wrong []string) error {
	fmt.Fprintf(c.out, "\n**%s**\n\n", seen)
	for _, w := range wrong {
		fmt.Fprintf(c.out, "- FAILED: %s\n", w)
	}
	if len(wrong) > 0 {
		fmt.Fprintln(c.out) // a heading follows
		return fmt.Errorf("%w: %s", ErrFailed, strings.Join(wrong, "; "))
	}
	return nil
}
