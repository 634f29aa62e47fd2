package catalog

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/cowtree"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/peers/clientgo"
	"github.com/informerbench/informerbench/peers/concurrentmap"
	"github.com/informerbench/informerbench/peers/ctrlruntime"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/deltafifo"
	"github.com/informerbench/informerbench/queue/ratelimit"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// own is the Module of this project's implementations.
const own = "informerbench"

func stores() []Entry {
	return []Entry{
		{
			Component: contract.ComponentStore, Name: "clientgo", Module: clientgo.ClientGoModule,
			Reference: true,
			Description: "client-go's ThreadSafeStore: one RWMutex, one map, a set of keys per indexed " +
				"value; readers that list hold the writer up",
			Guarantees: "one instant per read; half-writes when an IndexFunc fails",
			NewStore:   clientgo.NewStore,
			Waivers: []Waiver{
				{"STORE-21", "client-go keeps the nil map, and the next Add panics"},
				{"STORE-26", "client-go returns the map that AddIndexers writes to"},
				{"STORE-28", "client-go puts the object in before it computes the index values"},
				{"STORE-29", "client-go takes the new content and drops its indexes before it computes the " +
					"index values"},
				{"STORE-30", "client-go adds the names before it computes the index values"},
				{"STORE-39", "client-go has applied the writes that came before the failing one"},
			},
		},
		{
			Component: contract.ComponentStore, Name: "mutexmap", Module: own, Study: true,
			Description: "the same algorithm, our own code: the honest baseline; readers that list hold " +
				"the writer up",
			Guarantees: "the whole contract: nothing half written when an IndexFunc fails",
			NewStore:   func(ix contract.Indexers) contract.Store { return mutexmap.New(ix) },
		},
		{
			Component: contract.ComponentStore, Name: "lockfree", Module: own,
			Description: "a hash table and arrays that readers go through without a lock; an update " +
				"replaces the object, or makes a version of it while a snapshot is open; readers and the " +
				"writer never wait for each other",
			Guarantees: "the whole contract; a stalled reader keeps one version of each object, and two " +
				"stand-ins of each array cell that changed",
			NewStore: func(ix contract.Indexers) contract.Store { return lockfree.New(ix) },
		},
		{
			Component: contract.ComponentStore, Name: "cowtree", Module: own, Study: true,
			Description: "copy-on-write B-trees, the public proposal: readers and the writer never wait " +
				"for each other; Get is O(log n), a write copies paths",
			Guarantees: "the whole contract; reads are in the order of the keys",
			NewStore:   func(ix contract.Indexers) contract.Store { return cowtree.New(ix) },
		},
		concurrentMap("syncmap", "objects in sync.Map, indexes under a RWMutex: Get and List take no "+
			"lock; writes allocate, readers of an index hold the writer up",
			concurrentmap.NewSync),
		concurrentMap("xsyncmap", "objects in xsync.Map, indexes under a RWMutex: Get takes no lock, "+
			"List one bucket's at a time; readers of an index hold the writer up",
			concurrentmap.NewXSync),
	}
}

func concurrentMap(name, description string,
	construct func(contract.Indexers) *concurrentmap.Store) Entry {
	return Entry{
		Component: contract.ComponentStore, Name: name, Module: own, Study: true,
		Description: description,
		Guarantees:  "Get linearizable and reads of an index one instant; List is none",
		NewStore:    func(ix contract.Indexers) contract.Store { return construct(ix) },
		Waivers: []Waiver{
			{"STORE-7", "List walks the concurrent map while writers go on"},
			{"STORE-8", "ListKeys walks the concurrent map while writers go on"},
			{"STORE-35", "List is no single instant, so no order of all calls explains it"},
			{"STORE-38", "List and Get see the writes of a Transaction one by one"},
		},
	}
}

