package mutants

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// Queues returns the broken queues. The slice belongs to the caller.
func Queues() []Mutant {
	return slices.Concat(orderQueues(), shutDownQueues(), delayQueues(), rateQueues(),
		priorityQueues(), pausedQueues(), configuredQueues(), costlyQueues(), clientGoQueues())
}

// clientGoQueues is client-go's queue as it is: what it breaks.
func clientGoQueues() []Mutant {
	asItIs := func(name, mistake, clauses string) Mutant {
		m := mutant(contract.ComponentQueue, name, mistake, clauses)
		m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] { return newQueue(c) }
		return m
	}
	return []Mutant{
		asItIs("done of a ready item queues it again", "Done does not ask whether the item is processed",
			"QUEUE-9").real(inKubernetes, "141079"),
		asItIs("done wakes one drain", "Done signals one waiter where several wait for the end",
			"QUEUE-18").real(inKubernetes, "141079"),
		asItIs("drain leaves the delaying goroutine",
			"ShutDownWithDrain does not stop the goroutine that holds what waits for its time", "QUEUE-20").
			real("https://github.com/kubernetes/client-go/blob/v0.37.2/util/workqueue/delaying_queue.go",
				""),
		asItIs("a delayed item is kept",
			"the heap of waiting items does not clear the slot of an entry that left", "QUEUE-39").
			real("https://github.com/kubernetes/client-go/blob/v0.37.2/util/workqueue/delaying_queue.go",
				""),
	}
}

// orderQueues are wrong in who gets what, and when.
func orderQueues() []Mutant {
	return []Mutant{
		queueOf("every Add is an item of its own", "an item is not compared with what is there",
			"QUEUE-1", func(b *brokenQueue, ok okQueue) {
				var n atomic.Int64
				b.add = func(item string) { ok.Add(item + "#" + strconv.FormatInt(n.Add(1), 10)) }
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					item, _, _ = strings.Cut(item, "#")
					return item, shutdown
				}
			}),
		queueOf("the zero item is no item", "the zero value stands for an empty place", "QUEUE-21",
			func(b *brokenQueue, ok okQueue) {
				b.add = func(item string) {
					if item != "" {
						ok.Add(item)
					}
				}
			}),
		queueOf("processed items are not remembered", "an item is forgotten as soon as a worker has it",
			"QUEUE-2", func(b *brokenQueue, ok okQueue) {
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					ok.Done(item)
					return item, shutdown
				}
				b.done = func(string) {}
			}),
		queueOf("last in, first out", "Get takes from the end that Add appends to", "QUEUE-3",
			func(b *brokenQueue, ok okQueue) {
				b.get = func() (string, bool) {
					for n := ok.Len(); n > 1; n-- {
						item, _ := ok.Get()
						ok.Done(item)
						ok.Add(item)
					}
					return ok.Get()
				}
			}),
		rankedOf("added while processed goes first",
			"an item that was added while it was processed is put before what waits", "QUEUE-4",
			func(q *ranked) { q.front = true }),
		rankedOf("Len counts what is processed again",
			"the depth includes an item that waits for its worker's Done", "QUEUE-7", func(q *ranked) {
				q.depth = func() (n int) {
					for _, it := range q.held {
						if it.dirty {
							n++
						}
					}
					return n
				}
			}),
		rankedOf("Done of an unknown item panics", "Done insists that the item was handed out",
			"QUEUE-8", func(q *ranked) { q.strict = true }),
		rankedOf("an Add while processed is lost", "an Add of an item that a worker has is dropped",
			"QUEUE-21", func(q *ranked) { q.lossy = true }),
		queueOf("an Add that meets another is lost", "Add tries the lock, and does not wait for it",
			"QUEUE-21", func(b *brokenQueue, ok okQueue) {
				var busy sync.Mutex
				b.add = func(item string) {
					if busy.TryLock() {
						defer busy.Unlock()
						ok.Add(item)
					}
				}
			}),
		rankedOf("one wake-up for many",
			"Add wakes a worker only where nothing was ready, and the worker does not wake the next",
			"QUEUE-5", func(q *ranked) { q.quiet = true }),
		queueOf("Get does not wait", "Get of an empty queue returns the zero item", "QUEUE-5",
			func(b *brokenQueue, ok okQueue) {
				b.get = func() (string, bool) {
					if ok.Len() == 0 {
						return "", false
					}
					return ok.Get()
				}
			}),
		queueOf("Len counts delayed items", "the depth includes what waits for its time", "QUEUE-6",
			func(b *brokenQueue, ok okQueue) {
				var delayed atomic.Int64
				b.addAfter = func(item string, d time.Duration) { delayed.Add(1); ok.AddAfter(item, d) }
				b.length = func() int { return ok.Len() + int(delayed.Load()) }
			}).real(inControllerRuntime, "3060"),
	}
}

