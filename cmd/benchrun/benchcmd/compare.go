package benchcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

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
benchmark format (go test -bench prints it; - is standard input, and a pipe will do).
Every verdict is corrected for how many there are; what the data cannot tell is called
inconclusive.

` + gateHelp,
		Example: `  benchrun compare results/20261121T101500Z-quick results/20261121T142000Z-quick
  benchrun compare base head --gate 'store/*/p99 <= +5%' --gate 'store/*/allocs/op <= +0%'
  benchrun compare base head --gates gates.txt --format markdown >> "$GITHUB_STEP_SUMMARY"
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
	gates                          []string
	gateFile, format, inconclusive string
	wide                           bool
}

func (v *verdictFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&v.gates, "gate", nil,
		"a `GATE` such as 'store/*/p99 <= +5%'; may be given again")
	f.StringVar(&v.gateFile, "gates", "", "a `FILE` of gates, one a line, # begins a comment; - is standard input")
	f.StringVar(&v.format, "format", "text", "text, markdown or json")
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

// judge prints the comparison. Its error carries the exit code; that of the printing is no reason
// to lose the outcome, so they are joined.
func (v *verdictFlags) judge(cmd *cobra.Command, r *compare.Result, gates []compare.Gate) error {
	if err := r.Judge(gates); err != nil {
		return err
	}
	out, to := shown(cmd, v.wide)
	printed := versusFormats[v.format](out, r, to)
	return errors.Join(v.outcome(r), printed)
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

// errInconclusive is wrapped by the error of a comparison with too little evidence.
var errInconclusive = errors.New("inconclusive")

// versus reads and compares two folders or two files.
func versus(base, head string, force bool) (*compare.Result, error) {
	folders := 0
	for _, path := range []string{base, head} {
		if path == "-" {
			continue
		}
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
		return compare.Files(base, head, stats.DefaultRule)
	}
	b, err := record.ReadRun(base)
	if err != nil {
		return nil, err
	}
	h, err := record.ReadRun(head)
	if err != nil {
		return nil, err
	}
	return compare.Runs(b, h, force)
}
