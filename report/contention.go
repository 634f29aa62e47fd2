package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
)

// contention is one table, over all loads, of the groups with a fixed offered rate of
// operations per second. The tables by load have the same rows, but scattered.
type contention struct {
	component string
	table     table.Writer
	notes     *footnotes
	loads     int
}

// pacedColumns are the metrics that matter for a paced group.
var pacedColumns = []struct{ header, metric string }{
	{"achieved", metrics.AchievedPct},
	{"delay p99", metrics.Percentile("delay", 99)},
	{"delay max", metrics.Max("delay")},
	{"service max", metrics.Max("service")},
}

const contentionLegend = "Groups that are offered operations at a fixed rate, under each load, " +
	"with what the others beside them got done. " +
	"The delay counts from when an operation was due, the service from when it began. Medians over " +
	"forks [interval]; the verdicts stand in the tables above."

// contentions are the tables of a run, one for each component measured under several loads.
// A single load has its table already.
func contentions(groups []compare.Group) []*contention {
	var out []*contention
	for _, g := range groups {
		paced := seriesWith(g, metrics.AchievedPct)
		if len(paced) == 0 {
			continue
		}
		component := string(g.Cells[0].Component)
		i := slices.IndexFunc(out, func(c *contention) bool { return c.component == component })
		if i < 0 {
			i, out = len(out), append(out, newContention(component))
		}
		out[i].add(g, paced)
	}
	return slices.DeleteFunc(out, func(c *contention) bool { return c.loads < 2 })
}

func newContention(component string) *contention {
	c := &contention{component: component, table: table.NewWriter(), notes: &footnotes{}}
	header := table.Row{"load", "paced", "implementation"}
	for _, column := range pacedColumns {
		header = append(header, column.header)
	}
	c.table.AppendHeader(append(header, "the others"))
	return c
}

// add writes a line per paced series and implementation.
func (c *contention) add(g compare.Group, paced []string) {
	if c.loads > 0 {
		c.table.AppendSeparator()
	}
	c.loads++
	title := g.Title
	for _, series := range paced {
		name := series
		for _, cell := range g.Cells {
			if cell.Role != "" {
				continue
			}
			if name != "" {
				name += offered(g, series, cell.Label())
			}
			row := table.Row{title, name, cell.Label()}
			for _, column := range pacedColumns {
				row = append(row, c.number(g, series, column.metric, cell.Label()))
			}
			c.table.AppendRow(append(row, others(g, series, cell.Label())))
			title, name = "", ""
		}
	}
}

// offered formats the offered rate of a series, "" where it is not recorded.
func offered(g compare.Group, series, impl string) string {
	if v, ok := valueOf(g, series, metrics.Offered, impl); ok {
		return fmt.Sprintf(" at %s/s", NumberText(metrics.Offered, v.Estimate.Median))
	}
	return ""
}

func (c *contention) number(g compare.Group, series, metric, impl string) string {
	v, ok := valueOf(g, series, metric, impl)
	if !ok {
		return ""
	}
	return interval(metric, v.Estimate) + c.notes.mark(v.Estimate.Warnings)
}

// others are the rates of the other series under the same load.
func others(g compare.Group, series, impl string) string {
	var rates []string
	for _, other := range seriesWith(g, metrics.Achieved) {
		if other == series {
			continue
		}
		if v, ok := valueOf(g, other, metrics.Achieved, impl); ok {
			rates = append(rates, fmt.Sprintf("%s %s ops/s", other, interval(metrics.Achieved, v.Estimate)))
		}
	}
	return strings.Join(rates, ", ")
}

// seriesWith returns the series of a group that have a metric, in the group's order.
func seriesWith(g compare.Group, metric string) []string {
	var out []string
	for _, row := range g.Rows {
		if row.Metric == metric && row.Series != "" {
			out = append(out, row.Series)
		}
	}
	return out
}

func valueOf(g compare.Group, series, metric, impl string) (compare.Value, bool) {
	for _, row := range g.Rows {
		if row.Series != series || row.Metric != metric {
			continue
		}
		for _, v := range row.Values {
			if v.Impl == impl {
				return v, true
			}
		}
	}
	return compare.Value{}, false
}

// writeContention writes the tables for Markdown.
func writeContention(w *writer, groups []compare.Group) {
	tables := contentions(groups)
	if len(tables) == 0 {
		return
	}
	w.printf("## Under load\n\n%s\n\n", contentionLegend)
	for _, c := range tables {
		w.printf("### %s\n\n%s\n\n%s\n", c.component, c.table.RenderMarkdown(),
			markdownLines(c.notes.text()))
	}
}

// writeContentionText writes them for a terminal.
func writeContentionText(w *writer, groups []compare.Group) {
	for _, c := range contentions(groups) {
		forTerminal(c.table, c.component+" under load")
		w.printf("%s\n%s\n", c.table.Render(), c.notes.text())
	}
}
