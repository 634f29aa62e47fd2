package workqueue

import (
	"time"

	"github.com/informerbench/informerbench/contract"
)

// intakeLen is the number of items that an intake holds. 8 would bring as much, and 64 no
// more (docs/log/queues.md). The longer the intake, the longer the call that fills it.
const intakeLen = 16

// intake is a heap that notes added items and hands them to the heap behind it as a batch,
// which costs less (contract.BatchDelayHeap). It does so when it is full, and before each
// look into the heap. No item is put off for longer than that, and no work is left to
// another goroutine: of 16 Adds the last one does the work of all.
//
// The owner's sleep is the same whether an item is noted or in the heap. If the item is due
// before the time until which the owner sleeps, the owner is woken and looks. Otherwise it
// looks in time.
type intake[T comparable] struct {
	heap  contract.BatchDelayHeap[T]
	n     int // items noted
	items [intakeLen]contract.Waiting[T]
}

// withIntake puts an intake before a heap that can use one.
func withIntake[T comparable](h contract.DelayHeap[T]) contract.DelayHeap[T] {
	if many, ok := h.(contract.BatchDelayHeap[T]); ok {
		return &intake[T]{heap: many}
	}
	return h
}

// Add is part of contract.DelayHeap.
func (in *intake[T]) Add(item T, readyAt time.Time) {
	in.items[in.n] = contract.Waiting[T]{Item: item, ReadyAt: readyAt}
	if in.n++; in.n == intakeLen {
		in.takeIn()
	}
}

// takeIn empties the intake, and keeps no reference to what was in it.
func (in *intake[T]) takeIn() {
	if in.n == 0 {
		return
	}
	noted := in.items[:in.n]
	in.heap.AddMany(noted)
	clear(noted)
	in.n = 0
}

// Next is part of contract.DelayHeap.
func (in *intake[T]) Next() (readyAt time.Time, ok bool) {
	in.takeIn()
	return in.heap.Next()
}

// PopReady is part of contract.DelayHeap. Noted items go into the heap first, even if they
// are not due: an item that comes out must not be noted with a later time, at which it
// would come again.
func (in *intake[T]) PopReady(now time.Time) (item T, ok bool) {
	in.takeIn()
	return in.heap.PopReady(now)
}

// Remove is part of contract.RemovingDelayHeap. It does nothing if the heap is none.
func (in *intake[T]) Remove(item T) (waited bool) {
	removing, ok := in.heap.(contract.RemovingDelayHeap[T])
	if !ok {
		return false
	}
	in.takeIn()
	return removing.Remove(item)
}

// Len is part of contract.DelayHeap.
func (in *intake[T]) Len() int {
	in.takeIn()
	return in.heap.Len()
}
