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

// rows lists every metric of every series that any cell has.
func rows(r *record.Run, cells []record.Cell) []Row {
	reference := r.ReferenceOf(cells)
	var out []Row
	for _, series := range SeriesOf(r, cells) {
		forks := ValuesOf(r, cells, series)
		for _, metric := range namesIn(forks) {
			key := metrics.JudgedIn(metric, forks)
			out = append(out, row(r, cells, reference, series, metric, key))
		}
	}
	return out
}

func row(r *record.Run, cells []record.Cell, reference record.Cell, series, metric string,
	key bool) Row {
	out := Row{Series: series, Metric: metric, Key: key, Floor: -1}
	var drifts []string
	if key {
		out.Floor, drifts = groupFloor(r, cells, reference, series, metric)
	}
	for _, c := range cells {
		if metric == metrics.NsPerOp {
			out.Harness = max(out.Harness, stats.MedianOf(sampleOf(r, c, "", metrics.HarnessNs).values))
		}
		own := sampleOf(r, c, series, metric)
		if len(own.values) == 0 {
			continue
		}
		v := Value{Impl: c.Label(), Estimate: own.estimate()}
		if key && c.ID() != reference.ID() {
			v.Against = againstReference(r, cells, reference, c, series, metric, out.Floor)
			v.Against.Warnings = append(v.Against.Warnings, drifts...)
		}
		out.Values = append(out.Values, v)
	}
	return out
}

// groupFloor is the noise floor in a row: of the control and its second copy, or of its turns
// with itself.
func groupFloor(r *record.Run, cells []record.Cell, reference record.Cell, series,
	metric string) (floor float64, drifts []string) {
	control := controlOf(r, cells, reference, series)
	floor = -1
	for _, c := range cells {
		if c.Role == record.AARole {
			floor, drifts = aaFloor(r, control, c, series, metric)
		}
	}
	if floor < 0 {
		return ownFloor(r, control, series, metric)
	}
	return floor, drifts
}

// againstReference compares a cell with the reference of its group: by their turns if they took
// any, and then with what the reference did in the same processes.
func againstReference(r *record.Run, cells []record.Cell, reference, c record.Cell, series,
	metric string, floor float64) *Comparison {
	own, name, look := sampleOf(r, c, series, metric), nameOf(r, c, series, metric), r.LookAt(c)
	turns, twice, err := turnsBetween(r, c, reference, series, metric)
	var out *Comparison
	switch {
	case err != nil:
		out = newComparison(name, baseOf(r, cells, reference, c, series, metric), own, nil)
	case partnerOf(r, c, series) == reference.Impl:
		base := sample{}
		for _, d := range duetsOf(r, c, series) {
			base.values = append(base.values, d.Reference[metric])
		}
		out = newComparison(name, base, own, &turns)
	default:
		out = newComparison(name, baseOf(r, cells, reference, c, series, metric), own, &turns)
	}
	if err == nil {
		out.Warnings = disagreement(r, c, series, metric)
	}
	if twice {
		floor, look = twiceFloor(floor), max(look, r.LookAt(reference))
	}
	out.Cell, out.Floor, out.look, out.judged = c, floor, look, c.Role == ""
	return out
}

// baseOf is the sample of the reference that a cell is compared with: what its processes and
// those of its second copy, the same code, measured in the blocks that the cell was in. Forks
// that were added for the sake of others are left out: each verdict stands on forks whose
// number was decided by its own looks.
func baseOf(r *record.Run, cells []record.Cell, reference, c record.Cell, series,
	metric string) sample {
	forks := r.Measured(reference)
	for _, again := range cells {
		if c.Role == "" && again.Role == record.AARole && again.Impl == reference.Impl {
			forks = append(forks, r.Measured(again)...)
		}
	}
	blocks := r.ForksOf(c)
	return sampleFrom(slices.DeleteFunc(forks, func(f record.Fork) bool {
		return f.Index >= blocks
	}), series, metric)
}

// ownFloor is the noise floor of a reference that took turns with itself, -1 if it did not.
func ownFloor(r *record.Run, reference record.Cell, series, metric string) (floor float64,
	warnings []string) {
	aa, err := pairedRatio(r, reference, series, metric)
	if err != nil {
		return -1, nil
	}
	return floorOfRatio(r.Settings.Rule, aa)
}

// aaFloor is the noise floor of the reference and the cell that measures it again: of their
// turns, or of their samples where they took none.
func aaFloor(r *record.Run, reference, again record.Cell, series, metric string) (floor float64,
	warnings []string) {
	if aa, err := pairedRatio(r, again, series, metric); err == nil {
		return floorOfRatio(r.Settings.Rule, aa)
	}
	return floorOf(r.Settings.Rule, sampleOf(r, reference, series, metric),
		sampleOf(r, again, series, metric))
}

// floorOf is the noise floor of two samples of the same code, -1 without samples.
func floorOf(rule stats.Rule, base, again sample) (floor float64, warnings []string) {
	aa, err := ratioOf(base, again)
	if err != nil {
		return -1, nil
	}
	return floorOfRatio(rule, aa)
}

// floorOfRatio is the noise floor of a ratio of the same code. The rule should find no difference
// there. If it does, the machine drifts, and the warning says so. Every row makes this test, some
// several times, so it asks for a tenth of alpha, or for the least p that so few forks can have:
// six and six that do not overlap.
func floorOfRatio(rule stats.Rule, aa stats.Ratio) (floor float64, warnings []string) {
	rule.Alpha = min(rule.Alpha, max(rule.Alpha/10, aa.LeastP()))
	if v := rule.Judge(metrics.LowerIsBetter, aa, 0); v == stats.Better || v == stats.Worse {
		warnings = append(
			warnings, "the same code measured twice differs beyond chance: the machine drifts")
	}
	return stats.FloorOf(aa), warnings
}

// sampleOf collects a metric over the forks of a cell, with the warnings that taint it. The
// series "" is the process.
func sampleOf(r *record.Run, c record.Cell, series, metric string) sample {
	return sampleFrom(r.Measured(c), series, metric)
}

// sampleFrom is the sample of some forks.
func sampleFrom(forks []record.Fork, series, metric string) sample {
	var s sample
	var all [][]string
	for _, m := range measuredIn(forks, series) {
		if v, ok := m.Values[metric]; ok {
			s.values, s.machines = append(s.values, v), append(s.machines, m.fork.Machine)
			all = append(all, slices.Concat(m.fork.Warnings, m.Warnings))
		}
	}
	s.warnings = counted(all)
	return s
}

// measured is a series of a fork.
type measured struct {
	record.Series
	fork *record.Fork
}

// measuredIn is a series in each of some forks that has it. The series "" is the process.
func measuredIn(forks []record.Fork, series string) (out []measured) {
	for i := range forks {
		f := &forks[i]
		if series == "" {
			out = append(out, measured{record.Series{Values: f.Process}, f})
			continue
		}
		for _, s := range f.Series {
			if s.Name() == series {
				out = append(out, measured{s, f})
			}
		}
	}
	return out
}

// EstimateOf is the median of a metric over the forks of a cell, with the warnings that
// taint it. The series "" is the process.
func EstimateOf(r *record.Run, c record.Cell, series, metric string) stats.Estimate {
	return sampleOf(r, c, series, metric).estimate()
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
