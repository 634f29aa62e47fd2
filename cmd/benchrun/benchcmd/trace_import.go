package benchcmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/internal/input"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

func newTraceImport() *cobra.Command {
	var pods, nodes, output string
	var columns []string
	var o load.ImportOptions
	cmd := &cobra.Command{
		Use:   "import --pods FILE.csv -o FILE",
		Short: "Turn a production cluster's pod lifecycles into a replayable trace",
		Long: `import reads a CSV with a row for each pod, and writes what happened to each, in the
order of time: created, scheduled, phase, deleted. Times are divided by --compress.
Without --map the columns are those of the Alibaba Cluster Trace Program's
cluster-trace-gpu-v2023 (openb_pods.csv); --map names those of any other file. Files
may be compressed by gzip.

What is alive at the first time of the file is there at the start. What the file does
not tell (mostly a pod's namespace and node) is derived by a seeded rule; see the
documentation of load.ImportCSV. --nodes names the cluster's nodes and their capacity.

The fields of a pod, in --map FIELD=COLUMN:

` + podFields() + `
Times are seconds, or dates such as 2026-01-31T15:04:05Z. FIELD=COLUMN*FACTOR multiplies
the numbers of a column: creation_time=created_ms*0.001. FIELD= reads no column.

A broken row is an error that names file, line and column; --skip-bad-rows leaves
such rows out and counts them.` + pipes,
		Example: `  benchrun trace import --pods disaggregated_DLRM_trace.csv --map name=instance_sn,application=app_name \
    --compress 200000 -o dlrm.trace
  benchrun trace import --pods openb_pods.csv --nodes openb_nodes.csv -o openb.trace
  benchrun run --trace dlrm.trace --preset lock-starvation --component store`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, f := range []struct{ flag, value string }{{"--pods", pods}, {"-o", output}} {
				if f.value == "" {
					return fmt.Errorf("%s is missing: give --pods FILE.csv -o FILE", f.flag)
				}
			}
			var err error
			if o.Columns, err = load.ParseColumns(columns); err != nil {
				return fmt.Errorf("--map: %w", err)
			}
			if err := mayBeMade(output, "-o"); err != nil {
				return err
			}
			podFile, err := input.Open(pods)
			if err != nil {
				return err
			}
			defer podFile.Close()
			table := load.CSVFile{}
			if nodes != "" {
				nodeFile, err := input.Open(nodes)
				if err != nil {
					return err
				}
				defer nodeFile.Close()
				table = load.CSVFile{Name: nodes, Reader: nodeFile}
			}
			trace, report, err := load.ImportCSV(load.CSVFile{Name: pods, Reader: podFile}, table, o)
			if err != nil {
				var rows load.FieldErrors
				if errors.As(err, &rows) {
					return fmt.Errorf(
						"%w\nnothing was written; --skip-bad-rows leaves such rows out and counts them", err)
				}
				return err
			}
			if err := record.ReplaceFile(output, 0o644, func(w io.Writer) error {
				return load.WritePodTrace(w, trace)
			}); err != nil {
				return notWritten(output, err)
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s: %d of %d pods", output, report.Pods, report.PodRows)
			if nodes != "" {
				fmt.Fprintf(out, ", %d of %d nodes", report.Nodes, report.NodeRows)
			}
			fmt.Fprintf(out, "\n  %d pods alive when the recording began, %d never scheduled, %d alive "+
				"when it ended, %d deleted in the second of their creation\n", report.AliveAtStart,
				report.NeverScheduled, report.AliveAtEnd, report.Instant)
			for _, problem := range slices.Sorted(maps.Keys(report.Skipped)) {
				fmt.Fprintf(out, "  left out %d rows: %s\n", report.Skipped[problem], problem)
			}
			printTrace(out, trace.Trace())
			if span := trace.Trace().Info().Span; span < time.Second && !cmd.Flags().Changed("compress") {
				cmd.PrintErrf("warning: the whole trace takes %s, because its times were divided by %d, "+
					"which suits openb: give --compress, 1 for the times of the file\n", span, openbCompress)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&pods, "pods", "", "`FILE` of the pods (CSV, may be compressed by gzip)")
	f.StringVar(&nodes, "nodes", "",
		"`FILE` of the nodes (CSV): sn, cpu_milli, memory_mib, gpu, model (default: a node for each "+
			"30 pods)")
	f.StringSliceVar(&columns, "map", nil,
		"`FIELD=COLUMN,...`: which columns of --pods to read, such as "+
			"name=instance_sn,creation_time=created_ms*0.001")
	f.StringVarP(&output, "output", "o", "", "`FILE` to write; must not exist")
	o.Compress, o.Seed, o.Namespaces = openbCompress, load.DefaultSeed, load.DefaultTraceNamespaces
	f.Var(aboveZero(&o.Compress), "compress",
		"divide all times by this, 1 or more: a million turns the 149 days of openb into 13 seconds")
	f.Var(seedFlag(&o.Seed), "seed", "seed of what the files do not tell")
	f.Var(atLeastOne(&o.Namespaces), "namespaces", "how many namespaces to spread pods over")
	f.BoolVar(&o.SkipBadRows, "skip-bad-rows", false, "leave broken rows out, and count them")
	f.BoolVar(&o.DeleteAtEnd, "delete-at-end", false,
		"take a deletion at the recording's last instant for one, not for its end")
	return cmd
}

// openbCompress suits the table of pods that the flags' defaults are for.
const openbCompress = 1_000_000

// podFields lists the fields of an import for its help.
func podFields() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, f := range load.PodFields() {
		required := ""
		if f.Required {
			required = "required; "
		}
		fmt.Fprintf(w, "  %s\t%s\n", f.Name, required+f.About)
	}
	_ = w.Flush() // into memory
	return out.String()
}
