package staleness

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// An event is visible when the store has its version or a later one, from whichever change.
func TestVisibility(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		v := &Visibility{}
		seen := v.Consumer("writer")
		v.Shows("10")
		write := func(version uint64) { v.Wrote(version, Moment{Since: v.At(time.Now())}, seen) }
		write(11)
		time.Sleep(ms)
		write(12)
		write(13)
		time.Sleep(ms)
		v.Shows("13") // as after a list: 11 has waited 2 ms, 12 and 13 one
		early := Moment{Since: v.At(time.Now())}
		v.Shows("14")
		time.Sleep(ms)
		v.Wrote(14, early, seen) // the reflector was faster than the writer's return
		v.Shows("12")            // visible versions stay visible
		write(15)
		time.Sleep(5 * ms)
		v.Leave(time.Now())
		var s record.Series
		s.Values, s.Histograms = map[string]float64{}, map[string]string{}
		seen.Summarise(&s)
		for metric, want := range map[string]float64{
			metrics.Number(metrics.Stale): 5, metrics.Unseen: 1,
			metrics.Percentile(metrics.Stale, 50): float64(ms), metrics.Max(metrics.Stale): float64(5 * ms),
		} {
			if got := s.Values[metric]; got < want || got > want*1.001 {
				t.Errorf("%s is %g, want %g", metric, got, want)
			}
		}
	})
}

// The usual p99 of staleness counts from the first Begin, whichever goroutine calls it.
func TestSlicesBeginWithTheMeasuredTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const measured = 200 * time.Millisecond
		v := &Visibility{}
		seen := v.Consumer("writer")
		from := time.Now().Add(50 * time.Millisecond)
		seen.Begin(from, measured)
		seen.Begin(from.Add(measured/2), 10*measured)
		saw := func(after, stale time.Duration) {
			since := v.At(from.Add(after))
			seen.Saw(Moment{Since: since}, since+int64(stale))
		}
		saw(-time.Millisecond, time.Hour) // warm-up
		for after := time.Duration(0); after < measured; after += 100 * time.Microsecond {
			stale := time.Millisecond
			if after >= measured/2 && after < measured/2+measured/20 {
				stale *= 10
			}
			saw(after, stale)
		}
		s := record.Series{Values: map[string]float64{}, Histograms: map[string]string{}}
		seen.Summarise(&s)
		for metric, want := range map[string]float64{
			metrics.Number(metrics.Stale): 2000, metrics.Usual(metrics.Stale): float64(time.Millisecond),
			metrics.Percentile(metrics.Stale, 99): float64(10 * time.Millisecond),
		} {
			if got := s.Values[metric]; got < want*0.99 || got > want*1.01 {
				t.Errorf("%s is %g, want %g", metric, got, want)
			}
		}
	})
}

// A write that was not visible by the end counts once, also if the reflector shows it later.
func TestALateWriteCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &Visibility{}
		seen := v.Consumer("writer")
		time.Sleep(time.Millisecond)
		v.Wrote(11, Moment{Since: v.At(time.Now())}, seen)
		time.Sleep(time.Millisecond)
		v.Leave(time.Now())
		v.Shows("11")
		s := record.Series{Values: map[string]float64{}, Histograms: map[string]string{}}
		seen.Summarise(&s)
		for metric, want := range map[string]float64{metrics.Number(metrics.Stale): 1,
			metrics.Unseen: 1} {
			if got := s.Values[metric]; got != want {
				t.Errorf("%s is %g, want %g", metric, got, want)
			}
		}
	})
}
