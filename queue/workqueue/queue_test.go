package workqueue_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	clientgo "k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// request stands for controller-runtime's reconcile.Request.
type request struct{ namespace, name string }

// It compiles: this is the type of controller.TypedOptions.NewQueue.
var _ func(string, clientgo.TypedRateLimiter[request]) clientgo.TypedRateLimitingInterface[request] = newControllerQueue

func newControllerQueue(name string,
	limiter clientgo.TypedRateLimiter[request]) clientgo.TypedRateLimitingInterface[request] {
	return workqueue.NewRateLimiting(limiter, func() contract.DelayHeap[request] {
		return delay.NewQuadHeap[request]()
	}, workqueue.Config[request]{Name: name})
}

func TestControllersQueue(t *testing.T) {
	t.Parallel()
	q := newControllerQueue("pods", clientgo.DefaultTypedControllerRateLimiter[request]())
	defer q.ShutDown()
	q.AddRateLimited(request{"default", "web"})
	if got, _ := q.Get(); got != (request{"default", "web"}) {
		t.Errorf("Get = %v", got)
	}
}

// stack is an Order: the last item first, and an item that is touched is moved
// to the top.
type stack []string

func (s *stack) Push(item string) { *s = append(*s, item) }
func (s *stack) Len() int         { return len(*s) }
func (s *stack) Touch(item string) {
	i := slices.Index(*s, item)
	*s = append(slices.Delete(*s, i, i+1), item)
}
func (s *stack) Pop() string {
	last := len(*s) - 1
	item := (*s)[last]
	*s = (*s)[:last]
	return item
}

func TestOrderIsTheCallers(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Config[string]{Order: &stack{}})
	for _, item := range []string{"a", "b", "c", "a"} {
		q.Add(item)
	}
	if got, _ := q.Get(); got != "a" {
		t.Errorf("Get = %q, want the touched item", got)
	}
	q.Add("a") // is processed: nothing to touch
	q.Add("a")
	if got, _ := q.Get(); got != "c" {
		t.Errorf("Get = %q, want %q", got, "c")
	}
}

// More items come due at once than the moving goroutine takes in one batch. They come in the
// order of their times, whatever heaps they lie in.
func TestManyDueAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ heaps, n int }{
		{1, 1000}, {2, 1000}, {8, 1000},
		{8, 300}, // after the first batch the rest is in the runs alone
	} {
		t.Run(fmt.Sprint("heaps=", c.heaps, ",n=", c.n), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				heaps, n := c.heaps, c.n
				clock := clocktesting.NewFakeClock(time.Now())
				q := workqueue.NewDelaying(newHeap, workqueue.Config[string]{Heaps: heaps, Clock: clock})
				defer q.ShutDown()
				for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
					q.AddAfter(fmt.Sprint(i), time.Minute+time.Duration(i)*time.Millisecond)
				}
				synctest.Wait()
				clock.Step(time.Hour)
				synctest.Wait()
				if got := q.Len(); got != n {
					t.Fatalf("%d items are ready, want %d", got, n)
				}
				for i := range n {
					if item, _ := q.Get(); item != fmt.Sprint(i) {
						t.Fatalf("the item %s came at place %d", item, i)
					}
				}
			})
		})
	}
}

// A delay beyond the end of time waits; it does not wrap to the past.
func TestLongestDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewDelaying(newHeap, workqueue.Config[string]{})
		q.AddAfter("never", math.MaxInt64)
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		if got := q.Len(); got != 0 {
			t.Errorf("%d items are ready, want none", got)
		}
		q.ShutDown()
	})
}

// steppingHeap steps a clock within its first Next: between the alarm's reading of the time and its
// setting of the timer.
type steppingHeap struct {
	contract.DelayHeap[string]
	step func()
}

func (h *steppingHeap) Next() (time.Time, bool) {
	if h.Len() > 0 && h.step != nil {
		h.step()
		h.step = nil
	}
	return h.DelayHeap.Next()
}

// An item that comes due while the queue moves others is ready at once, and not as long after the
// timer was set as it would have waited before.
func TestItemComesDueWhileTheTimerIsSet(t *testing.T) {
	t.Parallel()
	for name, makeQueue := range map[string]func(func() contract.DelayHeap[string],
		workqueue.Config[string]) contract.DelayingQueue[string]{
		"delaying": func(h func() contract.DelayHeap[string],
			cfg workqueue.Config[string]) contract.DelayingQueue[string] {
			return workqueue.NewDelaying(h, cfg)
		},
		"priority": func(h func() contract.DelayHeap[string],
			cfg workqueue.Config[string]) contract.DelayingQueue[string] {
			return workqueue.NewPriority(nil, h, cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := clocktesting.NewFakeClock(time.Unix(0, 0))
				q := makeQueue(func() contract.DelayHeap[string] {
					return &steppingHeap{newHeap(), func() { fake.Step(2 * time.Second) }}
				}, workqueue.Config[string]{Clock: fake, Heaps: 1})
				defer q.ShutDown()
				synctest.Wait() // it sleeps, so that it looks once after AddAfter
				q.AddAfter("a", time.Second)
				synctest.Wait()
				if got := q.Len(); got != 1 {
					t.Errorf("%d items are ready, want 1", got)
				}
			})
		})
	}
}

