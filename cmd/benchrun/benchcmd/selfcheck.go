package benchcmd

import (
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
)

func newSelfCheck() *cobra.Command {
	o := runner.SelfCheckOptions{}
	cmd := &cobra.Command{
		Use: "selfcheck",
		Short: "Show on this machine that verdicts hold: the same code under two names, and slowdowns " +
			"planted on purpose",
		Long: `selfcheck asks of benchrun what its reports claim, on this machine:

  1. The same code under two names, the default preset, compared many times: no
     verdict may be better or worse.
  2. Single operations of a store slowed down on purpose: by 10% all are found within
     5 s a cell, by 3% 99 of 100 in 15 s, by 1% 95 of 100 in 60 s, and by 0% none.
  3. Two builds, a gate of +5% on Update of one store: a tenth slower is found each
     time, and no change passes. While another process keeps a core busy, a tenth is
     found as well, and no change is never called a regression.

It prints a page in Markdown and exits with 1 if one of these does not hold.`,
		Example: `  benchrun selfcheck                 # about 80 minutes on 2 cores
  benchrun selfcheck --rounds 0 --builds 0 --plant 3 --cells 5
  benchrun selfcheck --rounds 3 --plant 10 --builds 3   # ten minutes
  benchrun selfcheck --rounds 5 --cells 0 --builds 0    # the same code only: five minutes`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.WorkTree, o.Command = workTree(), commandLine()
			return runner.SelfCheck(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Rounds, "rounds", 20, "comparisons of the same code")
	f.Float64SliceVar(&o.Plants, "plant", []float64{10, 3, 1, 0},
		"slowdowns of single operations, in `PERCENT`; 0 plants none")
	f.IntVar(&o.Cells, "cells", 20, "cells measured with each of these slowdowns")
	f.IntVar(&o.Builds, "builds", 20,
		"pairs of two builds of each of four kinds: slower or not, the machine alone or a core busy")
	f.StringVarP(&o.Out, "output", "o", "", "`FOLDER` to keep the runs in (default: none are kept)")
	return cmd
}
