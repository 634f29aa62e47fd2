package compare

import (
	"maps"
	"slices"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Group is one workload at one value of its sweep: the cells that differ in implementation
// only.
type Group struct {
	Title string // "store-ops/objects=10000"
	Cells []record.Cell
	Rows  []Row
}

// Row is one metric of one series, for every implementation.
type Row struct {
	Series string // "get", "writer:update", or "" for the process
	Metric string
	Key    bool // shown in short tables, with a verdict
	Values []Value
	// Floor is the relative difference between the A/A pair in this row; -1 if there was no
	// pair.
	Floor float64
	// Harness is the harness's own share of ns/op, in ns; 0 for other metrics.
	Harness float64
}

// Value is one implementation's number in a row.
type Value struct {
	Impl     string
	Cell     int // in the group's Cells
	Estimate stats.Estimate
	// Against is the comparison of a key metric with the reference; nil for the reference
	// itself.
	Against *Comparison
}

// Within evaluates a run: one Group per workload and value of its sweep, in measuring
// order, each implementation against the reference. All verdicts of the run are one family.
func Within(r *record.Run) []Group {
	groups := groupsOf(r, func(record.Cell) bool { return true })
	judge(r.Settings.Rule, against(groups))
	return groups
}

// groupsOf are the groups of some cells, without verdicts.
func groupsOf(r *record.Run, wanted func(record.Cell) bool) []Group {
	var groups []Group
	for _, c := range r.Cells {
		if !wanted(c) {
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Cells[0].SameExceptImpl(c) })
		if i < 0 {
			groups = append(groups, Group{Title: workloadOf(r, c)})
			i = len(groups) - 1
		}
		groups[i].Cells = append(groups[i].Cells, c)
	}
	for i := range groups {
		groups[i].Rows = rows(r, groups[i].Cells)
	}
	return groups
}

// against returns every comparison of the groups.
func against(groups []Group) []*Comparison {
	var out []*Comparison
	for _, g := range groups {
		for _, row := range g.Rows {
			for _, v := range row.Values {
				if v.Against != nil {
					out = append(out, v.Against)
				}
			}
		}
	}
	return out
}

// Judged returns the comparisons of the groups that have a verdict.
func Judged(groups []Group) []*Comparison {
	return slices.DeleteFunc(against(groups), func(c *Comparison) bool { return !c.judged })
}

// rows lists every metric of every series that any cell has, but for percentiles of too few values.
func rows(r *record.Run, cells []record.Cell) []Row {
	var out []Row
	for _, series := range SeriesOf(r, cells) {
		forks := ValuesOf(r, cells, series)
		for _, metric := range namesIn(forks) {
			if !metrics.ShownIn(metric, forks) {
				continue
			}
			reference := number{r, r.ReferenceOf(cells), series, metric}
			out = append(out, row(cells, reference, metrics.JudgedIn(metric, forks)))
		}
	}
	return out
}

func row(cells []record.Cell, reference number, key bool) Row {
	out := Row{Series: reference.series, Metric: reference.metric, Key: key, Floor: -1}
	var drifts []string
	if key {
		out.Floor, drifts = reference.groupFloor(cells)
	}
	for i, c := range cells {
		n := reference.of(c)
		if n.metric == metrics.NsPerOp {
			harness := number{n.run, c, "", metrics.HarnessNs}
			out.Harness = max(out.Harness, stats.MedianOf(harness.sample().values))
		}
		own := n.sample()
		if len(own.values) == 0 {
			continue
		}
		v := Value{Impl: c.Label(), Cell: i, Estimate: own.estimate()}
		if key && c.ID() != reference.cell.ID() {
			v.Against = n.against(reference, own, cells, out.Floor)
			v.Against.Warnings = append(v.Against.Warnings, drifts...)
		}
		out.Values = append(out.Values, v)
	}
	return out
}

// groupFloor is the noise floor in a row: of the control and its second copy, or of its turns
// with itself.
func (n number) groupFloor(cells []record.Cell) (floor float64, drifts []string) {
	control := n.of(n.controlOf(cells))
	floor = -1
	for _, c := range cells {
		if c.Role == record.AARole {
			floor, drifts = control.aaFloor(n.of(c))
		}
	}
	if floor < 0 {
		return control.ownFloor()
	}
	return floor, drifts
}

// against compares a number, of which own is the sample, with the reference's: by their turns if
// they took any, and then with what the reference did in the same processes.
func (n number) against(reference number, own sample, cells []record.Cell,
	floor float64) (out *Comparison) {
	turns, twice, err := n.turnsWith(reference)
	look := n.run.LookAt(n.cell)
	switch {
	case err != nil:
		out = newComparison(n.name(), n.baseOf(cells, reference), own, nil)
	case n.partner() == reference.cell.Impl:
		base := sample{}
		for _, d := range n.duets() {
			base.values = append(base.values, d.Reference[n.metric])
		}
		out = newComparison(n.name(), base, own, &turns)
	default:
		out = newComparison(n.name(), n.baseOf(cells, reference), own, &turns)
	}
	if err == nil {
		out.Warnings = n.disagreement()
	}
	if twice {
		floor, look = twiceFloor(floor), max(look, n.run.LookAt(reference.cell))
	}
	out.Cell, out.Floor, out.look, out.judged = n.cell, floor, look, n.cell.Role == ""
	_, out.disturbed = Disturbance(n.run)
	return out
}

// baseOf is the sample of the reference that a number is compared with: what its processes and
// those of its second copy, the same code, measured in the blocks that the cell was in. Forks
// that were added for the sake of others are left out: each verdict stands on forks whose
// number was decided by its own looks.
func (n number) baseOf(cells []record.Cell, reference number) sample {
	forks := n.run.Measured(reference.cell)
	for _, again := range cells {
		if n.cell.Role == "" && again.Role == record.AARole && again.Impl == reference.cell.Impl {
			forks = append(forks, n.run.Measured(again)...)
		}
	}
	blocks := n.run.ForksOf(n.cell)
	return sampleFrom(slices.DeleteFunc(forks, func(f record.Fork) bool {
		return f.Index >= blocks
	}), n.series, n.metric)
}

// EstimateOf is the median of a metric over the forks of a cell, with the warnings that
// taint it. The series "" is the process.
func EstimateOf(r *record.Run, c record.Cell, series, metric string) stats.Estimate {
	return number{r, c, series, metric}.sample().estimate()
}

// SeriesOf returns the series of some cells in measuring order, then "" for the process.
func SeriesOf(r *record.Run, cells []record.Cell) []string {
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

// MetricsOf returns the metrics that a series has in any of the cells, in table order.
func MetricsOf(r *record.Run, cells []record.Cell, series string) []string {
	return namesIn(ValuesOf(r, cells, series))
}

func namesIn(forks []map[string]float64) []string {
	all := map[string]float64{}
	for _, values := range forks {
		maps.Copy(all, values)
	}
	return slices.SortedFunc(maps.Keys(all), metrics.Compare)
}

// ValuesOf returns the values of a series in each fork of some cells that has it. The series ""
// is the process.
func ValuesOf(r *record.Run, cells []record.Cell, series string) (forks []map[string]float64) {
	for _, c := range cells {
		for _, m := range measuredIn(r.Measured(c), series) {
			forks = append(forks, m.Values)
		}
	}
	return forks
}
