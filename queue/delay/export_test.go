package delay

// What tests may see of the insides.

// SegmentLen is the largest piece that an Add may move.
const SegmentLen = segmentLen

// StartNumbers makes the next items' numbers begin at n.
func (h *QuadHeap[T]) StartNumbers(n uint32) { h.order.added = n }
