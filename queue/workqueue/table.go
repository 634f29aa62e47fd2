package workqueue

import (
	"hash/maphash"
	"iter"

	"github.com/informerbench/informerbench/internal/pieces"
)

// table finds the node of an item. It is a hash table by linear hashing (Litwin,
// "Linear hashing: a new tool for file and table addressing", VLDB 1980): chains of
// nodes, and buckets that are split or merged one at a time, in turn, as items come
// and go. So no call ever moves all items, as a doubling table does, and after a
// flood the memory is given back bit by bit, which a Go map never does.
//
// All calls take O(1) time on average. Memory: a node per item, 4 bytes per bucket, and
// from two thirds of a bucket to four per item. Removed nodes are kept for new items: at most as
// many as there are items, plus 64. When there are more, the last node moves into a free one, and
// its place is given back.
//
// A node holds the state of its item, so that code with a node needs no look-up; that is
// what the table is for. Nodes lie in pieces and are linked by their numbers, in half the bytes
// of pointers, and the collector follows none. There may be 2^32-2 of them. The methods need the
// queue's lock, hashOf does not.
type table[T comparable, L linked] struct {
	seed  maphash.Seed
	nodes pieces.List[node[T, L]] // the first is not used: number 0 is none
	heads pieces.List[number]     // the first node of each bucket
	// mask+1 buckets, and those that were split off in this round: head mask+1+i
	// holds nodes that were in head i.
	mask    uint32
	fetched uint32 // made of what fetch read, so that it is read
	// moved is told that a node has another number, to have it linked there. Only a node that
	// is ready is linked.
	moved func(from, to number)
	// What each call writes is last, and so on one cache line with the queue's list.
	len   int
	spare list // free nodes
}

const (
	leastHeads  = 16
	leastSpares = 64
	// mergesAtOnce is the most buckets that one remove merges. It must be more than sparse,
	// or the number of buckets would not keep up with that of the items as they go.
	mergesAtOnce = 8
	// sparse is the number of buckets per item above which buckets are merged.
	sparse = 4
)

func newTable[T comparable, L linked](moved func(from, to number)) table[T, L] {
	t := table[T, L]{seed: maphash.MakeSeed(), mask: leastHeads - 1, moved: moved,
		spare: list{by: inTurn}}
	t.nodes.Push(node[T, L]{})
	for range leastHeads {
		t.heads.Push(0)
	}
	return t
}

// node returns the node of a number, which is valid until the next insert or remove.
func (t *table[T, L]) node(k number) *node[T, L] { return t.nodes.At(uint32(k)) }

// hashOf may be called without the lock. It panics if T is an interface and item
// of a type that cannot be compared, as a map does.
func (t *table[T, L]) hashOf(item T) uint32 {
	return uint32(maphash.Comparable(t.seed, item)) << stateBits >> stateBits
}

// find returns item's node, and where its number is. If the item is not in the
// table the node is nil and the number 0, and insert may put its own there. Both are valid until
// the next insert or remove.
func (t *table[T, L]) find(item T, hash uint32) (at *number, n *node[T, L]) {
	at = t.head(t.bucketOf(hash))
	for *at != 0 {
		n = t.node(*at)
		if n.hash() == hash && n.item == item {
			return at, n
		}
		at = &n.chain
	}
	return at, nil
}

// fetchLen is how many items are fetched together: more than a processor has cache misses
// under way at once.
const fetchLen = 16

// fetch brings what find will read for items with these hashes into the cache, at most
// fetchLen of them. In a large table head and node are cache misses. Here the processor
// waits for those of all items together.
func (t *table[T, L]) fetch(hashes []uint32) {
	var nodes [2 * fetchLen]number
	for i, hash := range hashes {
		nodes[i] = *t.head(t.bucketOf(hash))
	}
	if t.crowded(len(hashes)) { // insert will split buckets
		for i := range hashes {
			if b := t.buckets() - t.mask - 1 + uint32(i); b <= t.mask {
				nodes[fetchLen+i] = *t.head(b)
			}
		}
	}
	for _, k := range nodes {
		if k != 0 {
			t.fetched ^= t.node(k).mark
		}
	}
}

