package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// number is a metric of a series of a cell. Its ratio to another is of their samples, or of turns
// that they took: implementations with the reference in one process, and head's builds with
// base's, process with process.
type number struct {
	run            *record.Run
	cell           record.Cell
	series, metric string // the series "" is the process
}

// of is the same number of another cell, and in of the same cell in another run.
func (n number) of(c record.Cell) number { n.cell = c; return n }
func (n number) in(r *record.Run) number { n.run = r; return n }

func (n number) name() Name {
	return Name{Component: string(n.cell.Component), Workload: workloadOf(n.run, n.cell),
		Procs: n.cell.Procs, Series: cmp.Or(n.series, ProcessSeries), Impl: n.cell.Label(),
		Metric: n.metric}
}

// measured is a series of a fork.
type measured struct {
	record.Series
	fork *record.Fork
}

// measuredIn is a series in each of some forks that has it.
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

func (n number) measured() []measured { return measuredIn(n.run.Measured(n.cell), n.series) }

// sample collects a number over the forks of its cell, with the warnings that taint it.
func (n number) sample() sample { return sampleFrom(n.run.Measured(n.cell), n.series, n.metric) }

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

var errNotPaired = errors.New("the implementations took no turns")

// duets are those of the series, one for each fork; none unless all forks that have the series
// have one.
func (n number) duets() (out []*record.Duet) {
	for _, m := range n.measured() {
		if m.Duet == nil {
			return nil
		}
		out = append(out, m.Duet)
	}
	return out
}

// partner is the implementation with which the series took turns, "" if it took none.
func (n number) partner() string {
	for _, d := range n.duets() {
		return d.Against
	}
	return ""
}

// anyPartner is the implementation with which any operation of a cell took turns, "" if none did.
func anyPartner(r *record.Run, c record.Cell) string {
	for _, series := range SeriesOf(r, []record.Cell{c}) {
		if partner := (number{run: r, cell: c, series: series}).partner(); partner != "" {
			return partner
		}
	}
	return ""
}

// disagreement is a warning if the machines of a run disagree on a number's ratio to the
// reference; none if they agree, or there is one machine. Every row makes this test, so it uses a
// tenth of alpha.
func (n number) disagreement() []string {
	of := map[string][]float64{}
	var blocks [][]float64
	for _, m := range n.measured() {
		if m.Duet != nil {
			of[m.fork.Machine] = append(of[m.fork.Machine], m.Duet.Ratios[n.metric].Log)
		}
	}
	for _, machine := range slices.Sorted(maps.Keys(of)) {
		blocks = append(blocks, of[machine])
	}
	if stats.SameInBlocks(blocks) > n.run.Settings.Rule.Alpha/10 {
		return nil
	}
	return []string{fmt.Sprintf(
		"the %d machines disagree beyond chance: the ratio is a mean of these machines", len(blocks))}
}

// logs are the logarithms of a number's ratios to its partner's, one for each fork. It is
// errNotPaired where there are none, or the metric was not measured in turns.
func (n number) logs() ([]float64, error) {
	return n.logsOf(func(s record.Series) map[string]record.LogRatio {
		if s.Duet == nil {
			return nil
		}
		return s.Duet.Ratios
	})
}

func (n number) logsOf(ratios func(record.Series) map[string]record.LogRatio) (logs []float64,
	err error) {
	for _, m := range n.measured() {
		ratio, ok := ratios(m.Series)[n.metric]
		if !ok {
			return nil, errNotPaired
		}
		logs = append(logs, ratio.Log)
	}
	if len(logs) == 0 {
		return nil, errNotPaired
	}
	return logs, nil
}

// paired is the ratio to the partner.
func (n number) paired() (stats.Ratio, error) {
	logs, err := n.logs()
	if err != nil {
		return stats.Ratio{}, err
	}
	return stats.PairedRatioOf(logs)
}

// turnsWithBase is the ratio of a number in head to the same in the base of its pair, which took
// turns with it. It is errNotPaired unless all forks that have the series did.
func (n number) turnsWithBase() (stats.Ratio, error) {
	logs, err := n.logsOf(func(s record.Series) map[string]record.LogRatio { return s.Base })
	if err != nil {
		return stats.Ratio{}, err
	}
	return stats.PairedRatioOf(logs)
}

