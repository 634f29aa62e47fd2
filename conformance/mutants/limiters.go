package mutants

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
)

// counter is a limiter that counts, sound but for what its fields change.
type counter struct {
	delay     func(failures int) time.Duration
	count     func(failures int) int
	forget    func(failures int) (left int)
	forgetAll bool
	unknown   bool // Forget of an item that never failed panics
	racy      bool // the count is read and written in two steps
	worst     bool // the delay is that of the item that failed most
	resentful bool // Forget leaves the delay

	mu struct {
		sync.Mutex
		of   map[string]int
		ever map[string]int // without Forget
	}
}

func newCounter() *counter {
	c := &counter{
		delay:  func(int) time.Duration { return 0 },
		count:  func(n int) int { return n },
		forget: func(int) int { return 0 },
	}
	c.mu.of, c.mu.ever = map[string]int{}, map[string]int{}
	return c
}

func (c *counter) When(item string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.mu.of[item]
	if c.racy {
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	c.mu.of[item] = n + 1
	c.mu.ever[item]++
	switch {
	case c.worst:
		n = slices.Max(slices.Collect(maps.Values(c.mu.of))) - 1
	case c.resentful:
		n = c.mu.ever[item] - 1
	}
	return c.delay(n)
}

func (c *counter) NumRequeues(item string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count(c.mu.of[item])
}

func (c *counter) Forget(item string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forgetAll {
		clear(c.mu.of)
	}
	if n, ok := c.mu.of[item]; ok {
		c.mu.of[item] = c.forget(n)
	} else if c.unknown {
		panic("forgetting an item that never failed")
	}
}

// doubling is a sound delay.
func doubling(failures int) time.Duration { return 5 * time.Millisecond << min(failures, 20) }

// Limiters returns the broken rate limiters. The slice belongs to the caller.
func Limiters() []Mutant {
	of := func(name, mistake, clauses string, change func(*counter)) Mutant {
		m := mutant(contract.ComponentLimiter, name, mistake, clauses)
		m.NewLimiter = func() contract.RateLimiter[string] {
			c := newCounter()
			change(c)
			return c
		}
		return m
	}
	powerOfTwo := of("power of two in client-go",
		"2^63 as a float is not more than the largest int64 as a float, and overflows", "LIMIT-1", nil).
		real("https://github.com/kubernetes/client-go/blob/v0.37.2/util/workqueue/default_rate_limiters.go", "")
	powerOfTwo.NewLimiter = func() contract.RateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](1, math.MaxInt64)
	}
	return []Mutant{
		of("delay overflows", "the delay doubles beyond 64 bits", "LIMIT-1", func(c *counter) {
			c.delay = func(n int) time.Duration { return 5 * time.Millisecond << min(n, 42) }
		}).real(inKubernetes, "31396"),
		powerOfTwo,
		of("counts from one", "an item that never failed counts as failed once", "LIMIT-2",
			func(c *counter) { c.count = func(n int) int { return n + 1 } }),
		of("stops counting", "the count ends at a thousand", "LIMIT-3",
			func(c *counter) { c.count = func(n int) int { return min(n, 1000) } }),
		of("forget halves", "Forget halves the count", "LIMIT-4",
			func(c *counter) { c.forget = func(n int) int { return n / 2 } }),
		of("forget of unknown panics", "Forget insists that the item failed", "LIMIT-4",
			func(c *counter) { c.unknown = true }),
		of("forget keeps the delay", "Forget clears the count, and not what the delay is computed from",
			"LIMIT-4", func(c *counter) { c.resentful, c.delay = true, doubling }),
		of("the worst item slows all", "the delay is computed from the largest count", "LIMIT-5",
			func(c *counter) { c.worst, c.delay = true, doubling }),
		of("forget clears all", "Forget of one item forgets all", "LIMIT-5",
			func(c *counter) { c.forgetAll = true }),
		of("loses counts", "the count is read and written under two locks", "LIMIT-6",
			func(c *counter) { c.racy = true }),
	}
}
