package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// Walk visits positions in an order that looks random to the machine's caches. The data
// that an actor needs at each step is laid out in the order of the walk (see Along). The
// harness therefore reads its own memory in sequence, at about a nanosecond a step.
type Walk struct {
	Order     []int  // slot -> position
	start, at uint32 // slots, not reduced to the circle
	mask      uint32 // slots - 1; the number of slots is a power of two
	bits      uint32
}

// LongestWalk is the largest number of positions on a walk.
const LongestWalk = 1 << 16

// NewWalk makes the walk of goroutine who over the positions 0..n-1. If keys is not 0, only
// the first keys positions count. Its circle is a uniform random sample of them without
// repetition. The size is the largest power of two that they allow, at most 65,536. All
// goroutines walk the same circle, each from a place of its own.
func NewWalk(n, keys, who int) *Walk {
	if keys > 0 {
		n = min(n, keys)
	}
	return circle(n, who)
}

// OwnWalk makes a walk over positions that no other of the goroutines visits. Writers need
// it, or one would find its work done by another. Operations that add an item and then take
// one out need it too: if two of them added the same item, the queue would merge the two,
// and one would wait forever.
func OwnWalk(n, keys, who, goroutines int) (*Walk, error) {
	if keys > 0 {
		n = min(n, keys)
	}
	goroutines = max(1, goroutines)
	if goroutines > n {
		return nil, fmt.Errorf("%d goroutines cannot have objects of their own among %d: %w", goroutines,
			n, ErrUnsupported)
	}
	w := circle(n/goroutines, 0)
	own := make([]int, len(w.Order))
	for i, p := range w.Order {
		own[i] = p*goroutines + who%goroutines
	}
	w.Order = own
	return w, nil
}

func circle(n, who int) *Walk {
	w := &Walk{}
	w.Skip(uint32(who) * 7919)
	size := 1
	for 2*size <= min(n, LongestWalk) {
		size *= 2
		w.bits++
	}
	w.mask = uint32(size - 1)
	order, ok := orders.Load(n)
	if !ok {
		order, _ = orders.LoadOrStore(n, rand.New(rand.NewPCG(uint64(n), 0x9e3779b9)).Perm(n)[:size:size])
	}
	w.Order = order.([]int)
	return w
}

// orders keeps the circles by their n: all actors of a process walk the same ones. They are
// read-only.
var orders sync.Map

// Skip begins the walk anew, n slots further on the circle than it is.
func (w *Walk) Skip(n uint32) {
	w.at += n
	w.start = w.at
}

// Slot returns the current slot and advances the walk.
func (w *Walk) Slot() uint32 {
	s := w.at & w.mask
	w.at++
	return s
}

// Steps counts the slots that the walk has visited.
func (w *Walk) Steps() uint32 { return w.at - w.start }

// Lap counts the completed laps of the circle.
func (w *Walk) Lap() uint32 { return w.Steps() >> w.bits }

// Pass is 0 and 1 by turns, changing with each lap.
func (w *Walk) Pass() uint32 { return w.Lap() & 1 }

// Visited yields the slots in the order of a lap, and the pass of each one's last visit. That
// of a slot that was not visited yet is 1, the pass before the first.
func (w *Walk) Visited(yield func(slot, pass uint32) bool) {
	lap, done := w.Lap(), w.Steps()&w.mask
	for i := range w.mask + 1 {
		last := lap
		if i >= done {
			last--
		}
		if !yield((w.start+i)&w.mask, last&1) {
			return
		}
	}
}

// Along lays values out in the order of the walk. It computes them in turns from the two
// halves: of two actors half a circle apart, neither finds more of them in the caches.
func Along[T any](w *Walk, value func(position int) T) []T {
	out := make([]T, len(w.Order))
	half := (len(out) + 1) / 2
	for slot := range half {
		out[slot] = value(w.Order[slot])
		if other := slot + half; other < len(out) {
			out[other] = value(w.Order[other])
		}
	}
	return out
}
