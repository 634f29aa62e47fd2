package ratelimit

// The limiters that count each item's failures.

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.RateLimiter[string] = (*ItemExponentialFailure[string])(nil)
	_ contract.RateLimiter[string] = (*ItemFastSlow[string])(nil)
)

// leastKeep is how long the count of an item that fails no more is kept at least.
const leastKeep = time.Hour

// failures counts the failures of each item since it was last forgotten. A program that never
// forgets an item, such as one that was deleted, would keep it for ever (kubernetes#138743). So the
// counts lie in two generations: those of items that have failed since the last turn, and those of
// the turn before, which the next turn drops.
type failures[T comparable] struct {
	keep time.Duration // between two turns, if longer than leastKeep
	mu   struct {
		sync.Mutex
		of, older map[T]int // no item is in both
		turned    time.Time
	}
}

// fail counts one failure and returns how many there were before it.
func (f *failures[T]) fail(item T) (before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep, now := max(leastKeep, f.keep), time.Now()
	if age := now.Sub(f.mu.turned); age >= keep {
		f.mu.older, f.mu.of, f.mu.turned = f.mu.of, map[T]int{}, now
		if age-keep >= keep {
			f.mu.older = nil
		}
	}
	before = f.mu.of[item] + f.mu.older[item]
	delete(f.mu.older, item)
	f.mu.of[item] = before + 1
	return before
}

// keepFor returns failures of an item that waits for at most longest between two of them.
func keepFor[T comparable](longest time.Duration) failures[T] {
	return failures[T]{keep: 2 * min(longest, math.MaxInt64/2)}
}

// NumRequeues returns how often item failed since it was last forgotten.
func (f *failures[T]) NumRequeues(item T) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.of[item] + f.mu.older[item]
}

// Forget clears item's count.
func (f *failures[T]) Forget(item T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mu.of, item)
	delete(f.mu.older, item)
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
	return &ItemExponentialFailure[T]{keepFor[T](max), notNegative(base), notNegative(max)}
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
	return &ItemFastSlow[T]{keepFor[T](max(fast, slow)), notNegative(fast), notNegative(slow),
		maxFastAttempts}
}

// When counts a failure of item and returns its delay.
func (r *ItemFastSlow[T]) When(item T) time.Duration {
	if r.fail(item) < r.maxFastAttempts {
		return r.fast
	}
	return r.slow
}

func notNegative(d time.Duration) time.Duration { return max(d, 0) }
