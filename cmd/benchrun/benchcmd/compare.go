package benchcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

// versusFormats are the writers by the name given to --format.
var versusFormats = map[string]func(io.Writer, *compare.Result, report.Terminal) error{
	"text": report.WriteVersusText,
	"markdown": func(w io.Writer, r *compare.Result, _ report.Terminal) error {
		return report.WriteVersusMarkdown(w, r)
	},
	"json": func(w io.Writer, r *compare.Result, _ report.Terminal) error {
		return report.WriteVersusJSON(w, r)
	},
}

func newCompare() *cobra.Command {
	var v verdictFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Hold one run against another, for a person or as a gate in CI",
		Long: `compare holds HEAD against BASE: two folders of runs, or two files in the Go
benchmark format (go test -bench prints it). Every verdict is corrected for how many
there are; what the data cannot tell is called inconclusive.

` + gateHelp,
		Example: `  benchrun compare results/20261121T101500Z-quick results/20261121T142000Z-quick
  benchrun compare base head --gate 'store/*/p99 <= +5%' --gate 'store/*/allocs/op <= +0%'
  benchrun compare base head --gates gates.txt --format markdown >> "$GITHUB_STEP_SUMMARY"
  benchrun compare base head --html versus.html
  benchrun compare old.txt new.txt --format json`,
		Args: needs("BASE and HEAD, two folders of runs or two files", 2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			gates, err := v.check()
			if err != nil {
				return err
			}
			r, err := versus(args[0], args[1], force)
			if err != nil {
				return err
			}
			return v.judge(cmd, r, gates)
		},
	}
	v.add(cmd)
	cmd.Flags().BoolVar(&force, "force", false,
		"compare runs of different machines, schemas, workloads or references all the same; the "+
			"output says so")
	return cmd
}

const gateHelp = `A gate bounds what may happen: 'PATTERN <= +5%', where the pattern is matched against
component/workload/series/implementation/metric (of Go benchmark files: against name/unit,
such as 'Get-2/ns/op') and * stands for anything. A change has a sign and %; without them
the bound is a value of HEAD ('<= 50ms', '>= 95'). A gate that matches nothing is an error.
Without gates nothing may be worse.

Exit codes: 0 pass; 1 a regression, or something measured is broken; 2 the input is wrong;
3 inconclusive (see --inconclusive); 130 interrupted.`

// verdictFlags are the flags for a comparison's gates and output.
type verdictFlags struct {
	gates                                []string
	gateFile, format, inconclusive, html string
	wide                                 bool
}

func (v *verdictFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&v.gates, "gate", nil,
		"a `GATE` such as 'store/*/p99 <= +5%'; may be given again")
	f.StringVar(&v.gateFile, "gates", "", "a `FILE` of gates, one a line, # begins a comment")
	f.StringVar(&v.format, "format", "text", "text, markdown or json")
	f.StringVar(&v.html, "html", "",
		"write the comparison as one page to a `FILE`: base and head side by side, what changed "+
			"first; it opens offline")
	addWide(cmd, &v.wide)
	f.StringVar(&v.inconclusive, "inconclusive", "fail",
		"`WORD` for data too weak to tell: pass exits with 0, fail with 3")
}

