package ratelimit_test

import (
	"math"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/ratelimit"
)

type limiter = contract.RateLimiter[string]

// The doubling is compared with arithmetic that cannot overflow.
func TestExponentialSaturates(t *testing.T) {
	t.Parallel()
	for _, base := range []time.Duration{0, 1, 2, 3, 1 << 40, 5 * time.Millisecond, time.Second,
		7 * time.Hour, math.MaxInt64/2 + 1, math.MaxInt64} {
		for _, longest := range []time.Duration{0, 1, time.Second, 1000 * time.Second, math.MaxInt64 - 1,
			math.MaxInt64} {
			l := ratelimit.NewItemExponentialFailure[string](base, longest)
			exact, limit := big.NewInt(int64(base)), big.NewInt(int64(longest))
			for n := range 10_000 {
				want := longest
				if exact.Cmp(limit) < 0 {
					want = time.Duration(exact.Int64())
					exact.Lsh(exact, 1)
				}
				if got := l.When("a"); got != want {
					t.Fatalf("base %d, max %d: %d after %d failures, want %d", base, longest, got, n, want)
				}
			}
		}
	}
}

// Where client-go does not overflow (it does at bases that are powers of two),
// ours gives the same delays.
func TestSameDelaysAsClientGo(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct {
		name         string
		ours, theirs limiter
	}{
		{"exponential", ratelimit.NewItemExponentialFailure[string](5*time.Millisecond, 1000*time.Second),
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond,
				1000*time.Second)},
		{"exponential to the end", ratelimit.NewItemExponentialFailure[string](5*time.Millisecond,
			math.MaxInt64),
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, math.MaxInt64)},
		{"base above max", ratelimit.NewItemExponentialFailure[string](time.Hour, time.Second),
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Second)},
		{"fast-slow", ratelimit.NewItemFastSlow[string](time.Millisecond, time.Second, 3),
			workqueue.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Second, 3)},
		{"never fast", ratelimit.NewItemFastSlow[string](time.Millisecond, time.Second, 0),
			workqueue.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Second, 0)},
		{"max-of", ratelimit.NewMaxOf[string](ratelimit.NewItemFastSlow[string](time.Second, 0, 3),
			ratelimit.NewItemExponentialFailure[string](3, math.MaxInt64/2)),
			workqueue.NewTypedMaxOfRateLimiter(
				workqueue.NewTypedItemFastSlowRateLimiter[string](time.Second, 0, 3),
				workqueue.NewTypedItemExponentialFailureRateLimiter[string](3, math.MaxInt64/2))},
		{"max-wait", ratelimit.NewWithMaxWait[string](
			ratelimit.NewItemExponentialFailure[string](3, time.Hour), time.Second),
			workqueue.NewTypedWithMaxWaitRateLimiter(
				workqueue.NewTypedItemExponentialFailureRateLimiter[string](3, time.Hour), time.Second)},
	} {
		t.Run(pair.name, func(t *testing.T) {
			t.Parallel()
			for n := range 3000 {
				item := []string{"a", "b", "a", "c"}[n%4]
				if got, want := pair.ours.When(item), pair.theirs.When(item); got != want {
					t.Fatalf("step %d: When(%q) = %d, client-go %d", n, item, got, want)
				}
				if n%97 == 0 {
					pair.ours.Forget("b")
					pair.theirs.Forget("b")
				}
				if got, want := pair.ours.NumRequeues(item), pair.theirs.NumRequeues(item); got != want {
					t.Fatalf("step %d: NumRequeues(%q) = %d, client-go %d", n, item, got, want)
				}
			}
		})
	}
}

// Time stands still in the bubble, so the delays are exact.
func TestBucketRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.NewBucket[string](rate.NewLimiter(10, 3))
		for n, want := range []time.Duration{0, 0, 0, 100 * time.Millisecond, 200 * time.Millisecond,
			300 * time.Millisecond} {
			if got := l.When("any"); got != want {
				t.Errorf("token %d: %s, want %s", n, got, want)
			}
		}
		time.Sleep(400 * time.Millisecond)
		if got := l.When("other"); got != 0 {
			t.Errorf("after the bucket filled again: %s, want 0", got)
		}
		if got := ratelimit.NewBucket[string](rate.NewLimiter(10, 0)).When("a"); got != rate.InfDuration {
			t.Errorf("a bucket without room answers %s, want rate.InfDuration", got)
		}
	})
}

func TestDefaultControllerIsClientGos(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := ratelimit.DefaultController[int](),
			workqueue.DefaultTypedControllerRateLimiter[int]()
		for n := range 300 {
			if got, want := ours.When(n%7), theirs.When(n%7); got != want {
				t.Fatalf("step %d: %s, client-go %s", n, got, want)
			}
		}
	})
}

func TestForgetReachesEveryLimiter(t *testing.T) {
	t.Parallel()
	inner := ratelimit.NewItemExponentialFailure[string](time.Second, time.Hour)
	l := ratelimit.NewWithMaxWait[string](
		ratelimit.NewMaxOf[string](inner, ratelimit.NewItemFastSlow[string](0, 0, 1)), time.Minute)
	for range 10 {
		l.When("a")
	}
	if got := l.NumRequeues("a"); got != 10 {
		t.Errorf("NumRequeues = %d, want 10", got)
	}
	l.Forget("a")
	if got := l.When("a"); got != time.Second || inner.NumRequeues("a") != 1 {
		t.Errorf("after Forget: %s and %d failures, want the first delay and 1", got,
			inner.NumRequeues("a"))
	}
}

// kubernetes#138743: items that nobody forgets, such as those of deleted objects, go.
func TestItemsThatFailNoMoreGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		newLimiter func() limiter
		keep       time.Duration
	}{
		"exponential": {func() limiter {
			return ratelimit.NewItemExponentialFailure[string](time.Millisecond, 1000*time.Second)
		}, time.Hour},
		"slow": {func() limiter {
			return ratelimit.NewItemFastSlow[string](0, 10*time.Hour, 1)
		}, 20 * time.Hour},
		"never": {func() limiter {
			return ratelimit.NewItemExponentialFailure[string](1, math.MaxInt64)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, keep := c.newLimiter(), c.keep
				if keep == 0 {
					keep = 10 * 365 * 24 * time.Hour
				}
				l.When("gone")
				for n := range 10 {
					l.When("fails on")
					if got := l.NumRequeues("fails on"); got != n+1 {
						t.Fatalf("%d failures, want %d", got, n+1)
					}
					if n == 0 && l.NumRequeues("gone") != 1 {
						t.Fatal("forgotten at once")
					}
					time.Sleep(keep)
				}
				if got, kept := l.NumRequeues("gone"), c.keep == 0; (got == 1) != kept {
					t.Errorf("%d failures of an item that failed %v ago", got, 10*keep)
				}
				l.Forget("fails on")
				if got := l.NumRequeues("fails on"); got != 0 {
					t.Errorf("%d failures after Forget", got)
				}
			})
		})
	}
}