// relativeTo is the ratio of a number in head to the same in base, by their ratios to a partner
// whose code is the same in both. It is errNotPaired unless both took turns with that.
func (n number) relativeTo(base number, partner string) (stats.Ratio, error) {
	if base.partner() != partner || n.partner() != partner {
		return stats.Ratio{}, errNotPaired
	}
	b, err := base.logs()
	if err != nil {
		return stats.Ratio{}, err
	}
	h, err := n.logs()
	if err != nil {
		return stats.Ratio{}, err
	}
	return stats.RelativeRatioOf(b, h)
}

// turnsWith is the ratio to a reference, computed from their turns with a partner: a third
// implementation, or one of the two. It is errNotPaired if there were no such turns.
//
// Both ratios to the partner have their own noise, and the interval has both (Welch's t). The
// partner's own drift cancels within each process. What two subjects of one process do to each
// other does not: twice reports that it may be in the ratio twice.
func (n number) turnsWith(reference number) (ratio stats.Ratio, twice bool, err error) {
	own, others := n.partner(), reference.partner()
	if own == reference.cell.Impl {
		ratio, err = n.paired()
		return ratio, false, err
	}
	base, err := reference.logs()
	if err != nil {
		return stats.Ratio{}, false, err
	}
	if others == n.cell.Impl {
		for i, log := range base {
			base[i] = -log
		}
		ratio, err = stats.PairedRatioOf(base)
		return ratio, false, err
	}
	logs, err := n.logs()
	if err != nil || own != others {
		return stats.Ratio{}, false, errNotPaired
	}
	ratio, err = stats.RelativeRatioOf(base, logs)
	return ratio, true, err
}

// ownFloor is the noise floor of a reference that took turns with itself, -1 if it did not.
func (n number) ownFloor() (floor float64, warnings []string) {
	aa, err := n.paired()
	if err != nil {
		return -1, nil
	}
	return floorOfRatio(n.run.Settings.Rule, aa)
}

// aaFloor is the noise floor of the reference and the cell that measures it again: of their
// turns, or of their samples where they took none.
func (n number) aaFloor(again number) (floor float64, warnings []string) {
	if aa, err := again.paired(); err == nil {
		return floorOfRatio(n.run.Settings.Rule, aa)
	}
	return floorOf(n.run.Settings.Rule, n.sample(), again.sample())
}

// floorOf is the noise floor of two samples of the same code, -1 without samples.
func floorOf(rule stats.Rule, base, again sample) (floor float64, warnings []string) {
	aa, err := ratioOf(base, again)
	if err != nil {
		return -1, nil
	}
	return floorOfRatio(rule, aa)
}

// repeatedFloor is the noise floor of a run in the row of a cell: how far what was measured
// twice in it, by turns with itself or as a second copy, lies apart.
func (n number) repeatedFloor() (floor float64, warnings []string) {
	group := groupOf(n.run, n.cell)
	reference := n.of(n.run.ReferenceOf(group))
	floor, warnings = reference.ownFloor()
	for _, again := range group {
		if again.Role == record.AARole {
			aa, more := reference.aaFloor(n.of(again))
			floor, warnings = max(floor, aa), append(warnings, more...)
		}
	}
	return floor, warnings
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

// twiceFloor is the noise floor of a ratio that contains two ratios with the same floor.
func twiceFloor(floor float64) float64 {
	if floor < 0 {
		return floor
	}
	return min(stats.FromZero, (1+floor)*(1+floor)-1)
}

// controlOf is the cell whose code was measured against itself: the one that has an A/A copy,
// or that took turns with itself. It is the reference of the measurement, and n's cell unless
// another was chosen since.
func (n number) controlOf(cells []record.Cell) record.Cell {
	partner := ""
	for _, c := range cells {
		if c.Role == record.AARole {
			partner = c.Impl
		}
	}
	for i := 0; i < len(cells) && partner == ""; i++ {
		partner = n.of(cells[i]).partner()
	}
	for _, c := range cells {
		if c.Role == "" && c.Impl == partner {
			return c
		}
	}
	return n.cell
}