func fifos() []Entry {
	realFIFO := func(name string, mode clientgo.RealFIFOMode, class contract.FIFOClass,
		description string, waivers ...Waiver) Entry {
		return Entry{
			Component: contract.ComponentFIFO, Name: name, Module: clientgo.ClientGoModule, FIFOClass: class,
			Reference: mode == clientgo.RealFIFOUnlocked, Study: mode != clientgo.RealFIFOUnlocked,
			Description: description, Guarantees: string(class), Waivers: waivers,
			NewFIFO: clientgo.NewRealFIFO(mode), NewTransformingFIFO: clientgo.NewTransformingRealFIFO(mode),
		}
	}
	return []Entry{
		realFIFO("clientgo-realfifo-unlocked", clientgo.RealFIFOUnlocked, contract.InOrderAtomic,
			"client-go's default since 1.36: atomic events, the lock released while the process function "+
				"runs, unless 2,000 events wait",
			Waiver{"FIFO-60", "client-go's RealFIFO counts the end of any process as one of the initial " +
				"list popped, also if that list came while it ran (tools/cache/the_real_fifo.go, Pop)"}),
		{
			Component: contract.ComponentFIFO, Name: "clientgo-deltafifo", Module: clientgo.ClientGoModule,
			FIFOClass: contract.Coalescing,
			Description: "client-go's DeltaFIFO, its default before 1.36: one mutex, Deltas by key; the " +
				"process function runs under the lock, so producers wait for it",
			Guarantees: string(contract.Coalescing),
			NewFIFO:    clientgo.NewDeltaFIFO, NewTransformingFIFO: clientgo.NewTransformingDeltaFIFO,
			Waivers: []Waiver{
				{"FIFO-18", "client-go's DeltaFIFO closes the channel of HasSyncedChecker before process is " +
					"called for the last initial item (tools/cache/delta_fifo.go, Pop)"},
			},
		},
		realFIFO("clientgo-realfifo", clientgo.RealFIFOPlain, contract.InOrder,
			"client-go's RealFIFO: a slice of every event; a Replace becomes an event per object"),
		realFIFO("clientgo-realfifo-atomic", clientgo.RealFIFOAtomic, contract.InOrderAtomic,
			"client-go's RealFIFO with atomic events: a Replace is one event and its work moves to the "+
				"consumer"),
		ownFIFO("coalescing", contract.Coalescing,
			"the DeltaFIFO's semantics behind an intake: producers append one event and return, the "+
				"consumer gathers them by key; no lock is held while the process function runs",
			", keyed queue, requeue, batches; producers never wait for the process function",
			func(cfg contract.FIFOConfig, opts deltafifo.Options) contract.FIFO {
				return deltafifo.NewCoalescing(cfg, opts)
			}),
		ownFIFO("inorder", contract.InOrder,
			"every event in order behind the same intake, in segments that are given back; a Replace "+
				"becomes an event per object, no lock is held while the process function runs",
			", batches; producers never wait for the process function",
			func(cfg contract.FIFOConfig, opts deltafifo.Options) contract.FIFO {
				return deltafifo.NewInOrder(cfg, opts)
			}),
		ownFIFO("inorder-atomic", contract.InOrderAtomic,
			"every event in order; a Replace is one event, as in client-go's default FIFO; its producer "+
				"returns at once, the consumer does the work, and no lock is held while the process "+
				"function runs",
			", batches; producers never wait for the process function",
			func(cfg contract.FIFOConfig, opts deltafifo.Options) contract.FIFO {
				opts.Atomic = true
				return deltafifo.NewInOrder(cfg, opts)
			}),
	}
}

// ownFIFO returns an entry of one of this project's FIFOs that share the intake.
func ownFIFO(name string, class contract.FIFOClass, description, more string,
	construct func(contract.FIFOConfig, deltafifo.Options) contract.FIFO) Entry {
	return Entry{
		Component: contract.ComponentFIFO, Name: name, Module: own, FIFOClass: class, Unlocked: true,
		Study:       class == contract.InOrder,
		Description: description, Guarantees: string(class) + more,
		NewFIFO: func(cfg contract.FIFOConfig) contract.FIFO {
			return construct(cfg, deltafifo.Options{})
		},
		NewTransformingFIFO: func(cfg contract.FIFOConfig, f contract.TransformFunc) contract.FIFO {
			return construct(cfg, deltafifo.Options{Transformer: f})
		},
	}
}

