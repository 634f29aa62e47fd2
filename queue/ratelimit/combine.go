package ratelimit

// The limiters that do not look at one item's failures: the token bucket that all items
// share, and limiters made of limiters.

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.RateLimiter[string] = (*Bucket[string])(nil)
	_ contract.RateLimiter[string] = (*MaxOf[string])(nil)
	_ contract.RateLimiter[string] = (*WithMaxWait[string])(nil)
)

// Bucket makes all items share one token bucket. It keeps no count of failures:
// NumRequeues is always zero.
type Bucket[T comparable] struct {
	limiter *rate.Limiter
}

// NewBucket returns a limiter over limiter, which others may use as well.
func NewBucket[T comparable](limiter *rate.Limiter) *Bucket[T] {
	return &Bucket[T]{limiter: limiter}
}

// When takes a token and returns the time until it is there. A bucket without
// room for one token answers rate.InfDuration.
func (r *Bucket[T]) When(T) time.Duration {
	now := time.Now()
	return r.limiter.ReserveN(now, 1).DelayFrom(now)
}

// NumRequeues is zero: a bucket does not know its items.
func (r *Bucket[T]) NumRequeues(T) int { return 0 }

// Forget does nothing: a token that was taken stays taken.
func (r *Bucket[T]) Forget(T) {}

// MaxOf asks several limiters and takes the worst answer.
type MaxOf[T comparable] struct {
	limiters []contract.RateLimiter[T]
}

// NewMaxOf returns a limiter that asks each of limiters, every time, and takes
// the longest delay and the highest count; without limiters both are zero.
func NewMaxOf[T comparable](limiters ...contract.RateLimiter[T]) *MaxOf[T] {
	return &MaxOf[T]{limiters: limiters}
}

// When asks every limiter, so each counts the failure, and returns the longest delay.
func (r *MaxOf[T]) When(item T) time.Duration {
	var longest time.Duration
	for _, l := range r.limiters {
		longest = max(longest, l.When(item))
	}
	return longest
}

// NumRequeues returns the highest count.
func (r *MaxOf[T]) NumRequeues(item T) int {
	var highest int
	for _, l := range r.limiters {
		highest = max(highest, l.NumRequeues(item))
	}
	return highest
}

// Forget tells every limiter.
func (r *MaxOf[T]) Forget(item T) {
	for _, l := range r.limiters {
		l.Forget(item)
	}
}

// WithMaxWait caps another limiter's delays.
type WithMaxWait[T comparable] struct {
	contract.RateLimiter[T]
	max time.Duration
}

// NewWithMaxWait returns a limiter that answers as limiter does but never waits
// longer than max. A max below zero counts as zero.
func NewWithMaxWait[T comparable](limiter contract.RateLimiter[T],
	max time.Duration) *WithMaxWait[T] {
	return &WithMaxWait[T]{RateLimiter: limiter, max: notNegative(max)}
}

// When returns the other limiter's delay, at most max and not below zero.
func (r WithMaxWait[T]) When(item T) time.Duration {
	return min(notNegative(r.RateLimiter.When(item)), r.max)
}

// DefaultController returns client-go's default limiter for controllers. Each item backs
// off from 5 ms, doubling to 1000 s. All items together get 10 tries a second after a burst
// of 100.
func DefaultController[T comparable]() *MaxOf[T] {
	return NewMaxOf[T](
		NewItemExponentialFailure[T](5*time.Millisecond, 1000*time.Second),
		NewBucket[T](rate.NewLimiter(10, 100)),
	)
}
