package workqueue

import (
	"time"

	"github.com/informerbench/informerbench/contract"
)

// batchLen is the number of items in a batch. 8 would bring as much, and 64 no more. The longer
// the batch, the longer the call that fills it.
const batchLen = 16

// batching is a heap that notes added items and hands them to the heap behind it as a batch,
// which costs less (contract.BatchDelayHeap): when the batch is full, and before each look into
// the heap. Of 16 Adds the last one does the work of all; no work is left to another goroutine.
//
// The owner's sleep is the same whether an item is noted or in the heap. If the item is due
// before the time until which the owner sleeps, the owner is woken and looks. Otherwise it
// looks in time.
type batching[T comparable] struct {
	heap  contract.BatchDelayHeap[T]
	n     int // items noted
	items [batchLen]contract.Waiting[T]
}

// inBatches puts a batching before a heap that can use one.
func inBatches[T comparable](h contract.DelayHeap[T]) contract.DelayHeap[T] {
	if many, ok := h.(contract.BatchDelayHeap[T]); ok {
		return &batching[T]{heap: many}
	}
	return h
}

// Add is part of contract.DelayHeap.
func (b *batching[T]) Add(item T, readyAt time.Time) {
	b.items[b.n] = contract.Waiting[T]{Item: item, ReadyAt: readyAt}
	if b.n++; b.n == batchLen {
		b.flush()
	}
}

// flush moves the noted items into the heap, and keeps no reference to them.
func (b *batching[T]) flush() {
	if b.n == 0 {
		return
	}
	noted := b.items[:b.n]
	b.heap.AddMany(noted)
	clear(noted)
	b.n = 0
}

// Next is part of contract.DelayHeap.
func (b *batching[T]) Next() (readyAt time.Time, ok bool) {
	b.flush()
	return b.heap.Next()
}

// PopReady is part of contract.DelayHeap. Noted items go into the heap first, even if they
// are not due: an item that comes out must not be noted with a later time, at which it
// would come again.
func (b *batching[T]) PopReady(now time.Time) (item T, ok bool) {
	b.flush()
	return b.heap.PopReady(now)
}

// Remove is part of contract.RemovingDelayHeap. It does nothing if the heap is none.
func (b *batching[T]) Remove(item T) (waited bool) {
	removing, ok := b.heap.(contract.RemovingDelayHeap[T])
	if !ok {
		return false
	}
	b.flush()
	return removing.Remove(item)
}

// Len is part of contract.DelayHeap.
func (b *batching[T]) Len() int {
	b.flush()
	return b.heap.Len()
}