func delays() []Entry {
	return []Entry{
		{
			Component: contract.ComponentDelay, Name: "containerheap", Module: "Go standard library",
			Reference: true,
			Description: "what client-go's delaying queue holds and does not export: container/heap over " +
				"pointers, and a map",
			Guarantees: "exact order by time",
			NewDelay:   clientgo.NewContainerHeap[string],
			Waivers: []Waiver{
				{"DELAY-13", "client-go's map and slice keep the size of the fullest moment"},
			},
		},
		{
			Component: contract.ComponentDelay, Name: "btree", Module: "k8s.io/utils",
			Description: "the B-tree of controller-runtime's priority queue, and a map",
			Guarantees:  "exact order by time, first in first out among equals",
			NewDelay:    clientgo.NewBTree[string],
			Waivers: []Waiver{
				{"DELAY-13", "controller-runtime's map keeps the size of the fullest moment"},
			},
		},
		{
			Component: contract.ComponentDelay, Name: "quadheap", Module: own,
			Description: "a 4-ary heap of values and a hash table of our own: nothing is allocated for " +
				"an item, nothing large is ever copied",
			Guarantees: "exact order by time",
			NewDelay:   func() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() },
		},
	}
}

func queues() []Entry {
	return []Entry{
		{
			Component: contract.ComponentQueue, Name: "clientgo", Module: clientgo.ClientGoModule,
			Reference: true,
			Description: "client-go's rate-limiting workqueue: two sets and a slice; a channel of 1,000 " +
				"before one goroutine that holds the waiting items",
			Guarantees: "first in, first out",
			NewQueue:   clientgo.NewQueue, NewConfiguredQueue: clientgo.NewConfiguredQueue,
			Waivers: []Waiver{
				{"QUEUE-9", "client-go's Done queues an item that is ready a second time, so two workers " +
					"may get it"},
				{"QUEUE-18", "client-go's Done wakes one waiter: of several ShutDownWithDrain only one returns"},
				{"QUEUE-20", "client-go's ShutDownWithDrain does not stop the goroutine of the delaying " +
					"queue, which sees the end at its next heartbeat, up to 10 s later"},
				{"QUEUE-39", "client-go's heap of waiting items does not clear the slot of an entry that " +
					"left it (util/workqueue/delaying_queue.go, waitForPriorityQueue.Pop)"},
			},
		},
		{
			Component: contract.ComponentQueue, Name: "controllerruntime-priority",
			Module: ctrlruntime.Module, OwnClock: true,
			Description: "controller-runtime's priority queue: two B-trees, four goroutines and one for " +
				"metrics, adds taken in behind the caller's back",
			Guarantees: "first in, first out per priority; its own clock",
			NewQueue:   ctrlruntime.NewPriorityQueue, NewLimitedQueue: ctrlruntime.NewLimitedPriorityQueue,
			Waivers: []Waiver{
				{"QUEUE-4", "an item that is added while it is processed has its place from the Add, not " +
					"from Done"},
				{"QUEUE-7", "Len counts items that wait for another worker's Done"},
				{"QUEUE-11", "Get hands out nothing after ShutDown, also what is ready"},
				{"QUEUE-14", "a second ShutDown panics: close of closed channel"},
				{"QUEUE-15", "ShutDownWithDrain is ShutDown: it does not wait for workers"},
				{"QUEUE-16", "ShutDownWithDrain is ShutDown: workers get nothing more"},
				{"QUEUE-17", "ShutDown after ShutDownWithDrain panics: close of closed channel"},
				{"QUEUE-18", "a second ShutDownWithDrain panics: close of closed channel"},
				{"QUEUE-38", "priorities are strict: a low one waits for as long as higher ones come"},
			},
		},
		{
			Component: contract.ComponentQueue, Name: "workqueue", Module: own,
			Description: "client-go's semantics: a node per item in a table that grows and shrinks " +
				"bucket by bucket; AddAfter writes into one of several heaps itself",
			Guarantees: "first in, first out; no goroutine left after any shutdown",
			NewQueue: func(c clock.WithTicker) contract.DelayingQueue[string] {
				return workqueue.NewRateLimiting[string](exponential(), queueHeap,
					workqueue.Config[string]{Clock: c})
			},
			NewConfiguredQueue: rateLimiting(0),
		},
		{
			Component: contract.ComponentQueue, Name: "workqueue-oneheap", Module: own, Study: true,
			Description: "workqueue with one heap under one lock: what the several heaps are worth",
			Guarantees:  "first in, first out; no goroutine left after any shutdown",
			NewQueue: func(c clock.WithTicker) contract.DelayingQueue[string] {
				return workqueue.NewRateLimiting[string](exponential(), queueHeap,
					workqueue.Config[string]{Clock: c, Heaps: 1})
			},
			NewConfiguredQueue: rateLimiting(1),
		},
		{
			Component: contract.ComponentQueue, Name: "priority", Module: own,
			Description: "priorities as in controller-runtime's queue, under one lock that nothing holds " +
				"for long: lists by priority, linked through the items",
			Guarantees: "first in, first out per priority; every 16th Get is the longest-waiting " +
				"item's, so none starves",
			NewQueue: func(c clock.WithTicker) contract.DelayingQueue[string] {
				return workqueue.NewPriority[string](exponential(), queueHeap,
					workqueue.Config[string]{Clock: c})
			},
			NewConfiguredQueue: func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
				return workqueue.NewPriority(limiterOf(cfg), queueHeap, queueConfig(cfg))
			},
		},
	}
}