// shutDownQueues are wrong at their end.
func shutDownQueues() []Mutant {
	nothingMore := func(b *brokenQueue, ok okQueue) {
		b.get = func() (string, bool) {
			if ok.ShuttingDown() {
				return "", true
			}
			return ok.Get()
		}
	}
	return []Mutant{
		queueOf("Add after ShutDown is kept", "Add does not ask whether the queue is shut down",
			"QUEUE-10", func(b *brokenQueue, ok okQueue) {
				late := make(chan string, 10)
				b.add = func(item string) {
					if ok.ShuttingDown() {
						late <- item
					}
					ok.Add(item)
				}
				b.get = func() (string, bool) {
					select {
					case item := <-late:
						return item, false
					default:
						return ok.Get()
					}
				}
			}).real(inControllerRuntime, "3250"),
		queueOf("ShutDown drops what is ready", "Get looks at the flag before it looks at what is ready",
			"QUEUE-11", nothingMore),
		queueOf("ShutDown wakes nobody", "a Get that waits when ShutDown is called goes on waiting",
			"QUEUE-12", func(b *brokenQueue, ok okQueue) {
				b.shutDown = func() {}
			}).real(inControllerRuntime, "3239"),
		queueOf("ShuttingDown is late", "ShuttingDown is false until what is ready is handed out",
			"QUEUE-13", func(b *brokenQueue, ok okQueue) {
				b.shuttingDown = func() bool { return ok.ShuttingDown() && ok.Len() == 0 }
			}),
		queueOf("the second ShutDown panics", "ShutDown closes a channel each time", "QUEUE-14",
			func(b *brokenQueue, ok okQueue) {
				done := make(chan struct{})
				b.shutDown = func() { close(done); ok.ShutDown() }
			}).real(inKubernetes, "77170"),
		queueOf("drain does not wait", "ShutDownWithDrain is ShutDown", "QUEUE-15",
			func(b *brokenQueue, ok okQueue) { b.drain = ok.ShutDown }).
			real(inKubernetes, "101928"),
		queueOf("drain hands out nothing", "workers get nothing more once the queue drains", "QUEUE-16",
			nothingMore),
		queueOf("ShutDown waits for the drain",
			"the one that comes first of ShutDown and ShutDownWithDrain is waited for by the other",
			"QUEUE-17", func(b *brokenQueue, ok okQueue) {
				var once sync.Once
				b.drain = func() { once.Do(ok.ShutDownWithDrain) }
				b.shutDown = func() { once.Do(ok.ShutDown) }
			}),
		queueOf("a goroutine ends with its timer",
			"each AddAfter has a timer and a goroutine, which nothing stops early", "QUEUE-19",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					go func() { <-b.clock.After(d); ok.Add(item) }()
				}
			}).real(inKubernetes, "83895"),
	}
}

// client-go's queue, with methods that a mutant can replace.

type okQueue = contract.RateLimitingQueue[string]

// newQueue makes client-go's queue, with a limiter per item: the shared bucket of
// the default one would hide the queue behind its ten adds a second.
func newQueue(c clock.WithTicker) okQueue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(newItemLimiter(),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
}

func newItemLimiter() contract.RateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond,
		1000*time.Second)
}

// brokenQueue is client-go's queue with some of its methods replaced.
type brokenQueue struct {
	clock clock.WithTicker

	add            func(item string)
	addAfter       func(item string, d time.Duration)
	addRateLimited func(item string)
	get            func() (string, bool)
	done           func(item string)
	length         func() int
	shutDown       func()
	drain          func()
	shuttingDown   func() bool
	numRequeues    func(item string) int
	forget         func(item string)
}

func (b *brokenQueue) Add(item string)                       { b.add(item) }
func (b *brokenQueue) AddAfter(item string, d time.Duration) { b.addAfter(item, d) }
func (b *brokenQueue) AddRateLimited(item string)            { b.addRateLimited(item) }
func (b *brokenQueue) Get() (string, bool)                   { return b.get() }
func (b *brokenQueue) Done(item string)                      { b.done(item) }
func (b *brokenQueue) Len() int                              { return b.length() }
func (b *brokenQueue) ShutDown()                             { b.shutDown() }
func (b *brokenQueue) ShutDownWithDrain()                    { b.drain() }
func (b *brokenQueue) ShuttingDown() bool                    { return b.shuttingDown() }
func (b *brokenQueue) NumRequeues(item string) int           { return b.numRequeues(item) }
func (b *brokenQueue) Forget(item string)                    { b.forget(item) }

// queueOf makes a mutant of what change makes of client-go's queue.
func queueOf(name, mistake, clauses string, change func(b *brokenQueue, ok okQueue)) Mutant {
	m := mutant(contract.ComponentQueue, name, mistake, clauses)
	m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
		ok := newQueue(c)
		b := &brokenQueue{
			clock: c,
			add:   ok.Add, addAfter: ok.AddAfter, addRateLimited: ok.AddRateLimited,
			get: ok.Get, done: ok.Done, length: ok.Len,
			shutDown: ok.ShutDown, drain: ok.ShutDownWithDrain, shuttingDown: ok.ShuttingDown,
			numRequeues: ok.NumRequeues, forget: ok.Forget,
		}
		change(b, ok)
		return b
	}
	return m
}
