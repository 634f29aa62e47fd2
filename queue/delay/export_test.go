package delay

// What tests may see of the insides.

// Aside is how many items wait beside the wheel.
func (w *Wheel[T]) Aside() int { return w.aside.len() }

// The largest pieces that an Add may move.
const (
	SegmentLen = segmentLen
	ResetMost  = resetMost
)

// StartNumbers makes the next items' numbers begin at n.
func (h *QuadHeap[T]) StartNumbers(n uint32)   { h.order.added = n }
func (h *BinaryHeap[T]) StartNumbers(n uint32) { h.added = n }
func (w *Wheel[T]) StartNumbers(n uint32)      { w.aside.added = n }
