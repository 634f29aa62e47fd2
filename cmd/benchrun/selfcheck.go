package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
)

func newSelfCheck() *cobra.Command {
	o := runner.SelfCheckOptions{}
	cmd := &cobra.Command{
		Use:   "selfcheck",
		Short: "Show on this machine that verdicts hold: the same code under two names, and slowdowns planted on purpose",
		Long: `selfcheck asks of benchrun what its reports claim, on this machine:

  1. The same code under two names, the default preset, compared many times: no
     verdict may be better or worse.
  2. A store slowed down by 10% on purpose: gates of +3% must find it and name it, and
     nothing else.
  3. A store slowed down by 1%: no verdict may call it proven.

It prints a page in Markdown and exits with 1 if one of these does not hold.`,
		Example: `  benchrun selfcheck                 # about an hour on 2 cores
  benchrun selfcheck --rounds 3 --forks 16
  benchrun selfcheck --rounds 0 --plant 20`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.WorkTree, o.Command = workTree(), commandLine()
			return runner.SelfCheck(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Rounds, "rounds", 20, "comparisons of the same code")
	f.Float64SliceVar(&o.Plants, "plant", []float64{10, 1}, "slowdowns to plant, in percent")
	f.IntVar(&o.PlantForks, "forks", 40, "processes per cell where a slowdown is planted, at first")
	f.DurationVar(&o.Budget, "budget", 4*time.Minute, "`TIME` for more processes where a slowdown is planted")
	f.StringVarP(&o.Out, "output", "o", "", "`FOLDER` to keep the runs in (default: none are kept)")
	return cmd
}
