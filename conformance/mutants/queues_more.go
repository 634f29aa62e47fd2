package mutants

// Queues that are wrong in what comes later, in priorities, and in their configuration.

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// delayQueues are wrong in AddAfter.
func delayQueues() []Mutant {
	return []Mutant{
		queueOf("a delay is cut by a quarter", "a delay is rounded down", "QUEUE-22",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) { ok.AddAfter(item, d*3/4) }
			}),
		queueOf("a short delay waits for the long one before it",
			"the timer is set for the first item and not for the earliest", "QUEUE-22",
			func(b *brokenQueue, ok okQueue) {
				var mu sync.Mutex
				var latest time.Duration
				b.addAfter = func(item string, d time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					latest = max(latest, d)
					ok.AddAfter(item, latest)
				}
			}),
		queueOf("a deadline overflows",
			"the time at which an item is due is a sum of nanoseconds since 1970", "QUEUE-22",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					if due := b.clock.Now().UnixNano() + int64(d); due < b.clock.Now().UnixNano() {
						d = 0
					}
					ok.AddAfter(item, d)
				}
			}),
		queueOf("no delay is no add", "AddAfter without a delay does nothing", "QUEUE-23",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					if d > 0 {
						ok.AddAfter(item, d)
					}
				}
			}),
		queueOf("both times count", "an item that is delayed twice comes twice", "QUEUE-24",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					alarm := b.clock.After(d)
					go func() { <-alarm; ok.Add(item) }()
				}
			}),
		queueOf("what is due comes in any order",
			"delays are rounded, and what is due together comes by the length of its name", "QUEUE-25",
			func(b *brokenQueue, ok okQueue) {
				const tick = 10 * time.Millisecond // of the suite's fake clock
				b.addAfter = func(item string, d time.Duration) {
					ok.AddAfter(item, d.Round(20*tick)+tick*time.Duration(len(item)))
				}
			}),
		queueOf("ShutDown hands out delayed items", "what waits for its time is handed out at the end",
			"QUEUE-26", func(b *brokenQueue, ok okQueue) {
				delayed := make(chan string, 100)
				b.addAfter = func(item string, d time.Duration) { delayed <- item; ok.AddAfter(item, d) }
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					if shutdown && len(delayed) > 0 {
						return <-delayed, false
					}
					return item, shutdown
				}
			}),
		queueOf("AddAfter waits for a worker",
			"what is delayed goes through a channel of a thousand that workers empty", "QUEUE-27",
			func(b *brokenQueue, ok okQueue) {
				room := make(chan struct{}, 1000)
				b.addAfter = func(item string, d time.Duration) { room <- struct{}{}; ok.AddAfter(item, d) }
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					select {
					case <-room:
					default:
					}
					return item, shutdown
				}
			}),
	}
}

// rateQueues are wrong in what a limiter adds.
func rateQueues() []Mutant {
	return []Mutant{
		queueOf("the limiter is asked twice", "AddRateLimited asks the limiter again where it logs",
			"QUEUE-28", func(b *brokenQueue, ok okQueue) {
				b.addRateLimited = func(item string) { ok.AddRateLimited(item); ok.AddRateLimited(item) }
			}),
		queueOf("AddRateLimited only counts", "the limiter is asked and the item is not added",
			"QUEUE-28", func(b *brokenQueue, ok okQueue) {
				b.addRateLimited = func(item string) { ok.AddRateLimited(item + " ") }
			}),
		queueOf("one count for all items", "NumRequeues counts every AddRateLimited", "QUEUE-29",
			func(b *brokenQueue, ok okQueue) {
				var n atomic.Int64
				b.addRateLimited = func(item string) { n.Add(1); ok.AddRateLimited(item) }
				b.numRequeues = func(string) int { return int(n.Load()) }
			}),
		queueOf("Forget forgets nothing", "Forget does nothing", "QUEUE-30",
			func(b *brokenQueue, _ okQueue) { b.forget = func(string) {} }),
		queueOf("Forget is Done", "Forget is taken to end the item's processing", "QUEUE-30",
			func(b *brokenQueue, ok okQueue) {
				b.forget = func(item string) { ok.Forget(item); ok.Done(item) }
			}),
	}
}

// rankedOf makes a mutant of a queue with priorities.
func rankedOf(name, mistake, clauses string, change func(q *ranked)) Mutant {
	m := mutant(contract.ComponentQueue, name, mistake, clauses)
	m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
		q := newRanked(c)
		change(q)
		return q
	}
	return m
}

