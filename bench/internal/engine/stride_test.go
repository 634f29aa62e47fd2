package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
)

func TestStrideFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operation, timing float64
		want              int
	}{
		{1000, 100, 1}, {999, 100, 2}, {500, 100, 2}, {50, 100, 32}, {5, 100, longestStride},
		{0, 100, longestStride},
		{0, 0, 1}, {50, 0, 1}, // a clock that costs nothing, as in a bubble
		{1e9, 100, 1},
	} {
		if got := strideFor(c.operation, c.timing); got != c.want {
			t.Errorf("an operation of %g ns, timing of %g ns: one in %d, want %d", c.operation, c.timing,
				got, c.want)
		}
	}
}

// Operations of 100 ns, whose timing costs as much, are timed one in 16; those of 10 us
// each. All operations count, by all workers of the group.
func TestClosedLoopTimesOneInSeveral(t *testing.T) {
	for _, c := range []struct {
		takes  time.Duration
		warmup time.Duration
		want   int
	}{
		{100 * time.Nanosecond, time.Millisecond, 16},
		{100 * time.Nanosecond, 0, 16}, // it learns from the first batches then
		{10 * time.Microsecond, time.Millisecond, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			const workers, duration = 2, 10 * time.Millisecond
			var calls [workers]int // in the measured time
			var decided atomic.Int64
			begin := time.Now()
			from := begin.Add(c.warmup)
			end := from.Add(duration)
			crew := make([]*Worker, workers)
			for who := range crew {
				wk := NewWorker(Actor{Loop: func(n int) int {
					for range n {
						time.Sleep(c.takes)
						if now := time.Now(); now.After(from) && now.Before(end) {
							calls[who]++
						}
					}
					return n
				}}, load.Group{}, time.Second, false)
				wk.stride = &stride{timing: 100, group: &decided}
				crew[who] = wk
			}
			done := make(chan struct{})
			for who, wk := range crew {
				go func() { wk.Run(t.Context(), who, workers, begin, from, end); done <- struct{}{} }()
			}
			for range crew {
				<-done
			}
			if got := crew[0].stride.decided(); got != c.want {
				t.Fatalf("%s, warm-up %s: one in %d is timed, want %d", c.takes, c.warmup, got, c.want)
			}
			for who, wk := range crew {
				// The batch at either end counts as a whole or not at all.
				if off := int(wk.done) - calls[who]; off > longestStride || off < -longestStride {
					t.Errorf("%s: %d counted as done, %d were", c.takes, wk.done, calls[who])
				}
				if more := wk.service.Count() - wk.done/int64(c.want); more < -1 || more > fewestStrideSamples {
					t.Errorf("%s: %d of %d timed, want one in %d", c.takes, wk.service.Count(), wk.done, c.want)
				}
				if got := wk.service.Max(); got > c.takes+c.takes/500 { // the histogram rounds
					t.Errorf("the longest is %s, want %s: what is not timed must not be in what is", got, c.takes)
				}
			}
		})
	}
}

// The value is in the series, and a bubble's clock is free.
func TestTimedOneInIsRecorded(t *testing.T) {
	s := contended(t, func(int) time.Duration { return time.Microsecond }, load.Group{})
	if got := s.Values[metrics.TimedOneIn]; got != 1 {
		t.Errorf("one in %g is timed, want each", got)
	}
	if s := contended(t, func(int) time.Duration {
		return time.Millisecond
	}, load.Group{Rate: 10}); s.Values[metrics.TimedOneIn] != 0 {
		t.Error("an open loop samples nothing")
	}
	if metrics.Of(metrics.TimedOneIn).Better != metrics.Neither {
		t.Error("how many are timed is no result")
	}
}
