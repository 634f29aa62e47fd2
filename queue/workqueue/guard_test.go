package workqueue_test

// Orders and metrics of the caller that misbehave, where the suite does not look: QUEUE-49 has
// the rest.

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"weak"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// repeating is an order that gives an item again for each time that it was added.
type repeating []string

func (o *repeating) Touch(item string) { *o = append(*o, item) }
func (o *repeating) Push(item string)  { *o = append(*o, item) }
func (o *repeating) Len() int          { return len(*o) }

func (o *repeating) Pop() (item string) {
	item = (*o)[0]
	*o = slices.Delete(*o, 0, 1)
	return item
}

// Two workers have one item if an order gives it twice. The first Done ends both, as in
// client-go's queue, so that a drain returns.
func TestAnItemThatAnOrderGivesTwice(t *testing.T) {
	t.Parallel()
	for name, newQueue := range map[string]func() contract.Queue[string]{
		"ours": func() contract.Queue[string] {
			return workqueue.New(workqueue.Config[string]{Order: &repeating{}})
		},
		"clientgo": func() contract.Queue[string] {
			return clientgo.NewTypedWithConfig(clientgo.TypedQueueConfig[string]{Queue: &repeating{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // which reports a drain that never returns
				q := newQueue()
				q.Add("a")
				q.Add("a")
				for range 2 {
					if item, shutdown := q.Get(); item != "a" || shutdown {
						t.Fatalf("Get = %q, %v", item, shutdown)
					}
				}
				q.Done("a")
				q.Done("a")
				q.ShutDownWithDrain()
			})
		})
	}
}

// failingAdds is a provider whose count of adds panics.
type failingAdds struct{ clientgo.MetricsProvider }

func (failingAdds) NewAddsMetric(string) clientgo.CounterMetric { return failingCounter{} }

type failingCounter struct{}

func (failingCounter) Inc() { panic("the metric fails") }

// An Add that a metric ends leaves nothing of the item in the queue.
func TestAnAddThatPanicsKeepsNothing(t *testing.T) {
	t.Parallel()
	cfg := workqueue.Config[*string]{Name: "failing", MetricsProvider: failingAdds{newProvider()}}
	newHeap := func() contract.DelayHeap[*string] { return delay.NewQuadHeap[*string]() }
	for name, q := range map[string]contract.Queue[*string]{
		"plain":    workqueue.New(cfg),
		"priority": workqueue.NewPriority(always[*string]{}, newHeap, cfg),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer q.ShutDown()
			var p weak.Pointer[string]
			func() {
				item := new(string)
				p = weak.Make(item)
				defer func() {
					if recover() == nil {
						t.Error("the queue hides the panic")
					}
				}()
				q.Add(item)
			}()
			runtime.GC()
			if p.Value() != nil {
				t.Error("the item is still there")
			}
			if n := q.Len(); n != 0 {
				t.Errorf("%d items are ready", n)
			}
		})
	}
}

// unsure is an order whose next Push or Pop panics after it has done its work, or whose next Len
// panics, if that was asked for.
type unsure struct {
	repeating
	push, pop, count bool
}

func (o *unsure) Push(item string) {
	o.repeating.Push(item)
	panicOnce(&o.push)
}

func (o *unsure) Pop() (item string) {
	item = o.repeating.Pop()
	panicOnce(&o.pop)
	return item
}

func (o *unsure) Len() int {
	panicOnce(&o.count)
	return o.repeating.Len()
}

func panicOnce(asked *bool) {
	if *asked {
		*asked = false
		panic("as the test asked")
	}
}

// panics reports whether f does.
func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// A worker that waits gets an item that the order holds, even if the call that brought it
// panicked afterwards, and nothing that the order holds no more.
func TestWorkersSeeWhatAnOrderHoldsAfterAPanic(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(o *unsure){
		"push": func(o *unsure) { o.push = true },
		"len":  func(o *unsure) { o.count = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // which reports a Get that never returns
				o := &unsure{}
				q := workqueue.New(workqueue.Config[string]{Order: o})
				got := make(chan string)
				go func() {
					item, _ := q.Get()
					got <- item
				}()
				synctest.Wait()
				fail(o)
				if !panics(func() { q.Add("a") }) {
					t.Error("the queue hides the panic")
				}
				if item := <-got; item != "a" {
					t.Errorf("Get = %q", item)
				}
			})
		})
	}
	t.Run("pop", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			o := &unsure{}
			q := workqueue.New(workqueue.Config[string]{Order: o})
			got := make(chan string, 3)
			for range 3 {
				go func() {
					if panics(func() {
						item, _ := q.Get()
						got <- item
					}) {
						got <- "a panic"
					}
				}()
			}
			synctest.Wait()
			o.pop = true
			q.Add("a")
			synctest.Wait()
			if len(got) != 1 || <-got != "a panic" {
				t.Error("a Get returned without an item")
			}
			q.Add("b")
			q.Add("c")
			if one, two := <-got, <-got; one == two || one+two != "bc" && one+two != "cb" {
				t.Errorf("Get = %q and %q", one, two)
			}
		})
	})
}

