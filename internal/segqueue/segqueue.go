// Package segqueue is a queue in segments of a fixed size: it grows without copying, gives
// memory back as it shrinks, and changes hands whole, by the copy of four words. Two queues
// stand on it, each with a lock, a producers' side and a consumer's side of its own: the
// intake of a FIFO (queue/deltafifo) and the notifications before a handler (informer).
//
// The producers push under the lock. The consumer takes the whole [Queue] under it, leaves
// an empty one, and reads what it took without the lock. The segments that it has emptied
// return to the producers in [Spares] with the next take.
//
// Nothing here is safe for concurrent use. A Queue or Spares belongs to whoever holds the
// lock of the place where it lies; to copy a Queue is to move it, so the place that it left
// must be set to the zero value.
package segqueue

import "iter"

const (
	// A queue begins with a segment of smallest items: 320 bytes of informer's notifications, and
	// as many wait before a handler that has little to do. Each further one is twice as large as
	// the last, up to segmentSize: 6 KiB of notifications, 8 KiB of deltafifo's events.
	smallest    = 8
	segmentSize = 145
	// keep bounds each list of spares.
	keep = 8
)

// segment is a piece of a queue. Slots before the queue's next and from n on are zero.
type segment[T any] struct {
	items []T
	n     int
	link  *segment[T]
}

// Queue is first in, first out. The zero value is empty.
type Queue[T any] struct {
	head, tail *segment[T]
	next       int // in head
	n          int
}

// Len is the number of items.
func (q *Queue[T]) Len() int { return q.n }

// Push appends an item in O(1). A segment that it needs comes from spare, if there is one.
func (q *Queue[T]) Push(v T, spare *Spares[T]) {
	t := q.tail
	if t == nil || t.n == len(t.items) {
		t = q.extend(spare)
	}
	t.items[t.n] = v
	t.n++
	q.n++
}

// Append appends a batch, a segment's worth in one copy.
func (q *Queue[T]) Append(batch []T, spare *Spares[T]) {
	q.n += len(batch)
	for len(batch) > 0 {
		t := q.tail
		if t == nil || t.n == len(t.items) {
			t = q.extend(spare)
		}
		n := copy(t.items[t.n:], batch)
		t.n += n
		batch = batch[n:]
	}
}

// extend appends an empty segment.
func (q *Queue[T]) extend(spare *Spares[T]) *segment[T] {
	t, size := spare.get(), smallest
	if q.tail != nil {
		size = min(2*len(q.tail.items), segmentSize)
	}
	if t == nil {
		t = &segment[T]{items: make([]T, size)}
	}
	if q.tail == nil {
		q.head = t
	} else {
		q.tail.link = t
	}
	q.tail = t
	return t
}

// Front is the oldest item, until it is dropped; there must be one.
func (q *Queue[T]) Front() *T { return &q.head.items[q.next] }

// Drop takes out the oldest item and clears its slot, so that the queue keeps nothing
// alive. A segment that has been read to its end goes to spare.
func (q *Queue[T]) Drop(spare *Spares[T]) {
	var zero T
	h := q.head
	h.items[q.next] = zero
	q.next++
	q.n--
	if q.n == 0 || q.next == h.n {
		q.leave(spare)
	}
}

// TakeLone takes out the only item there is. Its segment stays for the next Push, so a queue
// that is filled and emptied item by item moves no segments.
func (q *Queue[T]) TakeLone() T {
	var zero T
	h := q.head
	v := h.items[q.next]
	h.items[q.next] = zero
	h.n, q.next, q.n = 0, 0, 0
	return v
}

// leave moves on from the first segment, which has been read as far as it goes.
func (q *Queue[T]) leave(spare *Spares[T]) {
	h := q.head
	if q.n == 0 {
		*q = Queue[T]{}
	} else {
		q.head, q.next = h.link, 0
	}
	spare.put(h)
}

// All are the items, oldest first. The queue must not change meanwhile.
func (q *Queue[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		next := q.next
		for s := q.head; s != nil; s, next = s.link, 0 {
			for i := next; i < s.n; i++ {
				if !yield(&s.items[i]) {
					return
				}
			}
		}
	}
}

// Spares are empty segments, eight at most. The zero value has none.
type Spares[T any] struct {
	top *segment[T]
	n   int
}

// get gives a spare segment, or nil.
func (s *Spares[T]) get() *segment[T] {
	t := s.top
	if t == nil {
		return nil
	}
	s.top, t.link = t.link, nil
	s.n--
	return t
}

// put keeps a segment whose slots are zero, unless there are enough.
func (s *Spares[T]) put(t *segment[T]) {
	t.n, t.link = 0, nil
	if s.n < keep {
		t.link, s.top = s.top, t
		s.n++
	}
}

// Shrink leaves one segment of the smallest size at most: for a queue that has nothing to do.
func (s *Spares[T]) Shrink() {
	for t := s.top; t != nil; t = t.link {
		if len(t.items) == smallest {
			t.link = nil
			*s = Spares[T]{t, 1}
			return
		}
	}
	*s = Spares[T]{}
}

// Refill moves segments from o, as far as they fit.
func (s *Spares[T]) Refill(o *Spares[T]) {
	for s.n < keep && o.n > 0 {
		s.put(o.get())
	}
}
