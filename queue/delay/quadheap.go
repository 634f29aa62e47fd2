package delay

import (
	"time"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.RemovingDelayHeap[string] = (*QuadHeap[string])(nil)
	_ contract.ArrivalOrdered            = (*QuadHeap[string])(nil)
)

// QuadHeap is a 4-ary heap of 16-byte values, an item being a number in it, with a hash
// table of its own from item to number. Nothing is allocated for an item, and no pointer
// is followed to compare two.
//
// Its methods must not be called at the same time.
type QuadHeap[T comparable] struct {
	epoch epoch
	items items[T]
	order quad
}

// NewQuadHeap returns an empty heap.
func NewQuadHeap[T comparable]() *QuadHeap[T] {
	return &QuadHeap[T]{epoch: newEpoch(), items: newItems[T](), order: newQuad()}
}

// Add makes item wait until readyAt. An item that waits already keeps the
// earlier of the two times (DELAY-3). Cost O(log n), O(1) on average for times in no order.
func (h *QuadHeap[T]) Add(item T, readyAt time.Time) {
	tag, slot, waits := h.items.find(item)
	if at := h.epoch.of(readyAt); waits {
		h.earlier(slot, at, readyAt)
	} else {
		h.insert(item, tag, at, readyAt)
	}
}

// insert adds an item that does not wait.
func (h *QuadHeap[T]) insert(item T, tag uint32, at int64, readyAt time.Time) {
	slot := h.items.add(item, tag)
	h.order.place.Push(0)
	h.order.far.set(slot, at, readyAt)
	h.order.push(slot, at)
}

// earlier gives the item of a slot the time, which is at as a value, if that is earlier
// than its own.
func (h *QuadHeap[T]) earlier(slot uint32, at int64, readyAt time.Time) {
	if old := h.order.nodes.At(*h.order.place.At(slot)).at; h.order.far.earlier(at, readyAt, old,
		slot) {
		h.order.far.set(slot, at, readyAt)
		h.order.earlier(slot, at)
	}
}

// Next returns the earliest time waiting, and false while nothing waits.
func (h *QuadHeap[T]) Next() (readyAt time.Time, ok bool) {
	if h.order.len() == 0 {
		return time.Time{}, false
	}
	first := h.order.first()
	if isFar(first.at) {
		return h.order.far.of(first.slot), true
	}
	return h.epoch.time(first.at), true
}

// PopReady takes out the earliest item if its time is not after now. Cost O(log n).
func (h *QuadHeap[T]) PopReady(now time.Time) (item T, ok bool) {
	if h.order.len() == 0 {
		return item, false
	}
	first := h.order.first()
	if !h.order.far.ready(first.slot, first.at, h.epoch.of(now), now) {
		return item, false
	}
	h.order.remove(top)
	return h.takeOut(first.slot), true
}

// Remove takes out an item before its time (DELAY-21). Cost O(log n).
func (h *QuadHeap[T]) Remove(item T) (waited bool) {
	_, slot, waits := h.items.find(item)
	if waits {
		h.order.remove(*h.order.place.At(slot))
		h.takeOut(slot)
	}
	return waits
}

// takeOut takes out the item of a slot that is in the heap no more.
func (h *QuadHeap[T]) takeOut(slot uint32) (item T) {
	h.order.far.forget(slot)
	item, last := h.items.remove(slot)
	if last != slot {
		h.order.rename(last, slot)
	}
	h.order.place.Pop()
	return item
}

// InArrivalOrder says that equal times come out in the order of arrival (DELAY-20).
func (h *QuadHeap[T]) InArrivalOrder() {}

// Len returns how many items wait.
func (h *QuadHeap[T]) Len() int { return h.items.len() }
