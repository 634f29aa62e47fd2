package benchcmd

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/history"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// historyFormats are the writers by the name given to --format; that of Otava writes files.
var historyFormats = map[string]func(io.Writer, *history.History, report.Terminal) error{
	"text": report.WriteHistoryText,
	"markdown": func(w io.Writer, h *history.History, _ report.Terminal) error {
		return report.WriteHistoryMarkdown(w, h)
	},
	"json":  func(w io.Writer, h *history.History, _ report.Terminal) error { return report.WriteHistoryJSON(w, h) },
	"otava": nil,
}

// historyFlags are the flags as given.
type historyFlags struct {
	o                           history.Options
	by, repo, format, dir, html string
	wide                        bool
}

func newHistory() *cobra.Command {
	f := historyFlags{}
	cmd := &cobra.Command{
		Use:   "history [FOLDER]",
		Short: "Follow each number over many runs, and find where it changed",
		Long: `history reads all runs in FOLDER (default: results) and the folders below it, and
follows each number that gets a verdict: from run to run in the order of time, or of
commits. It finds steps and drifts, and prints what became worse first.

Where an implementation took turns with the reference, its number is the ratio to the
reference, so a slower machine changes nothing. Runs of different machines, of schemas
whose numbers differ, or of workloads with another definition are different series.

A change needs 3 runs on either side. Where nothing changes, the chance of any change in
the whole history is at most --alpha. docs/history.md says how sure that is, and how many
runs a step of 3 percent needs.

The exit code is 0 whatever changed; benchrun compare is the gate.`,
		Example: `  benchrun history                                 # results/, as a table
  benchrun history results --html history.html     # and as a page that opens offline
  benchrun history results --by commit --repo .    # in the order of git log
  benchrun history nightly --match 'store/*/lockfree/*' --least 3%
  benchrun history results --format otava -o otava # then, in otava/: otava analyze benchrun --config-file otava.yaml`,
		Args: needs("at most one FOLDER of runs (default results)", 0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "results"
			if len(args) > 0 {
				folder = args[0]
			}
			return f.run(cmd, folder)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.by, "by", "time", "order of the runs: time, or commit (see --repo)")
	flags.StringVar(&f.repo, "repo", "", "with --by commit, a `FOLDER` in the git work tree of the measured commits (default .)")
	flags.StringArrayVar(&f.o.Match, "match", nil, "follow what this `PATTERN` of gates matches, such as 'store/*/get/*/cpu-ns/op', instead of the numbers with a verdict; may be given again")
	flags.Var(share{&f.o.Least}, "least", "smallest change to report (default 1%)")
	flags.Var(share{&f.o.Alpha}, "alpha", "chance of any false change where nothing changes (default 1%)")
	flags.StringVar(&f.format, "format", "text", "text, markdown, json, or otava (CSV files and otava.yaml; needs -o)")
	flags.StringVarP(&f.dir, "output", "o", "", "with --format otava, the `FOLDER` to write")
	flags.StringVar(&f.html, "html", "", "also write a page with a picture of each series to this `FILE`")
	addWide(cmd, &f.wide)
	complete(cmd, "by", func(*cobra.Command) []cobra.Completion { return []cobra.Completion{"time", "commit"} })
	complete(cmd, "format", func(*cobra.Command) []cobra.Completion {
		return []cobra.Completion{"text", "markdown", "json", "otava"}
	})
	return cmd
}

// check finds the mistakes in the flags that need no run.
func (f *historyFlags) check() error {
	if _, ok := historyFormats[f.format]; !ok {
		return fmt.Errorf("--format %q: want text, markdown, json or otava", f.format)
	}
	switch {
	case f.by != "time" && f.by != "commit":
		return fmt.Errorf("--by %q: want time or commit", f.by)
	case f.by == "time" && f.repo != "":
		return errors.New("--repo is for --by commit; add that, or leave --repo out")
	case f.format == "otava" && f.dir == "":
		return errors.New("--format otava writes files: name their folder by -o")
	case f.format != "otava" && f.dir != "":
		return fmt.Errorf("-o is for --format otava; --format %s goes to the terminal, and a page to --html", f.format)
	}
	if err := forTerminal("wide", f.wide, f.format); err != nil {
		return err
	}
	if f.by == "commit" {
		f.o.Repo = f.repo
		if f.repo == "" {
			f.o.Repo = "."
		}
	}
	if f.html != "" {
		if err := writable(f.html); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	return nil
}

func (f *historyFlags) run(cmd *cobra.Command, folder string) error {
	if err := f.check(); err != nil {
		return err
	}
	h, err := history.Read(cmd.Context(), folder, f.o)
	if err != nil {
		return err
	}
	var page strings.Builder
	if f.html != "" {
		if err := report.WriteHistoryPage(&page, h); err != nil {
			return err
		}
	}
	var tests []string
	if f.format == "otava" { // before the page: it may find nothing to export
		if tests, err = report.WriteOtava(f.dir, h); record.DiskFull(err) {
			err = broken(err)
		}
		if err != nil {
			return err
		}
	}
	if f.html != "" {
		if err := record.WriteFile(f.html, []byte(page.String())); err != nil {
			return broken(err)
		}
	}
	if f.format == "otava" {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d tests. Otava reads them there:\n  otava analyze benchrun --config-file %s\n", f.dir, len(tests), report.OtavaFile)
		return nil
	}
	out, to := shown(cmd, f.wide)
	if err := historyFormats[f.format](out, h, to); err != nil {
		return err
	}
	if f.html != "" && f.format == "text" {
		fmt.Fprintf(cmd.OutOrStdout(), "\n%s\n", f.html)
	}
	return nil
}

// share is a relative number such as 1% or 0.01, above 0 and below 1.
type share struct{ into *float64 }

func (share) Type() string { return "share" }
func (s share) String() string {
	return given(s.into, func(v float64) string { return fmt.Sprintf("%g%%", 100*v) })
}

func (s share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return errors.New("want a share between 0 and 1, such as 3% or 0.03")
	}
	*s.into = v
	return nil
}
