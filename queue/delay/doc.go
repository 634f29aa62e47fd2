// Package delay holds the structures in which items wait for their time: each
// satisfies contract.DelayHeap and can stand under any delaying queue.
//
// [BinaryHeap] is the baseline. It keeps times exactly (all DELAY clauses):
//
//	           time          memory
//	Add        O(log n)      1 allocation per item that begins to wait
//	Next, Len  O(1)
//	PopReady   O(log n)
//	per item                 32 bytes in the heap, one entry, one map slot
//
// The heap's array and the map keep the size of the fullest moment, but no
// reference to an item that came out.
//
// A structure belongs to one goroutine at a time, as DelayHeap says; the
// delaying queue guards it with its own lock.
package delay
