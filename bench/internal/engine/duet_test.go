package engine

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// spinner is an operation that counts to n. It takes a time proportional to n.
func spinner(n int) Actor {
	sink := uint64(1)
	return Actor{Loop: func(times int) int {
		for range times {
			for range n {
				sink = sink*6364136223846793005 + 1442695040888963407
			}
		}
		runtime.KeepAlive(sink)
		return times
	}}
}

// sleeper is an operation that takes d, on the bubble's clock, and the longer the later: the
// machine becomes slower by drift for each second since its start.
func sleeper(start time.Time, d time.Duration, drift float64) Actor {
	return Actor{Loop: func(n int) int {
		for range n {
			time.Sleep(time.Duration(float64(d) * (1 + drift*time.Since(start).Seconds())))
		}
		return n
	}}
}

// The ratio is that of the work. A machine that becomes slower all the time does not change
// it, since the turns of a group mirror each other.
func TestDuetFindsTheRatio(t *testing.T) {
	for _, c := range []struct {
		a, b  time.Duration
		drift float64
	}{
		{time.Microsecond, time.Microsecond, 0},
		{time.Microsecond, 1100 * time.Nanosecond, 0},
		{50 * time.Microsecond, 40 * time.Microsecond, 0},
		{50 * time.Microsecond, 40 * time.Microsecond, 5},
		{50 * time.Microsecond, 50 * time.Microsecond, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, start := newDuet(1), time.Now()
			for range passes {
				if err := d.pass([2][]Actor{{sleeper(start, c.a, c.drift)}, {sleeper(start, c.b, c.drift)}}, 100*time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
			want := float64(c.b) / float64(c.a)
			if got := math.Exp(stats.MidMean(d.logs)); math.Abs(got/want-1) > 0.002 {
				t.Errorf("%s to %s, drift %g: %.4f, want %.4f (%d groups)", c.b, c.a, c.drift, got, want, len(d.logs))
			}
			for i := range d.sides {
				if n := len(d.sides[i].series().Passes); n != passes {
					t.Errorf("side %d has %d passes, want %d", i, n, passes)
				}
			}
		})
	}
}

// Each side's allocations are its own, and operations that fill the heap take turns by whole
// cycles, whichever of the two they are.
func TestDuetKeepsTheSidesApart(t *testing.T) {
	const heap = 64 << 20
	ballast, sink := make([]byte, heap), []byte(nil)
	allocating := func(bytes int) Actor {
		return Actor{Loop: func(n int) int {
			for range n {
				sink = make([]byte, bytes)
			}
			return n
		}}
	}
	d := newDuet(1)
	if err := d.pass([2][]Actor{{spinner(100)}, {allocating(heap / 100)}}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if d.sides[0].perCycle != 0 || d.sides[1].perCycle == 0 {
		t.Errorf("whole cycles: %d and %d operations each, want none of the first and some of the second", d.sides[0].perCycle, d.sides[1].perCycle)
	}
	if got := d.sides[0].series().Values[metrics.BytesPerOp]; got > heap/10_000 {
		t.Errorf("the side that allocates nothing is charged with %g B/op", got)
	}
	if got := d.sides[1].series().Values[metrics.BytesPerOp]; math.Abs(got/(heap/100)-1) > 0.1 {
		t.Errorf("%g B/op, want %d", got, heap/100)
	}
	runtime.KeepAlive(ballast)
	runtime.KeepAlive(sink)
}

// A turn never has more operations than keep the two apart on the walk.
func TestDuetTurnsAreBounded(t *testing.T) {
	d := newDuet(1)
	cheap := Actor{Loop: func(n int) int { return n }}
	if err := d.pass([2][]Actor{{cheap}, {cheap}}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for i := range d.sides {
		if n := d.sides[i].perRound; n > mostPerTurn {
			t.Errorf("side %d does %d operations in a turn, want at most %d", i, n, mostPerTurn)
		}
	}
}

func TestDuetRefusesAShortLoop(t *testing.T) {
	whole, short := Actor{Loop: func(n int) int { return n }}, Actor{Loop: func(n int) int { return n / 2 }}
	for _, actors := range [][2][]Actor{{{whole}, {short}}, {{short}, {whole}}} {
		if err := newDuet(1).pass(actors, time.Millisecond); !errors.Is(err, errStopped) {
			t.Errorf("got %v, want errStopped", err)
		}
	}
}
