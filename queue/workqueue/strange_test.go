package workqueue_test

// Arguments that no controller means to give, and that a division by zero gives.

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// strange has every kind of rate-limiting queue of T.
func strange[T comparable](
	limiter contract.RateLimiter[T]) map[string]func() contract.RateLimitingQueue[T] {
	newHeap := func() contract.DelayHeap[T] { return delay.NewQuadHeap[T]() }
	return map[string]func() contract.RateLimitingQueue[T]{
		"ours": func() contract.RateLimitingQueue[T] {
			return workqueue.NewRateLimiting(limiter, newHeap, workqueue.Config[T]{})
		},
		"priority": func() contract.RateLimitingQueue[T] {
			return workqueue.NewPriority(limiter, newHeap, workqueue.Config[T]{})
		},
		"clientgo": func() contract.RateLimitingQueue[T] {
			return clientgo.NewTypedRateLimitingQueue(limiter)
		},
	}
}

// always is a limiter of one delay.
type always[T comparable] struct{ delay time.Duration }

func (l always[T]) When(T) time.Duration { return l.delay }
func (always[T]) Forget(T)               {}
func (always[T]) NumRequeues(T) int      { return 0 }

// A delay below zero adds at once: it is what a processor makes of a delay that was
// computed as not a number. The longest delay there is waits, and stops nothing.
func TestStrangeDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		delay  time.Duration
		atOnce bool
	}{
		{math.MinInt64, true}, {-1, true}, {0, true}, {1, false}, {math.MaxInt64, false},
		{math.MaxInt64 - 1, false},
	} {
		for name, newQueue := range strange[string](always[string]{c.delay}) {
			t.Run(fmt.Sprint(name, " ", int64(c.delay)), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					q := newQueue()
					q.AddAfter("a", c.delay)
					q.AddRateLimited("b")
					synctest.Wait()
					want := 0
					if c.atOnce {
						want = 2
					}
					if q.Len() != want {
						t.Errorf("%d items are ready at once, want %d", q.Len(), want)
					}
					q.AddAfter("c", time.Second) // the item that waits for ever does not hold it up
					time.Sleep(time.Minute)
					synctest.Wait()
					if c.delay == 1 {
						want = 2
					}
					if q.Len() != want+1 {
						t.Errorf("%d items are ready after a minute, want %d", q.Len(), want+1)
					}
					q.ShutDown()
				})
			})
		}
	}
}

// An item that does not equal itself cannot be found again. It is handed out once for each
// Add, as by client-go, and stops nothing.
func TestItemsThatDoNotEqualThemselves(t *testing.T) {
	t.Parallel()
	for name, newQueue := range strange[float64](always[float64]{time.Second}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				for range 3 {
					q.Add(math.NaN())
				}
				const later = 100 // enough for a table to be made anew
				for range later {
					q.AddAfter(math.NaN(), time.Second)
				}
				q.AddAfter(7, 2*time.Second)
				time.Sleep(time.Minute)
				synctest.Wait()
				if q.Len() != 3+later+1 {
					t.Errorf("%d items are ready, want %d", q.Len(), 3+later+1)
				}
				for q.Len() > 0 {
					item, _ := q.Get()
					q.Done(item)
				}
				q.Add(7)
				if item, _ := q.Get(); item != 7 {
					t.Errorf("got %v, want 7", item)
				}
				q.Done(7)
				q.ShutDown()
			})
		})
	}
}
