package deltafifo

// The keys that wait in a Coalescing, in a ring of entries.

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

// fewEntries is the most entries among which a key is found by comparing. A consumer that
// keeps up never has more. Then no event's key is hashed, put into an index and taken out.
const fewEntries = 8

// entry is a key that waits. Its slot is used again as the ring turns.
type entry struct {
	key    objectKey
	one    contract.Delta  // all there is, while more is nil
	more   contract.Deltas // all of them, once there are two; the consumer gets this very slice
	relist uint32          // number of the newest Replace that listed key
	hash   uint32          // of key; 0: not computed
}

// newest is the delta that was added last.
func (e *entry) newest() *contract.Delta {
	if e.more == nil {
		return &e.one
	}
	return &e.more[len(e.more)-1]
}

// add appends d, except that of two deletions in a row one is kept, in place.
func (e *entry) add(d contract.Delta) {
	if last := e.newest(); last.Type == contract.Deleted && d.Type == contract.Deleted {
		mergeDeletions(last, d)
		return
	}
	if e.more == nil {
		e.more = append(make(contract.Deltas, 0, 4), e.one)
		e.one = contract.Delta{}
	}
	e.more = append(e.more, d)
}

// clone is a copy of what waits.
func (e *entry) clone() contract.Deltas {
	if e.more == nil {
		return contract.Deltas{e.one}
	}
	return slices.Clone(e.more)
}

// keepSlots is the size up to which the ring and its index are kept when the FIFO runs empty. Growing
// anew after a larger backlog costs each of its events a constant share.
const keepSlots = 1024

// minSlots is the least size of the ring.
const minSlots = 16

// entries is a ring of entries. The zero value is empty.
type entries struct {
	slots []entry // the length is 0 or a power of two; those that hold nothing are zero
	// Entries have numbers that only grow; number n is in slot n modulo the length.
	first, end uint64
	// places is an index by open addressing: where in the ring a key is. It is in use while
	// indexed: from when more than fewEntries wait until none is left.
	places  []place // all zero while it is not in use
	indexed bool
	hashing *atomic.Bool // follows indexed; may be nil
}

// place is a place of the index. A search for a key begins at its hash and goes upwards.
type place struct {
	hash uint32
	at   uint32 // slot of the ring plus one; 0: the place is free
}

func (r *entries) len() int { return int(r.end - r.first) }

func (r *entries) at(n uint64) *entry { return &r.slots[n&uint64(len(r.slots)-1)] }

// hashOf is the hash of key if the index needs it, else 0.
func (r *entries) hashOf(key objectKey) uint32 {
	if r.indexed {
		return key.hash()
	}
	return 0
}

// find returns the entry of key, nil if it does not wait; hash is 0 or its hash. The
// entry is valid until the next push or pop.
func (r *entries) find(key objectKey, hash uint32) *entry {
	if !r.indexed {
		for n := r.first; n != r.end; n++ {
			if e := r.at(n); e.key == key {
				return e
			}
		}
		return nil
	}
	if hash == 0 {
		hash = key.hash()
	}
	mask := uint32(len(r.places) - 1)
	for i := hash & mask; r.places[i].at != 0; i = (i + 1) & mask {
		if p := r.places[i]; p.hash == hash {
			if e := &r.slots[p.at-1]; e.key == key {
				return e
			}
		}
	}
	return nil
}

// push appends an entry for a key that does not wait; hash is 0 or its hash.
func (r *entries) push(key objectKey, hash uint32, d contract.Delta) *entry {
	if r.len() == len(r.slots) {
		r.reserve(1)
	}
	e := r.at(r.end)
	e.key, e.one, e.hash = key, d, hash
	r.end++
	switch {
	case r.indexed:
		r.place(r.end - 1)
	case r.len() > fewEntries:
		r.index(true)
	}
	return e
}

// place puts entry number n into the index.
func (r *entries) place(n uint64) {
	e := r.at(n)
	if e.hash == 0 {
		e.hash = e.key.hash()
	}
	mask := uint32(len(r.places) - 1)
	i := e.hash & mask
	for r.places[i].at != 0 {
		i = (i + 1) & mask
	}
	r.places[i] = place{e.hash, r.slot(n) + 1}
}

func (r *entries) slot(n uint64) uint32 { return uint32(n & uint64(len(r.slots)-1)) }

// unplace takes the front out of the index, and moves what lies behind it towards its
// hash, so that no search ends at the gap.
//
// The front is always in the place that its hash names. Between that place and an entry's
// own are only older entries: place puts a new entry behind old ones, and an entry that
// moves into a gap is older than every later one that is looked for past the gap. The
// front has no older ones.
func (r *entries) unplace() {
	mask := uint32(len(r.places) - 1)
	i := r.front().hash & mask
	for j := (i + 1) & mask; r.places[j].at != 0; j = (j + 1) & mask {
		if p := r.places[j]; (j-p.hash)&mask >= (j-i)&mask {
			r.places[i] = p
			i = j
		}
	}
	r.places[i] = place{}
}

// index turns the index on or off. To turn it off nothing must wait.
func (r *entries) index(on bool) {
	r.indexed = on
	if r.hashing != nil {
		r.hashing.Store(on)
	}
	if !on {
		return
	}
	if len(r.places) != 2*len(r.slots) {
		r.places = make([]place, 2*len(r.slots))
	}
	for n := r.first; n != r.end; n++ {
		r.place(n)
	}
}

// front is the entry that waited longest. There must be one.
func (r *entries) front() *entry { return r.at(r.first) }

// pop drops the front and clears its slot.
func (r *entries) pop() {
	if r.indexed {
		r.unplace()
	}
	*r.front() = entry{}
	r.first++
	if r.first != r.end {
		return
	}
	if r.indexed {
		r.index(false)
	}
	if len(r.slots) > keepSlots {
		r.slots, r.places = nil, nil
	}
}

// reserve makes room for more entries without growth.
func (r *entries) reserve(more int) {
	size := max(len(r.slots), minSlots)
	for size < r.len()+more {
		size *= 2
	}
	if size == len(r.slots) {
		return
	}
	slots := make([]entry, size)
	for n := r.first; n != r.end; n++ {
		slots[n&uint64(size-1)] = *r.at(n)
	}
	r.slots = slots
	if r.indexed {
		r.index(true)
	}
}

// all yields what waits, oldest first. No entry must be pushed or popped meanwhile.
func (r *entries) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for n := r.first; n != r.end; n++ {
			if !yield(r.at(n)) {
				return
			}
		}
	}
}

// mergeDeletions keeps in last the better of two deletions in a row: the newer if the older is a
// tombstone, which knows less, and the older otherwise.
func mergeDeletions(last *contract.Delta, d contract.Delta) {
	if _, isTombstone := last.Object.(contract.DeletedFinalStateUnknown); isTombstone {
		*last = d
	}
}
