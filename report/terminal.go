package report

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Terminal says what a text is written for.
type Terminal struct {
	Width  int  // columns; 0 means 80
	Wide   bool // every column of every table, however wide
	Colour bool // verdicts in colour
}

const defaultWidth = 80

func (to Terminal) width() int { return cmp.Or(to.Width, defaultWidth) }

// columns are what a table of comparisons shows.
type columns int

const (
	fewColumns  columns = iota // operation, implementation, ratio, verdict
	withMedian                 // and the median
	everyColumn                // as report.md has them
	medianFrom  = 120          // columns of the terminal
)

func (to Terminal) columns() columns {
	switch {
	case to.Wide:
		return everyColumn
	case to.width() >= medianFrom:
		return withMedian
	}
	return fewColumns
}

// everything is what report.md has.
var everything = Terminal{Wide: true}

// comparison lays out a group's key metrics in the columns that fit.
func (to Terminal) comparison(r *record.Run, g compare.Group, notes *footnotes) *fitted {
	t := to.table(map[columns]table.Row{
		fewColumns: {"operation", "implementation", "against the first", "verdict"},
		withMedian: {"operation", "implementation", "median [interval]", "against the first", "verdict"},
		everyColumn: {"operation", "metric", "implementation", "median [interval]",
			"against the first", "verdict", "noise", "finds"},
	})
	last := ""
	for _, row := range keyRows(g) {
		if t.Length() > 0 {
			t.AppendSeparator()
		}
		lines := block(r, g, row, notes, to.columns() != fewColumns)
		for i, l := range lines {
			t.AppendRow(to.cells(row, l, i, len(lines), last))
			last = l.series
		}
	}
	return t
}

// cells lays out line i of the lines of a row. last is the series of the line before.
func (to Terminal) cells(row compare.Row, l line, i, lines int, last string) table.Row {
	if to.columns() == everyColumn {
		name, metric, noise := l.series, l.metric, l.noise
		if row.Harness > 0 {
			metric += fmt.Sprintf(" (harness %.2gns)", row.Harness)
		}
		if i > 0 {
			metric, noise = "", ""
		}
		if name == last {
			name = ""
		}
		return table.Row{name, metric, l.impl, l.median, l.effect, l.verdict, noise, l.finds}
	}
	name := ""
	switch {
	case lines == 1:
		name = l.series + "\n" + l.metric
	case i == 0:
		name = l.series
	case i == 1:
		name = l.metric
	}
	if to.columns() == withMedian {
		return table.Row{name, l.impl, l.median, l.effect, to.paint(l.against, l.verdict)}
	}
	if l.against == nil { // the reference, or nothing
		return table.Row{name, l.impl, l.median, l.verdict}
	}
	return table.Row{name, l.impl, l.effect, to.paint(l.against, string(l.against.Verdict))}
}

// table has the columns that fit.
func (to Terminal) table(headers map[columns]table.Row) *fitted {
	t := &fitted{Writer: table.NewWriter(), to: to}
	header := headers[to.columns()]
	t.AppendHeader(header)
	t.widen(header)
	return t
}

// fitted is a table that is rendered within the terminal, with longer texts broken.
type fitted struct {
	table.Writer
	to     Terminal
	widths []int // that the columns would have
}

func (t *fitted) AppendRow(row table.Row, config ...table.RowConfig) {
	t.widen(row)
	t.Writer.AppendRow(row, config...)
}

func (t *fitted) widen(row table.Row) {
	t.widths = append(t.widths, make([]int, max(0, len(row)-len(t.widths)))...)
	for i, cell := range row {
		t.widths[i] = max(t.widths[i], text.LongestLineLen(fmt.Sprint(cell)))
	}
}

// The last columns of a table of comparisons have these widths before the others share what is
// left: "0.354x [0.332, 0.377]", "inconclusive".
const (
	ratioWidth   = 21
	verdictWidth = 12
)

// Render gives each column its share of the terminal, and what it does not need to the others.
func (t *fitted) Render() string {
	if t.to.Wide {
		return t.Writer.Render()
	}
	widths := slices.Clone(t.widths)
	names := widths[:len(widths)-2]
	widths[len(names)] = min(widths[len(names)], ratioWidth)
	widths[len(names)+1] = min(widths[len(names)+1], verdictWidth)
	left := t.to.width() - 3*len(widths) - 1 - widths[len(names)] - widths[len(names)+1]
	order := slices.SortedFunc(maps.Keys(maps.Collect(slices.All(names))), func(a, b int) int {
		return cmp.Or(cmp.Compare(names[a], names[b]), cmp.Compare(a, b))
	})
	var configs []table.ColumnConfig
	for i, column := range order {
		names[column] = max(1, min(names[column], left/(len(order)-i)))
		left -= names[column]
	}
	for i, n := range widths {
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: n,
			WidthMaxEnforcer: wrapNames})
	}
	t.SetColumnConfigs(configs)
	return t.Writer.Render()
}

// wrapNames breaks lines after spaces. A word that is longer than a line is broken after
// punctuation, and only one without that in its letters.
func wrapNames(s string, width int) string {
	const mark = "\u2060" // no foreign text has one: it is shown as an escape
	words := strings.Split(s, " ")
	for i, w := range words {
		if text.StringWidthWithoutEscSequences(w) > width {
			words[i] = punctuation.ReplaceAllString(w, "$0"+mark+" ")
		}
	}
	wrapped := text.WrapSoft(strings.Join(words, " "), width)
	return trimmed(strings.NewReplacer(mark+" ", "", mark, "").Replace(wrapped))
}

// punctuation is where a long name may be broken.
var punctuation = regexp.MustCompile(`[/_:+,-]\b`)

// colours of verdicts: what is better or worse is also said in words.
var colours = map[stats.Verdict]text.Color{
	stats.Better: text.FgGreen, stats.Worse: text.FgRed, stats.Inconclusive: text.FgYellow,
}

func (to Terminal) paint(c *compare.Comparison, s string) string {
	if c == nil {
		return s
	}
	return to.painted(c.Verdict, s)
}

func (to Terminal) painted(v stats.Verdict, s string) string {
	colour, ok := colours[v]
	if !to.Colour || !ok || s == "" {
		return s
	}
	return colour.EscapeSeq() + s + text.Reset.EscapeSeq()
}

// wrapped breaks lines that are longer than the terminal.
func (to Terminal) wrapped(s string) string {
	if to.Wide {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = wrapNames(line, to.width())
	}
	return strings.Join(lines, "\n")
}

// trimmed removes the padding that WrapSoft leaves at the ends of lines.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}
