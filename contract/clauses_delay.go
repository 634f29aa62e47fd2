package contract

// The capabilities of a DelayHeap.
const (
	// CapExactTime marks a heap that keeps times exactly.
	CapExactTime Capability = "exact-time"
	// CapGranular marks a heap that rounds times up to a granularity that it states, as a
	// timing wheel does. It has these clauses in place of those of CapExactTime.
	CapGranular Capability = "granular-time"
	// CapCountedWork marks a heap that counts the steps that its operations take.
	CapCountedWork Capability = "counted-work"
	// CapAddMany marks a BatchDelayHeap.
	CapAddMany Capability = "add-many"
	// CapRemove marks a RemovingDelayHeap.
	CapRemove Capability = "remove"
	// CapArrivalOrder marks an ArrivalOrdered heap.
	CapArrivalOrder Capability = "arrival-order"
)

const (
	srcDelayingQueue = `client-go v0.37.2 behaviour "util/workqueue/delaying_queue.go"`
	srcWorkqueue     = `client-go v0.37.2 behaviour "util/workqueue/queue.go"`
	srcRateLimiting  = `client-go v0.37.2 behaviour "util/workqueue/rate_limiting_queue.go"`
	srcQueueMetrics  = `client-go v0.37.2 behaviour "util/workqueue/metrics.go"`
	srcPriorityQueue = `controller-runtime v0.25.2 behaviour "pkg/controller/priorityqueue/priorityqueue.go"`
	srcRateLimiters  = `client-go v0.37.2 behaviour "util/workqueue/default_rate_limiters.go"`

	srcWheel = "Varghese and Lauck, Hashed and Hierarchical Timing Wheels, SOSP 1987"
)

var delayClauses = []Clause{
	{"DELAY-1", ComponentDelay, CapCore, "PopReady hands out no item whose time is after now",
		srcDelayingQueue},
	{"DELAY-2", ComponentDelay, CapCore, "Every item that was added comes out, and comes out once",
		srcDelayingQueue},
	{"DELAY-3", ComponentDelay, CapCore,
		"An item that is added again while it waits keeps the earlier of the two times and waits once",
		srcDelayingQueue},
	{"DELAY-4", ComponentDelay, CapCore, "Len counts the items that wait", srcDelayingQueue},
	{"DELAY-5", ComponentDelay, CapCore,
		"While nothing waits, Next and PopReady answer false with zero values", "design"},
	{"DELAY-6", ComponentDelay, CapCore,
		"An item that came out may be added again and then waits for its new time only",
		srcDelayingQueue},
	{"DELAY-7", ComponentDelay, CapCore,
		"While something waits, PopReady at the time that Next gives hands out an item",
		"design: the owner sleeps until Next"},
	{"DELAY-8", ComponentDelay, CapCore,
		"Any time will do: zero, before 1970, centuries ahead, with or without a monotonic reading",
		"design"},
	{"DELAY-9", ComponentDelay, CapCore, "No reference to an item is kept after it came out",
		"kubernetes#105031: slots of a queue that kept popped items alive"},
	{"DELAY-10", ComponentDelay, CapExactTime, "An item is ready at exactly its time",
		srcDelayingQueue},
	{"DELAY-11", ComponentDelay, CapExactTime,
		"Items come out in the order of their times; equal times in any order, but see DELAY-20",
		srcDelayingQueue},
	{"DELAY-12", ComponentDelay, CapExactTime, "Next gives exactly the earliest time that waits",
		srcDelayingQueue},
	{"DELAY-13", ComponentDelay, CapCore,
		"Memory follows what waits: when a flood has come out, what it took is given back",
		"golang/go#20135: a map never becomes smaller"},
	{"DELAY-14", ComponentDelay, CapCore,
		"To add an item again, however often and for however much earlier a time, takes no more " +
			"memory than to add it once",
		"design: lazy deletion leaves an entry behind for each earlier time"},
	{"DELAY-15", ComponentDelay, CapCountedWork,
		"What an operation costs stays within what the structure promises, after any history", "design"},
	{"DELAY-16", ComponentDelay, CapGranular,
		"An item is ready less than one granularity after its time", srcWheel},
	{"DELAY-17", ComponentDelay, CapGranular,
		"Of two items whose times lie a granularity or more apart, both ready, the earlier comes out " +
			"first", srcWheel},
	{"DELAY-18", ComponentDelay, CapGranular,
		"Next gives a time from the earliest that waits to less than one granularity after it", srcWheel},
	{"DELAY-19", ComponentDelay, CapAddMany,
		"AddMany leaves the structure as Add of each of the items does, and the slice to its caller " +
			"as it was", "design"},
	{"DELAY-20", ComponentDelay, CapArrivalOrder,
		"Items with the same time that were added once each come out in the order in which they were " +
			"added", srcPriorityQueue},
	{"DELAY-21", ComponentDelay, CapRemove,
		"Remove takes an item out, keeps no reference to it, and reports whether it waited; the " +
			"others come out as without it", srcPriorityQueue},
}
