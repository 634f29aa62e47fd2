package segqueue

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// TestAgainstSlice: whatever is pushed, appended, dropped and moved, the items come out in
// order, the length is exact, slots that hold no item are zero, and spares are bounded.
func TestAgainstSlice(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var q, taken Queue[*int]
		var spare, emptied Spares[*int]
		var model []*int // of taken, then of q
		for step := range 200 {
			switch rng.IntN(5) {
			case 0:
				for range rng.IntN(2 * segmentSize) {
					v := new(int)
					q.Push(v, &spare)
					model = append(model, v)
				}
			case 1:
				batch := make([]*int, rng.IntN(3*segmentSize))
				for i := range batch {
					batch[i] = new(int)
				}
				q.Append(batch, &spare)
				model = append(model, batch...)
			case 2:
				for range rng.IntN(taken.Len() + 1) {
					if got := *taken.Front(); got != model[0] {
						t.Fatalf("seed %d, step %d: the front is not the oldest item", seed, step)
					}
					taken.Drop(&emptied)
					model = model[1:]
				}
			case 3:
				for n := rng.IntN(3); q.Len() == 0 && n > 0; n-- {
					v := new(int)
					q.Push(v, &spare)
					if got := q.TakeLone(); got != v {
						t.Fatalf("seed %d, step %d: the lone item is not the one that was pushed", seed, step)
					}
				}
			case 4:
				if taken.Len() == 0 {
					spare.Refill(&emptied)
					taken, q = q, Queue[*int]{}
				}
			}
			if taken.Len()+q.Len() != len(model) {
				t.Fatalf("seed %d, step %d: %d + %d items, the model has %d", seed, step, taken.Len(), q.Len(),
					len(model))
			}
			rest := model
			for _, part := range []*Queue[*int]{&taken, &q} {
				for v := range part.All() {
					if *v != rest[0] {
						t.Fatalf("seed %d, step %d: All is not in order", seed, step)
					}
					rest = rest[1:]
				}
				if held := held(part.head); held != part.Len() {
					t.Fatalf("seed %d, step %d: %d slots hold something, want %d", seed, step, held, part.Len())
				}
			}
			for _, s := range []*Spares[*int]{&spare, &emptied} {
				if n := length(s.top); n != s.n || n > keep || held(s.top) > 0 {
					t.Fatalf("seed %d, step %d: %d spares, counted as %d, at most %d; %d slots hold something",
						seed, step, n, s.n, keep, held(s.top))
				}
			}
		}
	}
}

// length is the number of segments from s on.
func length[T any](s *segment[T]) (n int) {
	for ; s != nil; s = s.link {
		n++
	}
	return n
}

// held is the number of slots from s on that are not zero.
func held[T comparable](s *segment[T]) (n int) {
	var zero T
	for ; s != nil; s = s.link {
		for _, item := range s.items {
			if item != zero {
				n++
			}
		}
	}
	return n
}

// TestAllEnds: a caller may leave the loop.
func TestAllEnds(t *testing.T) {
	t.Parallel()
	var q Queue[int]
	q.Append([]int{1, 2, 3}, &Spares[int]{})
	for v := range q.All() {
		if *v == 2 {
			return
		}
	}
	t.Error("2 did not come")
}

// TestNoAllocations: a queue that stays short allocates nothing once it has its segments.
func TestNoAllocations(t *testing.T) {
	var q Queue[int]
	var spare Spares[int]
	batch := make([]int, 2*segmentSize)
	if allocs := testing.AllocsPerRun(100, func() {
		q.Append(batch, &spare)
		for range batch {
			q.Push(1, &spare)
			q.Drop(&spare)
			q.Drop(&spare)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestLetsGo: dropped items can be collected while the queue lives.
func TestLetsGo(t *testing.T) {
	t.Parallel()
	var q Queue[*[16]int]
	var spare Spares[*[16]int]
	var freed sync.WaitGroup
	for range 3 * segmentSize {
		freed.Add(1)
		p := new([16]int)
		runtime.AddCleanup(p, func(wg *sync.WaitGroup) { wg.Done() }, &freed)
		q.Push(p, &spare)
	}
	q.Push(new([16]int), &spare)
	for q.Len() > 1 {
		q.Drop(&spare)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		freed.Wait()
	}()
	for {
		runtime.GC()
		select {
		case <-done:
			runtime.KeepAlive(&q)
			runtime.KeepAlive(&spare)
			return
		default:
			runtime.Gosched()
		}
	}
}

// An idle queue keeps one small segment, whatever it held.
func TestShrink(t *testing.T) {
	t.Parallel()
	var q Queue[int]
	var spare, emptied Spares[int]
	for range 3 {
		for i := range 10 * segmentSize {
			q.Push(i, &spare)
		}
		for i := range 10 * segmentSize {
			if got := *q.Front(); got != i {
				t.Fatalf("%d came out in the place of %d", got, i)
			}
			q.Drop(&emptied)
		}
		spare.Refill(&emptied)
		spare.Shrink()
		if spare.n > 1 || (spare.n == 1) != (spare.top != nil) ||
			spare.n == 1 && len(spare.top.items) != smallest {
			t.Errorf("%d segments are left: %+v", spare.n, spare.top)
		}
	}
}
