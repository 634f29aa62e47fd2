package dropin_test

import (
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/limittest"
	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/dropin/workqueue"
)

// What the constructors return keeps the contract, whatever is passed to them.
func TestWorkqueueKeepsTheClauses(t *testing.T) {
	t.Parallel()
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]
	for name, newQueue := range map[string]func(clock.WithTicker) contract.DelayingQueue[string]{
		"delaying": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return workqueue.NewTypedDelayingQueueWithConfig(
				workqueue.TypedDelayingQueueConfig[string]{Clock: c})
		},
		"over-a-queue": func(c clock.WithTicker) contract.DelayingQueue[string] {
			own := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Clock: c})
			return workqueue.NewTypedDelayingQueueWithConfig(
				workqueue.TypedDelayingQueueConfig[string]{Clock: c, Queue: own})
		},
		"rate-limiting": func(c clock.WithTicker) contract.DelayingQueue[string] {
			return workqueue.NewTypedRateLimitingQueueWithConfig(limiter(),
				workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
		},
		"rate-limiting-over-a-delaying-queue": func(c clock.WithTicker) contract.DelayingQueue[string] {
			own := workqueue.NewTypedDelayingQueueWithConfig(
				workqueue.TypedDelayingQueueConfig[string]{Clock: c})
			return workqueue.NewTypedRateLimitingQueueWithConfig(limiter(),
				workqueue.TypedRateLimitingQueueConfig[string]{Clock: c, DelayingQueue: own})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, newQueue, brief)
		})
	}
	for name, newLimiter := range map[string]func() contract.RateLimiter[string]{
		"default":    limiter,
		"item-based": workqueue.DefaultTypedItemBasedRateLimiter[string],
		"exponential": func() contract.RateLimiter[string] {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Hour)
		},
		"fastslow": func() contract.RateLimiter[string] {
			return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Second, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limittest.Run(t, newLimiter)
		})
	}
}