// rateLimiting returns a constructor of workqueues that take a configuration.
func rateLimiting(heaps int) func(contract.QueueConfig) contract.DelayingQueue[string] {
	return func(c contract.QueueConfig) contract.DelayingQueue[string] {
		cfg := queueConfig(c)
		cfg.Heaps = heaps
		return workqueue.NewRateLimiting(limiterOf(c), queueHeap, cfg)
	}
}

func queueConfig(c contract.QueueConfig) workqueue.Config[string] {
	return workqueue.Config[string]{Name: c.Name, MetricsProvider: c.MetricsProvider, Clock: c.Clock,
		Order: c.Order, Turn: c.Turn}
}

func limiterOf(c contract.QueueConfig) contract.RateLimiter[string] {
	if c.Limiter != nil {
		return c.Limiter
	}
	return exponential()
}

// queueHeap makes the delay heap of this project's queues.
func queueHeap() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }

func limiters() []Entry {
	peer := func(name, description string, construct NewLimiter) Entry {
		return Entry{Component: contract.ComponentLimiter, Name: name, Module: clientgo.ClientGoModule,
			Description: description, Guarantees: limiterGuarantees, NewLimiter: construct}
	}
	ours := func(name, description string, construct NewLimiter) Entry {
		return Entry{Component: contract.ComponentLimiter, Name: name, Module: own,
			Description: description, Guarantees: limiterGuarantees, NewLimiter: construct}
	}
	reference := peer("clientgo-default",
		"client-go's default for controllers: the longer of exponential and token bucket",
		clientgo.NewDefaultLimiter)
	reference.Reference = true
	return []Entry{
		reference,
		peer("clientgo-exponential", "client-go's delay that doubles with each failure of the item",
			clientgo.NewExponentialLimiter),
		peer("clientgo-fastslow", "client-go's few quick tries, then slow ones",
			clientgo.NewFastSlowLimiter),
		ours("default", "client-go's default for controllers, of our own limiters",
			func() contract.RateLimiter[string] {
				return ratelimit.DefaultController[string]()
			}),
		ours("exponential", "a delay that doubles with each failure of the item, saturating at any count",
			func() contract.RateLimiter[string] {
				return exponential()
			}),
		ours("fastslow", "a few quick tries, then slow ones", func() contract.RateLimiter[string] {
			return ratelimit.NewItemFastSlow[string](5*time.Millisecond, 10*time.Second, 5)
		}),
	}
}

const limiterGuarantees = "items do not feel each other, but for a shared bucket"

// exponential makes a limiter with the bounds that the peers' queues get.
func exponential() *ratelimit.ItemExponentialFailure[string] {
	return ratelimit.NewItemExponentialFailure[string](5*time.Millisecond, 1000*time.Second)
}