// odd gives an item that it was never given and that cannot be hashed.
type odd struct{ n int }

func (o *odd) Touch(any) {}
func (o *odd) Push(any)  { o.n++ }
func (o *odd) Len() int  { return o.n }

func (o *odd) Pop() any {
	o.n--
	return []int{1}
}

// The queue stays usable after an order gave what cannot be hashed. With a lock that stays held
// the second Add would not return.
func TestAnOrderThatGivesWhatCannotBeHashed(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Config[any]{Order: &odd{}})
	q.Add("a")
	if !panics(func() { q.Get() }) {
		t.Error("the queue hides the panic")
	}
	q.Add("b")
	if n := q.Len(); n != 1 {
		t.Errorf("%d items are ready", n)
	}
}

// failingWork is a provider whose work duration panics once.
type failingWork struct {
	clientgo.MetricsProvider
	fails *bool
}

func (p failingWork) NewWorkDurationMetric(string) clientgo.HistogramMetric {
	return failingOnce{p.fails}
}

type failingOnce struct{ fails *bool }

func (m failingOnce) Observe(float64) { panicOnce(m.fails) }

// A Done that a metric ends takes the item off its worker.
func TestADoneThatPanicsReleasesItsItem(t *testing.T) {
	t.Parallel()
	newHeap := func() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }
	for name, newQueue := range map[string]func(workqueue.Config[string]) contract.Queue[string]{
		"plain": func(cfg workqueue.Config[string]) contract.Queue[string] { return workqueue.New(cfg) },
		"priority": func(cfg workqueue.Config[string]) contract.Queue[string] {
			return workqueue.NewPriority(always[string]{}, newHeap, cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fails := false
				q := newQueue(workqueue.Config[string]{Name: "failing",
					MetricsProvider: failingWork{newProvider(), &fails}})
				defer q.ShutDown()
				for _, addedMeanwhile := range []bool{false, true} {
					q.Add("a")
					q.Get()
					if addedMeanwhile {
						q.Add("a")
					}
					fails = true
					if !panics(func() { q.Done("a") }) {
						t.Error("the queue hides the panic")
					}
					if !addedMeanwhile {
						q.Add("a")
					}
					if n := q.Len(); n != 1 {
						t.Fatalf("%d items are ready, want 1", n)
					}
					q.Get()
					q.Done("a")
				}
				drained := false
				go func() {
					q.ShutDownWithDrain()
					drained = true
				}()
				synctest.Wait()
				if !drained {
					t.Error("the drain waits, and no worker has an item")
					q.ShutDown()
				}
			})
		})
	}
}

// failingRetries is a provider that refuses the last of the metrics, as one does in which the name
// is registered already.
type failingRetries struct{ *provider }

func (failingRetries) NewRetriesMetric(string) clientgo.CounterMetric {
	panic("registered already")
}

// A constructor that ends by a panic of the caller's code leaves no goroutine behind, which
// synctest would report.
func TestAFailedConstructorLeavesNoGoroutine(t *testing.T) {
	t.Parallel()
	noHeap := func() contract.DelayHeap[string] { panic("no heap") }
	for name, construct := range map[string]func(){
		"delaying, retries": func() {
			workqueue.NewDelaying(newHeap,
				workqueue.Config[string]{Name: "q", MetricsProvider: failingRetries{newProvider()}})
		},
		"delaying, heap": func() {
			workqueue.NewDelaying(noHeap,
				workqueue.Config[string]{Name: "q", MetricsProvider: newProvider()})
		},
		"priority, retries": func() {
			workqueue.NewPriority(nil, newHeap,
				workqueue.Config[string]{Name: "q", MetricsProvider: failingRetries{newProvider()}})
		},
		"priority, heap": func() {
			workqueue.NewPriority(nil, noHeap,
				workqueue.Config[string]{Name: "q", MetricsProvider: newProvider()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				construct()
			})
		})
	}
}
