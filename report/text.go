package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/measure"
)

// keyMetrics are those that the short table shows, by what a series has.
var keyMetrics = []string{
	measure.NsPerOp, measure.AchievedPct, measure.Achieved,
	measure.PercentileMetric("delay", 99), measure.PercentileMetric("service", 99), measure.HeapPerObject,
}

// processSeries stands where a series' name would for what the process as a whole
// shows.
const processSeries = "(process)"

// WriteText writes the table that matters: for each workload the reference's
// numbers and how the others compare, for a terminal.
func WriteText(w io.Writer, r *measure.Run) error {
	for _, g := range Groups(r) {
		t := comparison(r, g, func(row Row) bool { return slices.Contains(keyMetrics, row.Metric) && worthShort(g, row) })
		t.SetStyle(table.StyleLight)
		t.Style().Format.Header = text.FormatDefault
		t.SetTitle("%s", g.Title)
		if _, err := fmt.Fprintf(w, "%s\n\n", t.Render()); err != nil {
			return err
		}
	}
	if err := writeScalingText(w, r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, legend(r))
	return err
}

// worthShort leaves out what another row says better: the rate of a group whose
// share of the offer is shown, and the service time of one whose delay is.
func worthShort(g Group, row Row) bool {
	has := func(metric string) bool {
		return slices.ContainsFunc(g.Rows, func(o Row) bool { return o.Series == row.Series && o.Metric == metric })
	}
	switch row.Metric {
	case measure.Achieved:
		return !has(measure.AchievedPct)
	case measure.PercentileMetric("service", 99):
		return !has(measure.PercentileMetric("delay", 99))
	}
	return true
}

// comparison lays rows out with a line per implementation: its own number, and
// how that compares with the reference's.
func comparison(r *measure.Run, g Group, want func(Row) bool) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"operation", "metric", "implementation", "median [interval]", "against the first", "verdict", "noise"})
	last := ""
	for _, row := range g.Rows {
		if !want(row) {
			continue
		}
		if last != "" {
			t.AppendSeparator()
		}
		name, metric := cmp.Or(row.Series, processSeries), row.Metric
		if name == last {
			name = ""
		} else {
			last = name
		}
		noise := ""
		if row.Floor >= 0 {
			noise = fmt.Sprintf("±%.1f%%", 100*row.Floor)
		}
		for _, c := range g.Cells {
			if c.Role != "" {
				continue
			}
			missing := "not supported"
			if len(r.Measured(c)) == 0 {
				missing = "not measured"
			}
			cells := table.Row{name, metric, c.Label(), missing, "", "", noise}
			for _, v := range row.Values {
				if v.Impl == c.Label() {
					cells[3], cells[4], cells[5] = interval(row.Metric, v.Estimate), effect(v), verdict(v)
				}
			}
			t.AppendRow(cells)
			name, metric, noise = "", "", ""
		}
	}
	return t
}

// legend explains the columns; it names how many forks stand behind a number.
func legend(r *measure.Run) string {
	rule := r.Settings.Rule
	lines := []string{
		fmt.Sprintf("Medians over %d forks, each a process of its own, with their %.0f%% interval; 0.90x is 0.90 of the first implementation's, with the interval of the ratio.", r.Settings.Forks, 100*measure.Confidence),
		fmt.Sprintf("better, worse: the whole interval lies beyond %.0f%% and beyond the noise (the same code against itself), Mann-Whitney p <= %g.", 100*rule.Threshold, rule.Alpha),
		fmt.Sprintf("same: the whole interval lies within %.0f%%. inconclusive: neither is shown; more forks may tell (--forks).", 100*rule.Equivalence),
	}
	if r.Settings.Forks < measure.FewestForks {
		lines = append(lines, fmt.Sprintf("Fewer than %d forks: the intervals are the range of the values, and hold less often than they say.", measure.FewestForks))
	}
	return strings.Join(lines, "\n")
}
