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
	Order []int // slot -> position
	At    uint32
	Mask  uint32 // slots - 1; the number of slots is a power of two
	bits  uint32
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
		return nil, fmt.Errorf("%d goroutines cannot have objects of their own among %d: %w", goroutines, n, ErrUnsupported)
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
	w := &Walk{At: uint32(who) * 7919}
	size := 1
	for 2*size <= min(n, LongestWalk) {
		size *= 2
		w.bits++
	}
	w.Mask = uint32(size - 1)
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

// Slot returns the current slot and advances the walk.
func (w *Walk) Slot() uint32 {
	s := w.At & w.Mask
	w.At++
	return s
}

// Lap counts the completed laps of the circle.
func (w *Walk) Lap() uint32 { return w.At >> w.bits }

// Pass is 0 and 1 by turns, changing with each lap.
func (w *Walk) Pass() uint32 { return w.Lap() & 1 }

// Along lays values out in the order of the walk.
func Along[T any](w *Walk, value func(position int) T) []T {
	out := make([]T, len(w.Order))
	for slot, p := range w.Order {
		out[slot] = value(p)
	}
	return out
}
