package evidence

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/advise"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// IndexFile is the index, in the folder of the results.
const IndexFile = "README.md"

// UpdateIndex writes the index of the runs of these presets into the folder of the results, and their
// reports again: they were written by the commit that was measured, and the index and the rules are
// of this one.
func UpdateIndex(results string, presets []string) error {
	for _, preset := range presets {
		if err := report.Write(filepath.Join(results, preset)); err != nil {
			return err
		}
	}
	return record.ReplaceFile(filepath.Join(results, IndexFile), 0o644, func(w io.Writer) error {
		return WriteIndex(w, results, presets)
	})
}

// WriteIndex writes the index of the runs of these presets as Markdown: first what advise's rules
// recommend for which load, then what each run favours, then the runs. It is an error if one is
// missing, not whole, or of another commit than the others.
func WriteIndex(w io.Writer, results string, presets []string) error {
	runs := make([]*record.Run, len(presets))
	for i, preset := range presets {
		r, err := record.ReadRun(filepath.Join(results, preset))
		switch {
		case err != nil:
			return err
		case !r.Complete:
			return fmt.Errorf("%s: the run was interrupted", preset)
		case r.Environment.Revision != cmp.Or(runs[0], r).Environment.Revision:
			return fmt.Errorf("%s is of commit %s, %s of %s: want one commit", preset, r.Environment.Revision, presets[0], runs[0].Environment.Revision)
		}
		runs[i] = r
	}
	var out strings.Builder
	writeHead(&out, runs)
	if err := writeAnswer(&out); err != nil {
		return err
	}
	writeUse(&out, presets, runs)
	writeRuns(&out, presets, runs)
	_, err := io.WriteString(w, out.String())
	return err
}

func writeHead(out *strings.Builder, runs []*record.Run) {
	var machines []string
	first, last := runs[0].Started, runs[0].Finished
	for _, r := range runs {
		machines = append(machines, fmt.Sprintf("%s, %d cores, %s", r.Environment.CPU, r.Environment.Cores, r.Environment.GoVersion))
		if r.Started.Before(first) {
			first = r.Started
		}
		if r.Finished.After(last) {
			last = r.Finished
		}
	}
	slices.Sort(machines)
	fmt.Fprintf(out, `# Runs
One run of each preset, all of commit %s, measured %s on %s. %s made them and this page: do not edit it.
The pages are files: open them from a clone, or see all with `+"`go run ./cmd/benchrun serve`"+`. `+"`run.json`"+` has a checksum over its bytes. git ignores a run of your own that has its usual name, which begins with the time.
Presets follow one another, so the report of each warns that the machine was busy when it began. [in-turns](in-turns) is the output of `+"`make turns`"+`, [instruments](instruments) that of `+"`make instruments`"+`, [proofs](proofs) that of `+"`make proofs`"+` and of comparisons with a former store; their first lines name the commit.

`, runs[0].Environment.Revision, period(first, last), strings.Join(slices.Compact(machines), "; "), "`make evidence`")
}

// period is "on 2026-11-28" or "from 2026-11-27 to 2026-11-28".
func period(first, last time.Time) string {
	from, to := first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly)
	if from == to {
		return "on " + from
	}
	return "from " + from + " to " + to
}

// The titles of the index's first two sections.
const (
	answerTitle = "## Which one, for whom, and how sure\n"
	runsTitle   = "## What each run favours\n"
)

func writeAnswer(out *strings.Builder) error {
	fmt.Fprint(out, answerTitle+"The first rule of a component whose load is yours decides. Each leads to all of its evidence, its price and the code. A number in brackets is a 95% interval. All of it is from machines with 2 cores.\n\n")
	if err := advise.Rules().WriteSummary(out, "../docs/which.md"); err != nil {
		return err
	}
	out.WriteString("\n")
	return nil
}

func writeUse(out *strings.Builder, presets []string, runs []*record.Run) {
	fmt.Fprint(out, runsTitle+"A line here is what the numbers of one component in one preset favour. Ratios to client-go's numbers, means over what was measured: 0.5x is half. A single ratio beyond 1/1000 or 1000x counts as that; the mean then says *or less* or *or more*, and has no interval. *delay* is the p99 from when an operation was due until it was done, *stale* the p99 until the consumer has an event, *time* that of one operation, *done* the operations done, *memory* what is kept. A rule above may name another one, for what a mean does not show, such as a long single call; the page of its component says why ([delay heaps](../docs/delays.md#what-lost-and-why)).\n\n")
	t := table.NewWriter()
	t.AppendHeader(table.Row{"component, preset", "favours", "ratios by concern", "costs more", "inconclusive"})
	for _, c := range load.Components() {
		for i, r := range runs {
			for _, b := range report.Briefs(r) {
				if b.Component != string(c) {
					continue
				}
				use := b.Use
				if b.Use == b.Reference {
					use = b.Reference + ": " + b.Kept
				}
				if b.Level != "" {
					use += "; " + b.Level
				}
				t.AppendRow(table.Row{string(c) + ", " + presets[i], use, strings.Join(b.Gains, ", "), b.Price, fmt.Sprintf("%d of %d", b.Inconclusive, b.Judged)})
			}
		}
	}
	fmt.Fprintf(out, "%s\n\n", t.RenderMarkdown())
}

func writeRuns(out *strings.Builder, presets []string, runs []*record.Run) {
	fmt.Fprint(out, "## The runs\n\n")
	t := table.NewWriter()
	t.AppendHeader(table.Row{"preset", "what it asks", "processes", "took"})
	for i, r := range runs {
		p, err := load.LookupPreset(presets[i])
		if err != nil {
			p.Description = "(no longer a preset)"
		}
		t.AppendRow(table.Row{fmt.Sprintf("[%s](%s/report.html)", presets[i], presets[i]), p.Description, len(r.Forks), measured(r).Round(time.Minute)})
	}
	fmt.Fprintf(out, "%s\n", t.RenderMarkdown())
}
