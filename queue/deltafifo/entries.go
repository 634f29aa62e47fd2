package deltafifo

// The keys that wait in a Coalescing, in a ring of entries.

import (
	"iter"
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// fewEntries is up to how many entries a key is looked for by comparing. A consumer
// that keeps up never has more, and then nothing is put into a map and taken out
// again for each event.
const fewEntries = 8

// entry is a key that waits. Its slot is used again as the ring turns.
type entry struct {
	key    objectKey
	one    contract.Delta  // all there is, while more is nil
	more   contract.Deltas // all of them, once there are two; the consumer gets this very slice
	relist uint64          // number of the newest Replace that listed key
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

// entries is a ring of entries. The zero value is empty.
type entries struct {
	slots []entry // the length is 0 or a power of two; those that hold nothing are zero
	// Entries have numbers that only grow; number n is in slot n modulo the length.
	first, end uint64
	// index has the numbers of all keys that wait if there are more than few, and
	// until none is left: an entry is put in and taken out once at most.
	index   map[objectKey]uint64
	indexed bool
}

func (r *entries) len() int { return int(r.end - r.first) }

func (r *entries) at(n uint64) *entry { return &r.slots[n&uint64(len(r.slots)-1)] }

// find returns the entry of key, nil if it does not wait. It is valid until the
// next push or pop.
func (r *entries) find(key objectKey) *entry {
	if r.indexed {
		if n, ok := r.index[key]; ok {
			return r.at(n)
		}
		return nil
	}
	for n := r.first; n != r.end; n++ {
		if e := r.at(n); e.key == key {
			return e
		}
	}
	return nil
}

// push appends an entry for a key that does not wait.
func (r *entries) push(key objectKey, d contract.Delta) *entry {
	if r.len() == len(r.slots) {
		r.reserve(1)
	}
	if r.len() == fewEntries && !r.indexed {
		r.makeIndex(0)
	}
	if r.indexed {
		r.index[key] = r.end
	}
	e := r.at(r.end)
	e.key, e.one = key, d
	r.end++
	return e
}

// front is the entry that waited longest. There must be one.
func (r *entries) front() *entry { return r.at(r.first) }

// pop drops the front and clears its slot.
func (r *entries) pop() {
	e := r.front()
	if r.indexed {
		delete(r.index, e.key)
	}
	*e = entry{}
	r.first++
	if r.first != r.end {
		return
	}
	r.indexed = false
	if len(r.slots) > keepSlots {
		*r = entries{}
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
}

// makeIndex is called when the number of entries exceeds the few, with how many
// more are coming, if that is known.
func (r *entries) makeIndex(more int) {
	r.indexed = true
	if r.index == nil || more > keepSlots {
		r.index = make(map[objectKey]uint64, r.len()+more)
	}
	for n := r.first; n != r.end; n++ {
		r.index[r.at(n).key] = n
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
