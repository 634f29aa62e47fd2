package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
)

// percentileNotes names the series of a group in which a lower percentile than the p99 is judged,
// or none, because a process did too few operations (see metrics.JudgedIn). A note begins with
// words of its own, so that no name passes for markup.
func percentileNotes(g compare.Group) (notes []string) {
	var said []string
	for _, row := range g.Rows {
		if slices.Contains(said, row.Series) {
			continue
		}
		said = append(said, row.Series)
		measured := func(metric string) bool {
			return slices.ContainsFunc(g.Rows, func(o compare.Row) bool {
				return o.Series == row.Series && o.Metric == metric
			})
		}
		for _, d := range metrics.Distributions(func(d string) bool {
			return measured(metrics.Number(d))
		}) {
			i := slices.IndexFunc(g.Rows, func(o compare.Row) bool {
				return o.Key && o.Series == row.Series && strings.HasPrefix(o.Metric, d+"-")
			})
			switch {
			case i < 0:
				notes = append(notes, fmt.Sprintf("too few operations for a percentile: %s of %s", d,
					row.Series))
			case g.Rows[i].Metric != metrics.Usual(d) &&
				g.Rows[i].Metric != metrics.Percentile(d, metrics.JudgedPercentile):
				notes = append(notes, fmt.Sprintf(
					"too few operations for a p%d, which needs %d in each process: %s of %s is judged instead",
					metrics.JudgedPercentile, metrics.FewestFor(metrics.JudgedPercentile),
					Heading(g.Rows[i].Metric), row.Series))
			}
		}
	}
	return notes
}
