package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure"
)

// IsKey reports whether a metric is a key metric: short tables show it and it gets a
// verdict. all are the metrics of the series. A metric is no key metric beside one that
// says the same better: a group's rate beside its share of the offered operations, its
// service time beside its delay.
func IsKey(metric string, all []string) bool {
	has := func(m string) bool { return slices.Contains(all, m) }
	switch metric {
	case measure.NsPerOp, measure.AchievedPct, measure.HeapPerObject, measure.PeakHeap, p99("delay"), p99("stale"):
		return true
	case measure.Achieved:
		return !has(measure.AchievedPct)
	case p99("service"):
		return !has(p99("delay"))
	}
	return false
}

func p99(distribution string) string { return measure.PercentileMetric(distribution, 99) }

// ByRank compares metrics by their order in tables.
func ByRank(a, b string) int {
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

// metricOrder is the order of metrics in tables; all others follow by name.
var metricOrder = slices.Concat(
	[]string{measure.NsPerOp, measure.BytesPerOp, measure.AllocsPerOp, measure.PeakHeap, "synced-ns", measure.Offered, measure.Achieved, measure.AchievedPct, "unfinished", "unseen", "merged", "early"},
	distribution("delay"), distribution("stale"), distribution("service"), distribution("late"),
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
