package report

import (
	"bytes"
	_ "embed" // the page's template, style sheet and script
	"fmt"
	"html/template"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/history"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

var (
	//go:embed history.gotmpl
	historyText string
	//go:embed history.css
	historyStyle string
	//go:embed history.js
	historyScript string

	// historyTemplate has the links of report.html.
	historyTemplate = template.Must(template.Must(pageTemplate.Clone()).New("history.html").Parse(historyText))
)

// historyPage is what the template shows of a history.
type historyPage struct {
	Policy         string
	Style          template.CSS
	Script         template.JS
	Title, Summary string
	Span           string // from the first run to the last
	Shifts         []pageShift
	Groups         []trendGroup
	Components     []string
	Single         []string // series of one run
	Machines       []string // if several
	Runs           []pageRun
	Left, Legend   []string
}

// pageShift is a line of the table of changes.
type pageShift struct {
	shiftLine
	To, Label, Since, Commits, Ratio, From, After, Counts string
	Verdict                                               stats.Verdict
	Notes                                                 []string
}

type pageRun struct {
	N                                                 int
	ID, Path, Started, Commit, Preset, Go, On, Remark string
}

// trendGroup is a workload.
type trendGroup struct {
	ID, Title, Component string
	Trends               []trend
}

// WriteHistoryPage writes a history as one page that opens offline: what changed, a picture of
// every series, and the runs.
func WriteHistoryPage(out io.Writer, given *history.History) error {
	h := clean(given)
	css := style + historyStyle
	p := historyPage{
		Policy: policyOf(css, historyScript), Style: template.CSS(css), Script: template.JS(historyScript), //nolint:gosec // embedded files
		Title: "History of " + orThese(h.Folder), Summary: HistorySummary(h), Span: span(h), Left: h.Left, Legend: strings.Split(historyLegend(h), "\n"),
	}
	if len(h.Machines) > 1 {
		for i, m := range h.Machines {
			p.Machines = append(p.Machines, fmt.Sprintf("Machine %d: %s; %s.", i+1, m.Text, plural(m.Runs, "run")))
		}
	}
	ids := anchors{}
	for _, own := range []string{"changed", "series", "runs", "reading", "filter", "shown"} {
		ids.of(own)
	}
	runs := make([]string, len(h.Runs))
	for i, r := range h.Runs {
		runs[i] = ids.of("run " + r.Path)
		shown := pageRun{N: i + 1, ID: runs[i], Path: r.Path, Started: r.Started.Format(time.DateTime), Commit: shortCommit(r.Revision), Preset: r.Preset, Go: r.Go, Remark: strings.Trim(r.Plant+"; "+r.Interrupted, "; ")}
		if len(h.Machines) > 1 {
			shown.On = fmt.Sprint(r.Machine + 1)
		}
		p.Runs = append(p.Runs, shown)
	}
	for _, s := range h.Series {
		if len(s.Points) < 2 {
			p.Single = append(p.Single, s.Label)
			continue
		}
		title := s.Name.Component + ": " + s.Name.Workload
		i := slices.IndexFunc(p.Groups, func(g trendGroup) bool { return g.Title == title })
		if i < 0 {
			i = len(p.Groups)
			p.Groups = append(p.Groups, trendGroup{ID: ids.of(title), Title: title, Component: s.Name.Component})
		}
		if !slices.Contains(p.Components, s.Name.Component) {
			p.Components = append(p.Components, s.Name.Component)
		}
		t := trendOf(h, s, runs)
		t.ID = ids.of(s.Label)
		p.Groups[i].Trends = append(p.Groups[i].Trends, t)
		for _, l := range shiftLines(h, s) {
			p.Shifts = append(p.Shifts, pageShift{
				shiftLine: l, To: t.ID, Label: s.Label, Since: l.since, Commits: l.commits, Ratio: l.ratio, From: l.before, After: l.after,
				Counts: l.counts, Verdict: l.verdict, Notes: l.notes,
			})
		}
	}
	slices.Sort(p.Components)
	var text bytes.Buffer
	if err := historyTemplate.Execute(&text, p); err != nil {
		return fmt.Errorf("rendering the page of a history: %w", err)
	}
	_, err := out.Write(text.Bytes())
	return err
}

func orThese(folder string) string {
	if folder == "" {
		return "these runs"
	}
	return folder
}

func span(h *history.History) string {
	first, last := h.Runs[0].Started, h.Runs[0].Started
	for _, r := range h.Runs {
		if r.Started.Before(first) {
			first = r.Started
		}
		if r.Started.After(last) {
			last = r.Started
		}
	}
	return fmt.Sprintf("%s to %s", first.Format(time.DateOnly), last.Format(time.DateOnly))
}

// trend is the picture of a series with what belongs to it.
type trend struct {
	ID, Label, Text, Help string
	Changed               bool
	Verdict               stats.Verdict // of the first change
	X, Y                  []gridLine
	Line                  string // points of the polyline
	Bars                  string // the intervals, as a path
	Dots                  []trendDot
	Levels                []levelLine
	Steps                 []stepMark
	Points                []trendPoint // of a series that changed
	Again                 []string     // the commands that compare the runs around each change
}

type trendDot struct{ X, Y float64 }

type levelLine struct{ X1, X2, Y1, Y2 float64 }

// stepMark is a change: a circle if better, a diamond if worse, a ring if neither, as in the
// forest plots, with its size as text.
type stepMark struct {
	X      float64
	Text   string // "" where there is no room
	Anchor string // CSS class of the text, before or after the line
	TextX  float64
	// Verdict gives the shape.
	Verdict stats.Verdict
}

// Diamond are the corners of the shape of a worse number.
func (m stepMark) Diamond() string {
	return fmt.Sprintf("%g,4 %g,10 %g,16 %g,10", m.X, m.X+6, m.X, m.X-6)
}

type trendPoint struct{ Run, Path, To, Value, Interval, Forks string }

// The picture of a series, in units of its viewBox.
const (
	trendLeft, trendRight = 84.0, 626.0
	trendTop, trendBottom = 24.0, 122.0

	stepTextWidth = 130.0 // "better 0.869x" at 400 pixels, with its mark
)

func trendOf(h *history.History, s *history.Series, runs []string) trend {
	t := trend{Label: s.Label, Help: metrics.Of(s.Name.Metric).Help, Changed: s.Changed()}
	lo, hi := s.Points[0].Value, s.Points[0].Value
	for _, p := range s.Points {
		lo, hi = min(lo, p.Value), max(hi, p.Value)
	}
	// Wide intervals of few forks are cut off: the levels decide what is to be seen.
	room := (hi - lo) / 3
	if room <= 0 {
		room = max(hi/100, 1e-9)
	}
	lo, hi = lo-room, hi+room
	y := func(v float64) float64 {
		return round(trendBottom - max(0, min(1, (v-lo)/(hi-lo)))*(trendBottom-trendTop))
	}
	x := func(i int) float64 {
		return round(trendLeft + (float64(i)+0.5)/float64(len(s.Points))*(trendRight-trendLeft))
	}
	for _, share := range []float64{1. / 6, 0.5, 5. / 6} {
		v := lo + share*(hi-lo)
		t.Y = append(t.Y, gridLine{y(v), levelText(s, max(0, v))})
	}
	every := (len(s.Points) + 7) / 8
	var line, bars strings.Builder
	for i, p := range s.Points {
		if i%every == 0 {
			t.X = append(t.X, gridLine{x(i), fmt.Sprint(p.Run + 1)})
		}
		fmt.Fprintf(&line, "%g,%g ", x(i), y(p.Value))
		fmt.Fprintf(&bars, "M%g %gV%g", x(i), y(p.Lo), y(p.Hi))
		t.Dots = append(t.Dots, trendDot{x(i), y(p.Value)})
		if t.Changed {
			t.Points = append(t.Points, trendPoint{
				Run: fmt.Sprint(p.Run + 1), Path: h.Runs[p.Run].Path, To: runs[p.Run], Value: levelText(s, p.Value),
				Interval: fmt.Sprintf("%s to %s", levelText(s, p.Lo), levelText(s, p.Hi)), Forks: fmt.Sprint(p.N),
			})
		}
	}
	t.Line, t.Bars = strings.TrimSpace(line.String()), bars.String()
	from := x(0)
	for i, c := range s.Changes {
		at := round((x(c.At-1) + x(c.At)) / 2)
		t.Levels = append(t.Levels, levelLine{from, at, y(c.Before.Value), y(c.Before.Value)})
		from = at
		if i == len(s.Changes)-1 {
			t.Levels = append(t.Levels, levelLine{at, x(len(s.Points) - 1), y(c.After.Value), y(c.After.Value)})
		}
		t.Steps = append(t.Steps, stepMark{X: at, Text: stepText(c.Shift), Verdict: c.Verdict})
		t.Again = append(t.Again, commandLine([]string{"benchrun", "compare", path.Join(h.Folder, h.Runs[s.Points[c.At-1].Run].Path), path.Join(h.Folder, h.Runs[s.Points[c.At].Run].Path)}))
	}
	placeTexts(t.Steps)
	if s.Drift != nil {
		values := make([]float64, len(s.Points))
		for i, p := range s.Points {
			values[i] = p.Value
		}
		middle, half := stats.MedianOf(values), math.Sqrt(s.Drift.Ratio)
		t.Levels = append(t.Levels, levelLine{x(0), x(len(s.Points) - 1), y(middle / half), y(middle * half)})
	}
	t.Text, t.Verdict = trendText(h, s)
	return t
}

// placeTexts puts each text beside its mark, where neither another mark nor the edge is near.
func placeTexts(marks []stepMark) {
	used := trendLeft
	for i := range marks {
		m, next := &marks[i], trendRight
		if i+1 < len(marks) {
			next = marks[i+1].X
		}
		switch {
		case next-m.X > stepTextWidth:
			m.Anchor, m.TextX = "after", m.X+10
			used = m.X + stepTextWidth
		case m.X-used > stepTextWidth:
			m.Anchor, m.TextX = "before", m.X-10
			used = m.X
		default:
			m.Text, used = "", m.X
		}
	}
}

func stepText(s history.Shift) string {
	if s.Ratio == stats.FromZero {
		return string(s.Verdict) + ", from 0"
	}
	return fmt.Sprintf("%s %.3gx", verdictWord(s.Verdict), s.Ratio)
}

// verdictWord is how a change is called where neither direction is better.
func verdictWord(v stats.Verdict) string {
	if v == stats.NotComparable {
		return "changed"
	}
	return string(v)
}

// trendText says in words what the picture shows.
func trendText(h *history.History, s *history.Series) (text string, verdict stats.Verdict) {
	kind := "values"
	if s.Against != "" {
		kind = "ratio to " + s.Against
	}
	kind += fmt.Sprintf(" in %s", plural(len(s.Points), "run"))
	lines := shiftLines(h, s)
	if len(lines) == 0 {
		if len(s.Points) < stats.FewestRuns {
			return kind + "; too few for a change", stats.Inconclusive
		}
		return kind + "; no change is proved", stats.Inconclusive
	}
	for _, l := range lines {
		kind += fmt.Sprintf("; %s since %s, %s", verdictWord(l.verdict), strings.TrimPrefix(l.since, "drifts since "), l.ratio)
		if s.Drift != nil {
			kind += ", a drift"
		}
	}
	if slices.ContainsFunc(lines, func(l shiftLine) bool { return l.verdict == stats.Worse }) {
		return kind, stats.Worse
	}
	return kind, lines[0].verdict
}
