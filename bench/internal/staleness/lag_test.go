package staleness

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// The lag counts from when an event was due, also where its producer woke up later; staleness
// does not. An event that no consumer had counts in both.
func TestLagIsFromEndToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		var s Tracker[string]
		stamps, due := s.Producer([]int{0, 1}, func(i int) string { return []string{"a", "b"}[i] })
		seen := s.Consumer("consumer")
		seen.Begin(time.Now(), stats.LongRun)
		time.Sleep(100 * ms)
		due.Set(time.Now(), 30*ms)
		due.Stamp(stamps[0])
		due.Set(time.Now(), 0) // a later event of the same item: the earliest counts
		due.Stamp(stamps[0])
		time.Sleep(10 * ms)
		s.Saw("a", seen)
		due.Set(time.Now(), 5*ms)
		due.Stamp(stamps[1])
		time.Sleep(ms)
		s.Leave(time.Now())
		series := record.Series{Values: map[string]float64{}, Histograms: map[string]string{}}
		seen.Summarise(&series)
		for metric, want := range map[string]float64{
			metrics.Number(metrics.Stale): 2, metrics.Number(metrics.Lag): 2,
			metrics.Max(metrics.Stale): float64(10 * ms), metrics.Max(metrics.Lag): float64(40 * ms),
			metrics.Percentile(metrics.Stale, 50): float64(ms),
			metrics.Percentile(metrics.Lag, 50):   float64(6 * ms),
		} {
			if got := series.Values[metric]; got < want || got > want*1.001 {
				t.Errorf("%s is %g, want %g", metric, got, want)
			}
		}
	})
}
