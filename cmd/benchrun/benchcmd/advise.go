package benchcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

func newAdvise() *cobra.Command {
	l := unknownLoad
	var trace string
	o := runner.Options{Budget: adviseTime}
	cmd := &cobra.Command{
		Use:   "advise [RUN]",
		Short: "Measure your load, and say which store, informer or queue suits it",
		Long: `advise measures the load that the flags describe, and says what to use, because of what,
at what price, what is not settled, and with which lines of code. It measures client-go's
implementation and those of the catalog that are not there for study, each verified
against its conformance suite first. --objects, --readers, --reads and --writes ask for a
store and an informer, --workers and --delayed for a queue.

A trace may stand for the flags: its most objects at once and its busiest second are the
load, and flags beside it say what it does not record, such as who reads. The folder of a
finished RUN is asked for what it has measured, and nothing is measured.

The answer takes at most --budget. What it rests on stays in a folder under results/.`,
		Example: `  benchrun advise --objects 50000 --readers 10 --reads list --writes 2000
  benchrun advise --objects 100000 --readers 10 --reads by-index=2000 --writes 10000 --budget 5m
  benchrun advise --workers 8 --delayed 20000          # a queue
  benchrun advise --trace pods.trace --readers 10 --reads list
  benchrun advise results/20261121T101500Z-quick       # what a run says`,
		Args: needs("at most one RUN, a folder under results/", 0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if extra := changedBeside(cmd); extra != "" {
					return fmt.Errorf(
						"--%s: a RUN answers for what it has measured: leave out one of the two", extra)
				}
				run, err := record.ReadRun(args[0])
				if err != nil {
					return err
				}
				return writeAdvice(cmd, runner.Result{Dir: args[0], Run: run})
			}
			if trace != "" {
				t, err := load.ReadTraceFile(trace)
				if err != nil {
					return err
				}
				l = l.over(t.Info())
			}
			p, err := planAdvice(o, l)
			if err != nil {
				return err
			}
			result, err := measureAdvice(cmd, p, o.Budget)
			if result.Run == nil {
				return err
			}
			return errors.Join(broken(err), writeAdvice(cmd, result))
		},
	}
	l.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&trace, "trace", "",
		"trace `FILE` to take objects and writes from (see benchrun record and benchrun trace)")
	f.Var(longerThanZero(&o.Budget), "budget", "`TIME` for all of it, verification included")
	f.StringVarP(&o.Out, "output", "o", "",
		"`FOLDER` for the results; must not exist or be empty (default results/<UTC time>-advised)")
	return cmd
}

// What the time of an answer goes to.
const (
	adviseTime = 2 * time.Minute
	// verifying is about what the suite of a candidate takes, and reporting what the reports do.
	verifying, reporting = 2 * time.Second, 5 * time.Second
	// An operation, or all groups, is measured for so long in one process.
	leastMeasured, mostMeasured = 100 * time.Millisecond, 500 * time.Millisecond
	// toSettle is the share of the measuring that is kept for what is inconclusive, and for a
	// machine that has other work.
	toSettle = 0.4
)

// planAdvice plans the run that answers for a load within the budget of the options.
func planAdvice(o runner.Options, l askedLoad) (*runner.Plan, error) {
	workloads, err := l.workloads()
	if err != nil {
		return nil, err
	}
	// What the forks take whatever they measure, and for each second that they measure.
	var fixed, each time.Duration
	for i, w := range workloads {
		o.Components = append(o.Components, string(w.Component))
		candidates := candidatesOf(w.Component)
		o.Impls = append(o.Impls, candidates...)
		forks := time.Duration((len(candidates) + 1) * runner.DefaultForks) // and the reference again
		workloads[i].Duration = 0
		least := runner.Expected(workloads[i])
		workloads[i].Duration = time.Second
		fixed, each = fixed+forks*least, each+forks*(runner.Expected(workloads[i])-least)
	}
	before := reporting + time.Duration(len(o.Impls))*verifying
	left := o.Budget - before
	first := time.Duration(float64(left) * (1 - toSettle))
	measured := min(mostMeasured, time.Duration((first-fixed).Seconds()/each.Seconds()*1e9))
	if measured < leastMeasured {
		needs := before + 2*(fixed+time.Duration(leastMeasured.Seconds()*float64(each)))
		return nil, fmt.Errorf("--budget %s: this load takes longer: give --budget %s, or a smaller load",
			o.Budget, (needs + time.Minute).Truncate(time.Minute))
	}
	for i := range workloads {
		workloads[i].Duration = measured.Round(time.Millisecond)
	}
	o.Workloads, o.Forks = workloads, runner.DefaultForks
	o.Budget = left - fixed - time.Duration(measured.Seconds()*float64(each))
	o.Command, o.WorkTree = commandLine(), workTree()
	return runner.NewPlan(o)
}

// candidatesOf are the implementations of a component that are not there for study.
func candidatesOf(c contract.Component) (ids []string) {
	for _, e := range catalog.All() {
		if e.Component == c && !e.Study {
			ids = append(ids, e.ID())
		}
	}
	return ids
}

// measureAdvice carries a plan out. When the budget is spent, it ends with what there is.
func measureAdvice(cmd *cobra.Command, p *runner.Plan, budget time.Duration) (runner.Result,
	error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), budget-reporting)
	defer cancel()
	result, err := runner.Execute(ctx, p, cmd.ErrOrStderr())
	if cmd.Context().Err() != nil || !errors.Is(err, runner.ErrInterrupted) ||
		errors.Is(err, runner.ErrFailed) {
		return result, err
	}
	if result.Run == nil {
		return result, fmt.Errorf("--budget %s was over before anything was measured: give more", budget)
	}
	return result, nil
}
