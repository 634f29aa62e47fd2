package benchcmd

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// processes are the hidden commands with which benchrun starts itself.
func processes() []*cobra.Command {
	hidden := func(use, short string, run func(*cobra.Command) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Hidden: true, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) }}
	}
	return []*cobra.Command{
		hidden(runner.ForkCommand, "Measure one fork: a request as JSON on standard input, the fork as "+
			"JSON on standard output", fork),
		hidden(runner.TurnsCommand, "Measure one fork in turns with another process, as a conductor asks "+
			"by gob through the pipes", func(cmd *cobra.Command) error {
			// The command's own output makes control characters visible; a program reads this one.
			return broken(bench.Play(cmd.Context(), cmd.InOrStdin(), os.Stdout))
		}),
		// A pair asks the base's benchrun for its record.
		hidden(runner.RecordCommand, "Say what a run would measure: options as JSON on standard input, "+
			"a record as JSON on standard output", func(cmd *cobra.Command) error {
			return runner.WriteRecord(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
		hidden(runner.BusyCommand, "Keep a core busy until killed", func(cmd *cobra.Command) error {
			runner.Busy(cmd.Context())
			return nil
		}),
		hidden(runner.AwakeCommand, "Keep the processors awake beside groups, at the lowest priority, "+
			"until killed; a line on standard output says when they are", func(cmd *cobra.Command) error {
			return broken(sysinfo.KeepAwake(func() { fmt.Fprintln(cmd.OutOrStdout(), "awake") }))
		}),
	}
}

func fork(cmd *cobra.Command) error {
	var req bench.Request
	if err := json.NewDecoder(cmd.InOrStdin()).Decode(&req); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	f, err := bench.Run(cmd.Context(), req)
	if err != nil {
		return broken(err)
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(f)
}
