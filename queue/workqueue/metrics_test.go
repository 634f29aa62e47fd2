package workqueue_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/ratelimit"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// Each test does the same to our queue and to client-go's, in virtual time: the
// metrics must be the same.
var withMetrics = map[string]func(p *provider, name string) contract.RateLimitingQueue[string]{
	"ours": func(p *provider, name string) contract.RateLimitingQueue[string] {
		return newRateLimiting(workqueue.Config[string]{Name: name, MetricsProvider: p})
	},
	"clientgo": func(p *provider, name string) contract.RateLimitingQueue[string] {
		return clientgo.NewTypedRateLimitingQueueWithConfig(
			clientgo.DefaultTypedControllerRateLimiter[string](),
			clientgo.TypedRateLimitingQueueConfig[string]{Name: name, MetricsProvider: p})
	},
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	for name, newQueue := range withMetrics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProvider()
				q := newQueue(p, "work")
				defer q.ShutDown()

				q.Add("a")
				q.Add("a")
				q.Add("b")
				wantValue(t, p, "adds", 2)
				wantValue(t, p, "depth", 2)
				time.Sleep(2 * time.Second)
				q.Get()
				wantObserved(t, p, "latency", 2)
				wantValue(t, p, "depth", 1)

				time.Sleep(time.Second)
				q.Add("a") // while it is processed
				wantValue(t, p, "adds", 3)
				wantValue(t, p, "depth", 2)
				q.Get()
				time.Sleep(4 * time.Second) // a for 5 s, b for 4 s
				synctest.Wait()
				wantValue(t, p, "unfinished", 9)
				wantValue(t, p, "longest", 5)

				q.Done("a")
				wantObserved(t, p, "work", 5)
				q.Get()
				wantObserved(t, p, "latency", 2, 3, 4)
				wantValue(t, p, "depth", 0)
				q.Done("b")
				q.Done("a")
				q.Done("never added")
				wantObserved(t, p, "work", 5, 4, 0)
				time.Sleep(500 * time.Millisecond)
				synctest.Wait()
				wantValue(t, p, "unfinished", 0)
				wantValue(t, p, "longest", 0)

				q.AddAfter("a", time.Second)
				q.AddAfter("b", 0)
				q.AddRateLimited("c")
				wantValue(t, p, "retries", 3)
				wantValue(t, p, "adds", 4) // b only, so far
				time.Sleep(time.Second)
				synctest.Wait()
				wantValue(t, p, "adds", 6)

				q.ShutDown()
				q.Add("late")
				q.AddAfter("late", 0)
				q.AddAfter("late", time.Second)
				wantValue(t, p, "adds", 6)
				wantValue(t, p, "retries", 3)
			})
		})
	}
}

func TestMetricsAreMadeOnce(t *testing.T) {
	t.Parallel()
	for name, newQueue := range withMetrics {
		p := newProvider()
		newQueue(p, "work").ShutDown()
		made := p.names()
		slices.Sort(made)
		want := []string{"adds:work", "depth:work", "latency:work", "longest:work", "retries:work",
			"unfinished:work", "work:work"}
		if !slices.Equal(made, want) {
			t.Errorf("%s: metrics made: %q, want %q", name, made, want)
		}
	}
	p := newProvider()
	newRateLimiting(workqueue.Config[string]{MetricsProvider: p}).ShutDown()
	workqueue.New(workqueue.Config[string]{MetricsProvider: p}).ShutDown()
	if made := p.names(); len(made) > 0 {
		t.Errorf("queues without a name made metrics: %q", made)
	}
}

// The sum of the times that workers have had their items may be more than a time.Duration holds.
func TestUnfinishedWorkOfManyItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		clock := clocktesting.NewFakeClock(time.Now())
		q := workqueue.New(workqueue.Config[string]{Name: "work", MetricsProvider: p, Clock: clock})
		defer q.ShutDown()
		const items, age = 10_000, 11 * 24 * time.Hour // 301 years
		for i := range items {
			q.Add(fmt.Sprint(i))
			q.Get()
		}
		synctest.Wait()
		clock.Step(age)
		synctest.Wait()
		wantValue(t, p, "unfinished", items*age.Seconds())
		wantValue(t, p, "longest", age.Seconds())
	})
}

// When such an item was added is not known.
func TestAnItemThatDoesNotEqualItselfHasNoLatency(t *testing.T) {
	t.Parallel()
	for name, newQueue := range map[string]func(p *provider) contract.Queue[float64]{
		"ours": func(p *provider) contract.Queue[float64] {
			return workqueue.New(workqueue.Config[float64]{Name: "work", MetricsProvider: p})
		},
		"priority": func(p *provider) contract.Queue[float64] {
			newHeap := func() contract.DelayHeap[float64] { return delay.NewQuadHeap[float64]() }
			return workqueue.NewPriority(always[float64]{}, newHeap,
				workqueue.Config[float64]{Name: "work", MetricsProvider: p})
		},
		"clientgo": func(p *provider) contract.Queue[float64] {
			return clientgo.NewTypedWithConfig(
				clientgo.TypedQueueConfig[float64]{Name: "work", MetricsProvider: p})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider()
			q := newQueue(p)
			q.Add(math.NaN())
			q.Get()
			q.ShutDown()
			wantObserved(t, p, "latency")
		})
	}
}

// While a queue drains, what its workers are busy with is of most interest.
func TestRunningWorkIsMeasuredDuringDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		q := workqueue.New(workqueue.Config[string]{Name: "work", MetricsProvider: p})
		q.Add("a")
		q.Get()
		go q.ShutDownWithDrain()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantValue(t, p, "longest", 3)
		q.Done("a")
		synctest.Wait() // and no goroutine is left, or the bubble says so
	})
}

func TestAddRateLimitedWaitsAsTheLimiterSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewRateLimiting[string](
			ratelimit.NewItemExponentialFailure[string](time.Second, time.Hour), newHeap,
			workqueue.Config[string]{})
		defer q.ShutDown()
		begin := time.Now()
		for n, want := range []time.Duration{1 * time.Second, 3 * time.Second, 7 * time.Second,
			15 * time.Second} {
			q.AddRateLimited("a")
			if got := q.NumRequeues("a"); got != n+1 {
				t.Errorf("NumRequeues = %d after %d failures", got, n+1)
			}
			item, _ := q.Get()
			q.Done(item)
			if got := time.Since(begin); got != want {
				t.Errorf("failure %d comes after %s, want %s", n+1, got, want)
			}
		}
		q.Forget("a")
		q.AddRateLimited("a")
		q.Get()
		if got := time.Since(begin); got != 16*time.Second {
			t.Errorf("after Forget the item comes at %s, want 16s", got)
		}
	})
}

func wantValue(t *testing.T, p *provider, kind string, want float64) {
	t.Helper()
	if got := p.value(kind); got != want {
		t.Errorf("%s = %v, want %v", kind, got, want)
	}
}

func wantObserved(t *testing.T, p *provider, kind string, want ...float64) {
	t.Helper()
	if got := p.observed(kind); !slices.Equal(got, want) {
		t.Errorf("%s observed %v, want %v", kind, got, want)
	}
}
