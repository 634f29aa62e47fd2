package contract

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// DelayHeap holds items until their time comes. One goroutine owns it: no method may be
// called while another runs. Clauses DELAY-*.
type DelayHeap[T comparable] interface {
	// Add makes item wait until readyAt. An item that already waits keeps the earlier of
	// the two times.
	Add(item T, readyAt time.Time)
	// Next returns the earliest time of all waiting items; ok is false if none waits.
	Next() (readyAt time.Time, ok bool)
	// PopReady takes out the earliest item if its time is not after now.
	PopReady(now time.Time) (item T, ok bool)
	// Len returns how many items wait.
	Len() int
}

// Waiting is an item and the time that it waits for.
type Waiting[T comparable] struct {
	Item    T
	ReadyAt time.Time
}

// BatchDelayHeap is a DelayHeap that adds many items at once, at a lower cost per item. In
// a heap of a million items an Add is a chain of cache misses, each needed to find the
// next. AddMany can overlap the misses of several items. Clause DELAY-19.
type BatchDelayHeap[T comparable] interface {
	DelayHeap[T]
	// AddMany adds each of the items as Add does. It does not retain the slice.
	AddMany(items []Waiting[T])
}

// RemovingDelayHeap is a DelayHeap that can take out an item before its time. Clause DELAY-21.
type RemovingDelayHeap[T comparable] interface {
	DelayHeap[T]
	// Remove takes item out, and reports whether it waited.
	Remove(item T) (waited bool)
}

// ArrivalOrdered marks a DelayHeap that hands out items of equal times in the order in
// which they were added. An item that is added again while it waits may keep its place or
// lose it. Clause DELAY-20.
type ArrivalOrdered interface {
	// InArrivalOrder does nothing. A type assertion looks for it.
	InArrivalOrder()
}

type (
	// Queue is client-go's de-duplicating workqueue. Clauses QUEUE-*.
	Queue[T comparable] = workqueue.TypedInterface[T]
	// DelayingQueue adds AddAfter to Queue.
	DelayingQueue[T comparable] = workqueue.TypedDelayingInterface[T]
	// RateLimitingQueue adds AddRateLimited, Forget and NumRequeues to DelayingQueue.
	RateLimitingQueue[T comparable] = workqueue.TypedRateLimitingInterface[T]
	// RateLimiter says how long an item should wait before its next try. Clauses LIMIT-*.
	RateLimiter[T comparable] = workqueue.TypedRateLimiter[T]
)

// AddOptions says how a [PriorityQueue] adds items. The fields are those of
// controller-runtime's priorityqueue.AddOpts, in its order: the two types convert
// into each other.
type AddOptions struct {
	// After is the delay; zero or less adds at once.
	After time.Duration
	// RateLimited asks the limiter for a delay; if After is above zero too, the
	// shorter of the two counts.
	RateLimited bool
	// Priority is the items' priority, higher ones first; nil is zero.
	Priority *int
}

// PriorityQueue is a RateLimitingQueue that hands out items of higher priority first. An
// item waits in it once. An item that is added again takes the higher of the two priorities
// and the earlier of the two times. Clauses QUEUE-31 to QUEUE-38 and QUEUE-40.
//
// With AddOpts in the place of AddOptions it is controller-runtime's interface of this
// name.
type PriorityQueue[T comparable] interface {
	RateLimitingQueue[T]
	// AddWithOpts adds each of items with the options o.
	AddWithOpts(o AddOptions, items ...T)
	// GetWithPriority is Get that also returns the item's priority.
	GetWithPriority() (item T, priority int, shutdown bool)
}

// Pausable is a queue that can be kept from handing out items. It is client-go v0.38's interface
// of this name. Clauses QUEUE-50 to QUEUE-52.
type Pausable interface {
	// Pause makes Get wait until Resume, whatever is ready, or return shutdown = true.
	Pause()
	// Resume ends Pause, however often that was called.
	Resume()
}

// QueueConfig configures a queue whose constructor takes more than a clock. The conformance
// suite constructs such queues, and the constructor must use every field. Clauses QUEUE-22,
// QUEUE-28, QUEUE-36, QUEUE-39, QUEUE-41 to QUEUE-45, QUEUE-47 and QUEUE-49.
type QueueConfig struct {
	// Clock is the queue's clock; nil means the system's.
	Clock clock.WithTicker
	// Name and MetricsProvider name and make the queue's metrics. A queue that lacks either
	// has no metrics.
	Name            string
	MetricsProvider workqueue.MetricsProvider
	// Limiter is the limiter of a rate-limiting queue; nil leaves the choice to the constructor.
	Limiter RateLimiter[string]
	// Order holds the ready items and decides which is next; nil means first in, first
	// out. A queue with priorities ignores it.
	Order workqueue.Queue[string]
	// Turn makes a queue with priorities fair: of Turn Gets in a row, at least one returns the
	// item that has been ready longest, whatever its priority. Zero leaves the choice to the
	// constructor; below zero the queue never goes by age.
	Turn int
}

// PriorityDepthMetric counts the ready items of each priority.
type PriorityDepthMetric interface {
	Inc(priority int)
	Dec(priority int)
}

// PriorityMetricsProvider is a MetricsProvider with a depth metric for each priority. A
// queue with priorities then uses NewPriorityDepthMetric in place of NewDepthMetric. Clause
// QUEUE-45.
type PriorityMetricsProvider interface {
	workqueue.MetricsProvider
	NewPriorityDepthMetric(name string) PriorityDepthMetric
}
