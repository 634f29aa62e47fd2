package workqueue_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

func newQuadHeap() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }

// Several producers add few items again and again, so that the same one is in a batch
// more than once, and in its heap. Each comes once, at the earliest of its times.
func TestEachItemComesAtTheEarliestOfItsTimes(t *testing.T) {
	t.Parallel()
	for name, newHeap := range map[string]func() contract.DelayHeap[string]{"one by one": newHeap,
		"many at once": newQuadHeap} {
		for _, heaps := range []int{1, 2, 5} {
			t.Run(fmt.Sprint(name, ", heaps=", heaps), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					q := workqueue.NewDelaying(newHeap, workqueue.Config[string]{Heaps: heaps})
					defer q.ShutDown()
					var mu sync.Mutex
					waiting := map[string]time.Time{}
					rnd := rand.New(rand.NewPCG(1, uint64(heaps)))
					for range 300 {
						var producers sync.WaitGroup
						for range 4 {
							seed := rnd.Uint64()
							producers.Go(func() {
								rnd := rand.New(rand.NewPCG(seed, 0))
								for range rnd.IntN(100) {
									item, after := fmt.Sprint(rnd.IntN(200)), time.Duration(1+rnd.IntN(1000))*time.Millisecond
									mu.Lock()
									at := time.Now().Add(after)
									if old, waits := waiting[item]; !waits || at.Before(old) {
										waiting[item] = at
									}
									mu.Unlock()
									q.AddAfter(item, after)
								}
							})
						}
						producers.Wait()
						time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
						synctest.Wait()
						for q.Len() > 0 {
							item, _ := q.Get()
							q.Done(item)
							at, waits := waiting[item]
							if !waits || at.After(time.Now()) {
								t.Fatalf("%s came at %s; its time is %s (it waits: %v)", item, time.Now(), at, waits)
							}
							delete(waiting, item)
						}
						for item, at := range waiting {
							if !at.After(time.Now()) {
								t.Fatalf("%s did not come by %s; its time was %s", item, time.Now(), at)
							}
						}
					}
				})
			})
		}
	}
}

// An item comes out of its heap while the batch has a later time of it, which is over then.
func TestALaterTimeInABatchIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewDelaying(newQuadHeap, workqueue.Config[string]{})
		defer q.ShutDown()
		q.AddAfter("a", time.Minute)
		synctest.Wait() // it is in its heap
		q.AddAfter("a", 2*time.Minute)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := q.Len(); n != 1 {
			t.Fatalf("%d items are ready at the first of two times, want 1", n)
		}
		item, _ := q.Get()
		q.Done(item)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := q.Len(); n != 0 {
			t.Errorf("%d items are ready after the second of two times, want none", n)
		}
	})
}

// An item that cannot be compared makes its Add panic, not a later call.
func TestItemsThatCannotBeComparedPanicAtOnce(t *testing.T) {
	t.Parallel()
	q := workqueue.NewDelaying(func() contract.DelayHeap[any] {
		return delay.NewQuadHeap[any]()
	}, workqueue.Config[any]{})
	defer q.ShutDown()
	defer func() {
		if recover() == nil {
			t.Error("a slice was taken for comparable")
		}
	}()
	q.AddAfter([]int{1}, time.Hour)
}

func TestAddAfterDoesNotAllocate(t *testing.T) {
	keys := make([]string, 5000)
	for i := range keys {
		keys[i] = fmt.Sprint("item", i)
	}
	q := workqueue.NewDelaying(newQuadHeap, workqueue.Config[string]{})
	defer q.ShutDown()
	next, wait := 0, 1000*time.Hour
	add := func() {
		q.AddAfter(keys[next%len(keys)], wait)
		next++
		wait -= time.Second
	}
	for range 2 * len(keys) {
		add()
	}
	if n := testing.AllocsPerRun(20_000, add); n != 0 {
		t.Errorf("AddAfter allocates %v times", n)
	}
}

// ShutDown lets go of the items in the batches, though the queue lives on.
func TestShutDownKeepsNothingInTheBatches(t *testing.T) {
	t.Parallel()
	type object [1024]byte
	q := workqueue.NewDelaying(func() contract.DelayHeap[*object] {
		return delay.NewQuadHeap[*object]()
	}, workqueue.Config[*object]{})
	var refs []weak.Pointer[object]
	for range 1000 {
		o := new(object)
		refs = append(refs, weak.Make(o))
		q.AddAfter(o, time.Hour)
	}
	q.ShutDown()
	q.AddAfter(new(object), time.Hour)
	runtime.GC()
	if kept := slices.IndexFunc(refs, func(r weak.Pointer[object]) bool {
		return r.Value() != nil
	}); kept >= 0 {
		t.Errorf("object %d of %d is still referenced", kept, len(refs))
	}
	runtime.KeepAlive(q)
}
