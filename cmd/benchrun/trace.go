package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/load"
)

func newTrace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Make traces of recorded pod lifecycles, and look into them",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q: have %s", args[0], commandNames(cmd))
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newTraceImport(), newTraceInfo())
	return cmd
}

func newTraceImport() *cobra.Command {
	var pods, nodes, output string
	var o load.ImportOptions
	cmd := &cobra.Command{
		Use:   "import --pods FILE.csv --nodes FILE.csv -o FILE",
		Short: "Turn a production cluster's pod lifecycles into a replayable trace",
		Long: `import reads the pods and nodes of the Alibaba Cluster Trace Program's
cluster-trace-gpu-v2023 (openb_pods.csv, openb_nodes.csv) and writes what happened to
each pod, in the order of time: created, scheduled, phase, deleted. Times are divided
by --compress. What the files do not tell (a pod's namespace and node) is derived by a
seeded rule; see the documentation of package load.

A broken row is an error that names file, line and column; --skip-bad-rows leaves
such rows out and counts them.`,
		Example: `  benchrun trace import --pods openb_pods.csv --nodes openb_nodes.csv -o openb.trace
  benchrun run --trace openb.trace --component store`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, f := range []struct{ flag, value string }{{"--pods", pods}, {"--nodes", nodes}, {"-o", output}} {
				if f.value == "" {
					return fmt.Errorf("%s is missing: give --pods FILE.csv --nodes FILE.csv -o FILE", f.flag)
				}
			}
			if _, err := os.Stat(output); err == nil {
				return fmt.Errorf("%s exists: choose another file with -o", output)
			}
			podFile, err := os.Open(pods)
			if err != nil {
				return err
			}
			defer podFile.Close()
			nodeFile, err := os.Open(nodes)
			if err != nil {
				return err
			}
			defer nodeFile.Close()
			trace, report, err := load.ImportCSV(load.CSVFile{Name: pods, Reader: podFile}, load.CSVFile{Name: nodes, Reader: nodeFile}, o)
			if err != nil {
				var rows load.RowErrors
				if errors.As(err, &rows) {
					return fmt.Errorf("%w\nnothing was written; --skip-bad-rows leaves such rows out and counts them", err)
				}
				return err
			}
			var b bytes.Buffer
			if err := load.WriteTrace(&b, trace); err != nil {
				return err
			}
			if err := renameio.WriteFile(output, b.Bytes(), 0o644); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s: %d of %d pods, %d of %d nodes\n", output, report.Pods, report.PodRows, report.Nodes, report.NodeRows)
			fmt.Fprintf(out, "  %d pods never scheduled, %d alive when the recording ended, %d deleted in the second of their creation\n", report.NeverScheduled, report.AliveAtEnd, report.Instant)
			for _, problem := range slices.Sorted(maps.Keys(report.Skipped)) {
				fmt.Fprintf(out, "  left out %d rows: %s\n", report.Skipped[problem], problem)
			}
			printTrace(out, trace)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&pods, "pods", "", "`FILE` of the pods (CSV)")
	f.StringVar(&nodes, "nodes", "", "`FILE` of the nodes (CSV)")
	f.StringVarP(&output, "output", "o", "", "`FILE` to write; must not exist")
	f.Float64Var(&o.Compress, "compress", 1_000_000, "divide all times by this: a million turns the 149 days of openb into 13 seconds")
	f.Uint64Var(&o.Seed, "seed", load.DefaultSeed, "of what the files do not tell")
	f.IntVar(&o.Namespaces, "namespaces", load.DefaultTraceNamespaces, "how many namespaces to spread pods over")
	f.BoolVar(&o.SkipBadRows, "skip-bad-rows", false, "leave broken rows out, and count them")
	f.BoolVar(&o.DeleteAtEnd, "delete-at-end", false, "take a deletion at the recording's last instant for one, not for its end")
	return cmd
}

func newTraceInfo() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE",
		Short:   "Sum a trace up",
		Example: `  benchrun trace info openb.trace`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			trace, err := load.ReadTraceFile(args[0])
			if err != nil {
				return err
			}
			printTrace(cmd.OutOrStdout(), trace)
			return nil
		},
	}
}

func printTrace(out io.Writer, trace *load.Trace) {
	i := trace.Info()
	fmt.Fprintf(out, "  source     %s\n", i.Source)
	fmt.Fprintf(out, "  compressed by %g, seed %d\n", i.Compress, i.Seed)
	fmt.Fprintf(out, "  span       %s, %.0f events/s on average, %d in the busiest second\n", i.Span, i.MeanRate, i.PeakRate)
	fmt.Fprintf(out, "  pods       %d in %d namespaces on %d nodes; %d at once at most, %d at the end\n", i.Pods, i.Namespaces, i.Nodes, i.PeakLive, i.FinalLive)
	fmt.Fprintf(out, "  events     %d:", i.Total)
	for _, t := range load.TraceEventTypes() {
		fmt.Fprintf(out, " %d %s", i.Events[t], t)
	}
	fmt.Fprintln(out)
}