// priorityQueues are wrong in what has which priority, and what that is worth.
func priorityQueues() []Mutant {
	return []Mutant{
		rankedOf("priorities are not looked at", "Get takes the oldest", "QUEUE-31",
			func(q *ranked) { q.ahead = func(a, b *rankedItem) bool { return a.place < b.place } }),
		rankedOf("the next is chosen too soon",
			"who comes next is settled when the one before goes, and not asked again for what is added "+
				"since", "QUEUE-31", func(q *ranked) { q.early = true }).real(inControllerRuntime, "3363"),
		rankedOf("last in, first out within a priority", "among equals the one that came last is taken",
			"QUEUE-31", func(q *ranked) {
				q.ahead = func(a, b *rankedItem) bool {
					return a.priority > b.priority || a.priority == b.priority && a.place > b.place
				}
			}),
		rankedOf("the turn by age comes too often", "every second Get takes the oldest", "QUEUE-31",
			func(q *ranked) { q.turn = 2 }),
		rankedOf("the priority is not told", "GetWithPriority forgets to fill in the priority",
			"QUEUE-32", func(q *ranked) {
				q.shown = func(int) int { return 0 }
			}).real(inControllerRuntime, "3157"),
		rankedOf("the last priority wins", "an item that is added again takes the new priority",
			"QUEUE-32 QUEUE-33", func(q *ranked) { q.merge = func(_, given int) int { return given } }),
		rankedOf("a raise is lost", "the priority of an item that is added again is computed from "+
			"what it was before the lock was taken", "QUEUE-32", func(q *ranked) { q.stale = true }),
		rankedOf("a raised item keeps its place",
			"an item that is raised goes before what had its new priority already", "QUEUE-33",
			func(q *ranked) { q.reenter = func(*rankedItem, bool) {} }),
		rankedOf("every Add moves to the end", "an item that is added again loses its place", "QUEUE-33",
			func(q *ranked) { q.reenter = func(it *rankedItem, _ bool) { it.place = q.newPlace() } }),
		rankedOf("the later of two times", "an item that is added again with a later time is put off",
			"QUEUE-24 QUEUE-34", func(q *ranked) {
				q.earlier = func(held, given time.Time) time.Time {
					return slices.MaxFunc([]time.Time{held, given}, time.Time.Compare)
				}
			}),
		rankedOf("added at once, it comes again", "Add of an item that waits leaves it waiting",
			"QUEUE-34", func(q *ranked) { q.comesAgain = true }),
		rankedOf("an old time counts",
			"a time that is over is taken for the one that the item waits for now", "QUEUE-34",
			func(q *ranked) { q.forgetful = true }),
		rankedOf("urgent once, urgent for ever",
			"an item that is added while it is processed keeps the priority that it had", "QUEUE-35",
			func(q *ranked) { q.sticky = true }),
		rankedOf("the delay hides the limiter's",
			"After is taken if it is given, also where the limiter's delay is shorter", "QUEUE-36",
			func(q *ranked) {
				right := q.delay
				q.delay = func(item string, o contract.AddOptions) time.Duration {
					if d := right(item, o); o.After <= 0 {
						return d
					}
					return o.After
				}
			}),
		rankedOf("only the first is added", "AddWithOpts returns after the first of its items",
			"QUEUE-37", func(q *ranked) {
				q.only = func(items []string) []string { return items[:min(1, len(items))] }
			}),
		rankedOf("due at one instant, in any order",
			"what has come due becomes ready as a heap or a map gives it", "QUEUE-40", func(q *ranked) {
				q.sooner = func(a, b *rankedItem) int {
					return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.item, b.item))
				}
			}),
		rankedOf("low priorities wait too long", "Get goes by age every 150 times", "QUEUE-38",
			func(q *ranked) { q.turn = 150 }),
	}
}

// pausedQueues are wrong in Pause and Resume.
func pausedQueues() []Mutant {
	return []Mutant{
		rankedOf("Pause holds nothing back", "Get looks at what is ready only", "QUEUE-50 QUEUE-52",
			func(q *ranked) { q.deaf = true }),
		rankedOf("Resume wakes nobody", "workers that wait sleep until the next Add", "QUEUE-50",
			func(q *ranked) { q.asleep = true }),
		rankedOf("an Add while paused is lost", "a paused queue is taken for one that is shut down",
			"QUEUE-51", func(q *ranked) { q.still = true }),
		rankedOf("a shutdown ends Pause", "workers get what is ready at the end", "QUEUE-52",
			func(q *ranked) { q.lastRound = true }),
	}
}

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

// costlyQueues do what they should, and more.
func costlyQueues() []Mutant {
	late := rankedOf("the turn comes too late",
		"the Get after the last that may pass over the oldest gets it", "QUEUE-47", func(*ranked) {})
	late.NewConfiguredQueue = func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
		q := newRanked(cfg.Clock)
		if q.turn = cfg.Turn; q.turn > 0 {
			q.turn++
		}
		return q
	}
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
		late,
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
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider { return retriesAreAdds{p} }),
		countedOf("milliseconds", "durations are told in milliseconds", "QUEUE-43",
			func(p workqueue.MetricsProvider) workqueue.MetricsProvider { return inMilliseconds{p} }),
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
			"QUEUE-49", func(q okQueue, _ contract.QueueConfig) contract.DelayingQueue[string] {
				return &lockedQueue{RateLimitingQueue: q}
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

func (q *lockedQueue) Add(item string) {
	q.mu.Lock()
	q.RateLimitingQueue.Add(item)
	q.mu.Unlock()
}

type retriesAreAdds struct{ workqueue.MetricsProvider }

func (p retriesAreAdds) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.NewAddsMetric(name)
}

type inMilliseconds struct{ workqueue.MetricsProvider }

func (p inMilliseconds) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return thousandfold{p.MetricsProvider.NewLatencyMetric(name)}
}

type thousandfold struct{ to workqueue.HistogramMetric }

func (t thousandfold) Observe(seconds float64) { t.to.Observe(1000 * seconds) }

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
