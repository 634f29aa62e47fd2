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
	Out      string    // folder that keeps the runs; "" keeps none
	Command  []string
	WorkTree string
}

// selfCheckImpls are this project's own implementations, one of each component.
var selfCheckImpls = []string{"mutexmap", "coalescing", "quadheap", "workqueue"}

// SelfCheck tests on this machine whether verdicts hold, and writes its findings as
// Markdown to out. The error wraps ErrFailed if one does not.
func SelfCheck(ctx context.Context, o SelfCheckOptions, out, progress io.Writer) (failed error) {
	if o.Rounds < 0 || o.Cells < 0 {
		return fmt.Errorf("--rounds %d, --cells %d: want 0 or more of each", o.Rounds, o.Cells)
	}
	if i := slices.IndexFunc(o.Plants, func(p float64) bool {
		return p != 0 && !(p >= 1 && p <= 1000)
	}); i >= 0 {
		return fmt.Errorf("--plant %g: want percent, 0 or from 1 to 1000: nothing is promised below 1",
			o.Plants[i])
	}
	if o.Rounds == 0 && (o.Cells == 0 || len(o.Plants) == 0) {
		return errors.New("nothing to check: give one of --rounds and --cells above 0")
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
