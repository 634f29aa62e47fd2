package workqueue_test

// What a configuration chooses, and where a queue does as client-go's or controller-runtime's.

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgo "k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// kubernetes#141079: a drain that returns while items are ready loses them with the process.
func TestDrainReady(t *testing.T) {
	t.Parallel()
	for name, newQueue := range map[string]func(workqueue.Config[string]) contract.Queue[string]{
		"plain": func(c workqueue.Config[string]) contract.Queue[string] { return workqueue.New(c) },
		"ordered": func(c workqueue.Config[string]) contract.Queue[string] {
			c.Order = clientgo.DefaultQueue[string]()
			return workqueue.New(c)
		},
		"priority": func(c workqueue.Config[string]) contract.Queue[string] {
			return workqueue.NewPriority(always[string]{}, newHeap, c)
		},
	} {
		for _, drainReady := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(workqueue.Config[string]{DrainReady: drainReady})
				q.Add("a")
				q.Add("b")
				returned := false
				go func() {
					q.ShutDownWithDrain()
					returned = true
				}()
				for _, want := range []string{"a", "b"} {
					synctest.Wait()
					if returned == drainReady {
						t.Errorf("%s: before %s was handed out, the drain has returned: %t", name, want, returned)
					}
					item, _ := q.Get()
					if item == "a" {
						q.Add("a") // ignored
					}
					synctest.Wait()
					if item != want || drainReady && returned {
						t.Errorf("%s: got %q, want %q; the drain has returned: %t", name, item, want, returned)
					}
					q.Done(item)
				}
				if synctest.Wait(); !returned {
					t.Errorf("%s: the drain waits on", name)
				}
			})
		}
		t.Run(name+" that is paused", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(workqueue.Config[string]{DrainReady: true})
				q.Add("a")
				go func() {
					synctest.Wait()
					q.(interface{ Pause() }).Pause()
				}()
				q.ShutDownWithDrain() // or the bubble is deadlocked
			})
		})
	}
}

// After ShutDown a worker of controller-runtime's queue gets nothing more.
func TestDropReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewPriority(always[string]{}, newHeap, workqueue.Config[string]{DropReady: true})
		q.Add("a")
		q.Add("b")
		q.Get()
		q.ShutDown()
		q.Done("a")
		if item, priority, shutdown := q.GetWithPriority(); !shutdown || item != "" || priority != 0 {
			t.Errorf("got %q, %d, %t", item, priority, shutdown)
		}
	})
}

// Tests of programs wait for a fake clock to have a waiter before they step it.
func TestAFakeClockHasAWaiter(t *testing.T) {
	t.Parallel()
	c := testingclock.NewFakeClock(time.Now())
	q := workqueue.NewDelaying(newHeap, workqueue.Config[string]{Clock: c})
	defer q.ShutDown()
	if !c.HasWaiters() {
		t.Error("it has none")
	}
}

// unwilling is an order that panics.
type unwilling struct{ clientgo.Queue[string] }

func (unwilling) Push(string) { panic("no more") }

// Not parallel: ReallyCrash is global.
func TestAPanicOfADelayedItemIsLogged(t *testing.T) {
	utilruntime.ReallyCrash = false
	defer func() { utilruntime.ReallyCrash = true }()
	synctest.Test(t, func(t *testing.T) {
		logged := ""
		logger := funcr.New(func(_, args string) { logged += args }, funcr.Options{})
		q := workqueue.NewDelaying(newHeap, workqueue.Config[string]{Logger: &logger,
			Order: unwilling{clientgo.DefaultQueue[string]()}})
		q.AddAfter("a", time.Second)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if q.ShutDown(); !strings.Contains(logged, "no more") {
			t.Errorf("logged: %q", logged)
		}
	})
}