// insert puts item where find found nothing.
func (t *table[T, L]) insert(at *number, item T, hash uint32) (k number, n *node[T, L]) {
	if k = t.spare.last; k != 0 {
		*at, n = k, t.node(k)
		t.unlink(&t.spare, k, n)
	} else {
		k = number(t.nodes.Len())
		*at = k // before the nodes grow, for it may lie in one
		t.nodes.Push(node[T, L]{})
		n = t.node(k)
	}
	n.item, n.mark = item, hash<<stateBits
	t.len++
	if t.crowded(0) {
		t.split()
	}
	return k, n
}

func (t *table[T, L]) buckets() uint32 { return uint32(t.heads.Len()) }

// crowded reports whether there are fewer than two buckets for three items, with more of them.
func (t *table[T, L]) crowded(more int) bool { return 2*(t.len+more) > 3*t.heads.Len() }

// remove takes out the node that find found, which must be in no list.
func (t *table[T, L]) remove(at *number, n *node[T, L]) {
	k := *at
	*at = n.chain
	*n = node[T, L]{} // it must not keep the item alive
	t.push(&t.spare, k, n)
	t.len--
	for range mergesAtOnce {
		if t.len*sparse >= t.heads.Len() || t.heads.Len() <= leastHeads {
			break
		}
		t.merge()
	}
	// One more than this call adds, so that there will be fewer.
	for range 2 {
		if t.spares() <= t.len+leastSpares {
			break
		}
		t.shrink()
	}
}

func (t *table[T, L]) spares() int { return t.nodes.Len() - 1 - t.len }

// shrink gives back the place of the last node. There must be a free one.
func (t *table[T, L]) shrink() {
	last := number(t.nodes.Len() - 1)
	n := t.node(last)
	if n.state() == 0 {
		t.unlink(&t.spare, last, n)
	} else {
		free := t.spare.last
		to := t.node(free)
		t.unlink(&t.spare, free, to)
		at := t.head(t.bucketOf(n.hash()))
		for *at != last {
			at = &t.node(*at).chain
		}
		*at, *to = free, *n
		t.moved(last, free)
	}
	t.nodes.Pop()
}

// bucketOf returns the bucket of a hash: its low bits, one more of them if the bucket was
// split already.
func (t *table[T, L]) bucketOf(hash uint32) uint32 {
	if b := hash & (2*t.mask + 1); b < t.buckets() {
		return b
	}
	return hash & t.mask
}

// all yields every node, in no order. The caller must not change the table meanwhile.
func (t *table[T, L]) all() iter.Seq[*node[T, L]] {
	return func(yield func(*node[T, L]) bool) {
		for k := range number(t.nodes.Len()) {
			if n := t.node(k); n.state() != 0 && !yield(n) {
				return
			}
		}
	}
}

func (t *table[T, L]) head(b uint32) *number { return t.heads.At(b) }

// split divides the next bucket in turn into itself and a new last one.
func (t *table[T, L]) split() {
	last := t.buckets()
	t.heads.Push(0)
	stay, move := t.head(last-t.mask-1), t.head(last)
	for *stay != 0 {
		n := t.node(*stay)
		if n.hash()&(t.mask+1) == 0 {
			stay = &n.chain
			continue
		}
		*move = *stay
		*stay, n.chain = n.chain, 0
		move = &n.chain
	}
	if t.buckets() == 2*(t.mask+1) {
		t.mask = 2*t.mask + 1
	}
}

// merge undoes the last split.
func (t *table[T, L]) merge() {
	if t.buckets() == t.mask+1 {
		t.mask >>= 1
	}
	last := t.buckets() - 1
	to := t.head(last - t.mask - 1)
	for *to != 0 {
		to = &t.node(*to).chain
	}
	*to = *t.head(last)
	t.heads.Pop()
}
