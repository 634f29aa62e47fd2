// Package pointerheap is a sound heap, made as in client-go's delaying queue: the standard
// library's container/heap of pointers, and a map. The tests of the heaps' suite use it,
// and the broken heaps of package mutants are made of it.
//
// Its inner parts are exported so that mutants can break them.
package pointerheap

import (
	"container/heap"
	"maps"
	"time"

	"github.com/informerbench/informerbench/contract"
)

var _ contract.DelayHeap[string] = (*Heap)(nil)

// Heap is a sound contract.DelayHeap.
type Heap struct {
	Order Order
	Known map[string]*Waiting // by item; an item is in it while it waits

	fullest int // the most items since Trim gave memory back
}

// Waiting is an item that waits.
type Waiting struct {
	Item    string
	ReadyAt time.Time
	Index   int // its place in Order
}

// New returns an empty heap.
func New() *Heap { return &Heap{Known: map[string]*Waiting{}} }

// Add is part of contract.DelayHeap.
func (h *Heap) Add(item string, readyAt time.Time) {
	w, ok := h.Known[item]
	if !ok {
		w = &Waiting{Item: item, ReadyAt: readyAt}
		h.Known[item] = w
		heap.Push(&h.Order, w)
		h.fullest = max(h.fullest, len(h.Order))
		return
	}
	if readyAt.Before(w.ReadyAt) {
		h.Move(w, readyAt)
	}
}

// Move gives a waiting item another time.
func (h *Heap) Move(w *Waiting, readyAt time.Time) {
	w.ReadyAt = readyAt
	heap.Fix(&h.Order, w.Index)
}

// Next is part of contract.DelayHeap.
func (h *Heap) Next() (time.Time, bool) {
	if len(h.Order) == 0 {
		return time.Time{}, false
	}
	return h.Order[0].ReadyAt, true
}

// PopReady is part of contract.DelayHeap.
func (h *Heap) PopReady(now time.Time) (string, bool) {
	w := h.TakeReady(now)
	if w == nil {
		return "", false
	}
	delete(h.Known, w.Item)
	h.Trim()
	return w.Item, true
}

// TakeOut takes out an item before its time, and reports whether it waited. It is not called
// Remove because a heap may do without (contract.RemovingDelayHeap).
func (h *Heap) TakeOut(item string) (waited bool) {
	w := h.Known[item]
	if w == nil {
		return false
	}
	heap.Remove(&h.Order, w.Index)
	delete(h.Known, item)
	h.Trim()
	return true
}

// Trim gives memory back when few of many items are left.
func (h *Heap) Trim() {
	if h.fullest < 1000 || len(h.Order) > h.fullest/4 {
		return
	}
	h.Order = append(Order(nil), h.Order...)
	known := make(map[string]*Waiting, len(h.Known))
	maps.Copy(known, h.Known)
	h.Known, h.fullest = known, len(h.Order)
}

// TakeReady takes the earliest item out of Order, and leaves it in Known. It returns nil if
// no item is ready.
func (h *Heap) TakeReady(now time.Time) *Waiting {
	if len(h.Order) == 0 || h.Order[0].ReadyAt.After(now) {
		return nil
	}
	return heap.Pop(&h.Order).(*Waiting)
}

// Len is part of contract.DelayHeap.
func (h *Heap) Len() int { return len(h.Order) }

// Order is a heap.Interface.
type Order []*Waiting

// Len is part of heap.Interface.
func (o Order) Len() int { return len(o) }

// Less is part of heap.Interface.
func (o Order) Less(i, j int) bool { return o[i].ReadyAt.Before(o[j].ReadyAt) }

// Swap is part of heap.Interface.
func (o Order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].Index, o[j].Index = i, j
}

// Push is part of heap.Interface.
func (o *Order) Push(x any) {
	w := x.(*Waiting)
	w.Index = len(*o)
	*o = append(*o, w)
}

// Pop is part of heap.Interface.
func (o *Order) Pop() any {
	last := len(*o) - 1
	w := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return w
}
