package engine

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stub is a subject whose operation takes a given time on the bubble's clock.
type stub struct {
	mu    sync.Mutex
	calls int
	takes func(call int) time.Duration
}

func (s *stub) Stop()     {}
func (s *stub) Fill()     {}
func (s *stub) Held() int { return 0 }
func (s *stub) Actor(load.Op, load.Group, int) (Actor, error) {
	return Actor{Loop: func(n int) int {
		for range n {
			s.mu.Lock()
			call := s.calls
			s.calls++
			s.mu.Unlock()
			time.Sleep(s.takes(call))
		}
		return n
	}}, nil
}

func contended(t *testing.T, takes func(int) time.Duration, g load.Group,
	warmup ...time.Duration) record.Series {
	t.Helper()
	var out record.Series
	synctest.Test(t, func(t *testing.T) {
		g.Name, g.Op, g.Goroutines = "writer", load.OpUpdate, 1
		w := load.Workload{Component: contract.ComponentStore, Groups: []load.Group{g},
			Duration: time.Second}
		for _, d := range warmup {
			w.Warmup = d
		}
		series, err := Contend(t.Context(), &stub{takes: takes}, w, nil, map[string]float64{})
		if err != nil {
			t.Fatal(err)
		}
		out = series[0]
	})
	return out
}

// One call of a thousand stalls for 200 ms. At 1,000 operations a second some 200
// operations become due meanwhile. The k-th waits 200-k ms, so 1 in 50 of all has a delay
// of 180 ms or more. A closed loop sees only one slow call; an open loop must show the
// delays.
func TestOpenLoopChargesAStallToAllThatItHeldUp(t *testing.T) {
	stall := func(call int) time.Duration {
		if call == 100 {
			return 200 * time.Millisecond
		}
		return 0
	}
	open := contended(t, stall, load.Group{Rate: 1000})
	if n := open.Values["delay-n"]; n != 1000 {
		t.Errorf("%g operations, want 1000: none may be left out", n)
	}
	for p, want := range map[float64]time.Duration{50: 0, 90: 100 * time.Millisecond,
		99: 190 * time.Millisecond, 99.9: 199 * time.Millisecond} {
		got := time.Duration(open.Values[metrics.Percentile(metrics.Delay, p)])
		if got < want-2*time.Millisecond || got > want+2*time.Millisecond {
			t.Errorf("delay p%g is %s, want about %s", p, got, want)
		}
	}
	if got := time.Duration(open.Values[metrics.Percentile(metrics.Service, 99)]); got != 0 &&
		got > time.Millisecond {
		t.Errorf("service p99 is %s: all calls but one are instant", got)
	}
	closed := contended(t, func(call int) time.Duration {
		return stall(call) + time.Millisecond
	}, load.Group{})
	if got := time.Duration(
		closed.Values[metrics.Percentile(metrics.Service, 99)]); got > 2*time.Millisecond {
		t.Errorf("a closed loop shows the stall at p99 (%s): then this test shows nothing", got)
	}
}

// Operations that were due and never done count, with their delay at the end.
func TestWhatIsNotDoneCounts(t *testing.T) {
	s := contended(t, func(int) time.Duration { return 10 * time.Second }, load.Group{Rate: 100})
	if s.Values[metrics.Achieved] != 0 || s.Values[metrics.AchievedPct] != 0 {
		t.Errorf("achieved %g/s: nothing was done in time", s.Values[metrics.Achieved])
	}
	if s.Values[metrics.Unfinished] != 100 || s.Values["delay-n"] != 100 {
		t.Errorf("%g unfinished, %g delays; want 100 of each", s.Values[metrics.Unfinished],
			s.Values["delay-n"])
	}
	if got := time.Duration(
		s.Values[metrics.Percentile(metrics.Delay, 50)]); got < 480*time.Millisecond ||
		got > 520*time.Millisecond {
		t.Errorf("the median delay is %s, want about 500 ms", got)
	}
}

func TestOfferedAndAchieved(t *testing.T) {
	s := contended(t, func(int) time.Duration { return 20 * time.Millisecond }, load.Group{Rate: 100})
	if s.Values[metrics.Offered] != 100 || s.Values[metrics.Achieved] < 49 ||
		s.Values[metrics.Achieved] > 50 {
		t.Errorf("offered %g, achieved %g; want 100 and 50", s.Values[metrics.Offered],
			s.Values[metrics.Achieved])
	}
	if late := s.Values[metrics.Max(metrics.Late)]; late > float64(time.Microsecond) {
		t.Errorf("the generator was %s late in a bubble, where timers are exact", time.Duration(late))
	}
}

// Operations left over from the warm-up are no backlog of the measured time. Otherwise a
// starved writer would never seem to do anything.
func TestWarmUpLeavesNoDebt(t *testing.T) {
	s := contended(t, func(int) time.Duration {
		return 20 * time.Millisecond
	}, load.Group{Rate: 1000}, time.Second)
	if got := s.Values[metrics.Achieved]; got < 48 || got > 50 {
		t.Errorf("achieved %g/s, want 50: a call takes 20 ms", got)
	}
	if n := s.Values["delay-n"]; n != 1000 {
		t.Errorf("%g delays, want those of the 1000 operations due after warm-up", n)
	}
}

// The subject is not charged for a generator that overslept.
func TestLatenessIsKeptApart(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		start := time.Now()
		table := Timetable{}
		from, late := table.Await(start.Add(time.Millisecond))
		if late != 0 || !from.Equal(start.Add(time.Millisecond)) {
			t.Errorf("on time: from %s, late %s", from.Sub(start), late)
		}
		// As if the machine had slept until 10 ms: operations due before that count from 10
		// ms.
		table.woke = start.Add(10 * time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		if from, late = table.Await(start.Add(2 * time.Millisecond)); !from.Equal(
			start.Add(10*time.Millisecond)) || late != 8*time.Millisecond {
			t.Errorf("due before the generator woke: counts from %s, late %s; want 10ms and 8ms",
				from.Sub(start), late)
		}
		if from, late = table.Await(start.Add(10500 * time.Microsecond)); !from.Equal(
			start.Add(10500*time.Microsecond)) || late != 0 {
			t.Errorf("due after it woke: counts from %s, late %s; want 10.5ms and 0", from.Sub(start), late)
		}
	})
}

func TestWalks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 1, 2: 2, 3: 2, 100: 64, 5000: 4096, 100_000: LongestWalk} {
		w := NewWalk(n, 0, 3)
		seen := map[int]bool{}
		for range len(w.Order) {
			seen[w.Order[w.Slot()]] = true
		}
		if len(seen) != want || len(w.Order) != want {
			t.Errorf("a walk over %d positions has %d slots and visits %d, want %d: none twice in a lap", n,
				len(w.Order), len(seen), want)
		}
	}
	if w := NewWalk(100, 7, 0); slices.Max(w.Order) > 6 {
		t.Errorf("a walk over the first 7 positions goes to %d", slices.Max(w.Order))
	}
	a, errA := OwnWalk(100, 0, 0, 2)
	b, errB := OwnWalk(100, 0, 1, 2)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Order {
		if slices.Contains(b.Order, p) {
			t.Fatalf("two goroutines share position %d", p)
		}
	}
	if _, err := OwnWalk(3, 0, 0, 4); err == nil {
		t.Error("four goroutines were given objects of their own among three")
	}
	w := NewWalk(4, 0, 0)
	var passes []uint32
	for range 12 {
		passes = append(passes, w.Pass())
		w.Slot()
	}
	if !slices.Equal(passes, []uint32{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}) {
		t.Errorf("passes %v", passes)
	}
}

// A walk that begins anywhere changes its pass after a whole lap, and knows in which pass it
// was last at each slot.
func TestVisited(t *testing.T) {
	t.Parallel()
	for steps := range 20 {
		w := NewWalk(8, 0, 1)
		w.Skip(4)
		last := map[uint32]uint32{}
		var order []uint32
		for range steps {
			pass, slot := w.Pass(), w.Slot()
			last[slot] = pass
			order = append(order, slot)
		}
		if w.Steps() != uint32(steps) || w.Lap() != uint32(steps/8) {
			t.Errorf("%d steps and %d laps, want %d and %d", w.Steps(), w.Lap(), steps, steps/8)
		}
		seen := 0
		for slot, pass := range w.Visited {
			want, visited := last[slot]
			if !visited {
				want = 1
			}
			if pass != want || seen < len(order) && slot != order[seen] {
				t.Errorf("after %d steps: slot %d, pass %d; want pass %d in the order %v", steps, slot, pass,
					want, order)
			}
			seen++
		}
		if seen != 8 {
			t.Errorf("%d slots of 8", seen)
		}
	}
}

// Consumers stop when the time is up, even if items still wait.
func TestConsumersLeaveABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := load.Workload{Component: contract.ComponentFIFO, Duration: time.Second,
			Groups: []load.Group{{Name: "consumer", Op: load.OpPop, Goroutines: 1}}}
		begin := time.Now()
		if _, err := Contend(t.Context(), &stub{takes: func(int) time.Duration {
			return 10 * time.Millisecond
		}}, w, nil, map[string]float64{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("it took %s, want about 1s", took)
		}
	})
}
