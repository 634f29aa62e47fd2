package clientgo

import (
	"container/heap"
	"time"

	"k8s.io/utils/third_party/forked/golang/btree"

	"github.com/informerbench/informerbench/contract"
)

// ContainerHeap is the structure that client-go's delaying queue keeps its
// waiting items in, which it does not export: container/heap over pointers to
// entries that know their index, and a map from item to entry. It is the peer
// against which the delay heaps are measured.
type ContainerHeap[T comparable] struct {
	entries byTime[T]
	known   map[T]*waiting[T]
}

type waiting[T comparable] struct {
	item    T
	readyAt time.Time
	index   int
}

// NewContainerHeap returns an empty heap.
func NewContainerHeap[T comparable]() contract.DelayHeap[T] {
	return &ContainerHeap[T]{known: map[T]*waiting[T]{}}
}

// Add implements contract.DelayHeap in O(log n).
func (h *ContainerHeap[T]) Add(item T, readyAt time.Time) {
	if w, ok := h.known[item]; ok {
		if readyAt.Before(w.readyAt) {
			w.readyAt = readyAt
			heap.Fix(&h.entries, w.index)
		}
		return
	}
	w := &waiting[T]{item: item, readyAt: readyAt}
	h.known[item] = w
	heap.Push(&h.entries, w)
}

// Next implements contract.DelayHeap in O(1).
func (h *ContainerHeap[T]) Next() (time.Time, bool) {
	if len(h.entries) == 0 {
		return time.Time{}, false
	}
	return h.entries[0].readyAt, true
}

// PopReady implements contract.DelayHeap in O(log n).
func (h *ContainerHeap[T]) PopReady(now time.Time) (item T, ok bool) {
	if len(h.entries) == 0 || h.entries[0].readyAt.After(now) {
		return item, false
	}
	w := heap.Pop(&h.entries).(*waiting[T])
	delete(h.known, w.item)
	return w.item, true
}

// Len implements contract.DelayHeap.
func (h *ContainerHeap[T]) Len() int { return len(h.entries) }

type byTime[T comparable] []*waiting[T]

func (b byTime[T]) Len() int           { return len(b) }
func (b byTime[T]) Less(i, j int) bool { return b[i].readyAt.Before(b[j].readyAt) }
func (b byTime[T]) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].index, b[j].index = i, j
}

func (b *byTime[T]) Push(x any) {
	w := x.(*waiting[T])
	w.index = len(*b)
	*b = append(*b, w)
}

func (b *byTime[T]) Pop() any {
	last := len(*b) - 1
	w := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return w
}

// BTree keeps waiting items in the B-tree that controller-runtime's priority
// queue uses (k8s.io/utils), ordered by time and then by arrival.
type BTree[T comparable] struct {
	tree  *btree.BTree[*node[T]]
	known map[T]*node[T]
	added uint64
}

type node[T comparable] struct {
	item    T
	readyAt time.Time
	seq     uint64
}

// NewBTree returns an empty tree of degree 32, as controller-runtime makes it.
func NewBTree[T comparable]() contract.DelayHeap[T] {
	less := func(a, b *node[T]) bool {
		if !a.readyAt.Equal(b.readyAt) {
			return a.readyAt.Before(b.readyAt)
		}
		return a.seq < b.seq
	}
	return &BTree[T]{tree: btree.New(32, less), known: map[T]*node[T]{}}
}

// Add implements contract.DelayHeap in O(log n).
func (b *BTree[T]) Add(item T, readyAt time.Time) {
	n, ok := b.known[item]
	switch {
	case !ok:
		b.added++
		n = &node[T]{item: item, readyAt: readyAt, seq: b.added}
		b.known[item] = n
	case readyAt.Before(n.readyAt):
		b.tree.Delete(n)
		n.readyAt = readyAt
	default:
		return
	}
	b.tree.ReplaceOrInsert(n)
}

// Next implements contract.DelayHeap in O(log n).
func (b *BTree[T]) Next() (time.Time, bool) {
	n, ok := b.tree.Min()
	if !ok {
		return time.Time{}, false
	}
	return n.readyAt, true
}

// PopReady implements contract.DelayHeap in O(log n).
func (b *BTree[T]) PopReady(now time.Time) (item T, ok bool) {
	n, ok := b.tree.Min()
	if !ok || n.readyAt.After(now) {
		return item, false
	}
	b.tree.DeleteMin()
	delete(b.known, n.item)
	return n.item, true
}

// InArrivalOrder implements contract.ArrivalOrdered.
func (b *BTree[T]) InArrivalOrder() {}

// Len implements contract.DelayHeap.
func (b *BTree[T]) Len() int { return b.tree.Len() }
