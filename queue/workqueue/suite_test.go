package workqueue_test

import (
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/dropin/ctrlqueue"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/ratelimit"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// The clauses hold in virtual time, under a fake clock and in real time, with
// metrics and without.
func TestQueuesKeepTheClauses(t *testing.T) {
	t.Parallel()
	provider, err := ctrlqueue.MetricsProvider()
	if err != nil {
		t.Fatal(err)
	}
	for name, newQueue := range map[string]func(clock.WithTicker) contract.DelayingQueue[string]{
		"delaying": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return workqueue.NewDelaying(newHeap, workqueue.Config[string]{Clock: c})
		},
		"rate-limiting": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newRateLimiting(workqueue.Config[string]{Clock: c})
		},
		"with-metrics": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newRateLimiting(
				workqueue.Config[string]{Clock: c, Name: "test", MetricsProvider: provider})
		},
		"one-heap": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newRateLimiting(workqueue.Config[string]{Clock: c, Heaps: 1})
		},
		"many-heaps": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newRateLimiting(workqueue.Config[string]{Clock: c, Heaps: 13})
		},
		"many-at-once": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return workqueue.NewDelaying(newQuadHeap, workqueue.Config[string]{Clock: c})
		},
		"priority": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newPriority(workqueue.Config[string]{Clock: c})
		},
		"priority-fairest": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newPriority(workqueue.Config[string]{Clock: c, Turn: 4})
		},
		"priority-with-metrics": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newPriority(workqueue.Config[string]{Clock: c, Name: "test", MetricsProvider: provider})
		},
		"with-an-order": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return newRateLimiting(
				workqueue.Config[string]{Clock: c, Order: clientgo.DefaultQueue[string]()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, newQueue, suite.WithEffort(0.1))
			if err := queuetest.Check(newQueue, suite.WithEffort(0.1)); err != nil {
				t.Errorf("with a fake clock: %v", err)
			}
			if err := queuetest.Check(newQueue, queuetest.OwnClock(), suite.WithEffort(0.1)); err != nil {
				t.Errorf("in real time: %v", err)
			}
		})
	}
}

// rounding is a heap as a timing wheel sees time.
type rounding struct {
	contract.RemovingDelayHeap[string]
	granularity time.Duration
}

func (r rounding) Add(item string, readyAt time.Time) {
	if down := readyAt.Truncate(r.granularity); down.Before(readyAt) {
		readyAt = down.Add(r.granularity)
	}
	r.RemovingDelayHeap.Add(item, readyAt)
}

// A heap that is a little late may lose the order of times, and nothing else.
func TestQueueOverAnInexactHeap(t *testing.T) {
	t.Parallel()
	newQueue := func(c clock.WithTicker) contract.DelayingQueue[string] {
		return workqueue.NewDelaying(func() contract.DelayHeap[string] {
			return rounding{delay.NewQuadHeap[string](), time.Millisecond}
		}, workqueue.Config[string]{Clock: c})
	}
	queuetest.Run(t, newQueue, queuetest.Waive("QUEUE-25", "times are rounded to milliseconds"),
		suite.WithEffort(0.1))
	newPriority := func(c clock.WithTicker) contract.DelayingQueue[string] {
		return workqueue.NewPriority[string](ratelimit.DefaultController[string](),
			func() contract.DelayHeap[string] {
				return rounding{delay.NewQuadHeap[string](), time.Millisecond}
			}, workqueue.Config[string]{Clock: c})
	}
	queuetest.Run(t, newPriority, queuetest.Waive("QUEUE-25", "times are rounded to milliseconds"),
		suite.WithEffort(0.1))
}

// Without turns the highest priority always comes first, and the lowest may starve.
func TestStrictPriorities(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(c clock.WithTicker) contract.DelayingQueue[string] {
		return newPriority(workqueue.Config[string]{Clock: c, Turn: -1})
	}, queuetest.Waive("QUEUE-38", "priorities are strict"), suite.WithEffort(0.1))
}