// check reads the gates and finds every mistake in the flags.
func (v *verdictFlags) check() ([]compare.Gate, error) {
	if versusFormats[v.format] == nil {
		return nil, fmt.Errorf("--format %q: want text, markdown or json", v.format)
	}
	if err := forTerminal("wide", v.wide, v.format); err != nil {
		return nil, err
	}
	if v.inconclusive != "pass" && v.inconclusive != "fail" {
		return nil, fmt.Errorf("--inconclusive %q: want pass or fail", v.inconclusive)
	}
	if v.html != "" {
		if err := writable(v.html); err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
	}
	var out []compare.Gate
	if v.gateFile != "" {
		var err error
		if out, err = compare.ReadGates(v.gateFile); err != nil {
			return nil, err
		}
	}
	for _, text := range v.gates {
		g, err := compare.ParseGate(text)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// writable finds out before a measurement whether a file can be written after it.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; name a file in it, such as %s", path,
			filepath.Join(path, report.VersusFile))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".benchrun-*")
	if err != nil {
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = at.Err // without the name of the temporary file
		}
		return fmt.Errorf("%s cannot be written: %w; make its folder, or name another file", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// judge prints the comparison and writes its page, if one was asked for. Its error carries the
// exit code. Neither is a reason to lose the outcome: their errors are joined.
func (v *verdictFlags) judge(cmd *cobra.Command, r *compared, gates []compare.Gate) error {
	if err := r.Judge(gates); err != nil {
		return err
	}
	out, to := shown(cmd, v.wide)
	printed := versusFormats[v.format](out, r.Result, to)
	return errors.Join(v.outcome(r.Result), printed, v.page(cmd, r))
}

// outcome is the error of a regression, or of too little evidence.
func (v *verdictFlags) outcome(r *compare.Result) error {
	switch outcome := r.Outcome(); {
	case outcome == compare.Regression:
		return broken(errors.New(report.Summary(r)))
	case outcome == compare.Undetermined && v.inconclusive == "fail":
		return fmt.Errorf("%w: %s", errInconclusive,
			strings.TrimPrefix(report.Summary(r), "inconclusive: "))
	}
	return nil
}

// page writes the page, and says where it is in the last line: of the text, or beside the
// other formats, which programs read.
func (v *verdictFlags) page(cmd *cobra.Command, r *compared) error {
	if v.html == "" {
		return nil
	}
	var page bytes.Buffer
	if err := report.WriteVersusPage(&page, r.Result, r.measured("base", r.base),
		r.measured("head", r.head)); err != nil {
		return err
	}
	if err := record.WriteFile(v.html, page.Bytes()); err != nil {
		return broken(fmt.Errorf("--html %s: %w", v.html, err))
	}
	to := cmd.OutOrStdout()
	if v.format != "text" {
		to = cmd.ErrOrStderr()
	}
	_, err := fmt.Fprintf(to, "\n%s\n", v.html)
	return err
}

// errInconclusive is wrapped by the error of a comparison with too little evidence.
var errInconclusive = errors.New("inconclusive")

// compared is a comparison with the runs that were compared; they are zero for files.
type compared struct {
	*compare.Result
	base, head runner.Result
}

// compareRuns compares two runs.
func compareRuns(base, head runner.Result, force bool) (*compared, error) {
	r, err := compare.Runs(base.Run, head.Run, force)
	if err != nil {
		return nil, err
	}
	return &compared{r, base, head}, nil
}

// measured is a run with its profiles, nil for a file. Profiles that cannot be read are a
// warning on the page.
func (c *compared) measured(side string, r runner.Result) *report.Measured {
	if r.Run == nil {
		return nil
	}
	out := &report.Measured{Run: r.Run, Dir: r.Dir}
	root, err := os.OpenRoot(r.Dir) // follows no link that leaves the folder
	if err != nil {
		c.Warnings = append(c.Warnings, side+": no profiles: "+err.Error())
		return out
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	var warnings []string
	out.Profiles, warnings = report.ReadProfiles(root.FS(), r.Run)
	for _, w := range warnings {
		c.Warnings = append(c.Warnings, side+": "+w)
	}
	return out
}

// versus reads and compares two folders or two files.
func versus(base, head string, force bool) (*compared, error) {
	folders := 0
	for _, path := range []string{base, head} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			folders++
		}
	}
	switch {
	case folders == 1:
		return nil, fmt.Errorf("%s and %s: give two folders of runs, or two files", base, head)
	case folders == 0 && force:
		return nil, errors.New(
			"--force is for runs, whose machines are known: files are compared anyway, leave it out")
	case folders == 0:
		r, err := compare.Files(base, head, stats.DefaultRule)
		if err != nil {
			return nil, err
		}
		return &compared{Result: r}, nil
	}
	b, err := record.ReadRun(base)
	if err != nil {
		return nil, err
	}
	h, err := record.ReadRun(head)
	if err != nil {
		return nil, err
	}
	return compareRuns(runner.Result{Run: b, Dir: base}, runner.Result{Run: h, Dir: head}, force)
}
