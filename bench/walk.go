package bench

import "math/rand/v2"

// walk visits positions in an order that looks random to the machine's caches.
// What an actor needs at each step is laid out in the order of the walk (see
// along), so that the harness reads its own memory in sequence and costs about a
// nanosecond a step.
type walk struct {
	order []int // slot -> position
	at    uint32
	mask  uint32 // slots - 1, slots being a power of two
	bits  uint32
}

const longestWalk = 1 << 16

// newWalk makes the walk of goroutine who over the positions 0..n-1; keys limits
// it to the first so many, 0 to all. It covers every position if there are at
// most 65,536 of them, else an even random sample. All goroutines walk the same
// circle, each from a place of its own.
func newWalk(n, keys, who int) *walk {
	if keys > 0 {
		n = min(n, keys)
	}
	return circle(n, who)
}

// ownWalk makes a walk over positions that no other of the goroutines visits:
// for operations that add an item and then take one out, which would wait
// forever if two of them added the same item and the queue made one of it.
func ownWalk(n, who, goroutines int) *walk {
	goroutines = max(1, goroutines)
	w := circle(max(1, n/goroutines), 0)
	for i, p := range w.order {
		w.order[i] = min(n-1, p*goroutines+who%goroutines)
	}
	return w
}

func circle(n, who int) *walk {
	w := &walk{at: uint32(who) * 7919}
	size := 1
	for size < min(n, longestWalk) {
		size *= 2
		w.bits++
	}
	w.mask = uint32(size - 1)
	rng := rand.New(rand.NewPCG(uint64(n), 0x9e3779b9))
	w.order = make([]int, 0, size)
	for len(w.order) < size {
		perm := rng.Perm(n)
		w.order = append(w.order, perm[:min(n, size-len(w.order))]...)
	}
	return w
}

// slot returns where the walk is and goes on.
func (w *walk) slot() uint32 {
	s := w.at & w.mask
	w.at++
	return s
}

// pass is 0 and 1 by turns, changing each time the circle is closed.
func (w *walk) pass() uint32 { return w.at >> w.bits & 1 }

// along lays values out in the order of the walk.
func along[T any](w *walk, value func(position int) T) []T {
	out := make([]T, len(w.order))
	for slot, p := range w.order {
		out[slot] = value(p)
	}
	return out
}
