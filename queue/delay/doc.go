// Package delay holds [QuadHeap], in which items wait for their time: a contract.DelayHeap that can
// stand under any delaying queue. Add takes O(log n), on average O(1), and PopReady O(log n), in a
// heap half as high as a binary one. The order is exact. A string takes some 50 bytes.
//
// QuadHeap holds items in slots without gaps, in lists made of pieces, and finds them by a hash
// table that is split piece by piece. So it allocates nothing for an item in steady state, no Add
// stops to copy a million items, and a flood that came out gives its memory back, whatever still
// waits. It keeps no reference to an item that came out. One operation may take, at worst, the
// height of the heap, and now and then one segment of the table, 1,024 cells. It keeps times that
// are 292 years or more from its making in a map. When three quarters of such times have gone,
// those that are left are copied.
//
// Times are exact over all that time.Time can hold. The comment of type epoch says how, and how
// times with and without a monotonic reading are ordered.
//
// A heap belongs to one goroutine at a time, as DelayHeap says; the delaying queue guards it with
// its own lock.
package delay
