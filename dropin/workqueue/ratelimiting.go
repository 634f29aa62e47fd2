package workqueue

import (
	"k8s.io/client-go/util/workqueue"

	ours "github.com/informerbench/informerbench/queue/workqueue"
)

type (
	// RateLimitingInterface is a queue, of items of any type, whose limiter delays retries.
	//
	// Deprecated: use TypedRateLimitingInterface.
	//lint:ignore SA1019 programs that still use the name are to find it
	RateLimitingInterface = workqueue.RateLimitingInterface //nolint:staticcheck // as above
	// TypedRateLimitingInterface is a queue whose limiter delays retries.
	TypedRateLimitingInterface[T comparable] = workqueue.TypedRateLimitingInterface[T]
	// RateLimitingQueueConfig is the configuration of a RateLimitingInterface.
	//
	// Deprecated: use TypedRateLimitingQueueConfig.
	RateLimitingQueueConfig = workqueue.TypedRateLimitingQueueConfig[any]
	// TypedRateLimitingQueueConfig is the configuration of a rate-limiting queue.
	TypedRateLimitingQueueConfig[T comparable] = workqueue.TypedRateLimitingQueueConfig[T]
)

// NewRateLimitingQueue returns a rate-limiting queue without a name, hence without metrics.
//
// Deprecated: use NewTypedRateLimitingQueue.
func NewRateLimitingQueue(rateLimiter RateLimiter) RateLimitingInterface {
	return NewRateLimitingQueueWithConfig(rateLimiter, RateLimitingQueueConfig{})
}

// NewTypedRateLimitingQueue returns a rate-limiting queue without a name, hence without
// metrics.
func NewTypedRateLimitingQueue[T comparable](
	rateLimiter TypedRateLimiter[T]) TypedRateLimitingInterface[T] {
	return NewTypedRateLimitingQueueWithConfig(rateLimiter, TypedRateLimitingQueueConfig[T]{})
}

// NewRateLimitingQueueWithConfig returns a rate-limiting queue.
//
// Deprecated: use NewTypedRateLimitingQueueWithConfig.
func NewRateLimitingQueueWithConfig(rateLimiter RateLimiter,
	config RateLimitingQueueConfig) RateLimitingInterface {
	return NewTypedRateLimitingQueueWithConfig(rateLimiter, config)
}

// NewTypedRateLimitingQueueWithConfig returns a rate-limiting queue, over the configuration's
// DelayingQueue if there is one. Otherwise it runs one goroutine until it is shut down, and
// one more with metrics.
//
// The limiter remembers a failed item until Forget, or for some hours.
func NewTypedRateLimitingQueueWithConfig[T comparable](rateLimiter TypedRateLimiter[T],
	config TypedRateLimitingQueueConfig[T]) TypedRateLimitingInterface[T] {
	if config.DelayingQueue != nil {
		q := &limited[T]{config.DelayingQueue, rateLimiter}
		if p, ok := config.DelayingQueue.(Pausable); ok {
			return struct {
				*limited[T]
				Pausable
			}{q, p}
		}
		return q
	}
	return ours.NewRateLimiting(rateLimiter, newHeap[T], ours.Config[T]{
		Name: config.Name, MetricsProvider: providerOr(config.MetricsProvider, config.Name),
		Clock: config.Clock, Logger: loggerOf(config),
	})
}

// NewNamedRateLimitingQueue returns a rate-limiting queue whose metrics have this name.
//
// Deprecated: use NewTypedRateLimitingQueueWithConfig.
func NewNamedRateLimitingQueue(rateLimiter RateLimiter, name string) RateLimitingInterface {
	return NewRateLimitingQueueWithConfig(rateLimiter, RateLimitingQueueConfig{Name: name})
}

// NewRateLimitingQueueWithDelayingInterface returns a rate-limiting queue over di.
//
// Deprecated: use NewTypedRateLimitingQueueWithConfig.
func NewRateLimitingQueueWithDelayingInterface(di DelayingInterface,
	rateLimiter RateLimiter) RateLimitingInterface {
	return NewRateLimitingQueueWithConfig(rateLimiter, RateLimitingQueueConfig{DelayingQueue: di})
}

// limited delays the retries of a queue that the caller made.
type limited[T comparable] struct {
	TypedDelayingInterface[T]
	limiter TypedRateLimiter[T]
}

func (q *limited[T]) AddRateLimited(item T)  { q.AddAfter(item, q.limiter.When(item)) }
func (q *limited[T]) Forget(item T)          { q.limiter.Forget(item) }
func (q *limited[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }
