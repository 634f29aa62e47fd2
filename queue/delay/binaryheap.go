package delay

import (
	"time"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.RemovingDelayHeap[string] = (*BinaryHeap[string])(nil)
	_ contract.ArrivalOrdered            = (*BinaryHeap[string])(nil)
)

// BinaryHeap is a binary min-heap by time with a map from item to its place, as in
// client-go's delaying queue. The times lie in the heap's own array, so comparing two
// nodes follows no pointer.
//
// Its methods must not be called at the same time.
type BinaryHeap[T comparable] struct {
	// nodes is heap-ordered: no node's time is before its parent's, and
	// nodes[i].entry.index == i.
	nodes   []timed[T]
	entries map[T]*entry[T]
	fullest int // the most items since memory was last given back
	added   uint32
}

// A heap or a map that once held more than keptItems gives memory back when it holds a
// quarter of the most.
const keptItems = 1024

type timed[T comparable] struct {
	readyAt time.Time
	entry   *entry[T]
}

// entry is the part of a waiting item that stays where it is while nodes move.
type entry[T comparable] struct {
	item   T
	index  uint32
	number uint32 // which of two items of the same time came first, as in quad
}

// NewBinaryHeap returns an empty heap.
func NewBinaryHeap[T comparable]() *BinaryHeap[T] {
	return &BinaryHeap[T]{entries: map[T]*entry[T]{}}
}

// Add makes item wait until readyAt. An item that waits already keeps the
// earlier of the two times (DELAY-3). Cost O(log n).
func (h *BinaryHeap[T]) Add(item T, readyAt time.Time) {
	if e, waits := h.entries[item]; waits {
		if readyAt.Before(h.nodes[e.index].readyAt) {
			h.up(int(e.index), timed[T]{readyAt, e})
		}
		return
	}
	e := &entry[T]{item: item, number: h.added}
	h.added++
	h.entries[item] = e
	h.nodes = append(h.nodes, timed[T]{})
	h.fullest = max(h.fullest, len(h.nodes))
	h.up(len(h.nodes)-1, timed[T]{readyAt, e})
}

// Next returns the earliest time waiting, and false while nothing waits.
func (h *BinaryHeap[T]) Next() (readyAt time.Time, ok bool) {
	if len(h.nodes) == 0 {
		return time.Time{}, false
	}
	return h.nodes[0].readyAt, true
}

// PopReady takes out the earliest item if its time is not after now. Cost O(log n).
func (h *BinaryHeap[T]) PopReady(now time.Time) (item T, ok bool) {
	if len(h.nodes) == 0 || h.nodes[0].readyAt.After(now) {
		return item, false
	}
	return h.takeOut(0), true
}

// Remove takes out an item before its time (DELAY-21). Cost O(log n).
func (h *BinaryHeap[T]) Remove(item T) (waited bool) {
	e, waits := h.entries[item]
	if waits {
		h.takeOut(int(e.index))
	}
	return waits
}

// takeOut takes out node i.
func (h *BinaryHeap[T]) takeOut(i int) (item T) {
	item = h.nodes[i].entry.item
	delete(h.entries, item)
	last := len(h.nodes) - 1
	moved := h.nodes[last]
	h.nodes[last] = timed[T]{} // the array lives on: it must not keep the item (DELAY-9)
	h.nodes = h.nodes[:last]
	switch {
	case i == last:
	case i > 0 && h.less(moved, h.nodes[(i-1)/2]):
		h.up(i, moved)
	default:
		h.down(i, moved)
	}
	if h.fullest > keptItems && last < h.fullest/4 {
		h.giveBack()
	}
	return item
}

// giveBack moves everything to memory of its own size: neither a slice nor a map ever
// becomes smaller (golang/go#20135). It costs O(n) after n pops and more.
func (h *BinaryHeap[T]) giveBack() {
	h.nodes = append(make([]timed[T], 0, 2*len(h.nodes)), h.nodes...)
	entries := make(map[T]*entry[T], len(h.nodes))
	for _, n := range h.nodes {
		entries[n.entry.item] = n.entry
	}
	h.entries, h.fullest = entries, len(h.nodes)
}

// Len returns how many items wait.
func (h *BinaryHeap[T]) Len() int { return len(h.nodes) }

// InArrivalOrder says that equal times come out in the order of arrival (DELAY-20).
func (h *BinaryHeap[T]) InArrivalOrder() {}

// less compares two nodes by their times and then by arrival.
func (h *BinaryHeap[T]) less(a, b timed[T]) bool {
	c := a.readyAt.Compare(b.readyAt)
	return c < 0 || c == 0 && a.entry.number-h.added < b.entry.number-h.added
}

// up puts n at i or above: ancestors that are later than n each move down one
// level into the hole.
func (h *BinaryHeap[T]) up(i int, n timed[T]) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(n, h.nodes[parent]) {
			break
		}
		h.put(i, h.nodes[parent])
		i = parent
	}
	h.put(i, n)
}

// down puts n at i or below: the earlier child of each level moves up one level
// into the hole while it is earlier than n.
func (h *BinaryHeap[T]) down(i int, n timed[T]) {
	for {
		child := 2*i + 1
		if child >= len(h.nodes) {
			break
		}
		if right := child + 1; right < len(h.nodes) && h.less(h.nodes[right], h.nodes[child]) {
			child = right
		}
		if !h.less(h.nodes[child], n) {
			break
		}
		h.put(i, h.nodes[child])
		i = child
	}
	h.put(i, n)
}

func (h *BinaryHeap[T]) put(i int, n timed[T]) {
	h.nodes[i] = n
	n.entry.index = uint32(i)
}
