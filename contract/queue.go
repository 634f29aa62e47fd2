package contract

import (
	"time"

	"k8s.io/client-go/util/workqueue"
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
