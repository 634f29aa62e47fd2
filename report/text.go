package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// WriteText writes the main table for a terminal: for each workload the reference's numbers
// and the comparisons of the others with it. Control characters in the record's strings are
// shown as escapes.
func WriteText(w io.Writer, record *record.Run) error {
	r := clean(record)
	groups := compare.Within(r)
	for _, g := range groups {
		t, notes := comparison(r, g)
		forTerminal(t, g.Title)
		if _, err := fmt.Fprintf(w, "%s\n%s\n", t.Render(), notes.text()); err != nil {
			return err
		}
	}
	load := &writer{w: w}
	writeContentionText(load, groups)
	if load.err != nil {
		return load.err
	}
	for _, warning := range compare.RunWarnings(r) {
		if _, err := fmt.Fprintf(w, "warning: %s\n", indented(warning)); err != nil {
			return err
		}
	}
	if err := writeScalingText(w, r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, legend(r))
	return err
}

func forTerminal(t table.Writer, title string) {
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetTitle("%s", title)
}

// comparison lays out a group's key metrics with a line per implementation: its own number,
// and its comparison with the reference.
func comparison(r *record.Run, g compare.Group) (table.Writer, *footnotes) {
	t, notes := table.NewWriter(), &footnotes{}
	t.AppendHeader(table.Row{"operation", "metric", "implementation", "median [interval]", "against the first", "verdict", "noise", "finds"})
	last := ""
	for _, row := range g.Rows {
		if !row.Key {
			continue
		}
		if last != "" {
			t.AppendSeparator()
		}
		name, metric := cmp.Or(row.Series, compare.ProcessSeries), row.Metric
		if name == last {
			name = ""
		} else {
			last = name
		}
		if row.Harness > 0 {
			metric += fmt.Sprintf(" (harness %.2gns)", row.Harness)
		}
		noise := percent(row.Floor)
		for _, c := range g.Cells {
			if c.Role != "" {
				continue
			}
			missing := "not supported"
			if len(r.Measured(c)) == 0 {
				missing = "not measured"
			}
			cells := table.Row{name, metric, c.Label(), missing, "", "", noise, ""}
			for _, v := range row.Values {
				if v.Impl == c.Label() {
					cells[3] = interval(row.Metric, v.Estimate) + notes.mark(v.Estimate.Warnings)
					if a := v.Against; a != nil {
						cells[4], cells[5], cells[7] = effect(a)+notes.mark(a.Warnings), verdict(a), factor(a.Detectable)
					}
				}
			}
			t.AppendRow(cells)
			name, metric, noise = "", "", ""
		}
	}
	return t, notes
}

// percent formats a relative difference; "" if it is not known.
func percent(relative float64) string {
	if relative <= 0 {
		return ""
	}
	return fmt.Sprintf("±%.3g%%", 100*relative)
}

// factor formats the smallest detectable difference, in either direction, as a ratio.
func factor(relative float64) string {
	if relative <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3gx", 1+relative)
}

// footnotes carries warnings with the numbers that they taint: a letter beside
// the number, the text below the table.
type footnotes struct{ texts []string }

// mark returns the letters of the warnings, " (a)(c)".
func (f *footnotes) mark(warnings []string) string {
	out := ""
	for _, w := range warnings {
		at := -1
		for i, have := range f.texts {
			if have == w {
				at = i
			}
		}
		if at < 0 {
			f.texts = append(f.texts, w)
			at = len(f.texts) - 1
		}
		out += "(" + letter(at) + ")"
	}
	if out != "" {
		out = " " + out
	}
	return out
}

// letter counts a, b, ... z, aa, ab, ...
func letter(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// text lists the notes, a line each.
func (f *footnotes) text() string {
	var b strings.Builder
	for i, t := range f.texts {
		fmt.Fprintf(&b, "(%s) %s\n", letter(i), indented(t))
	}
	return b.String()
}

// indented indents the lines of a text, so that none passes for a line of the report.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// legend explains the columns; it says how many forks are behind a number.
func legend(r *record.Run) string {
	forks := fmt.Sprintf("%d forks", r.Settings.Forks)
	if len(r.Looks) > 0 {
		forks = fmt.Sprintf("%d forks and more (--budget %s)", r.Settings.Forks, r.Settings.Budget)
	}
	lines := []string{
		fmt.Sprintf("Medians over %s, each a process of its own, with their %.0f%% interval; 0.90x is 0.90 of the first implementation's, with the interval of the ratio.", forks, 100*stats.Confidence),
		ruleText(r.Settings.Rule),
	}
	if slices.ContainsFunc(r.Forks, tookTurns) {
		lines = append(lines, fmt.Sprintf("Operations of stores, FIFOs, heaps and queues took turns with the reference in each process: their ratios are geometric means over at least %d forks, with the interval and the test of Student's t. Their ns/op has no garbage collection in it; gc-ns/op is what that costs.", stats.FewestDuets))
	}
	if why, none := strings.CutPrefix(r.Environment.HardwareCounters, "none: "); none {
		lines = append(lines, fmt.Sprintf("No %s: this machine has no counters for them (%s).", strings.Join(sysinfo.HardwareNames[:], ", "), why))
	}
	if r.Settings.Budget > 0 {
		lines = append(lines, "Forks were added to what was inconclusive; each such look is charged: the k-th verdict asks for q <= alpha/(k(k+1)), which adds up to alpha however often one looks.")
	}
	if r.Settings.Forks < stats.FewestForks {
		lines = append(lines, fmt.Sprintf("Fewer than %d forks: the intervals are the range of the values, and hold less often than they say.", stats.FewestForks))
	}
	return strings.Join(lines, "\n")
}

func tookTurns(f record.Fork) bool {
	return slices.ContainsFunc(f.Series, func(s record.Series) bool { return s.Duet != nil })
}

// ruleText explains verdicts.
func ruleText(rule stats.Rule) string {
	return strings.Join([]string{
		fmt.Sprintf("better, worse: the whole interval lies beyond %.0f%% and beyond the noise (the same code against itself), and the Mann-Whitney test has q <= %g, where", 100*rule.Threshold, rule.Alpha),
		"q is p corrected for the number of verdicts given here (Benjamini and Hochberg 1995): where nothing differs, the chance of any false better or worse is at most that.",
		fmt.Sprintf("same: the whole interval lies within %.0f%%, or within what stands beside it. inconclusive: neither is shown; in brackets how many more forks (--forks, --budget) would settle it, if more forks can.", 100*rule.Equivalence),
		fmt.Sprintf("finds: the smallest ratio (or its inverse) that this number of forks, with this noise, finds %.0f times in 100; empty where they find none.", 100*stats.Power),
	}, "\n")
}
