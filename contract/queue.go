package contract

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// DelayHeap holds items that wait for their time. One goroutine owns it: no
// method may be called while another runs. Clauses DELAY-*.
type DelayHeap[T comparable] interface {
	// Add makes item wait until readyAt; an item already waiting keeps the
	// earlier of the two times.
	Add(item T, readyAt time.Time)
	// Next returns the earliest time waiting.
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

// BatchDelayHeap is a DelayHeap that takes in many items at once, for less than one
// by one: where a million wait, an Add is a row of cache misses, each of which must be
// waited for before the next is known, and those of several items can be waited for
// together. Clause DELAY-19.
type BatchDelayHeap[T comparable] interface {
	DelayHeap[T]
	// AddMany is Add of each of the items. It reads the slice and keeps nothing of it.
	AddMany(items []Waiting[T])
}

// ArrivalOrdered is the power of a DelayHeap that hands out items of equal times in the
// order in which they were added. An item that is added again while it waits may keep its
// place or lose it. Clause DELAY-20.
type ArrivalOrdered interface {
	// InArrivalOrder does nothing: it is there to be found.
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

// AddOptions says how a [PriorityQueue] is to add items. The fields are those of
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

// PriorityQueue is a RateLimitingQueue that hands out items of higher priority
// first. An item is in it once: one that is added again takes the higher of the
// priorities and the earlier of the times. Clauses QUEUE-31 to QUEUE-38 and QUEUE-40.
//
// With AddOpts in the place of AddOptions it is controller-runtime's interface of
// this name.
type PriorityQueue[T comparable] interface {
	RateLimitingQueue[T]
	// AddWithOpts adds each of items as o says.
	AddWithOpts(o AddOptions, items ...T)
	// GetWithPriority is Get, and gives the item's priority.
	GetWithPriority() (item T, priority int, shutdown bool)
}

// QueueConfig is how a queue is made whose constructor takes more than a clock. The
// conformance suite asks for such queues, and a constructor is to use every field.
// Clauses QUEUE-41 to QUEUE-45 and QUEUE-47.
type QueueConfig struct {
	Clock clock.WithTicker
	// Name and MetricsProvider say where the queue counts what it does. One that lacks
	// either counts nothing.
	Name            string
	MetricsProvider workqueue.MetricsProvider
	// Limiter is a rate-limiting queue's; nil leaves the choice to the constructor.
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

// PriorityMetricsProvider is a MetricsProvider that can tell priorities apart. A queue
// with priorities then has the depth that NewPriorityDepthMetric makes, in place of
// NewDepthMetric's. Clause QUEUE-45.
type PriorityMetricsProvider interface {
	workqueue.MetricsProvider
	NewPriorityDepthMetric(name string) PriorityDepthMetric
}
