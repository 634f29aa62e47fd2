package report

// The history of many runs as a table: what changed first, each change with the run since
// which it holds, and then what was looked at without a finding.

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/history"
	"github.com/informerbench/informerbench/measure/stats"
)

// HistorySchema is the version of the JSON that WriteHistoryJSON writes. It grows when a reader
// of the former version would misread the JSON.
const HistorySchema = 1

// shiftLine is one change of a series, or its drift, as text.
type shiftLine struct {
	series        *history.Series
	verdict       stats.Verdict
	since         string // the run and its time
	commits       string // from the last before to the first after it; "" if unknown
	ratio         string
	before, after string // the levels with their intervals
	from, to      string // the same without intervals
	counts        string
	notes         []string
}

// shiftLines are the changes of a series, in order.
func shiftLines(h *history.History, s *history.Series) (out []shiftLine) {
	if d := s.Drift; d != nil {
		first, last := h.Runs[s.Points[0].Run], h.Runs[s.Points[len(s.Points)-1].Run]
		out = append(out, shiftLine{
			series: s, verdict: d.Verdict, since: "drifts since " + runText(first), commits: commits(first, last), ratio: shiftText(*d),
			counts: fmt.Sprintf("over %d runs", len(s.Points)),
		})
		// The ends of the line through the middle, since a single run may lie anywhere.
		var values []float64
		for _, p := range s.Points {
			values = append(values, p.Value)
		}
		middle, half := stats.MedianOf(values), math.Sqrt(d.Ratio)
		out[0].from, out[0].to = levelText(s, middle/half), levelText(s, middle*half)
		out[0].before, out[0].after = out[0].from, out[0].to
	}
	for _, c := range s.Changes {
		before, after := h.Runs[s.Points[c.At-1].Run], h.Runs[s.Points[c.At].Run]
		out = append(out, shiftLine{
			series: s, verdict: c.Verdict, since: runText(after), commits: commits(before, after), ratio: shiftText(c.Shift),
			before: levelInterval(s, c.Before), after: levelInterval(s, c.After), from: levelText(s, c.Before.Value), to: levelText(s, c.After.Value),
			counts: fmt.Sprintf("%d runs, then %d", c.Before.Runs, c.After.Runs), notes: c.Notes,
		})
	}
	return out
}

func allShifts(h *history.History) (out []shiftLine) {
	for _, s := range h.Series {
		out = append(out, shiftLines(h, s)...)
	}
	return out
}

func runText(r history.Run) string { return r.Path + " of " + r.Started.Format("2006-01-02 15:04") }

// commits says between which commits a change lies.
func commits(before, after history.Run) string {
	a, b := shortCommit(before.Revision), shortCommit(after.Revision)
	switch {
	case a == "" || b == "":
		return ""
	case a == b:
		return "commit " + a
	}
	return a + ".." + b
}

// shortCommit is the beginning of a commit, with a mark where the tree was edited.
func shortCommit(revision string) string {
	id, edited, dirty := strings.Cut(revision, "+")
	if r := []rune(id); len(r) > 8 {
		id = string(r[:8])
	}
	if dirty && edited != "" {
		id += "+edits"
	}
	return id
}

func shiftText(s history.Shift) string {
	if s.Ratio == stats.FromZero {
		return "from 0"
	}
	return fmt.Sprintf("%.4gx [%.4g, %.4g]", s.Ratio, s.Lo, s.Hi)
}

// levelText is a level in the unit of its series.
func levelText(s *history.Series, v float64) string {
	if s.Against != "" {
		return fmt.Sprintf("%.4gx", v)
	}
	return NumberText(s.Name.Metric, v)
}

func levelInterval(s *history.Series, l history.Level) string {
	text := levelText(s, l.Value)
	if l.Lo == l.Hi {
		return text
	}
	return fmt.Sprintf("%s [%s, %s]", text, levelText(s, l.Lo), levelText(s, l.Hi))
}

// WriteHistoryText writes a history for a terminal: what changed, then what was looked at.
func WriteHistoryText(out io.Writer, given *history.History, to Terminal) error {
	w := &writer{w: out}
	h := clean(given)
	shifts := allShifts(h)
	if len(shifts) > 0 {
		t := to.shifts(shifts)
		forTerminal(t, "What changed")
		w.printf("%s\n", t.Render())
	}
	if to.columns() == everyColumn {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"series", "runs", "newest", "q"})
		for _, s := range h.Series {
			t.AppendRow(table.Row{s.Label, len(s.Points), levelText(s, s.Points[len(s.Points)-1].Value), qText(s)})
		}
		forTerminal(t, "Every series")
		w.printf("%s\n", t.Render())
	}
	for _, left := range h.Left {
		w.printf("%s\n", to.wrapped("left out: "+left))
	}
	w.printf("%s\n\n%s\n", to.wrapped(historyLegend(h)), to.wrapped(HistorySummary(h)))
	return w.err
}

// The last columns of a table of changes: "0.8469x [0.7816, 0.9048]", "verdict".
const (
	shiftWidth     = 24
	shortVerdict   = 7
	leastNameWidth = 10
)

