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

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
	"github.com/informerbench/informerbench/report"
)

// SelfCheckOptions say how much is checked.
type SelfCheckOptions struct {
	Rounds     int           // comparisons of the same code
	Plants     []float64     // slowdowns to plant, in percent
	PlantForks int           // forks per cell of the pairs with a planted slowdown
	Budget     time.Duration // time for additional forks of those pairs
	Out        string        // folder that keeps the runs; "" keeps none
	Command    []string
	WorkTree   string
}

// selfCheckImpls are this project's own implementations, one of each component.
var selfCheckImpls = []string{"mutexmap", "deltafifo", "binaryheap", "workqueue"}

// plantedStore is the store that is slowed down.
const plantedStore = "mutexmap"

// SelfCheck tests on this machine whether verdicts hold, and writes its findings as
// Markdown to out. The error wraps ErrFailed if one does not.
func SelfCheck(ctx context.Context, o SelfCheckOptions, out, progress io.Writer) (failed error) {
	if o.Rounds < 0 || o.PlantForks < stats.FewestForks {
		return fmt.Errorf("--rounds %d, --forks %d: want 0 or more, and %d or more", o.Rounds, o.PlantForks, stats.FewestForks)
	}
	if i := slices.IndexFunc(o.Plants, func(p float64) bool { return !(p > 0 && p <= 1000) }); i >= 0 {
		return fmt.Errorf("--plant %g: want percent, above 0 and up to 1000", o.Plants[i])
	}
	if o.Out == "" {
		dir, err := os.MkdirTemp("", "benchrun-selfcheck-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // of the system's temporary folder
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
	fmt.Fprintf(out, "# Does benchrun hold what it says? A check on this machine\n\n`%s`, %s, %s, %d cores, %s, commit %s\n\n",
		strings.Join(o.Command, " "), time.Now().UTC().Format(time.DateOnly), env.CPU, env.Cores, env.GoVersion, orNone(env.Revision))
	c := &selfCheck{o: o, out: out, progress: progress}
	var errs []error
	if o.Rounds > 0 {
		errs = append(errs, c.sameCode(ctx))
	}
	for _, percent := range o.Plants {
		errs = append(errs, c.planted(ctx, percent/100))
	}
	return errors.Join(errs...)
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
	fmt.Fprintf(c.out, "## The same code under two names\n\nThe default preset over %s, %d forks of each cell as base and as head, in turns: a false verdict would be any better or worse.\n\n", strings.Join(selfCheckImpls, ", "), DefaultForks)
	fmt.Fprintf(c.out, "| comparison | verdicts | same | inconclusive | better | worse | noise, median over the rows |\n|---|---|---|---|---|---|---|\n")
	var wrong []string
	total := 0
	for round := range c.o.Rounds {
		r, err := c.pair(ctx, fmt.Sprintf("same-code-%02d", round+1), Options{Impls: selfCheckImpls, Seed: uint64(round + 1)})
		if err != nil {
			return err
		}
		if err := r.Judge(nil); err != nil {
			return err
		}
		count := map[stats.Verdict]int{}
		var floors []float64
		for _, v := range r.Judged() {
			count[v.Verdict]++
			floors = append(floors, max(0, v.Floor))
			if v.Verdict == stats.Better || v.Verdict == stats.Worse {
				wrong = append(wrong, fmt.Sprintf("comparison %d: %s is called %s (%.3gx, q=%.2g)", round+1, v.Name, v.Verdict, v.Ratio.Estimate, v.Ratio.Q))
			}
		}
		total += len(r.Judged())
		fmt.Fprintf(c.out, "| %d | %d | %d | %d | %d | %d | ±%.1f%% |\n", round+1, len(r.Judged()), count[stats.Same], count[stats.Inconclusive], count[stats.Better], count[stats.Worse], 100*stats.MedianOf(floors))
	}
	return c.conclude(fmt.Sprintf("%d false verdicts among %d, in %d comparisons.", len(wrong), total, c.o.Rounds), wrong)
}

// gateBound is the slowdown that the gate of the planted pairs allows, in percent.
const gateBound = 3

// planted slows one of two stores down. It checks that gates over both find that store and
// only it, and report nothing if the slowdown is too small to be detected.
func (c *selfCheck) planted(ctx context.Context, share float64) error {
	fmt.Fprintf(c.out, "## A slowdown of %g percent in the store %s\n\nMeasured beside clientgo, which has none: `benchrun pair --component store --impl clientgo,%s --forks %d --budget %s --plant %s=%g%%`\n\n",
		100*share, plantedStore, plantedStore, c.o.PlantForks, c.o.Budget, plantedStore, 100*share)
	r, err := c.pair(ctx, fmt.Sprintf("planted-%g", 100*share), Options{
		Components: []string{string(contract.ComponentStore)}, Impls: []string{"clientgo", plantedStore},
		Forks: c.o.PlantForks, Budget: c.o.Budget, Plant: &record.Plant{Impl: plantedStore, Share: share},
	})
	if err != nil {
		return err
	}
	var gates []compare.Gate
	for _, metric := range []string{"ns/op", "delay-p99"} {
		gate, err := compare.ParseGate(fmt.Sprintf("store/*/%s <= +%d%%", metric, gateBound))
		if err != nil {
			return err
		}
		gates = append(gates, gate)
	}
	if err := r.Judge(gates); err != nil {
		return err
	}
	if err := report.WriteVersusMarkdown(c.out, r); err != nil {
		return err
	}
	proven := 0
	for _, v := range r.Judged() {
		if v.Verdict == stats.Worse {
			proven++
		}
	}
	var wrong []string
	found := r.Outcome() == compare.Regression
	if big := share > float64(gateBound)/100; big != found {
		wrong = append(wrong, fmt.Sprintf("the gates say %s", r.Outcome()))
	}
	for _, g := range r.Gates {
		if g.Outcome == compare.Regression && !strings.Contains(g.Name, "/"+plantedStore+"/") {
			wrong = append(wrong, "a gate accuses "+g.Name)
		}
	}
	if share < r.Rule.Threshold && proven > 0 {
		wrong = append(wrong, fmt.Sprintf("%d verdicts call it proven", proven))
	}
	return c.conclude(fmt.Sprintf("The gates say %s; %d of %d verdicts are worse.", r.Outcome(), proven, len(r.Judged())), wrong)
}

// conclude writes a section's last line.
func (c *selfCheck) conclude(seen string, wrong []string) error {
	fmt.Fprintf(c.out, "\n**%s**\n\n", seen)
	for _, w := range wrong {
		fmt.Fprintf(c.out, "- FAILED: %s\n", w)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %s", ErrFailed, strings.Join(wrong, "; "))
	}
	return nil
}
