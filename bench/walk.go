package bench

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// walk visits positions in an order that looks random to the machine's caches. The data
// that an actor needs at each step is laid out in the order of the walk (see along). The
// harness therefore reads its own memory in sequence, at about a nanosecond a step.
type walk struct {
	order []int // slot -> position
	at    uint32
	mask  uint32 // slots - 1; the number of slots is a power of two
	bits  uint32
}

const longestWalk = 1 << 16

// newWalk makes the walk of goroutine who over the positions 0..n-1. If keys is not 0, only
// the first keys positions count. Its circle is a uniform random sample of them without
// repetition. The size is the largest power of two that they allow, at most 65,536. All
// goroutines walk the same circle, each from a place of its own.
func newWalk(n, keys, who int) *walk {
	if keys > 0 {
		n = min(n, keys)
	}
	return circle(n, who)
}

// ownWalk makes a walk over positions that no other of the goroutines visits. Writers need
// it, or one would find its work done by another. Operations that add an item and then take
// one out need it too: if two of them added the same item, the queue would merge the two,
// and one would wait forever.
func ownWalk(n, keys, who, goroutines int) (*walk, error) {
	if keys > 0 {
		n = min(n, keys)
	}
	goroutines = max(1, goroutines)
	if goroutines > n {
		return nil, fmt.Errorf("%d goroutines cannot have objects of their own among %d: %w", goroutines, n, ErrUnsupported)
	}
	w := circle(n/goroutines, 0)
	own := make([]int, len(w.order))
	for i, p := range w.order {
		own[i] = p*goroutines + who%goroutines
	}
	w.order = own
	return w, nil
}

func circle(n, who int) *walk {
	w := &walk{at: uint32(who) * 7919}
	size := 1
	for 2*size <= min(n, longestWalk) {
		size *= 2
		w.bits++
	}
	w.mask = uint32(size - 1)
	order, ok := orders.Load(n)
	if !ok {
		order, _ = orders.LoadOrStore(n, rand.New(rand.NewPCG(uint64(n), 0x9e3779b9)).Perm(n)[:size:size])
	}
	w.order = order.([]int)
	return w
}

// orders keeps the circles by their n: all actors of a process walk the same ones. They are
// read-only.
var orders sync.Map

// slot returns the current slot and advances the walk.
func (w *walk) slot() uint32 {
	s := w.at & w.mask
	w.at++
	return s
}

// lap counts the completed laps of the circle.
func (w *walk) lap() uint32 { return w.at >> w.bits }

// pass is 0 and 1 by turns, changing with each lap.
func (w *walk) pass() uint32 { return w.lap() & 1 }

// along lays values out in the order of the walk.
func along[T any](w *walk, value func(position int) T) []T {
	out := make([]T, len(w.order))
	for slot, p := range w.order {
		out[slot] = value(p)
	}
	return out
}
