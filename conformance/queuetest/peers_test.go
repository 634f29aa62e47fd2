package queuetest

import (
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func newClientGoDelaying(c clock.WithTicker) contract.DelayingQueue[string] {
	return workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[string]{Clock: c})
}

func newClientGo(c clock.WithTicker) contract.DelayingQueue[string] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
}

func newConfiguredClientGo(cfg contract.QueueConfig) contract.DelayingQueue[string] {
	if cfg.Limiter == nil {
		cfg.Limiter = workqueue.DefaultTypedControllerRateLimiter[string]()
	}
	return workqueue.NewTypedRateLimitingQueueWithConfig(cfg.Limiter,
		workqueue.TypedRateLimitingQueueConfig[string]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(
				workqueue.TypedDelayingQueueConfig[string]{
					Name: cfg.Name, MetricsProvider: cfg.MetricsProvider, Clock: cfg.Clock,
					Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{
						Name: cfg.Name, MetricsProvider: cfg.MetricsProvider, Clock: cfg.Clock, Queue: cfg.Order,
					}),
				}),
		})
}

// The clauses that client-go v0.37.2 breaks. The catalog has the same waivers, and its tests show
// that each is needed.
var clientGoWaivers = []Option{
	Waive("QUEUE-9", "client-go's Done queues an item that is ready a second time, so two workers "+
		"may get it"),
	Waive("QUEUE-18", "client-go's Done wakes one waiter: of several ShutDownWithDrain only one "+
		"returns"),
	Waive("QUEUE-20", "client-go's ShutDownWithDrain does not stop the goroutine of the delaying "+
		"queue, which sees the end at its next heartbeat, up to 10 s later"),
	Waive("QUEUE-39", "client-go's heap of waiting items does not clear the slot of an entry that "+
		"left it (util/workqueue/delaying_queue.go, waitForPriorityQueue.Pop)"),
}

// prioritized is controller-runtime's queue with the contract's type of its options.
type prioritized struct {
	priorityqueue.PriorityQueue[string]
}

func (p prioritized) AddWithOpts(o contract.AddOptions, items ...string) {
	p.PriorityQueue.AddWithOpts(priorityqueue.AddOpts(o), items...)
}

func newPriority(clock.WithTicker) contract.DelayingQueue[string] {
	return prioritized{priorityqueue.New("", func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = workqueue.DefaultTypedControllerRateLimiter[string]()
	})}
}

// The clauses that controller-runtime v0.25.2's priority queue breaks.
var priorityWaivers = []Option{
	OwnClock(),
	Waive("QUEUE-4", "the priority queue gives an item that is added while it is processed its "+
		"place at the Add, not at Done"),
	Waive("QUEUE-7", "the priority queue's Len counts items that wait for another worker's Done"),
	Waive("QUEUE-11", "the priority queue's Get hands out nothing after ShutDown, also what is ready"),
	Waive("QUEUE-14", "the priority queue's second ShutDown panics: close of closed channel"),
	Waive("QUEUE-15", "the priority queue's ShutDownWithDrain is ShutDown: it does not wait for "+
		"workers"),
	Waive("QUEUE-16", "the priority queue's ShutDownWithDrain is ShutDown: workers get nothing more"),
	Waive("QUEUE-17", "the priority queue's ShutDown after ShutDownWithDrain panics: close of "+
		"closed channel"),
	Waive("QUEUE-18", "the priority queue's second ShutDownWithDrain panics: close of closed channel"),
	Waive("QUEUE-38", "the priority queue's priorities are strict: a low one waits for as long as "+
		"higher ones come"),
}

// brief is the effort of the suites over the peers, whose queues the catalog has too.
var brief = suite.WithEffort(0.1)

func TestClientGoPasses(t *testing.T) {
	t.Run("delaying", func(t *testing.T) {
		Run(t, newClientGoDelaying, append(clientGoWaivers, brief)...)
	})
	t.Run("rate-limiting", func(t *testing.T) {
		Run(t, newClientGo, append(clientGoWaivers, brief, NewConfigured(newConfiguredClientGo))...)
	})
}

func TestPriorityQueuePasses(t *testing.T) {
	Run(t, newPriority, append(priorityWaivers, brief)...)
}

func TestCheckIsFastAndPasses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		newQueue func(clock.WithTicker) contract.DelayingQueue[string]
		opts     []Option
	}{
		"clientgo": {newClientGo,
			append([]Option{NewConfigured(newConfiguredClientGo)}, clientGoWaivers...)},
		"clientgo-own-clock": {newClientGo,
			append([]Option{OwnClock(), NewConfigured(newConfiguredClientGo)}, clientGoWaivers...)},
		"priorityqueue": {newPriority, priorityWaivers},
	} {
		t.Run(name, func(t *testing.T) {
			var slow time.Duration
			begin := time.Now()
			err := Check(c.newQueue, append(c.opts, brief, suite.WithObserver(func(r suite.Result) {
				if r.Elapsed > 100*time.Millisecond {
					t.Logf("%s/%s: %s", r.Clause.ID, r.Case, r.Elapsed)
				}
				slow = max(slow, r.Elapsed)
			}))...)
			if err != nil {
				t.Error(err)
			}
			t.Logf("%s in all, the slowest case %s", time.Since(begin), slow)
		})
	}
}
