package report

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

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
func (to Terminal) comparison(r *record.Run, g compare.Group, notes *footnotes) table.Writer {
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
		lines := block(r, g, row, notes)
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
func (to Terminal) table(headers map[columns]table.Row) table.Writer {
	t := table.NewWriter()
	header := headers[to.columns()]
	t.AppendHeader(header)
	to.fit(t, len(header))
	return t
}

// The last columns of a table of comparisons: "0.354x [0.332, 0.377]", "inconclusive".
const (
	ratioWidth   = 22
	verdictWidth = 12
)

// fit keeps a table of comparisons with four or five columns within the terminal. Longer
// texts are broken.
func (to Terminal) fit(t table.Writer, columns int) {
	if to.Wide {
		return
	}
	free := max(3*columns, to.width()-3*columns-1) // without borders and padding
	rest := max(1, free-ratioWidth-verdictWidth)
	widths := []int{(rest + 1) / 2, rest / 2, ratioWidth, verdictWidth}
	if columns == 5 {
		widths = []int{rest * 35 / 100, rest * 30 / 100, rest * 35 / 100, ratioWidth, verdictWidth}
	}
	var configs []table.ColumnConfig
	for i, n := range widths {
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMax: max(1, n),
			WidthMaxEnforcer: wrapNames})
	}
	t.SetColumnConfigs(configs)
}

// wrapNames breaks lines after a space or a slash, or within a longer word.
func wrapNames(s string, width int) string {
	const afterSlash = "/\u2060 " // where no foreign text has a space
	wrapped := text.WrapSoft(strings.ReplaceAll(s, "/", afterSlash), width)
	return trimmed(strings.NewReplacer(afterSlash, "/", "/\u2060", "/").Replace(wrapped))
}

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
		if utf8.RuneCountInString(line) > to.width() {
			lines[i] = trimmed(text.WrapSoft(line, to.width()))
		}
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
