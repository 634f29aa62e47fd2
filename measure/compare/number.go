package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// ErrNoNumber says that a run lacks a number.
var ErrNoNumber = errors.New("the run has no such number")

// Number is one number of a run: a metric of a series of a cell. Finding it costs no verdicts.
type Number struct {
	Metric string

	run    *record.Run
	cell   record.Cell
	series string // "" is the process
}

// Lookup finds a number by its name, as [Name.String] writes it:
// "store/store-ops/objects=10000/get/mutexmap/ns/op". The error wraps ErrNoNumber.
func Lookup(r *record.Run, name string) (Number, error) {
	for _, c := range r.Cells {
		rest, ok := strings.CutPrefix(name, string(c.Component)+"/"+workloadOf(r, c)+"/")
		if !ok || c.Role != "" {
			continue
		}
		series, metric, ok := strings.Cut(rest, "/"+c.Impl+"/")
		if !ok {
			continue
		}
		if series == ProcessSeries {
			series = ""
		}
		if len(sampleOf(r, c, series, metric).values) > 0 {
			return Number{Metric: metric, run: r, cell: c, series: series}, nil
		}
	}
	return Number{}, fmt.Errorf("%s: %w", name, ErrNoNumber)
}

// Estimate is the median over the forks.
func (n Number) Estimate() stats.Estimate { return EstimateOf(n.run, n.cell, n.series, n.Metric) }

// RatioTo is the ratio to the same number of another implementation, as [Within] has it: of
// their turns if they took turns, else of their medians. The error wraps ErrNoNumber.
func (n Number) RatioTo(impl string) (stats.Ratio, error) {
	var group []record.Cell
	for _, c := range n.run.Cells {
		if c.SameExceptImpl(n.cell) {
			group = append(group, c)
		}
	}
	i := slices.IndexFunc(group, func(c record.Cell) bool { return c.Role == "" && c.Impl == impl })
	if i < 0 {
		return stats.Ratio{}, fmt.Errorf("%w of %s", ErrNoNumber, impl)
	}
	if ratio, _, err := turnsBetween(n.run, n.cell, group[i], n.series, n.Metric); err == nil {
		return ratio, nil
	}
	ratio, err := ratioOf(baseOf(n.run, group, group[i], n.cell, n.series, n.Metric),
		sampleOf(n.run, n.cell, n.series, n.Metric))
	if err != nil {
		return stats.Ratio{}, fmt.Errorf("%w of %s: %w", ErrNoNumber, impl, err)
	}
	return ratio, nil
}
