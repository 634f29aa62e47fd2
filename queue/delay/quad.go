package delay

import (
	"math/bits"

	"github.com/informerbench/informerbench/internal/pieces"
)

// quad is a 4-ary min-heap of values by slot, which knows where each slot is.
//
// Four children instead of two halve the height, and the four lie side by side in 64
// bytes, where a processor loads them at once (LaMarca and Ladner, "The Influence of
// Caches on the Performance of Heaps", ACM JEA 1, 1996). That is what the three unused
// nodes at the front are for: the children of node i are 4(i-2) to 4(i-2)+3, and no
// family is split by a cache line or a piece of the list.
type quad struct {
	work
	nodes pieces.List[node]
	// place is where the node of each slot is; 0 for a slot that is not in the heap.
	place pieces.List[uint32]
	far   farTimes
	added uint32 // the number of the next node
}

// node is 16 bytes. Its number tells which of two nodes of the same value came first, and
// lies where the alignment would leave four bytes unused.
type node struct {
	at     int64
	slot   uint32
	number uint32
}

const top = 3

func newQuad() quad {
	var q quad
	for range top {
		q.nodes.Push(node{})
	}
	return q
}

func (q *quad) len() int { return q.nodes.Len() - top }

// first is the earliest node; there must be one.
func (q *quad) first() node { return *q.nodes.At(top) }

func (q *quad) less(a, b node) bool { return a.at < b.at || a.at == b.at && q.tieLess(a, b) }

// tieLess compares two nodes of the same value. It is apart so that less is inlined.
func (q *quad) tieLess(a, b node) bool {
	if !q.far.none() && isFar(a.at) {
		if c := q.far.of(a.slot).Compare(q.far.of(b.slot)); c != 0 {
			return c < 0
		}
	}
	return q.age(a) < q.age(b)
}

// age orders nodes by arrival: the longer ago a node was added, the smaller it is. Numbers
// begin again after 2^32 nodes, so a node that waits while 2^32 others arrive loses its place
// among those of the same value.
func (q *quad) age(n node) uint32 { return n.number - q.added }

// push adds a slot that is not in the heap. Cost O(log n).
func (q *quad) push(slot uint32, at int64) {
	n := node{at, slot, q.added}
	q.added++
	q.nodes.Push(node{})
	q.up(uint32(q.nodes.Len()-1), n)
}

// earlier gives a slot that is in the heap a value that is not greater. Cost O(log n).
func (q *quad) earlier(slot uint32, at int64) {
	i := *q.place.At(slot)
	q.up(i, node{at, slot, q.nodes.At(i).number})
}

// remove takes out node i. Cost O(log n).
func (q *quad) remove(i uint32) {
	*q.place.At(q.nodes.At(i).slot) = 0
	last := uint32(q.nodes.Len() - 1)
	moved := *q.nodes.At(last)
	q.nodes.Pop()
	switch {
	case i == last:
	case i > top && q.less(moved, *q.nodes.At(parent(i))):
		q.up(i, moved)
	default:
		q.down(i, moved)
	}
}

// rename moves the place and the time of slot from, the last slot, to slot to.
func (q *quad) rename(from, to uint32) {
	p := *q.place.At(from)
	*q.place.At(to) = p
	if p != 0 {
		q.nodes.At(p).slot = to
	}
	q.far.rename(from, to)
}

func parent(i uint32) uint32 { return i/4 + 2 }

// up puts n at i or above: each ancestor that is later than n moves down into the hole.
func (q *quad) up(i uint32, n node) {
	for i > top {
		q.did(1)
		above := *q.nodes.At(parent(i))
		if !q.less(n, above) {
			break
		}
		q.put(i, above)
		i = parent(i)
	}
	q.put(i, n)
}

// down puts n at i or below: the earliest child moves up into the hole while it is
// earlier than n.
func (q *quad) down(i uint32, n node) {
	for {
		child := 4 * (i - 2)
		if int(child) >= q.nodes.Len() {
			break
		}
		q.did(4)
		children := q.nodes.Four(child)
		best := q.earliest(children)
		least := children[best]
		if !q.less(least, n) {
			break
		}
		q.put(i, least)
		i = child + uint32(best)
	}
	q.put(i, n)
}

// earliest is the place of the earliest child.
func (q *quad) earliest(children []node) int {
	if len(children) == 4 && q.far.none() {
		// Two pairs, then their winners. The results are computed without branches, which the
		// processor would mispredict half of the time.
		c := (*[4]node)(children)
		a, b := q.before(c[1], c[0]), 2+q.before(c[3], c[2])
		return a + (b-a)*q.before(c[b&3], c[a&3])
	}
	best := 0
	for k := 1; k < len(children); k++ {
		if q.less(children[k], children[best]) {
			best = k
		}
	}
	return best
}

// before is 1 if a is less than b, else 0; no node may be far. It compares two numbers of
// 128 bits, the value above the age, by the borrow of their subtraction.
func (q *quad) before(a, b node) int {
	_, borrow := bits.Sub64(uint64(q.age(a)), uint64(q.age(b)), 0)
	_, borrow = bits.Sub64(biased(a.at), biased(b.at), borrow)
	return int(borrow)
}

// biased is a value as an unsigned number of the same order.
func biased(at int64) uint64 { return uint64(at) ^ 1<<63 }

func (q *quad) put(i uint32, n node) {
	*q.nodes.At(i) = n
	*q.place.At(n.slot) = i
}
