package limittest

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestClientGoPasses(t *testing.T) {
	t.Parallel()
	for name, newLimiter := range map[string]constructor{
		"exponential": func() contract.RateLimiter[string] {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
		},
		"fast-slow": func() contract.RateLimiter[string] {
			return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Second, 3)
		},
		"bucket": func() contract.RateLimiter[string] {
			return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 100)}
		},
		"controller": workqueue.DefaultTypedControllerRateLimiter[string],
	} {
		t.Run(name, func(t *testing.T) { Run(t, newLimiter) })
	}
}

func TestEveryClauseHasACase(t *testing.T) {
	for _, clause := range contract.ClausesOf(contract.ComponentLimiter) {
		if !slices.ContainsFunc(cases, func(c suite.Case[constructor]) bool { return c.Clause == clause.ID }) {
			t.Errorf("%s has no case", clause)
		}
	}
}

// mutant counts correctly but for what its fields change.
type mutant struct {
	mu struct {
		sync.Mutex
		of map[string]int
	}
	delay     func(failures int) time.Duration
	key       func(item string) string
	count     func(failures int) int
	forget    func(failures int) (left int)
	forgetAll bool
	unknown   bool // Forget of an unknown item panics
	racy      bool // reads and writes the count in two steps
}

func (m *mutant) When(item string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	item = m.key(item)
	n := m.mu.of[item]
	if m.racy {
		m.mu.Unlock()
		runtime.Gosched()
		m.mu.Lock()
	}
	m.mu.of[item] = n + 1
	return m.delay(n)
}

func (m *mutant) NumRequeues(item string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count(m.mu.of[m.key(item)])
}

func (m *mutant) Forget(item string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	item = m.key(item)
	if m.forgetAll {
		clear(m.mu.of)
	}
	if n, ok := m.mu.of[item]; ok {
		m.mu.of[item] = m.forget(n)
	} else if m.unknown {
		panic("forgetting an item that never failed")
	}
}

func TestMistakesAreCaught(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		name, clause string
		change       func(*mutant)
	}{
		{"delay overflows", "LIMIT-1", func(m *mutant) { m.delay = func(n int) time.Duration { return 5 * time.Millisecond << min(n, 42) } }},
		{"float that meets 2^63", "LIMIT-1", func(m *mutant) {
			m.delay = func(n int) time.Duration { return time.Duration(uint64(1) << min(n, 63)) }
		}},
		{"counts from one", "LIMIT-2", func(m *mutant) { m.count = func(n int) int { return n + 1 } }},
		{"stops counting", "LIMIT-3", func(m *mutant) { m.count = func(n int) int { return min(n, 1000) } }},
		{"forget leaves one", "LIMIT-4", func(m *mutant) { m.forget = func(int) int { return 1 } }},
		{"forget halves", "LIMIT-4", func(m *mutant) { m.forget = func(n int) int { return n / 2 } }},
		{"forget of unknown panics", "LIMIT-4", func(m *mutant) { m.unknown = true }},
		{"items share a count", "LIMIT-5", func(m *mutant) { m.key = func(string) string { return "all" } }},
		{"forget clears all", "LIMIT-5", func(m *mutant) { m.forgetAll = true }},
		{"loses counts", "LIMIT-6", func(m *mutant) { m.racy = true }},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			err := Check(func() contract.RateLimiter[string] {
				l := &mutant{
					delay:  func(int) time.Duration { return 0 },
					key:    func(item string) string { return item },
					count:  func(n int) int { return n },
					forget: func(int) int { return 0 },
				}
				l.mu.of = map[string]int{}
				m.change(l)
				return l
			}, suite.Only(m.clause))
			var failure *suite.Failure
			if !errors.As(err, &failure) || failure.Clause.ID != m.clause || strings.Contains(failure.Reason, "still running") {
				t.Errorf("want a failure of %s, got %v", m.clause, err)
			}
		})
	}
}

func TestPowerOfTwoBaseOverflowsInClientGo(t *testing.T) {
	t.Parallel()
	err := Check(func() contract.RateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](1, 1<<63-1)
	}, suite.Only("LIMIT-1"))
	if err == nil {
		t.Error("client-go passes: it has been mended, and the source of LIMIT-1 should say so")
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	if err := Check(workqueue.DefaultTypedControllerRateLimiter[string], Waive("LIMIT-99", "no such clause")); err == nil || !strings.Contains(err.Error(), "LIMIT-99") {
		t.Errorf("an unknown clause is waived without a word: %v", err)
	}
}
