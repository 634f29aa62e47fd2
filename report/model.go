package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure"
)

// Group is everything about one workload at one value of its sweep: the cells
// that differ in implementation only.
type Group struct {
	Title string // "store-ops objects=10000"
	Cells []measure.Cell
	Rows  []Row
}

// Row is one metric of one series, for every implementation.
type Row struct {
	Series string // "get", "writer:update", or "" for the process
	Metric string
	Values []Value
	// Floor is the relative difference that the A/A pair showed for this row; -1
	// if there was none.
	Floor float64
}

// Value is one implementation's number in a row.
type Value struct {
	Impl     string
	Estimate measure.Estimate
	Ratio    *measure.Ratio // to the reference; nil for the reference itself
	Verdict  measure.Verdict
}

// Groups evaluates a run: one Group per workload and value of its sweep, in the
// order in which the run measured them.
func Groups(r *measure.Run) []Group {
	var groups []Group
	for _, c := range r.Cells {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Cells[0].SameExceptImpl(c) })
		if i < 0 {
			groups = append(groups, Group{Title: title(c) + procsSegment(r, c)})
			i = len(groups) - 1
		}
		groups[i].Cells = append(groups[i].Cells, c)
	}
	for i := range groups {
		groups[i].Rows = rows(r, groups[i].Cells)
	}
	return groups
}

func title(c measure.Cell) string {
	t := c.Workload
	for _, p := range c.Params {
		t += " " + p.Key + "=" + p.Value
	}
	return t
}

// rows lists every metric of every series that any cell has.
func rows(r *measure.Run, cells []measure.Cell) []Row {
	reference := referenceOf(r, cells)
	var out []Row
	for _, series := range seriesNames(r, cells) {
		for _, metric := range metricNames(r, cells, series) {
			out = append(out, row(r, cells, reference, series, metric))
		}
	}
	return out
}

// referenceOf picks the cell that the others are compared with: the
// implementation marked so in the catalog, else the first.
func referenceOf(r *measure.Run, cells []measure.Cell) measure.Cell {
	for _, c := range cells {
		for _, im := range r.Impls {
			if im.Component == string(c.Component) && im.Name == c.Impl && im.Reference && c.Role == "" {
				return c
			}
		}
	}
	return cells[0]
}

func row(r *measure.Run, cells []measure.Cell, reference measure.Cell, series, metric string) Row {
	values := func(c measure.Cell) []float64 {
		if series == "" {
			return r.ProcessValues(c, metric)
		}
		return r.Values(c, series, metric)
	}
	out := Row{Series: series, Metric: metric, Floor: -1}
	base := values(reference)
	for _, c := range cells {
		if c.Role == measure.AARole {
			if aa, err := measure.RatioOf(base, values(c)); err == nil {
				out.Floor = measure.FloorOf(aa)
			}
		}
	}
	for _, c := range cells {
		own := values(c)
		if len(own) == 0 {
			continue
		}
		v := Value{Impl: c.Label(), Estimate: measure.EstimateOf(own), Verdict: measure.NotComparable}
		if c.ID() != reference.ID() {
			if ratio, err := measure.RatioOf(base, own); err == nil {
				v.Ratio = &ratio
				v.Verdict = r.Settings.Rule.Judge(metric, ratio, max(0, out.Floor))
			}
		}
		out.Values = append(out.Values, v)
	}
	return out
}

// seriesNames are the series in the order in which they were measured, then ""
// for the process.
func seriesNames(r *measure.Run, cells []measure.Cell) []string {
	var names []string
	for _, c := range cells {
		for _, f := range r.Measured(c) {
			for _, s := range f.Series {
				if !slices.Contains(names, s.Name()) {
					names = append(names, s.Name())
				}
			}
		}
	}
	return append(names, "")
}

func metricNames(r *measure.Run, cells []measure.Cell, series string) []string {
	var names []string
	add := func(values map[string]float64) {
		for m := range values {
			if !slices.Contains(names, m) {
				names = append(names, m)
			}
		}
	}
	for _, c := range cells {
		for _, f := range r.Measured(c) {
			if series == "" {
				add(f.Process)
				continue
			}
			for _, s := range f.Series {
				if s.Name() == series {
					add(s.Values)
				}
			}
		}
	}
	slices.SortFunc(names, byRank)
	return names
}

// byRank orders metrics as tables show them.
func byRank(a, b string) int {
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

// metricOrder is the order of metrics in tables; others follow by name.
var metricOrder = slices.Concat(
	[]string{measure.NsPerOp, measure.BytesPerOp, measure.AllocsPerOp, measure.Offered, measure.Achieved, measure.AchievedPct, "unfinished"},
	distribution("delay"), distribution("service"), distribution("late"),
	[]string{measure.HeapPerObject, measure.LockWait, measure.GCShare, measure.GCPauseMax, measure.CPUTime, measure.PeakRSS},
)

func distribution(name string) []string {
	out := []string{}
	for _, p := range measure.Percentiles {
		out = append(out, measure.PercentileMetric(name, p))
	}
	return append(out, measure.MaxMetric(name), name+"-n")
}

func rank(metric string) int {
	if i := slices.Index(metricOrder, metric); i >= 0 {
		return i
	}
	return len(metricOrder)
}
