package workqueue

import "github.com/informerbench/informerbench/contract"

var _ contract.RateLimitingQueue[string] = (*RateLimitingQueue[string])(nil)

// RateLimitingQueue is a DelayingQueue that asks a limiter how long an item that
// failed should wait.
type RateLimitingQueue[T comparable] struct {
	*DelayingQueue[T]
	limiter contract.RateLimiter[T]
}

// NewRateLimiting returns a queue that asks limiter. newHeap and cfg are as for
// [NewDelaying].
func NewRateLimiting[T comparable](limiter contract.RateLimiter[T],
	newHeap func() contract.DelayHeap[T], cfg Config[T]) *RateLimitingQueue[T] {
	return &RateLimitingQueue[T]{DelayingQueue: NewDelaying(newHeap, cfg), limiter: limiter}
}

// AddRateLimited asks the limiter, which counts a failure, and adds item when
// its delay has passed.
func (q *RateLimitingQueue[T]) AddRateLimited(item T) {
	q.AddAfter(item, q.limiter.When(item))
}

// Forget makes the limiter forget item's failures. Done is still due.
func (q *RateLimitingQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues returns how many failures of item the limiter counts.
func (q *RateLimitingQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }
