package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
	"github.com/informerbench/informerbench/report"
)

func newReport() *cobra.Command {
	var wide bool
	var references []string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Make the reports of a run again from its run.json, and print the short table",
		Long: `report makes report.md, report.html and bench.txt in the folder of a run again, from
its run.json, and prints the short table.

With --reference the others of a component are compared with another implementation
than in the run, in the files and in what is printed. Where both took turns with the
run's reference, the ratio is that of their ratios to it, and has the noise of both.
In report.html a reader can choose the reference too. Without --reference the files are
again those of the run.`,
		Example: `  benchrun report results/20261121T101500Z-quick
  benchrun report results/20261121T101500Z-quick --reference store=lockfree --reference fifo=deltafifo
  benchrun report results/20261121T101500Z-quick --wide | less -S`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var chosen []report.Reference
			for _, text := range references {
				ref, err := report.ParseReference(text)
				if err != nil {
					return fmt.Errorf("--reference: %w", err)
				}
				chosen = append(chosen, ref)
			}
			r, err := record.ReadRun(args[0])
			if err != nil {
				return err
			}
			if r, err = report.Against(r, chosen...); err != nil {
				return fmt.Errorf("--reference: %w", err)
			}
			if err := report.Write(args[0], chosen...); err != nil {
				return err
			}
			out, to := shown(cmd, wide)
			if err := report.WriteText(out, r, to); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "\n%s (%s, %s beside it)\n", filepath.Join(args[0], report.HTMLFile), report.MarkdownFile, report.BenchTextFile)
			return nil
		},
	}
	addWide(cmd, &wide)
	cmd.Flags().StringArrayVar(&references, "reference", nil, "a `COMPONENT=IMPLEMENTATION` that the others are compared with, such as store=lockfree; may be given again for other components")
	return cmd
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of benchrun and of what it measures",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			version := "(devel)"
			if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" {
				version = bi.Main.Version
			}
			env := sysinfo.ReadEnvironment(workTree())
			if env.Revision != "" {
				version += " " + env.Revision
			}
			fmt.Fprintf(out, "benchrun %s %s %s/%s\nrun.json schema %d\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, record.Schema)
			for _, m := range sysinfo.MeasuredModules {
				if v := env.Modules[m]; v != "" {
					fmt.Fprintf(out, "%s %s\n", m, v)
				}
			}
			return nil
		},
	}
}
