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

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/queue/delay"
	"github.com/informerbench/informerbench/core/queue/workqueue"
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
