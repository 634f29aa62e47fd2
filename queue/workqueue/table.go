package workqueue

import (
	"hash/maphash"
	"iter"
)

// table finds the node of an item. It is a hash table by linear hashing (Litwin,
// "Linear hashing: a new tool for file and table addressing", VLDB 1980): chains of
// nodes, and buckets that are split or merged one at a time, in turn, as items come
// and go. So no call ever moves all items, as a doubling table does, and after a
// flood the memory is given back bit by bit, which a Go map never does.
//
// All calls take O(1) time on average. Memory: a node per item, a pointer per bucket, and
// from two thirds of a bucket to four per item. Removed nodes are kept for new items: at most as
// many as there are items, plus 64.
//
// A node holds the state of its item, so that code with a node needs no look-up; that is
// what the table is for. The methods need the queue's lock, hashOf does not.
type table[T comparable, X any] struct {
	seed  maphash.Seed
	pages []*page[T, X] // the first buckets heads, in pages
	// buckets is mask+1 and the buckets that were split off in this round: head mask+1+i
	// holds nodes that were in head i.
	buckets, mask uint64
	len           int
	spare         *node[T, X] // taken out, for the next items; linked by chain
	spares        int
	fetched       uint32 // made of what fetch read, so that it is read
}

const (
	pageBits    = 8
	pageHeads   = 1 << pageBits
	leastHeads  = 16
	leastSpares = 64
	// mergesAtOnce is the most buckets that one remove merges. It must be more than sparse,
	// or the number of buckets would not keep up with that of the items as they go.
	mergesAtOnce = 8
	// sparse is the number of buckets per item above which buckets are merged.
	sparse = 4
)

// page is a piece of the heads.
type page[T comparable, X any] [pageHeads]*node[T, X]

// node is one item that the queue holds: ready, processed or waiting for its time.
type node[T comparable, X any] struct {
	item  T
	chain *node[T, X] // the next of the same bucket
	next  *node[T, X] // the next to be handed out; the list's
	more  X           // what a kind of queue adds
	hash  uint32
	state state
	held  bool // the heap may have it; queues with priorities only
}

func newTable[T comparable, X any]() table[T, X] {
	return table[T, X]{
		seed:    maphash.MakeSeed(),
		pages:   []*page[T, X]{new(page[T, X])},
		buckets: leastHeads,
		mask:    leastHeads - 1,
	}
}

// hashOf may be called without the lock. It panics if T is an interface and item
// of a type that cannot be compared, as a map does.
func (t *table[T, X]) hashOf(item T) uint32 { return uint32(maphash.Comparable(t.seed, item)) }

// find returns where the pointer to item's node is. If the item is not in the
// table the pointer is nil, and insert may put its node there.
func (t *table[T, X]) find(item T, hash uint32) **node[T, X] {
	at := t.head(t.bucketOf(hash))
	for n := *at; n != nil; n = *at {
		if n.hash == hash && n.item == item {
			break
		}
		at = &n.chain
	}
	return at
}

// fetchLen is how many items are fetched together: more than a processor has cache misses
// under way at once.
const fetchLen = 16

// fetch brings what find will read for items with these hashes into the cache, at most
// fetchLen of them. In a large table head and node are cache misses. Here the processor
// waits for those of all items together.
func (t *table[T, X]) fetch(hashes []uint32) {
	var nodes [2 * fetchLen]*node[T, X]
	for i, hash := range hashes {
		nodes[i] = *t.head(t.bucketOf(hash))
	}
	if t.crowded(len(hashes)) { // insert will split buckets
		for i := range hashes {
			if b := t.buckets - t.mask - 1 + uint64(i); b <= t.mask {
				nodes[fetchLen+i] = *t.head(b)
			}
		}
	}
	for _, n := range nodes {
		if n != nil {
			t.fetched ^= n.hash
		}
	}
}

// insert puts item where find found nothing.
func (t *table[T, X]) insert(at **node[T, X], item T, hash uint32) *node[T, X] {
	n := t.spare
	if n != nil {
		t.spare, n.chain = n.chain, nil
		t.spares--
	} else {
		n = new(node[T, X])
	}
	n.item, n.hash = item, hash
	*at = n
	t.len++
	if t.crowded(0) {
		t.split()
	}
	return n
}

// crowded reports whether there are fewer than two buckets for three items, with more of them.
func (t *table[T, X]) crowded(more int) bool { return 2*uint64(t.len+more) > 3*t.buckets }

// remove takes out the node that find found. Its next must be nil.
func (t *table[T, X]) remove(at **node[T, X]) {
	n := *at
	*at = n.chain
	*n = node[T, X]{chain: t.spare} // it must not keep the item alive
	t.spare = n
	t.spares++
	t.len--
	for range mergesAtOnce {
		if uint64(t.len)*sparse >= t.buckets || t.buckets <= leastHeads {
			break
		}
		t.merge()
	}
	// One more than this call adds, so that there will be fewer.
	for range 2 {
		if t.spares <= t.len+leastSpares {
			break
		}
		t.spare = t.spare.chain
		t.spares--
	}
}

// bucketOf returns the bucket of a hash: its low bits, one more of them if the bucket was
// split already.
func (t *table[T, X]) bucketOf(hash uint32) uint64 {
	if b := uint64(hash) & (2*t.mask + 1); b < t.buckets {
		return b
	}
	return uint64(hash) & t.mask
}

// all yields every node, in no order. The caller must not change the table meanwhile.
func (t *table[T, X]) all() iter.Seq[*node[T, X]] {
	return func(yield func(*node[T, X]) bool) {
		for b := range t.buckets {
			for n := *t.head(b); n != nil; n = n.chain {
				if !yield(n) {
					return
				}
			}
		}
	}
}

func (t *table[T, X]) head(b uint64) **node[T, X] {
	return &t.pages[b>>pageBits][b&(pageHeads-1)]
}

// split divides the next bucket in turn into itself and a new last one.
func (t *table[T, X]) split() {
	last := t.buckets
	if last>>pageBits == uint64(len(t.pages)) {
		t.pages = append(t.pages, new(page[T, X]))
	}
	stay, move := t.head(last-t.mask-1), t.head(last)
	for n := *stay; n != nil; n = *stay {
		if uint64(n.hash)&(t.mask+1) == 0 {
			stay = &n.chain
			continue
		}
		*stay, n.chain = n.chain, nil
		*move = n
		move = &n.chain
	}
	t.buckets++
	if t.buckets == 2*(t.mask+1) {
		t.mask = 2*t.mask + 1
	}
}

// merge undoes the last split.
func (t *table[T, X]) merge() {
	if t.buckets == t.mask+1 {
		t.mask >>= 1
	}
	t.buckets--
	from, to := t.head(t.buckets), t.head(t.buckets-t.mask-1)
	for *to != nil {
		to = &(*to).chain
	}
	*to, *from = *from, nil
	if t.buckets&(pageHeads-1) == 0 { // and not 0: there are leastHeads always
		last := len(t.pages) - 1
		t.pages[last] = nil
		t.pages = t.pages[:last]
	}
}
