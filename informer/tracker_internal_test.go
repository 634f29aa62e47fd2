package informer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/cache"
)

// TestTrackerCountsObjectsThatComeMeanwhile: a handler returns from the only object so far,
// while another one is started and the informer syncs.
func TestTrackerCountsObjectsThatComeMeanwhile(t *testing.T) {
	t.Parallel()
	type round struct {
		*tracker
		returned atomic.Bool
	}
	var current atomic.Pointer[round]
	var over atomic.Bool
	var handler sync.WaitGroup
	handler.Go(func() {
		for last := (*round)(nil); !over.Load(); {
			r := current.Load()
			if r == last {
				runtime.Gosched()
				continue
			}
			r.finished()
			r.returned.Store(true)
			last = r
		}
	})
	defer handler.Wait()
	defer over.Store(true)
	for i := range 20_000 {
		r := &round{tracker: newTracker("informer", "handler")}
		r.start(1)
		current.Store(r)
		for range i % 200 { // the two goroutines meet at another step in each round
			current.Load()
		}
		r.start(1)
		r.upstreamHasSynced()
		for !r.returned.Load() {
			runtime.Gosched()
		}
		if cache.IsDone(r) {
			t.Fatalf("round %d: done, and the handler has not returned from the second object", i)
		}
		if r.finished(); !cache.IsDone(r) {
			t.Fatalf("round %d: the handler has returned from all, and it is not done", i)
		}
	}
}
