package subject

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
)

// Items that wait before the run begins are followed too, from their ready time: only those
// that come due within the measured time.
func TestLatenessOfWhatWaited(t *testing.T) {
	for _, impl := range []string{"clientgo", "workqueue", "priority"} {
		e, err := catalog.Lookup(contract.ComponentQueue, impl)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			w := load.Workload{
				Name: "w", Component: contract.ComponentQueue, Objects: synthetic.ObjectSpec{Count: 4000},
				Waiting: 4000, Ahead: 4 * time.Second,
				Groups:   []load.Group{{Name: "workers", Op: load.OpGetDone, Goroutines: 2}},
				Duration: time.Second, Warmup: 2500 * time.Millisecond,
			}.WithDefaults()
			s, err := New(e, synthetic.Generate(w.Objects, 1), w)
			if err != nil {
				t.Fatal(err)
			}
			s.Fill()
			series, err := engine.Contend(t.Context(), s, w, nil, map[string]float64{})
			if err != nil {
				t.Fatal(err)
			}
			values := series[0].Values
			if n := values[metrics.Number(metrics.Stale)]; n < 1800 || n > 2200 {
				t.Errorf("%s: %g items were due within the second, want about 2,000", impl, n)
			}
			if early, known := values[metrics.Early]; !known || early > 0 {
				t.Errorf("%s: %g items came early (known: %t)", impl, early, known)
			}
			if got := time.Duration(values[metrics.Max(metrics.Stale)]); got > 10*time.Microsecond {
				t.Errorf("%s: the latest came %s late in a bubble, where work takes no time", impl, got)
			}
		})
	}
}

// recording is a queue that notes the delays that it is given.
type recording struct {
	contract.RateLimitingQueue[string]
	limiter contract.RateLimiter[string]
	delays  map[string][]time.Duration
}

func (q *recording) AddAfter(item string, d time.Duration) {
	q.delays[item] = append(q.delays[item], d)
	q.RateLimitingQueue.AddAfter(item, d)
}

func (q *recording) AddRateLimited(item string) { q.AddAfter(item, q.limiter.When(item)) }

// Delayed adds that are measured alone each find their item waiting, and move it to a sooner time,
// whichever actor did so before. None comes due meanwhile.
func TestDelayedAddsMoveTheirItems(t *testing.T) {
	t.Parallel()
	inner, err := catalog.Lookup(contract.ComponentQueue, "workqueue")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		waiting int
		limited bool // the constructor takes a limiter and no configuration
	}{{0, false}, {64, false}, {64, true}} {
		waiting := c.waiting
		q := &recording{delays: map[string][]time.Duration{}}
		w := load.Workload{
			Name: "w", Component: contract.ComponentQueue,
			Objects: synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 64},
			Waiting: waiting, Ops: []load.Op{load.OpAddAfter, load.OpAddRateLimited},
		}
		if waiting > 0 {
			w.Ahead = 10 * time.Minute
		}
		configured := func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
			q.limiter = cfg.Limiter
			q.RateLimitingQueue = inner.NewConfiguredQueue(cfg).(contract.RateLimitingQueue[string])
			return q
		}
		entry := catalog.Entry{NewConfiguredQueue: configured}
		if c.limited {
			entry = catalog.Entry{
				NewLimitedQueue: func(l contract.RateLimiter[string]) contract.DelayingQueue[string] {
					return configured(contract.QueueConfig{Clock: clock.RealClock{}, Limiter: l})
				}}
		}
		s := newQueueSubject(entry, synthetic.Generate(w.Objects, 1), w)
		s.Fill()
		for _, op := range []load.Op{load.OpAddAfter, load.OpAddRateLimited, load.OpAddAfter} {
			for _, goroutines := range []int{1, 2} {
				for who := range goroutines {
					a, err := s.Actor(op, load.Group{Goroutines: goroutines}, who)
					if err != nil {
						t.Fatal(err)
					}
					a.Loop(150)
				}
			}
		}
		adds := 0
		for item, delays := range q.delays {
			adds += len(delays)
			for i := 1; i < len(delays); i++ {
				if delays[i] >= delays[i-1] {
					t.Fatalf("%+v: %s is added with delays %v: the last is not sooner", c, item, delays[:i+1])
				}
			}
		}
		if want := 64 + 9*150; adds != want {
			t.Errorf("%+v: %d adds, want %d: each item once, and 150 of each of nine actors", c, adds, want)
		}
		if waiting == 0 && s.queue.Len() > 0 {
			t.Errorf("%d items have come due", s.queue.Len())
		}
		s.Stop()
	}
}
