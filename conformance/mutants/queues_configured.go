package mutants

// Queues that are wrong in what they do with their configuration.

import (
	"runtime"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// configuredOf makes a mutant of client-go's queue, whose configuration change breaks.
func configuredOf(name, mistake, clauses string, change func(cfg *contract.QueueConfig)) Mutant {
	m := mutant(contract.ComponentQueue, name, mistake, clauses)
	m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] { return newQueue(c) }
	m.NewConfiguredQueue = func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
		change(&cfg)
		if cfg.Limiter == nil {
			cfg.Limiter = newItemLimiter()
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
	return m
}

// countedOf makes a mutant of client-go's queue that counts with another provider.
func countedOf(name, mistake, clauses string,
	with func(p workqueue.MetricsProvider) workqueue.MetricsProvider) Mutant {
	return configuredOf(name, mistake, clauses, func(cfg *contract.QueueConfig) {
		if cfg.MetricsProvider != nil {
			cfg.MetricsProvider = with(cfg.MetricsProvider)
		}
	})
}

// turnOf makes a mutant of a queue with priorities that is given a turn.
func turnOf(name, mistake string, taken func(turn int) int) Mutant {
	m := rankedOf(name, mistake, "QUEUE-47", func(*ranked) {})
	m.NewConfiguredQueue = func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
		q := newRanked(cfg.Clock)
		q.turn = taken(cfg.Turn)
		return q
	}
	return m
}

// costlyQueues do what they should, and more.
func costlyQueues() []Mutant {
	return []Mutant{
		queueOf("a note of every item", "what was done is noted and never cleared", "QUEUE-46",
			func(b *brokenQueue, ok okQueue) {
				var mu sync.Mutex
				var notes [][]byte
				b.done = func(item string) {
					ok.Done(item)
					mu.Lock()
					defer mu.Unlock()
					notes = append(notes, make([]byte, 16))
				}
			}),
		queueOf("waits by looking at the clock", "a goroutine asks for the time until something is due",
			"QUEUE-48", func(b *brokenQueue, ok okQueue) {
				go func() {
					for !ok.ShuttingDown() {
						b.clock.Now()
						runtime.Gosched()
					}
				}()
			}),
		queueOf("looks at the clock every 50 microseconds",
			"a goroutine polls for what is due, with a pause between two looks", "QUEUE-48",
			func(b *brokenQueue, ok okQueue) {
				go func() {
					for !ok.ShuttingDown() {
						b.clock.Now()
						time.Sleep(50 * time.Microsecond)
					}
				}()
			}),
		queueOf("a ticker of a millisecond",
			"a goroutine wakes up a thousand times a second to look for what is due", "QUEUE-48",
			func(b *brokenQueue, ok okQueue) {
				go func() {
					ticker := b.clock.NewTicker(time.Millisecond)
					defer ticker.Stop()
					for !ok.ShuttingDown() {
						select {
						case <-ticker.C():
						case <-time.After(10 * time.Millisecond): // a fake clock may stand still
						}
					}
				}()
			}),
		queueOf("a worker asks every 50 microseconds",
			"Get looks whether an item is ready, with a pause between two looks", "QUEUE-48",
			func(b *brokenQueue, ok okQueue) {
				b.get = func() (string, bool) {
					for ok.Len() == 0 && !ok.ShuttingDown() {
						time.Sleep(50 * time.Microsecond)
					}
					return ok.Get()
				}
			}),
		turnOf("the turn is the default", "a queue that is given a turn keeps its own", func(int) int {
			return 16
		}),
		turnOf("the turn comes too late", "the Get after the last that may pass over the oldest gets it",
			func(turn int) int {
				if turn > 0 {
					turn++
				}
				return turn
			}),
	}
}

