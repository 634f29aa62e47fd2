package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// The ratios of what took turns: implementations with the reference in one process, and
// head's builds with base's, process with process.

var errNotPaired = errors.New("the implementations took no turns")

// duetsOf returns the duets of a cell's series, one for each fork; none unless all forks
// that have the series have one.
func duetsOf(r *record.Run, c record.Cell, series string) (out []*record.Duet) {
	for _, m := range measuredIn(r.Measured(c), series) {
		if m.Duet == nil {
			return nil
		}
		out = append(out, m.Duet)
	}
	return out
}

// disagreement is a warning if the machines of a run disagree on a cell's ratio to the
// reference; none if they agree, or there is one machine. Every row makes this test, so it uses a
// tenth of alpha.
func disagreement(r *record.Run, c record.Cell, series, metric string) []string {
	of := map[string][]float64{}
	var blocks [][]float64
	for _, m := range measuredIn(r.Measured(c), series) {
		if m.Duet != nil {
			of[m.fork.Machine] = append(of[m.fork.Machine], m.Duet.Ratios[metric].Log)
		}
	}
	for _, machine := range slices.Sorted(maps.Keys(of)) {
		blocks = append(blocks, of[machine])
	}
	if stats.SameInBlocks(blocks) > r.Settings.Rule.Alpha/10 {
		return nil
	}
	return []string{fmt.Sprintf(
		"the %d machines disagree beyond chance: the ratio is a mean of these machines", len(blocks))}
}

// logRatios are the logarithms of a cell's value to the reference's, one for each fork. It is
// errNotPaired where there are none, or the metric was not measured in turns.
func logRatios(r *record.Run, c record.Cell, series, metric string) ([]float64, error) {
	return logsOf(r, c, series, func(s record.Series) (ratio record.LogRatio, ok bool) {
		if s.Duet != nil {
			ratio, ok = s.Duet.Ratios[metric]
		}
		return ratio, ok
	})
}

// logsOf are the logarithms of the ratios that the forks of a cell have of a series.
func logsOf(r *record.Run, c record.Cell, series string,
	of func(record.Series) (record.LogRatio, bool)) (logs []float64, err error) {
	for _, m := range measuredIn(r.Measured(c), series) {
		ratio, ok := of(m.Series)
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

// pairedRatio is the ratio of a cell to the reference.
func pairedRatio(r *record.Run, c record.Cell, series, metric string) (stats.Ratio, error) {
	logs, err := logRatios(r, c, series, metric)
	if err != nil {
		return stats.Ratio{}, err
	}
	return stats.PairedRatioOf(logs)
}

// anyPartner is the implementation with which any operation of a cell took turns, "" if none did.
func anyPartner(r *record.Run, c record.Cell) string {
	for _, series := range SeriesOf(r, []record.Cell{c}) {
		if partner := partnerOf(r, c, series); partner != "" {
			return partner
		}
	}
	return ""
}

// tookTurns reports whether any operation of a run took turns with that of another run.
func tookTurns(head *record.Run) bool {
	return slices.ContainsFunc(head.Forks, func(f record.Fork) bool {
		return slices.ContainsFunc(f.Series, func(s record.Series) bool { return len(s.Base) > 0 })
	})
}

// turnsRatio is the ratio of a cell in head to the same cell in the base of its pair, which took
// turns with it. It is errNotPaired unless all forks that have the series did.
func turnsRatio(head *record.Run, c record.Cell, series, metric string) (stats.Ratio, error) {
	logs, err := logsOf(head, c, series, func(s record.Series) (ratio record.LogRatio, ok bool) {
		ratio, ok = s.Base[metric]
		return ratio, ok
	})
	if err != nil {
		return stats.Ratio{}, err
	}
	return stats.PairedRatioOf(logs)
}

// relativeRatio is the ratio of a cell in head to the same cell in base, by their ratios to
// constant, whose code is the same in both. It is errNotPaired unless both took turns with that.
func relativeRatio(base, head *record.Run, c, constant record.Cell, series,
	metric string) (stats.Ratio, error) {
	if partnerOf(base, c, series) != constant.Impl || partnerOf(head, c, series) != constant.Impl {
		return stats.Ratio{}, errNotPaired
	}
	b, err := logRatios(base, c, series, metric)
	if err != nil {
		return stats.Ratio{}, err
	}
	h, err := logRatios(head, c, series, metric)
	if err != nil {
		return stats.Ratio{}, err
	}
	return stats.RelativeRatioOf(b, h)
}