// shifts is a table of changes with the columns that fit.
func (to Terminal) shifts(lines []shiftLine) table.Writer {
	t := table.NewWriter()
	header := table.Row{"what", "since", "change", "verdict"}
	if to.columns() != fewColumns {
		header = table.Row{"what", "since", "before, after", "change", "verdict"}
	}
	t.AppendHeader(header)
	if !to.Wide {
		rest := max(3*leastNameWidth, to.width()-3*len(header)-1-shiftWidth-shortVerdict)
		widths := []int{(rest + 1) / 2, rest / 2, shiftWidth, shortVerdict}
		if len(header) == 5 {
			widths = []int{rest * 7 / 20, rest * 6 / 20, rest * 7 / 20, shiftWidth, shortVerdict}
		}
		var configs []table.ColumnConfig
		for i, n := range widths {
			configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: n, WidthMaxEnforcer: wrapNames})
		}
		t.SetColumnConfigs(configs)
	}
	for i, l := range lines {
		if i > 0 {
			t.AppendSeparator()
		}
		since := l.since
		for _, more := range append([]string{l.commits}, l.notes...) {
			if more != "" {
				since += "\n" + more
			}
		}
		verdict := to.painted(l.verdict, string(l.verdict))
		if to.columns() == fewColumns {
			t.AppendRow(table.Row{l.series.Label, since, fmt.Sprintf("%s\n%s -> %s\n%s", l.ratio, l.from, l.to, l.counts), verdict})
			continue
		}
		t.AppendRow(table.Row{l.series.Label, since, l.before + "\n" + l.after, l.ratio + "\n" + l.counts, verdict})
	}
	return t
}

func qText(s *history.Series) string {
	if len(s.Points) < stats.FewestRuns {
		return "too few runs"
	}
	return fmt.Sprintf("%.2g", s.Q)
}

// HistorySummary is a history in one line.
func HistorySummary(h *history.History) string {
	worse, better, changed := 0, 0, 0
	for _, s := range h.Series {
		if s.Changed() {
			changed++
		}
	}
	lines := allShifts(h)
	for _, l := range lines {
		switch l.verdict {
		case stats.Worse:
			worse++
		case stats.Better:
			better++
		}
	}
	text := fmt.Sprintf("%s by %s: ", plural(len(h.Runs), "run"), h.Order)
	switch {
	case h.Tested == 0:
		return text + fmt.Sprintf("no number has the %d comparable runs in which a change can be found (%s)", stats.FewestRuns, plural(len(h.Series), "series"))
	case changed == 0:
		text += "no change is proved in " + plural(h.Tested, "series")
	default:
		text += fmt.Sprintf("%d of %s changed", changed, plural(h.Tested, "series"))
		if len(lines) > changed {
			text += fmt.Sprintf(" in %d places", len(lines))
		}
		text += fmt.Sprintf(": %d worse, %d better", worse, better)
	}
	if short := len(h.Series) - h.Tested; short > 0 {
		text += fmt.Sprintf("; %d more have fewer than %d runs", short, stats.FewestRuns)
	}
	if h.Small > 0 {
		text += fmt.Sprintf("; %d changes are smaller than %.3g%%", h.Small, 100*h.Least)
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 || strings.HasSuffix(what, "s") {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// historyLegend explains a change.
func historyLegend(h *history.History) string {
	lines := []string{
		fmt.Sprintf("since: the first run with the new level. 1.03x is 1.03 of the level before, with the %.0f%% interval. A level is the trimmed mean of the runs between two changes.", 100*stats.Confidence),
		"0.5x as a level is half of the reference's number, measured in turns in one process: what the machine does cancels. Other levels are values, and may change with the machine.",
		fmt.Sprintf("A change is reported where q <= %g (p corrected for the choice of the place and the number of series) and it is %.3g%% or more, with %d runs or more on either side. Where nothing changes, the chance of any change in the whole history is at most that.", h.Alpha, 100*h.Least, stats.FewestAround),
	}
	if len(h.Machines) > 1 {
		lines = append(lines, "Runs of different machines are different series:")
		for i, m := range h.Machines {
			lines = append(lines, fmt.Sprintf("machine %d: %s (%s)", i+1, m.Text, plural(m.Runs, "run")))
		}
	}
	return strings.Join(lines, "\n")
}

// WriteHistoryMarkdown writes a history for an issue or a job's summary.
func WriteHistoryMarkdown(out io.Writer, given *history.History) error {
	w := &writer{w: out}
	h := forMarkdown(given)
	w.printf("### %s\n\n", HistorySummary(h))
	if lines := allShifts(h); len(lines) > 0 {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"what", "since", "before", "after", "change", "verdict"})
		for _, l := range lines {
			since := l.since
			for _, more := range append([]string{l.commits}, l.notes...) {
				if more != "" {
					since += "; " + more
				}
			}
			t.AppendRow(table.Row{l.series.Label, since, l.before, l.after, l.ratio + ", " + l.counts, l.verdict})
		}
		w.printf("%s\n\n", t.RenderMarkdown())
	}
	for _, left := range h.Left {
		w.printf("- left out: %s\n", item(left))
	}
	w.printf("\n<details><summary>how to read this</summary>\n\n%s\n</details>\n", markdownLines(historyLegend(h)))
	return w.err
}

// WriteHistoryJSON writes every series with its points and changes.
func WriteHistoryJSON(w io.Writer, given *history.History) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(struct {
		Schema int       `json:"schema"`
		Newest time.Time `json:"newest"` // start of the newest run
		*history.History
	}{HistorySchema, newest(given), clean(given)})
}

func newest(h *history.History) (t time.Time) {
	for _, r := range h.Runs {
		if r.Started.After(t) {
			t = r.Started
		}
	}
	return t
}