// configuredQueues are wrong in what they count and in whom they ask.
func configuredQueues() []Mutant {
	return []Mutant{
		configuredOf("metrics without a name", "a queue without a name counts under an empty one",
			"QUEUE-41", func(cfg *contract.QueueConfig) {
				if cfg.Name == "" && cfg.MetricsProvider != nil {
					cfg.MetricsProvider.NewAddsMetric("")
				}
			}),
		countedOf("retries are adds", "each retry is counted where the adds are", "QUEUE-41 QUEUE-42",
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider {
				return retriesAreAdds{p}
			}),
		countedOf("the depth only grows", "Get does not take an item off the depth", "QUEUE-42",
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider {
				return growing{p}
			}),
		countedOf("milliseconds", "durations are told in milliseconds", "QUEUE-43",
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider {
				return inMilliseconds{p}
			}),
		countedOf("the sum is the longest",
			"the age of every item that is processed is set as the longest", "QUEUE-43",
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider {
				return &sumIsLongest{MetricsProvider: p}
			}),
		configuredOf("the order is not asked", "the order that the queue is given is left out",
			"QUEUE-44", func(cfg *contract.QueueConfig) {
				cfg.Order = nil
			}),
		configuredOf("the order is not told of what comes again", "Touch is never called", "QUEUE-44",
			func(cfg *contract.QueueConfig) {
				if cfg.Order != nil {
					cfg.Order = untouched{cfg.Order}
				}
			}),
		wrappedOf("the order is asked without the lock",
			"Len asks the order, and not under the lock under which it changes", "QUEUE-44",
			func(q okQueue, cfg contract.QueueConfig) contract.DelayingQueue[string] {
				if cfg.Order == nil {
					return q
				}
				return asksOrder{q, cfg.Order}
			}),
		wrappedOf("a panic keeps the lock", "Add unlocks at its end, which a panic does not reach",
			"QUEUE-49",
			func(q okQueue, _ contract.QueueConfig) contract.DelayingQueue[string] {
				return &lockedQueue{RateLimitingQueue: q}
			}),
		countedOf("a panic in Get keeps a lock",
			"the latency is told under a lock that a panic does not unlock", "QUEUE-49",
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider {
				return lockedLatency{p}
			}),
		configuredOf("what an order holds is counted beside it",
			"the ready items are counted by the calls of Push and Pop that return", "QUEUE-49",
			func(cfg *contract.QueueConfig) {
				if cfg.Order != nil {
					cfg.Order = &countedBeside{Queue: cfg.Order}
				}
			}),
		configuredOf("one depth for all priorities",
			"a provider that tells priorities apart is not asked for that", "QUEUE-45",
			func(cfg *contract.QueueConfig) {
				if p, ok := cfg.MetricsProvider.(contract.PriorityMetricsProvider); ok {
					p.NewPriorityDepthMetric(cfg.Name).Inc(0)
					cfg.MetricsProvider = countless{p}
				}
			}),
	}
}

// asksOrder is a queue whose Len does not take the queue's lock.
type asksOrder struct {
	contract.RateLimitingQueue[string]
	order workqueue.Queue[string]
}

func (q asksOrder) Len() int { return q.order.Len() }

// wrappedOf makes a mutant of what wrap makes of client-go's queue with a configuration.
func wrappedOf(name, mistake, clauses string,
	wrap func(q okQueue, cfg contract.QueueConfig) contract.DelayingQueue[string]) Mutant {
	m := configuredOf(name, mistake, clauses, func(*contract.QueueConfig) {})
	right := m.NewConfiguredQueue
	m.NewConfiguredQueue = func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
		return wrap(right(cfg).(okQueue), cfg)
	}
	return m
}

// lockedQueue is a queue whose Add holds a lock of its own, and not by defer.
type lockedQueue struct {
	contract.RateLimitingQueue[string]
	mu sync.Mutex
}

// Add is part of contract.Queue.
func (q *lockedQueue) Add(item string) {
	q.mu.Lock()
	q.RateLimitingQueue.Add(item)
	q.mu.Unlock()
}

type lockedLatency struct{ workqueue.MetricsProvider }

func (p lockedLatency) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return &lockedHistogram{HistogramMetric: p.MetricsProvider.NewLatencyMetric(name)}
}

type lockedHistogram struct {
	workqueue.HistogramMetric
	mu sync.Mutex
}

// Observe is part of workqueue.HistogramMetric.
func (h *lockedHistogram) Observe(v float64) {
	h.mu.Lock()
	h.HistogramMetric.Observe(v)
	h.mu.Unlock()
}

type retriesAreAdds struct{ workqueue.MetricsProvider }

func (p retriesAreAdds) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.NewAddsMetric(name)
}

type growing struct{ workqueue.MetricsProvider }

func (p growing) NewDepthMetric(name string) workqueue.GaugeMetric {
	return growingGauge{p.MetricsProvider.NewDepthMetric(name)}
}

type growingGauge struct{ workqueue.GaugeMetric }

func (growingGauge) Dec() {}

type inMilliseconds struct{ workqueue.MetricsProvider }

func (p inMilliseconds) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return thousandfold{p.MetricsProvider.NewLatencyMetric(name)}
}

type thousandfold struct{ to workqueue.HistogramMetric }

func (t thousandfold) Observe(seconds float64) { t.to.Observe(1000 * seconds) }

type sumIsLongest struct {
	workqueue.MetricsProvider
	longest workqueue.SettableGaugeMetric
}

func (p *sumIsLongest) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.NewLongestRunningProcessorSecondsMetric(name)
}

func (p *sumIsLongest) NewLongestRunningProcessorSecondsMetric(
	name string) workqueue.SettableGaugeMetric {
	if p.longest == nil {
		p.longest = p.MetricsProvider.NewLongestRunningProcessorSecondsMetric(name)
	}
	return p.longest
}

type untouched struct{ workqueue.Queue[string] }

func (untouched) Touch(string) {}

// countedBeside is an order whose Len is the number of Pushes and Pops that returned.
type countedBeside struct {
	workqueue.Queue[string]
	n int
}

func (o *countedBeside) Push(item string) {
	o.Queue.Push(item)
	o.n++
}

func (o *countedBeside) Pop() string {
	item := o.Queue.Pop()
	o.n--
	return item
}

func (o *countedBeside) Len() int { return o.n }

// countless has a depth that stays zero.
type countless struct{ workqueue.MetricsProvider }

func (p countless) NewDepthMetric(string) workqueue.GaugeMetric { return noGauge{} }

type noGauge struct{}

func (noGauge) Inc() {}
func (noGauge) Dec() {}
