package delaytest

import (
	"container/heap"
	"time"

	"github.com/informerbench/informerbench/contract"
)

// oracle is the standard library's heap under DelayHeap's methods, with a
// container/heap of pointers as client-go's delaying queue has it.
type oracle struct {
	heap  pointerHeap
	known map[string]*waiting
}

type waiting struct {
	item    string
	readyAt time.Time
	index   int
}

func newOracle() contract.DelayHeap[string] { return &oracle{known: map[string]*waiting{}} }

func (o *oracle) Add(item string, readyAt time.Time) {
	w, ok := o.known[item]
	if !ok {
		w = &waiting{item: item, readyAt: readyAt}
		o.known[item] = w
		heap.Push(&o.heap, w)
		return
	}
	if readyAt.Before(w.readyAt) {
		w.readyAt = readyAt
		heap.Fix(&o.heap, w.index)
	}
}

func (o *oracle) Next() (time.Time, bool) {
	if len(o.heap) == 0 {
		return time.Time{}, false
	}
	return o.heap[0].readyAt, true
}

func (o *oracle) PopReady(now time.Time) (string, bool) {
	if len(o.heap) == 0 || o.heap[0].readyAt.After(now) {
		return "", false
	}
	w := heap.Pop(&o.heap).(*waiting)
	delete(o.known, w.item)
	return w.item, true
}

func (o *oracle) Len() int { return len(o.heap) }

type pointerHeap []*waiting

func (h pointerHeap) Len() int           { return len(h) }
func (h pointerHeap) Less(i, j int) bool { return h[i].readyAt.Before(h[j].readyAt) }
func (h pointerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *pointerHeap) Push(x any) {
	w := x.(*waiting)
	w.index = len(*h)
	*h = append(*h, w)
}
func (h *pointerHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return w
}

func heapFix(o *oracle, w *waiting) { heap.Fix(&o.heap, w.index) }

func popFirst(o *oracle) *waiting { return heap.Pop(&o.heap).(*waiting) }
