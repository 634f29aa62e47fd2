package report

import (
	"encoding/json"
	"io"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// bencherMetric is a number in the Bencher Metric Format
// (https://bencher.dev/docs/reference/bencher-metric-format, schema https://bencher.dev/bmf.json).
type bencherMetric struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// mostBencherName is the length to which Bencher allows the name of a benchmark, and
// mostBencherMeasure that of a measure, in characters.
const (
	mostBencherName    = 1024
	mostBencherMeasure = 64
)

// bencherMeasures are the measures that every project of Bencher has, by the metrics with
// their unit: nanoseconds, and operations a second.
var bencherMeasures = map[string]string{metrics.NsPerOp: "latency", metrics.Achieved: "throughput"}

// WriteBencher writes a run in the Bencher Metric Format: a benchmark for each series of a cell,
// named as in bench.txt, with a measure for each metric: the median over the forks, and its
// interval as lower and upper value. `bencher run --adapter json --file` takes it. The measures
// latency (ns) and throughput (ops/s) are Bencher's own; the others have this project's names,
// and Bencher makes them.
func WriteBencher(w io.Writer, given *record.Run) error {
	r := clean(given)
	out := map[string]map[string]bencherMetric{}
	for _, n := range everyNumberOf(r) {
		name := shortened(n.benchmark, mostBencherName)
		measure, own := bencherMeasures[n.metric]
		if !own {
			measure = shortened(n.metric, mostBencherMeasure)
		}
		m := bencherMetric{Value: n.estimate.Median}
		if n.estimate.N > 1 {
			m.Lower, m.Upper = &n.estimate.Lo, &n.estimate.Hi
		}
		if out[name] == nil {
			out[name] = map[string]bencherMetric{}
		}
		out[name][measure] = m
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(out)
}

func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most])
	}
	return text
}

// everyNumberOf lists every metric of every series of every cell, without the reference's
// second copy, in measuring order.
func everyNumberOf(r *record.Run) (out []machineNumber) {
	for _, c := range r.Cells {
		if c.Role != "" {
			continue
		}
		cells := []record.Cell{c}
		for _, name := range compare.SeriesOf(r, cells) {
			series, ok := seriesNamed(r, c, name)
			if !ok {
				continue
			}
			for _, metric := range compare.MetricsOf(r, cells, name) {
				out = append(out, machineNumber{
					cell: c, series: name, metric: metric, benchmark: oneWord(c.BenchmarkName(series)[len("Benchmark"):]),
					estimate: compare.EstimateOf(r, c, name, metric),
				})
			}
		}
	}
	return out
}
