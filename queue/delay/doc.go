// Package delay holds the structures in which items wait for their time: each
// satisfies contract.DelayHeap and can stand under any delaying queue.
//
//	              Add                    PopReady                  order           bytes per string
//	BinaryHeap    O(log n), 1 alloc      O(log n)                  exact           some 115
//	QuadHeap      O(log n), O(1) mean    O(log n), half as high    exact           some 50
//	Wheel         O(1)                   O(levels) amortised       to a tick       some 55
//
// [BinaryHeap] is the baseline, client-go's algorithm. [QuadHeap] and [Wheel] share one way of
// holding items: slots without gaps in lists made of pieces, and a hash table that is split piece
// by piece. So they allocate nothing for an item in steady state, no Add stops to copy a million
// items, and a flood that came out gives its memory back, whatever still waits. They keep no
// reference to an item that came out.
// What one operation may take at worst:
//
//   - QuadHeap: the height of the heap, and now and then one segment of the table, 1,024 cells
//   - Wheel: in Next and PopReady the items of one slot, which is 256 ticks wide, 65,536, and
//     so on; with a millisecond and a million items over ten minutes a slot of 65 s has
//     100,000. Over its life an item moves at most once per level; an Add before the hand may
//     build a wheel of up to 4,096 items anew.
//   - BinaryHeap: the growth of its array, which is copied, and giving memory back
//   - All but BinaryHeap keep times that are 292 years or more from their making in a map. When
//     three quarters of such times have gone, those that are left are copied.
//
// Times are exact over all that time.Time can hold, but for a Wheel's rounding to ticks. The
// comment of type epoch says how, and how times with and without a monotonic reading are
// ordered.
//
// A structure belongs to one goroutine at a time, as DelayHeap says; the
// delaying queue guards it with its own lock.
package delay
