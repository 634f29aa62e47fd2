package workqueue

import (
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/queue/ratelimit"
)

type (
	// RateLimiter delays failed items of any type.
	//
	// Deprecated: use TypedRateLimiter.
	//lint:ignore SA1019 programs that still use the name are to find it
	RateLimiter = workqueue.RateLimiter //nolint:staticcheck // as above
	// TypedRateLimiter delays failed items.
	TypedRateLimiter[T comparable] = workqueue.TypedRateLimiter[T]

	// BucketRateLimiter is a TypedBucketRateLimiter for items of any type.
	//
	// Deprecated: use TypedBucketRateLimiter.
	BucketRateLimiter = workqueue.TypedBucketRateLimiter[any]
	// TypedBucketRateLimiter delays all items together by a token bucket. Callers make one
	// themselves, so it is client-go's.
	TypedBucketRateLimiter[T comparable] = workqueue.TypedBucketRateLimiter[T]

	// ItemExponentialFailureRateLimiter is a TypedItemExponentialFailureRateLimiter for items
	// of any type.
	//
	// Deprecated: use TypedItemExponentialFailureRateLimiter.
	ItemExponentialFailureRateLimiter = TypedItemExponentialFailureRateLimiter[any]
	// TypedItemExponentialFailureRateLimiter doubles an item's delay with each failure.
	TypedItemExponentialFailureRateLimiter[T comparable] = ratelimit.ItemExponentialFailure[T]

	// ItemFastSlowRateLimiter is a TypedItemFastSlowRateLimiter for items of any type.
	//
	// Deprecated: use TypedItemFastSlowRateLimiter.
	ItemFastSlowRateLimiter = TypedItemFastSlowRateLimiter[any]
	// TypedItemFastSlowRateLimiter retries fast for some attempts, and slowly from then on.
	TypedItemFastSlowRateLimiter[T comparable] = ratelimit.ItemFastSlow[T]

	// MaxOfRateLimiter is a TypedMaxOfRateLimiter for items of any type.
	//
	// Deprecated: use TypedMaxOfRateLimiter.
	MaxOfRateLimiter = TypedMaxOfRateLimiter[any]
	// TypedMaxOfRateLimiter asks several limiters and takes the longest delay.
	TypedMaxOfRateLimiter[T comparable] = ratelimit.MaxOf[T]

	// WithMaxWaitRateLimiter is a TypedWithMaxWaitRateLimiter for items of any type.
	//
	// Deprecated: use TypedWithMaxWaitRateLimiter.
	WithMaxWaitRateLimiter = TypedWithMaxWaitRateLimiter[any]
	// TypedWithMaxWaitRateLimiter bounds the delays of a limiter.
	TypedWithMaxWaitRateLimiter[T comparable] = ratelimit.WithMaxWait[T]
)

// DefaultControllerRateLimiter is DefaultTypedControllerRateLimiter for items of any type.
//
// Deprecated: use DefaultTypedControllerRateLimiter.
func DefaultControllerRateLimiter() RateLimiter { return DefaultTypedControllerRateLimiter[any]() }

// DefaultTypedControllerRateLimiter returns the longer of two delays: 5 ms that double with
// each failure of the item up to 1,000 s, and a token bucket of 10 items a second, 100 at
// once.
func DefaultTypedControllerRateLimiter[T comparable]() TypedRateLimiter[T] {
	return ratelimit.DefaultController[T]()
}

// NewItemExponentialFailureRateLimiter is NewTypedItemExponentialFailureRateLimiter for items
// of any type.
//
// Deprecated: use NewTypedItemExponentialFailureRateLimiter.
func NewItemExponentialFailureRateLimiter(baseDelay time.Duration,
	maxDelay time.Duration) RateLimiter {
	return NewTypedItemExponentialFailureRateLimiter[any](baseDelay, maxDelay)
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter whose delay is baseDelay, twice
// as long after each failure, and never longer than maxDelay.
func NewTypedItemExponentialFailureRateLimiter[T comparable](baseDelay time.Duration,
	maxDelay time.Duration) TypedRateLimiter[T] {
	return ratelimit.NewItemExponentialFailure[T](baseDelay, maxDelay)
}

// DefaultItemBasedRateLimiter is DefaultTypedItemBasedRateLimiter for items of any type.
//
// Deprecated: use DefaultTypedItemBasedRateLimiter.
func DefaultItemBasedRateLimiter() RateLimiter { return DefaultTypedItemBasedRateLimiter[any]() }

// DefaultTypedItemBasedRateLimiter returns a delay of 1 ms that doubles with each failure up to
// 1,000 s.
func DefaultTypedItemBasedRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedItemExponentialFailureRateLimiter[T](time.Millisecond, 1000*time.Second)
}

// NewItemFastSlowRateLimiter is NewTypedItemFastSlowRateLimiter for items of any type.
//
// Deprecated: use NewTypedItemFastSlowRateLimiter.
func NewItemFastSlowRateLimiter(fastDelay, slowDelay time.Duration,
	maxFastAttempts int) RateLimiter {
	return NewTypedItemFastSlowRateLimiter[any](fastDelay, slowDelay, maxFastAttempts)
}

// NewTypedItemFastSlowRateLimiter returns a limiter whose delay is fastDelay for
// maxFastAttempts failures, and slowDelay after that.
func NewTypedItemFastSlowRateLimiter[T comparable](fastDelay, slowDelay time.Duration,
	maxFastAttempts int) TypedRateLimiter[T] {
	return ratelimit.NewItemFastSlow[T](fastDelay, slowDelay, maxFastAttempts)
}

// NewMaxOfRateLimiter is NewTypedMaxOfRateLimiter for items of any type.
//
// Deprecated: use NewTypedMaxOfRateLimiter.
func NewMaxOfRateLimiter(limiters ...TypedRateLimiter[any]) RateLimiter {
	return NewTypedMaxOfRateLimiter(limiters...)
}

// NewTypedMaxOfRateLimiter returns a limiter that asks all limiters and takes the longest
// delay.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	return ratelimit.NewMaxOf(limiters...)
}

// NewWithMaxWaitRateLimiter is NewTypedWithMaxWaitRateLimiter for items of any type.
//
// Deprecated: use NewTypedWithMaxWaitRateLimiter.
func NewWithMaxWaitRateLimiter(limiter RateLimiter, maxDelay time.Duration) RateLimiter {
	return NewTypedWithMaxWaitRateLimiter[any](limiter, maxDelay)
}

// NewTypedWithMaxWaitRateLimiter returns a limiter whose delays are those of limiter, and never
// longer than maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](limiter TypedRateLimiter[T],
	maxDelay time.Duration) TypedRateLimiter[T] {
	return ratelimit.NewWithMaxWait(limiter, maxDelay)
}
