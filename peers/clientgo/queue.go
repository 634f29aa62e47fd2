package clientgo

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// itemLimiter is the limiter that every rate-limiting peer is given: per item,
// from 5 ms to 1,000 s. The overall token bucket of the default limiter would
// hide the queue behind its 10 adds a second.
func itemLimiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond,
		1000*time.Second)
}

// NewQueue returns client-go's rate-limiting workqueue.
func NewQueue(c clock.WithTicker) contract.DelayingQueue[string] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(itemLimiter(),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
}

// NewConfiguredQueue is NewQueue with a configuration.
func NewConfiguredQueue(cfg contract.QueueConfig) contract.DelayingQueue[string] {
	if cfg.Limiter == nil {
		cfg.Limiter = itemLimiter()
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

// NewDefaultLimiter returns client-go's default limiter of controllers.
func NewDefaultLimiter() contract.RateLimiter[string] {
	return workqueue.DefaultTypedControllerRateLimiter[string]()
}

// NewExponentialLimiter returns client-go's per-item exponential limiter with
// the default limiter's bounds.
func NewExponentialLimiter() contract.RateLimiter[string] { return itemLimiter() }

// NewFastSlowLimiter returns client-go's limiter of five quick tries, then slow ones.
func NewFastSlowLimiter() contract.RateLimiter[string] {
	return workqueue.NewTypedItemFastSlowRateLimiter[string](5*time.Millisecond, 10*time.Second, 5)
}
