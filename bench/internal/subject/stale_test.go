package subject

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// inBubble runs groups against an implementation for a second of a bubble's time and
// returns the series by group.
func inBubble(t *testing.T, c contract.Component, impl string, spoil func(engine.Subject),
	groups ...load.Group) map[string]record.Series {
	t.Helper()
	return inBubbleFor(t, time.Second, c, impl, spoil, groups...)
}

func inBubbleFor(t *testing.T, duration time.Duration, c contract.Component, impl string,
	spoil func(engine.Subject), groups ...load.Group) map[string]record.Series {
	t.Helper()
	e, err := catalog.Lookup(c, impl)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]record.Series{}
	synctest.Test(t, func(t *testing.T) {
		w := load.Workload{Name: "w", Component: c, Objects: synthetic.ObjectSpec{Count: 1024},
			Groups: groups, Duration: duration, Warmup: 100 * time.Millisecond}.WithDefaults()
		s, err := New(e, synthetic.Generate(w.Objects, 1), w)
		if err != nil {
			t.Fatal(err)
		}
		s.Fill()
		if spoil != nil {
			spoil(s)
		}
		series, err := engine.Contend(t.Context(), s, w, nil, map[string]float64{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range series {
			out[s.Group] = s
		}
	})
	return out
}

func staleMax(s record.Series) time.Duration {
	return time.Duration(s.Values[metrics.Max(metrics.Stale)])
}

// 100 items a second and a worker that handles 50: the k-th waits for k times 10 ms. At the
// end half of them are unseen, the oldest for 500 ms.
func TestStalenessOfABacklog(t *testing.T) {
	s := inBubble(t, contract.ComponentQueue, "workqueue", nil,
		load.Group{Name: "adder", Op: load.OpAdd, Goroutines: 1, Rate: 100},
		load.Group{Name: "worker", Op: load.OpGetDone, Goroutines: 1,
			Work: 20 * time.Millisecond})["worker"]
	if n := s.Values[metrics.Number(metrics.Stale)]; n != 100 {
		t.Errorf("%g events, want 100: none may be left out", n)
	}
	if n := s.Values[metrics.Unseen]; n < 49 || n > 56 {
		t.Errorf("%g unseen, want about half of 100", n)
	}
	if got := staleMax(s); got < 490*time.Millisecond || got > 600*time.Millisecond {
		t.Errorf("the stalest is %s, want about 500 ms", got)
	}
	if _, ok := s.Values[metrics.Early]; ok {
		t.Error("nothing has a ready time here, so nothing can be early")
	}
}

// An item that is added again before anyone has seen it counts once, from the first time.
func TestStalenessCountsFromTheEarliestUnseen(t *testing.T) {
	s := inBubble(t, contract.ComponentQueue, "clientgo", nil,
		load.Group{Name: "adder", Op: load.OpAdd, Goroutines: 1, Rate: 1000, Keys: 1},
		load.Group{Name: "worker", Op: load.OpGetDone, Goroutines: 1,
			Work: 50 * time.Millisecond})["worker"]
	if n := s.Values[metrics.Number(metrics.Stale)]; n < 18 || n > 22 {
		t.Errorf("%g events, want about 20: one for each time that the worker took the item", n)
	}
	// It is added again a millisecond after it was taken, and taken again 50 ms after that.
	if got := time.Duration(
		s.Values[metrics.Percentile(metrics.Stale, 50)]); got < 48*time.Millisecond ||
		got > 51*time.Millisecond {
		t.Errorf("the median is %s, want about 49 ms", got)
	}
}

// An idle consumer of a FIFO sees everything at once.
func TestStalenessOfAFIFO(t *testing.T) {
	for _, impl := range []string{"coalescing", "clientgo-deltafifo", "clientgo-realfifo"} {
		s := inBubble(t, contract.ComponentFIFO, impl, nil,
			load.Group{Name: "producer", Op: load.OpAdd, Goroutines: 2, Rate: 500},
			load.Group{Name: "consumer", Op: load.OpPop, Goroutines: 1, Batch: 1})["consumer"]
		if n := s.Values[metrics.Number(metrics.Stale)]; n < 498 || n > 500 {
			t.Errorf("%s: %g events, want 500", impl, n)
		}
		if got := staleMax(s); got > time.Microsecond {
			t.Errorf("%s: the stalest is %s in a bubble, where work takes no time", impl, got)
		}
	}
}

// earlyHeap returns items before they are ready.
type earlyHeap struct{ contract.DelayHeap[string] }

func (h earlyHeap) PopReady(now time.Time) (string, bool) {
	return h.DelayHeap.PopReady(now.Add(10 * time.Millisecond))
}

func TestLatenessAndEarliness(t *testing.T) {
	delay := []load.Group{
		{Name: "adders", Op: load.OpAdd, Goroutines: 2, Rate: 1000, Ahead: 50 * time.Millisecond},
		{Name: "takers", Op: load.OpPop, Goroutines: 1},
	}
	queue := []load.Group{
		{Name: "adders", Op: load.OpAddAfter, Goroutines: 2, Rate: 500, Ahead: 50 * time.Millisecond},
		{Name: "takers", Op: load.OpGetDone, Goroutines: 1},
	}
	for _, c := range []struct {
		name      string
		component contract.Component
		impl      string
		groups    []load.Group
		spoil     func(engine.Subject)
		early     bool
	}{
		{"a heap", contract.ComponentDelay, "btree", delay, nil, false},
		{"a heap that is early", contract.ComponentDelay, "btree", delay, func(s engine.Subject) {
			d := s.(*delaySubject)
			d.heap = earlyHeap{d.heap}
		}, true},
		{"client-go's queue", contract.ComponentQueue, "clientgo", queue, nil, false},
		{"this project's queue", contract.ComponentQueue, "workqueue", queue, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := inBubble(t, c.component, c.impl, c.spoil, c.groups...)["takers"]
			early, known := s.Values[metrics.Early]
			if !known || (early > 0) != c.early {
				t.Errorf("%g early (known: %t), want some: %t", early, known, c.early)
			}
			if n := s.Values[metrics.Number(metrics.Stale)]; !c.early && n < 400 {
				t.Errorf("%g items, want some hundred", n)
			}
			if got := staleMax(s); got > longestNap+10*time.Microsecond {
				t.Errorf("the latest is %s late, want at most a nap of %s", got, longestNap)
			}
		})
	}
}

// Staleness has a usual p99 in a short run, but not of what a closed loop adds: that adds less
// while the queue is slow.
func TestUsualStalenessIsOfOpenLoops(t *testing.T) {
	for name, adder := range map[string]load.Group{
		"open": {Rate: 20_000}, "closed": {Think: 50 * time.Microsecond},
	} {
		adder.Name, adder.Op, adder.Goroutines = "adder", load.OpAdd, 1
		s := inBubbleFor(t, 200*time.Millisecond, contract.ComponentQueue, "workqueue", nil,
			adder, load.Group{Name: "worker", Op: load.OpGetDone, Goroutines: 1})["worker"]
		if n := s.Values[metrics.Number(metrics.Stale)]; n < 3_900 || n > 4_100 {
			t.Errorf("%s: %g items, want about 4,000", name, n)
		}
		if _, usual := s.Values[metrics.Usual(metrics.Stale)]; usual != (name == "open") {
			t.Errorf("%s: a usual p99: %t", name, usual)
		}
	}
}

// An operation that takes items out without looking at stamps leaves no staleness.
func TestNoStalenessWhereItIsNotKnown(t *testing.T) {
	s := inBubble(t, contract.ComponentQueue, "clientgo", nil,
		load.Group{Name: "adder", Op: load.OpAdd, Goroutines: 1, Rate: 100},
		load.Group{Name: "both", Op: load.OpAddGetDone, Goroutines: 1, Rate: 100},
		load.Group{Name: "worker", Op: load.OpGetDone, Goroutines: 1})["worker"]
	if _, ok := s.Values[metrics.Number(metrics.Stale)]; ok {
		t.Error("staleness is told though another operation takes items out unseen")
	}
}
