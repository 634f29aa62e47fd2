package contract

// CapExactTime is the power of a DelayHeap that keeps times exactly. A timing
// wheel, which rounds times up to its granularity, has the core clauses only.
const CapExactTime Capability = "exact-time"

const (
	srcDelayingQueue = `client-go v0.37.2 behaviour "util/workqueue/delaying_queue.go"`
	srcWorkqueue     = `client-go v0.37.2 behaviour "util/workqueue/queue.go"`
	srcRateLimiting  = `client-go v0.37.2 behaviour "util/workqueue/rate_limiting_queue.go"`
	srcPriorityQueue = `controller-runtime v0.25.2 behaviour "pkg/controller/priorityqueue/priorityqueue.go"`
	srcRateLimiters  = `client-go v0.37.2 behaviour "util/workqueue/default_rate_limiters.go"`
)

var delayClauses = []Clause{
	{"DELAY-1", ComponentDelay, CapCore, "PopReady hands out no item whose time is after now", srcDelayingQueue},
	{"DELAY-2", ComponentDelay, CapCore, "Every item that was added comes out, and comes out once", srcDelayingQueue},
	{"DELAY-3", ComponentDelay, CapCore, "An item that is added again while it waits keeps the earlier of the two times and waits once", srcDelayingQueue},
	{"DELAY-4", ComponentDelay, CapCore, "Len counts the items that wait", srcDelayingQueue},
	{"DELAY-5", ComponentDelay, CapCore, "While nothing waits, Next and PopReady answer false with zero values", "design"},
	{"DELAY-6", ComponentDelay, CapCore, "An item that came out may be added again and then waits for its new time only", srcDelayingQueue},
	{"DELAY-7", ComponentDelay, CapCore, "While something waits, PopReady at the time that Next gives hands out an item", "design: the owner sleeps until Next"},
	{"DELAY-8", ComponentDelay, CapCore, "Any time will do: zero, before 1970, centuries ahead, with or without a monotonic reading", "design"},
	{"DELAY-9", ComponentDelay, CapCore, "No reference to an item is kept after it came out", "kubernetes#105031: slots of a queue that kept popped items alive"},
	{"DELAY-10", ComponentDelay, CapExactTime, "An item is ready at exactly its time", srcDelayingQueue},
	{"DELAY-11", ComponentDelay, CapExactTime, "Items come out in the order of their times; equal times in any order", srcDelayingQueue},
	{"DELAY-12", ComponentDelay, CapExactTime, "Next gives exactly the earliest time that waits", srcDelayingQueue},
}
