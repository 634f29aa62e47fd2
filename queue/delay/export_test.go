package delay

// What tests may see of the insides.

// Counting says whether steps are counted; a table with the hash of -tags degraded
// promises nothing of them.
const Counting = counting && !degraded

// Steps is how many steps the operations have taken; 0 where they are not counted.
func (h *QuadHeap[T]) Steps() uint64 { return h.items.index.count() + h.order.count() }

// Steps is QuadHeap's.
func (w *Wheel[T]) Steps() uint64 {
	return w.items.index.count() + w.aside.count() + w.wheels.count()
}

// Steps is QuadHeap's.
func (h *PairingHeap[T]) Steps() uint64 { return h.items.index.count() + h.count() }

// Aside is how many items wait beside the wheel.
func (w *Wheel[T]) Aside() int { return w.aside.len() }

// The largest pieces that an Add may move.
const (
	SegmentLen = segmentLen
	ResetMost  = resetMost
)

// StartNumbers makes the next items' numbers begin at n.
func (h *QuadHeap[T]) StartNumbers(n uint32)    { h.order.added = n }
func (h *BinaryHeap[T]) StartNumbers(n uint32)  { h.added = n }
func (h *PairingHeap[T]) StartNumbers(n uint32) { h.added = n }
func (w *Wheel[T]) StartNumbers(n uint32)       { w.aside.added = n }
