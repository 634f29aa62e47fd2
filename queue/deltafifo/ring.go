package deltafifo

// The order in which things wait.

import "iter"

// ring is a queue in a circular buffer. push takes amortised constant time, and a
// queue that stays short allocates nothing. The zero value is empty.
type ring[T any] struct {
	slots []T // the length is 0 or a power of two
	head  int
	n     int
}

const minSlots = 16

func (r *ring[T]) len() int { return r.n }

func (r *ring[T]) push(v T) {
	if r.n == len(r.slots) {
		r.reserve(1)
	}
	r.slots[(r.head+r.n)&(len(r.slots)-1)] = v
	r.n++
}

// pop takes out the oldest and clears its slot, so that the ring keeps nothing
// alive. The ring must not be empty.
func (r *ring[T]) pop() T {
	var zero T
	v := r.slots[r.head]
	r.slots[r.head] = zero
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.n--
	return v
}

// reserve makes room for more pushes without growth.
func (r *ring[T]) reserve(more int) {
	size := max(len(r.slots), minSlots)
	for size < r.n+more {
		size *= 2
	}
	if size == len(r.slots) {
		return
	}
	slots := make([]T, size)
	wrapped := copy(slots, r.slots[r.head:])
	copy(slots[wrapped:], r.slots[:r.head])
	r.slots, r.head = slots, 0
}

// all yields what waits, oldest first. The ring must not change meanwhile.
func (r *ring[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range r.n {
			if !yield(r.slots[(r.head+i)&(len(r.slots)-1)]) {
				return
			}
		}
	}
}
