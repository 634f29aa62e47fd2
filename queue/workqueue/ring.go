package workqueue

import "k8s.io/client-go/util/workqueue"

var _ workqueue.Queue[string] = (*ring[string])(nil)

// ring hands out items first in, first out, in an array that is used again and
// again: once it is large enough, nothing is allocated.
type ring[T comparable] struct {
	slots []T // the length is a power of two, or zero
	head  int // where the oldest item is
	n     int
}

// Touch leaves the item where it is.
func (r *ring[T]) Touch(T) {}

// Len returns how many items there are.
func (r *ring[T]) Len() int { return r.n }

// Push adds an item at the end. The array doubles when it is full.
func (r *ring[T]) Push(item T) {
	if r.n == len(r.slots) {
		bigger := make([]T, max(16, 2*r.n))
		copied := copy(bigger, r.slots[r.head:])
		copy(bigger[copied:], r.slots[:r.head])
		r.slots, r.head = bigger, 0
	}
	r.slots[(r.head+r.n)&(len(r.slots)-1)] = item
	r.n++
}

// Pop takes out the oldest item; there must be one.
func (r *ring[T]) Pop() (item T) {
	slot := &r.slots[r.head]
	item, *slot = *slot, item // the array must not keep the item alive
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.n--
	return item
}
