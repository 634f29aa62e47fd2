package delay

import (
	"time"

	"github.com/informerbench/informerbench/core/contract"
)

var (
	_ contract.DelayHeap[string] = (*PairingHeap[string])(nil)
	_ contract.ArrivalOrdered    = (*PairingHeap[string])(nil)
)

// PairingHeap is a pairing heap (Fredman, Sedgewick, Sleator and Tarjan, "The Pairing
// Heap: A New Form of Self-Adjusting Heap", Algorithmica 1, 1986): a tree whose nodes
// have any number of children. Add links one node, an earlier time cuts and links one,
// and PopReady pairs up the children of the root. Its links are numbers, not pointers, so
// nothing is allocated for an item.
//
// It defers all work to PopReady: the first PopReady after n adds in order looks at n nodes.
//
// Its methods must not be called at the same time.
type PairingHeap[T comparable] struct {
	work
	epoch epoch
	items items[T]
	nodes list[pairingNode] // by slot
	root  uint32            // a slot plus one, as all links; 0 for none
	far   farTimes
	added uint32 // the number of the next node
}

type pairingNode struct {
	at     int64
	child  uint32 // the first
	next   uint32 // sibling
	prev   uint32 // sibling, or of a first child the parent; 0 for the root
	number uint32 // as in quad
}

// NewPairingHeap returns an empty heap.
func NewPairingHeap[T comparable]() *PairingHeap[T] {
	return &PairingHeap[T]{epoch: newEpoch(), items: newItems[T]()}
}

func (h *PairingHeap[T]) node(link uint32) *pairingNode { return h.nodes.at(link - 1) }

// Add makes item wait until readyAt. An item that waits already keeps the
// earlier of the two times (DELAY-3). Cost O(1).
func (h *PairingHeap[T]) Add(item T, readyAt time.Time) {
	at := h.epoch.of(readyAt)
	tag, slot, waits := h.items.find(item)
	link := slot + 1
	if !waits {
		slot = h.items.add(item, tag)
		link = slot + 1
		h.nodes.push(pairingNode{at: at, number: h.added})
		h.added++
		h.far.set(slot, at, readyAt)
		if h.root == 0 {
			h.root = link
		} else {
			h.root = h.meld(h.root, link)
		}
		return
	}
	n := h.node(link)
	if !h.far.earlier(at, readyAt, n.at, slot) {
		return
	}
	n.at = at
	h.far.set(slot, at, readyAt)
	if link != h.root {
		h.cut(link)
		h.root = h.meld(h.root, link)
	}
}

// Next returns the earliest time waiting, and false while nothing waits.
func (h *PairingHeap[T]) Next() (readyAt time.Time, ok bool) {
	if h.root == 0 {
		return time.Time{}, false
	}
	if at := h.node(h.root).at; !isFar(at) {
		return h.epoch.time(at), true
	}
	return h.far.of(h.root - 1), true
}

// PopReady takes out the earliest item if its time is not after now. Cost O(log n)
// amortised over all operations, O(n) at worst.
func (h *PairingHeap[T]) PopReady(now time.Time) (item T, ok bool) {
	if h.root == 0 {
		return item, false
	}
	slot := h.root - 1
	if !h.far.ready(slot, h.node(h.root).at, h.epoch.of(now), now) {
		return item, false
	}
	h.root = h.pairUp(h.node(h.root).child)
	h.far.forget(slot)
	item, last := h.items.remove(slot)
	if last != slot {
		h.rename(last, slot)
	}
	h.nodes.pop()
	return item, true
}

// InArrivalOrder says that equal times come out in the order of arrival (DELAY-20).
func (h *PairingHeap[T]) InArrivalOrder() {}

// Len returns how many items wait.
func (h *PairingHeap[T]) Len() int { return h.items.len() }

// meld makes the later of two roots the first child of the other, which it returns.
func (h *PairingHeap[T]) meld(a, b uint32) uint32 {
	h.did(1)
	na, nb := h.node(a), h.node(b)
	if nb.at < na.at || nb.at == na.at && h.tieLess(b, a) {
		a, b, na, nb = b, a, nb, na
	}
	nb.next, nb.prev = na.child, a
	if na.child != 0 {
		h.node(na.child).prev = b
	}
	na.child = b
	return a
}

// tieLess compares two links whose nodes have the same value, as quad's does.
func (h *PairingHeap[T]) tieLess(a, b uint32) bool {
	na, nb := h.node(a), h.node(b)
	if !h.far.none() && isFar(na.at) {
		if c := h.far.of(a - 1).Compare(h.far.of(b - 1)); c != 0 {
			return c < 0
		}
	}
	return na.number-h.added < nb.number-h.added
}

// cut takes a node that is not the root, and what is below it, out of the tree.
func (h *PairingHeap[T]) cut(link uint32) {
	n := h.node(link)
	if before := h.node(n.prev); before.child == link {
		before.child = n.next
	} else {
		before.next = n.next
	}
	if n.next != 0 {
		h.node(n.next).prev = n.prev
	}
	n.next, n.prev = 0, 0
}

// pairUp makes one tree of a list of siblings: it melds them two by two from the first
// to the last, then each pair with what comes behind it. It returns its root, 0 for an
// empty list.
func (h *PairingHeap[T]) pairUp(first uint32) uint32 {
	// The pairs wait in a list by their next links, the last one in front.
	pairs := uint32(0)
	for first != 0 {
		a := first
		b := h.node(a).next
		first = 0
		if b != 0 {
			first = h.node(b).next
			a = h.meld(a, b)
		}
		h.node(a).next = pairs
		pairs = a
	}
	if pairs == 0 {
		return 0
	}
	root := pairs
	for pairs = h.node(root).next; pairs != 0; {
		following := h.node(pairs).next
		root = h.meld(root, pairs)
		pairs = following
	}
	n := h.node(root)
	n.next, n.prev = 0, 0
	return root
}

// rename moves the node of slot from, the last slot, to slot to, and repairs the links
// that lead to it.
func (h *PairingHeap[T]) rename(from, to uint32) {
	n := h.nodes.at(from)
	*h.nodes.at(to) = *n
	h.far.rename(from, to)
	old, link := from+1, to+1
	if h.root == old {
		h.root = link
	}
	if n.child != 0 {
		h.node(n.child).prev = link
	}
	if n.next != 0 {
		h.node(n.next).prev = link
	}
	if n.prev == 0 {
		return
	}
	if before := h.node(n.prev); before.child == old {
		before.child = link
	} else {
		before.next = link
	}
}
