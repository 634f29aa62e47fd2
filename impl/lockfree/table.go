package lockfree

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/explore"
)

// table is a hash table from keys to records that one writer fills and any number of
// readers search, without waiting. It is extendible hashing (Fagin, Nievergelt, Pippenger
// and Strong 1979): the upper bits of a hash choose a part through a directory. The lower
// bits choose a place in the part, from which the search is linear. A full part is copied
// to a larger one, or split into two. So the longest stop of a write is bounded, however
// many keys there are.
//
// A reader that still searches a part that was copied meanwhile sees the table as it
// was at that moment, which lies within its call.
type table struct {
	seed        maphash.Seed
	dir         atomic.Pointer[directory]
	entryValues *entryValues // the objects, entry by entry; nil where none are kept
}

// directory maps the upper depth bits of a hash to parts. It is never changed, but
// replaced. parts has one element per value of these bits. entries has each part's
// entries, which spares a Get one pointer.
type directory struct {
	depth   int
	entries [][]entry
	parts   []*part
}

// newDirectory returns a directory of 1<<depth parts, which the caller sets.
func newDirectory(depth int) *directory {
	return &directory{depth: depth, entries: make([][]entry, 1<<depth), parts: make([]*part, 1<<depth)}
}

func (d *directory) set(i int, p *part) { d.parts[i], d.entries[i] = p, p.entries }

// part is a table of fixed size.
type part struct {
	entries []entry
	depth   int    // how many upper bits its keys share
	born    uint64 // the write that made it, if a rebuild did

	used int // entries with a key; writer only
	live int // entries with a key that is not deleted; writer only
}

// entry is one place in a part. hash is zero while the entry is free. It is set after key
// and rec, so a reader that sees the hash sees both. An entry never changes its key.
//
// A Get's cost is its cache misses. The key in the entry saves a miss on the record, and
// the value in the entry saves those on record and version.
type entry struct {
	hash  atomic.Uint64 // with the bit unsettled where value must not be read: in an index always
	key   string
	value atomic.Value // see entryValues
	rec   atomic.Pointer[record]
}

const (
	smallestPart = 8
	largestPart  = 1024 // entries, unless the hashes are bad
)

// init makes t an empty table.
func (t *table) init() {
	t.seed = maphash.MakeSeed()
	dir := newDirectory(0)
	dir.set(0, newPart(0, 0))
	t.dir.Store(dir)
}

// newPart returns a part with 8/5 as many entries as there are live keys.
func newPart(depth, live int) *part {
	return &part{depth: depth, entries: make([]entry, max(smallestPart, live*8/5))}
}

func (p *part) full() bool { return p.used+1 > len(p.entries)*4/5 }

func (t *table) hash(key string) uint64 {
	if h := hashOf(t.seed, key) &^ unsettled; h != 0 {
		return h
	}
	return 2 * unsettled
}

func (d *directory) part(hash uint64) *part { return d.parts[hash>>(64-d.depth)] }

// home returns where the search for a hash begins in a part's entries. A multiplication
// spreads the lower 32 bits of the hash over the entries, so a part may have any size.
func home(entries []entry, hash uint64) int {
	return int(uint64(uint32(hash)) * uint64(len(entries)) >> 32)
}

// find returns the entry of key, nil if there is none, and the part in which it is or
// would be. Any goroutine may call it; only the writer may read used and live of the part.
func (t *table) find(hash uint64, key string) (*part, *entry) {
	explore.Point("find.dir")
	p := t.dir.Load().part(hash)
	for i := home(p.entries, hash); ; {
		e := &p.entries[i]
		explore.Point("find.hash")
		switch e.hash.Load() {
		case hash, hash | unsettled:
			if e.key == key {
				return p, e
			}
		case 0:
			return p, nil
		}
		if i++; i == len(p.entries) {
			i = 0
		}
	}
}

// insert adds rec, for whose key find returned the part p and no entry.
func (t *table) insert(hash uint64, rec *record, p *part, writing uint64) {
	for p.full() {
		t.rebuild(p, hash, writing)
		p = t.dir.Load().part(hash)
	}
	t.entryValues.note(p.insert(hash, rec))
}

// died notes that the key with this hash, which lies in p, was deleted.
func (t *table) died(hash uint64, p *part, writing uint64) {
	p.live--
	// Once in a write: a rebuild keeps the tombstones of the write under way.
	if len(p.entries) > smallestPart && p.live < p.used/8 && p.born != writing {
		t.rebuild(p, hash, writing)
	}
}

// insert returns the new entry, which is not settled.
func (p *part) insert(hash uint64, rec *record) *entry {
	i := home(p.entries, hash)
	for p.entries[i].hash.Load() != 0 {
		if i++; i == len(p.entries) {
			i = 0
		}
	}
	e := &p.entries[i]
	e.key = rec.key
	explore.Point("insert.rec")
	e.rec.Store(rec)
	explore.Point("insert.hash")
	e.hash.Store(hash | unsettled)
	p.used++
	if !rec.newest.Load().absent() {
		p.live++
	}
	return e
}

// rebuild replaces p, in which hash lies, by a part without old tombstones, or by two parts
// if one would be too large. A tombstone of the write under way stays: until that write
// is committed, readers find the version before through it.
func (t *table) rebuild(p *part, hash, writing uint64) {
	keep, upper := 0, 0
	bit := uint64(1) << (63 - p.depth)
	kept := func(n *version) bool { return !n.absent() || n.seq == writing }
	for i := range p.entries {
		if h := p.entries[i].hash.Load() &^ unsettled; h != 0 && kept(p.entries[i].rec.Load().newest.Load()) {
			keep++
			if h&bit != 0 {
				upper++
			}
		}
	}
	halves := []*part{newPart(p.depth, keep)}
	// If nearly all hashes fell into one half, splits would never end.
	if keep*8/5 > largestPart && min(upper, keep-upper) > keep/8 {
		halves = []*part{newPart(p.depth+1, keep-upper), newPart(p.depth+1, upper)}
	}
	for _, half := range halves {
		half.born = writing
	}
	for i := range p.entries {
		h := p.entries[i].hash.Load() &^ unsettled
		if h == 0 {
			continue
		}
		rec := p.entries[i].rec.Load()
		n := rec.newest.Load()
		if !kept(n) {
			continue
		}
		half := halves[0]
		if h&bit != 0 {
			half = halves[len(halves)-1]
		}
		if e := half.insert(h, rec); n.seq == writing {
			t.entryValues.note(e)
		} else {
			t.entryValues.set(e)
		}
	}
	explore.Point("rebuild.dir")
	t.dir.Store(t.dir.Load().with(p, hash, halves))
}

// with returns a directory in which parts, one or two, replace p.
func (d *directory) with(p *part, hash uint64, parts []*part) *directory {
	depth := max(d.depth, parts[0].depth)
	next := newDirectory(depth)
	for i := range next.parts {
		next.set(i, d.parts[i>>(depth-d.depth)])
	}
	// p stands at all values of the upper depth bits that begin with its own p.depth bits.
	first := 0
	if p.depth > 0 {
		first = int(hash>>(64-p.depth)) << (depth - p.depth)
	}
	span := 1 << (depth - p.depth)
	for i := range span {
		next.set(first+i, parts[i*len(parts)/span])
	}
	return next
}
