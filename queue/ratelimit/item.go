package ratelimit

// The limiters that count each item's failures.

import (
	"math/bits"
	"sync"
	"time"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.RateLimiter[string] = (*ItemExponentialFailure[string])(nil)
	_ contract.RateLimiter[string] = (*ItemFastSlow[string])(nil)
)

// failures counts the failures of each item since it was last forgotten.
type failures[T comparable] struct {
	mu struct {
		sync.Mutex
		of map[T]int
	}
}

// fail counts one failure and returns how many there were before it.
func (f *failures[T]) fail(item T) (before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.of == nil {
		f.mu.of = map[T]int{}
	}
	before = f.mu.of[item]
	f.mu.of[item] = before + 1
	return before
}

// NumRequeues returns how often item failed since it was last forgotten.
func (f *failures[T]) NumRequeues(item T) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.of[item]
}

// Forget clears item's count.
func (f *failures[T]) Forget(item T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mu.of, item)
}

// ItemExponentialFailure doubles an item's delay with each failure.
type ItemExponentialFailure[T comparable] struct {
	failures[T]
	base, max time.Duration
}

// NewItemExponentialFailure returns a limiter whose delay is base * 2^failures,
// and max where that is more. No number of failures overflows. A base or a max
// below zero counts as zero.
func NewItemExponentialFailure[T comparable](base, max time.Duration) *ItemExponentialFailure[T] {
	return &ItemExponentialFailure[T]{base: notNegative(base), max: notNegative(max)}
}

// When counts a failure of item and returns its delay.
func (r *ItemExponentialFailure[T]) When(item T) time.Duration {
	// base << n stays below 2^63 as long as n is less than base's leading zeros.
	n := r.fail(item)
	if r.base > 0 && n >= bits.LeadingZeros64(uint64(r.base)) {
		return r.max
	}
	return min(r.base<<n, r.max)
}

// ItemFastSlow retries fast for a number of attempts and slowly from then on.
type ItemFastSlow[T comparable] struct {
	failures[T]
	fast, slow      time.Duration
	maxFastAttempts int
}

// NewItemFastSlow returns a limiter that answers fast for an item's first
// maxFastAttempts failures and slow after. A delay below zero counts as zero.
func NewItemFastSlow[T comparable](fast, slow time.Duration, maxFastAttempts int) *ItemFastSlow[T] {
	return &ItemFastSlow[T]{fast: notNegative(fast), slow: notNegative(slow),
		maxFastAttempts: maxFastAttempts}
}

// When counts a failure of item and returns its delay.
func (r *ItemFastSlow[T]) When(item T) time.Duration {
	if r.fail(item) < r.maxFastAttempts {
		return r.fast
	}
	return r.slow
}

func notNegative(d time.Duration) time.Duration { return max(d, 0) }
