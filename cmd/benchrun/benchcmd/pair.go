package benchcmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
)

func newPair() *cobra.Command {
	var o runner.Options
	var v verdictFlags
	var base string
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Measure two builds of benchrun in turns, and hold one against the other",
		Long: `pair measures everything twice, by the benchrun given as --base and by this one, in
processes that take turns: what drifts in the machine hits both alike, which two runs
one after the other cannot promise. Operations that are measured alone take turns every
fraction of a millisecond; all else is measured by processes that alternate. pair leaves
two runs, base and head, in the folder of the results and compares them as benchrun
compare does. With --profile, go tool pprof -http : -diff_base BASE HEAD shows where the
two builds differ.

Without --base both are this program: the same code under two names, which shows what
your machine's noise does to your gates. With --plant head is slower on purpose.

The budget is spent on the gates that are inconclusive. A gate that can match nothing of
what is to be measured is refused before anything is. Some mistakes show only afterwards,
such as the name of an operation. Then the exit code is 2 too, and both runs are kept.

` + gateHelp,
		Example: `  git worktree add ../base main && (cd ../base && go build -o /tmp/benchrun.base ./cmd/benchrun)
  benchrun pair --base /tmp/benchrun.base --component store --budget 10m
  benchrun pair --component store --impl clientgo,mutexmap --plant mutexmap=10% --gate 'store/*/mutexmap/ns/op <= +3%'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			gates, err := v.check()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("base") {
				if base, err = runner.Benchrun(cmd.Context(), base); err != nil {
					return fmt.Errorf("--base: %w", err)
				}
			}
			o.Command, o.WorkTree = commandLine(), workTree()
			p, err := runner.NewPlan(o)
			if err != nil {
				return err
			}
			results, failed := runner.Pair(cmd.Context(), p, base, cmd.ErrOrStderr(), gates...)
			if results[0].Run == nil || results[1].Run == nil {
				return failed // no run was begun, or the disk is full
			}
			failed = broken(failed)
			cmd.PrintErrf("base %s\nhead %s\n", results[0].Dir, results[1].Dir)
			if errors.Is(failed, runner.ErrInterrupted) {
				cmd.PrintErrf("to compare what was measured so far: %s compare %s %s\n", program,
					record.ShellWord(results[0].Dir), record.ShellWord(results[1].Dir))
				return failed
			}
			r, err := compare.Runs(results[0].Run, results[1].Run, false)
			if err != nil {
				return errors.Join(failed, err)
			}
			judged := v.judge(cmd, r, gates)
			if wrong := (*compare.GateError)(nil); errors.As(judged, &wrong) {
				judged = fmt.Errorf("%w; what was measured is kept: give other gates to benchrun compare %s %s",
					judged, results[0].Dir, results[1].Dir)
			}
			return errors.Join(failed, judged)
		},
	}
	addRunFlags(cmd, &o)
	v.add(cmd)
	cmd.Flags().BoolVar(&o.Profile, "profile", false,
		"measure one more process per cell and build to take profiles")
	cmd.Flags().StringVar(&base, "base", "",
		"the benchrun of the base, a `PROGRAM` built from the code to compare with (default: this one)")
	return cmd
}
