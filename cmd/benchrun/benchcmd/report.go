package benchcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
	"github.com/informerbench/informerbench/report"
)

// reportFormats are the writers by the name given to --format, beside text.
var reportFormats = map[string]func(*report.Report, io.Writer) error{
	"markdown":  (*report.Report).WriteMarkdown,
	"json":      (*report.Report).WriteJSON,
	"benchstat": (*report.Report).WriteBench,
}

// reportFormatNames are the values of --format.
var reportFormatNames = []string{"text", "markdown", "json", "benchstat"}

func newReport() *cobra.Command {
	var wide bool
	var references []string
	var format string
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Make the reports of a run again from its run.json, and print the short table",
		Long: `report reads the run in DIR. By itself it makes report.md, report.html and bench.txt
there again, and prints the short table.

With --reference the others of a component are compared with another implementation
than in the run, in the files and in what is printed. Where both took turns with the
run's reference, the ratio is that of their ratios to it, and has the noise of both.
Without --reference the files are again those of the run.

With --format it prints the run in another form and writes no file:
  markdown   report.md, without its pictures and profiles
  json       every number with its interval, and every verdict; run.json has the samples
  benchstat  bench.txt, the Go benchmark format
`,
		Example: `  benchrun report results/20261121T101500Z-quick
  benchrun report results/20261121T101500Z-quick --reference store=lockfree --reference fifo=coalescing
  benchrun report results/20261121T101500Z-quick --wide | less -S`,
		Args: needs("one folder DIR, that of a run", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := reportFormats[format]
			if !ok && format != "text" {
				return fmt.Errorf("--format %q: want %s", format, strings.Join(reportFormatNames, ", "))
			}
			if err := forTerminal("wide", wide, format); err != nil {
				return err
			}
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
			if ok {
				rep, err := report.Of(r, chosen...)
				if err != nil {
					return fmt.Errorf("--reference: %w", err)
				}
				out, _ := shown(cmd, false) // package report shows control characters itself
				return write(rep, out)
			}
			rep, err := report.Write(args[0], chosen...)
			if errors.Is(err, compare.ErrNoReference) {
				return fmt.Errorf("--reference: %w", err)
			}
			if err != nil {
				return broken(err)
			}
			return printRun(cmd, runner.Result{Dir: args[0], Run: rep.Run, Report: rep}, wide, "")
		},
	}
	addWide(cmd, &wide)
	cmd.Flags().StringArrayVar(&references, "reference", nil,
		"a `COMPONENT=IMPLEMENTATION` that the others are compared with, such as store=lockfree; may "+
			"be given again for other components")
	cmd.Flags().StringVar(&format, "format", "text", strings.Join(reportFormatNames, ", "))
	complete(cmd, "format", func(*cobra.Command) []cobra.Completion { return reportFormatNames })
	return cmd
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of benchrun and of what it measures",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			env := sysinfo.ReadEnvironment(workTree())
			from := mainModule()
			revised := strings.TrimSpace(cmp.Or(from.Version, "(devel)") + " " + env.Revision)
			version := revised
			if from.Path != modulePath {
				version = versionOf(modulePath)
			}
			fmt.Fprintf(out, "benchrun %s %s %s/%s\nrun.json schema %d\n", version, runtime.Version(),
				runtime.GOOS, runtime.GOARCH, record.Schema)
			if from.Path != modulePath {
				fmt.Fprintf(out, "%s %s\n", from.Path, revised)
			}
			for _, m := range sysinfo.MeasuredModules {
				if v := env.Modules[m]; v != "" {
					fmt.Fprintf(out, "%s %s\n", m, v)
				}
			}
			return nil
		},
	}
}

// versionOf returns the version of a module that this program is built with.
func versionOf(module string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "(devel)"
}