// A fake clock that is stepped over several alarms, one of them not received,
// must not be blocked by the queue's timer.
func TestFakeClockIsNotBlocked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := clocktesting.NewFakeClock(time.Unix(0, 0))
		q := workqueue.NewDelaying(newHeap, workqueue.Config[string]{Clock: fake})
		for round := range 100 {
			q.AddAfter("a", time.Second)
			synctest.Wait()
			q.AddAfter("b", time.Millisecond)
			fake.Step(time.Second) // the goroutine may see the wake-up or the alarm first
			synctest.Wait()
			if got := q.Len(); got != 2 {
				t.Fatalf("round %d: %d items are ready, want 2", round, got)
			}
			for range 2 {
				item, _ := q.Get()
				q.Done(item)
			}
		}
		q.ShutDown()
	})
}

// kubernetes#105031: a queue kept items alive that it had handed out.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	type object [1024]byte
	q := workqueue.NewDelaying(func() contract.DelayHeap[*object] {
		return delay.NewQuadHeap[*object]()
	}, workqueue.Config[*object]{})
	defer q.ShutDown()
	var refs []weak.Pointer[object]
	for i := range 100 {
		o := new(object)
		refs = append(refs, weak.Make(o))
		if i%2 == 0 {
			q.Add(o)
		} else {
			q.AddAfter(o, time.Microsecond)
		}
	}
	for range refs {
		o, _ := q.Get()
		q.Done(o)
	}
	// The goroutine that moves what is due lets go of its batch after the last Get
	// may have returned.
	deadline := time.Now().Add(10 * time.Second)
	for {
		runtime.GC()
		kept := 0
		for _, r := range refs {
			if r.Value() != nil {
				kept++
			}
		}
		if kept == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d objects are still referenced", kept, len(refs))
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint("item", i)
	}
	priority := newPriority(workqueue.Config[string]{})
	defer priority.ShutDown()
	for name, q := range map[string]contract.Queue[string]{
		"queue": workqueue.New(workqueue.Config[string]{}), "priority": priority,
	} {
		for _, k := range keys[:100] { // a queue that is never empty
			q.Add(k)
		}
		next := 0
		if n := testing.AllocsPerRun(5000, func() {
			q.Add(keys[next%len(keys)])
			next++
			item, _ := q.Get()
			q.Done(item)
		}); n != 0 {
			t.Errorf("%s: Add, Get and Done allocate %v times", name, n)
		}
	}
}

// Two priorities, one of them coming and going: its level is kept for it.
func TestPrioritiesDoNotAllocate(t *testing.T) {
	q := newPriority(workqueue.Config[string]{})
	defer q.ShutDown()
	low, high := contract.AddOptions{Priority: new(-100)}, contract.AddOptions{Priority: new(100)}
	q.AddWithOpts(low, "low")
	if n := testing.AllocsPerRun(1000, func() {
		q.AddWithOpts(high, "high")
		item, _, _ := q.GetWithPriority()
		if item == "low" {
			q.AddWithOpts(low, "low")
		}
		q.Done(item)
	}); n > 0.1 {
		t.Errorf("AddWithOpts, GetWithPriority and Done allocate %v times", n)
	}
}

// An item that was to wait and is added at once does not come a second time, though
// the heap keeps it; nor does it come too early when it waits anew.
func TestPriorityQueueForgetsATimeThatIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newPriority(workqueue.Config[string]{})
		defer q.ShutDown()
		q.AddAfter("a", time.Minute)
		q.Add("a")
		if got, _ := q.Get(); got != "a" {
			t.Fatalf("Get = %q", got)
		}
		q.Done("a")
		q.AddAfter("a", time.Hour) // the heap has it at a minute
		begin := time.Now()
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if n := q.Len(); n != 0 {
			t.Fatalf("%d items are ready after 30 minutes", n)
		}
		q.Get()
		if got := time.Since(begin); got != time.Hour {
			t.Errorf("the item came after %s", got)
		}
	})
}

// Queued shows what is ready, what waits for its time, and what is added again while a worker
// has it, but not what only a worker has.
func TestQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewPriority(nil, func() contract.DelayHeap[string] {
			return delay.NewQuadHeap[string]()
		}, workqueue.Config[string]{})
		low, begun := -1, time.Now()
		for _, item := range []string{"worked on", "added again"} {
			q.Add(item)
			q.Get()
		}
		q.Add("added again")
		q.AddWithOpts(contract.AddOptions{Priority: &low}, "ready")
		q.AddAfter("waiting", time.Hour)
		want := map[string]workqueue.QueuedItem[string]{
			"added again": {Item: "added again"},
			"ready":       {Item: "ready", Priority: -1},
			"waiting":     {Item: "waiting", ReadyAt: begun.Add(time.Hour)},
		}
		got := q.Queued()
		for _, item := range got {
			if item != want[item.Item] {
				t.Errorf("%+v is queued, want %+v", item, want[item.Item])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d items are queued, want %d", len(got), len(want))
		}
		q.ShutDown()
		if n := len(q.Queued()); n != 2 {
			t.Errorf("%d items are queued after ShutDown, want the 2 that are not delayed", n)
		}
	})
}
