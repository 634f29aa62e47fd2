package staleness

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Events of one key count each with its own wait: a stamp is not taken by an older event.
func TestEventsOfOneKeyCountEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s Events[string]
		lines, due := s.Producer([]int{0}, func(int) string { return "a" })
		seen := s.Consumer("consumer")
		seen.Begin(time.Now(), stats.LongRun)
		offer := func(stamped bool) {
			if stamped {
				due.Set(time.Now(), 0)
			}
			lines[0].Offer(due.Moment)
			due.Clear()
		}
		for range 3 {
			offer(false)
		}
		offer(true)
		time.Sleep(time.Second)
		offer(true)
		s.Saw("a", 3, seen) // those that are not stamped
		time.Sleep(time.Second)
		s.Saw("a", 2, seen) // after two seconds, and after one
		s.Saw("a", 1, seen) // there is none
		s.Saw("b", 1, seen)
		for range 40 { // a line is used again
			offer(true)
			time.Sleep(10 * time.Second)
			s.Saw("a", 1, seen)
		}
		offer(true)
		time.Sleep(100 * time.Second)
		s.Leave(time.Now())
		series := record.Series{Values: map[string]float64{}, Histograms: map[string]string{}}
		seen.Summarise(&series)
		for metric, want := range map[string]float64{
			metrics.Number(metrics.Stale): 43, metrics.Unseen: 1,
			metrics.Percentile(metrics.Stale, 50): 10e9, metrics.Max(metrics.Stale): 100e9,
		} {
			if got := series.Values[metric]; math.Abs(got/want-1) > 0.001 {
				t.Errorf("%s = %g, want %g", metric, got, want)
			}
		}
		if n := len(lines[0].due); n > 4 {
			t.Errorf("a line that is empty has room for %d events", n)
		}
	})
}
