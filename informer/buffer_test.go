package informer

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// TestBufferAgainstSlice: whatever is added and taken, all of it comes out, in order, and
// the length is exact.
func TestBufferAgainstSlice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var b buffer
		b.init()
		var model []notification
		var emptied spares
		number := 0
		for range 100 {
			if rng.IntN(3) > 0 || len(model) == 0 {
				batch := make([]notification, rng.IntN(500))
				resyncs := rng.IntN(2) == 0
				for i := range batch {
					number++
					batch[i] = notification{obj: number,
						kind: []notificationKind{onAdd, onResync, onDelete}[rng.IntN(3)]}
					if resyncs || batch[i].kind != onResync {
						model = append(model, batch[i])
					}
				}
				b.add(batch, resyncs)
			} else {
				taken, _ := b.take(&emptied)
				for ; taken.Len() > 0; taken.Drop(&emptied) {
					if n := *taken.Front(); len(model) == 0 || n != model[0] {
						t.Fatalf("seed %d: %v came out, the model is %v", seed, n, model[:min(3, len(model))])
					}
					model = model[1:]
					b.read.Add(1)
				}
			}
			if b.len() != len(model) {
				t.Fatalf("seed %d: %d wait, the model has %d", seed, b.len(), len(model))
			}
		}
	}
}

// TestBufferOfResyncsOnly: a batch without a notification for the handler does not wake it.
func TestBufferOfResyncsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b buffer
		b.init()
		var got []notification
		go func() {
			var emptied spares
			for taken, ok := b.take(&emptied); ok; taken, ok = b.take(&emptied) {
				for n := range taken.All() {
					got = append(got, *n)
				}
			}
		}()
		synctest.Wait()
		b.add(make([]notification, 0), true)
		b.add([]notification{{kind: onResync}, {kind: onResync}}, false)
		synctest.Wait()
		if len(got) != 0 || b.len() != 0 {
			t.Errorf("%v came out, %d wait", got, b.len())
		}
		b.add([]notification{{kind: onResync}, {kind: onAdd}}, false)
		synctest.Wait()
		if len(got) != 1 || got[0].kind != onAdd {
			t.Errorf("%v came out", got)
		}
		b.close()
		b.close()
		b.add([]notification{{kind: onAdd}}, true)
		synctest.Wait()
		if len(got) != 1 || b.len() != 0 || b.mu.waiting.Len() != 0 {
			t.Errorf("after close %v, %d wait", got, b.len())
		}
	})
}

// TestBufferConcurrently is for the race detector.
func TestBufferConcurrently(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var b buffer
	b.init()
	var done sync.WaitGroup
	done.Go(func() {
		next := 0
		var emptied spares
		for next < n {
			taken, _ := b.take(&emptied)
			for ; taken.Len() > 0; taken.Drop(&emptied) {
				if got := taken.Front().obj; got != next {
					t.Errorf("%v came out, want %d", got, next)
					return
				}
				next++
			}
		}
	})
	for i := 0; i < n; {
		batch := make([]notification, 1+i%7)
		for j := range batch {
			batch[j] = notification{obj: i}
			i++
		}
		b.add(batch, true)
		_ = b.len()
	}
	done.Wait()
}

// TestBufferLetsGo: read notifications, and those that close dropped, can be collected.
func TestBufferLetsGo(t *testing.T) {
	t.Parallel()
	var b buffer
	b.init()
	var freed sync.WaitGroup
	add := func(n int) {
		for range n {
			freed.Add(1)
			p := new([16]int)
			runtime.AddCleanup(p, func(wg *sync.WaitGroup) { wg.Done() }, &freed)
			b.add([]notification{{obj: p}}, true)
		}
	}
	add(500)
	var emptied spares
	taken, _ := b.take(&emptied)
	for taken.Len() > 0 {
		taken.Drop(&emptied)
	}
	add(50)
	b.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		freed.Wait()
	}()
	for {
		runtime.GC()
		select {
		case <-done:
			runtime.KeepAlive(&emptied)
			return
		default:
			runtime.Gosched()
		}
	}
}
