package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// perfData is what Kubernetes' perf-dash reads: PerfData of clusterloader2
// (k8s.io/perf-tests/clusterloader2/pkg/measurement/util/perftype.go; the older one of
// k8s.io/kubernetes/test/e2e/perftype has no labels of the whole).
type perfData struct {
	Version   string            `json:"version"`
	DataItems []perfItem        `json:"dataItems"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type perfItem struct {
	Data   map[string]float64 `json:"data"`
	Unit   string             `json:"unit"`
	Labels map[string]string  `json:"labels,omitempty"`
}

// perfVersion is the version of the data; perf-dash leaves out files whose version is not that
// of the first. It changes when a number changes its meaning.
const perfVersion = "informerbench-v1"

// WritePerfDash writes a run as perf-dash's PerfData. An item is one metric of a series of a
// cell, or a distribution with its percentiles as Perc50 to Perc99.99. Its labels are those by
// which perf-dash's page chooses. Values are medians over the forks: times in ms and memory in
// MiB, as perf-dash's other items, but single operations in ns.
func WritePerfDash(w io.Writer, given *record.Run) error {
	r := clean(given)
	out := perfData{Version: perfVersion, DataItems: []perfItem{}, Labels: map[string]string{
		"run": r.Name, "preset": r.Preset, "commit": r.Environment.Revision, "cpu": r.Environment.CPU, "go": r.Environment.GoVersion,
	}}
	at := map[string]int{}
	for _, n := range everyNumberOf(r) {
		metric, bucket := perfBucket(n.metric)
		labels := map[string]string{"Component": string(n.cell.Component), "Workload": n.cell.Workload, "Implementation": n.cell.Impl, "Metric": metric, "Procs": fmt.Sprint(n.cell.Procs)}
		for _, p := range n.cell.Params {
			labels["Param-"+p.Key] = p.Value
		}
		if n.series != "" {
			labels["Series"] = n.series
		}
		key := n.cell.ID() + "\x00" + n.series + "\x00" + metric
		i, ok := at[key]
		value, unit := perfUnit(n.metric, n.estimate.Median)
		if !ok {
			i = len(out.DataItems)
			at[key] = i
			out.DataItems = append(out.DataItems, perfItem{Data: map[string]float64{}, Unit: unit, Labels: labels})
		}
		out.DataItems[i].Data[bucket] = value
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(out)
}

// perfBucket names the item and the bucket of a metric. The percentiles of a distribution are
// the buckets of one item.
func perfBucket(metric string) (item, bucket string) {
	for _, d := range []string{metrics.Delay, metrics.Stale, metrics.Service, metrics.Late} {
		for _, p := range metrics.Percentiles {
			if metric == metrics.Percentile(d, p) {
				return d, fmt.Sprintf("Perc%g", p)
			}
		}
		if metric == metrics.Max(d) {
			return d, "Max"
		}
	}
	return metric, "Value"
}

// perfUnit converts a value to a unit that perf-dash has. Single operations are too short for
// ms.
func perfUnit(metric string, v float64) (value float64, unit string) {
	switch metrics.Of(metric).Unit {
	case metrics.Nanoseconds:
		if strings.HasSuffix(metric, "/op") || metric == metrics.HarnessNs {
			return v, "ns"
		}
		return v / 1e6, "ms"
	case metrics.Bytes:
		if strings.Contains(metric, "/") {
			return v, "B"
		}
		return v / (1 << 20), "MiB"
	case metrics.Percent:
		return v, "%"
	case metrics.PerSecond:
		return v, "1/s"
	}
	return v, ""
}
