package lockfree

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"
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
	seed  maphash.Seed
	dir   atomic.Pointer[directory]
	shown *shown // the objects, entry by entry; nil where none are kept
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
	depth   int // how many upper bits its keys share

	used int // entries with a key; writer only
	live int // entries with a key that is not deleted; writer only
}

// entry is one place in a part. word is zero while the entry is free. It is set after key
// and item, so a reader that sees the word sees both. An entry never changes its key.
//
// A Get's cost is its cache misses. The entry has the key and the object's data, so a Get does not
// touch the record. An entry takes 32 bytes, so word, key and data lie in one cache line. item lies
// there too, except in parts of 17 to 1,023 entries, where Go puts 8 bytes before the allocation:
// there it does so in every second entry only.
type entry struct {
	word atomic.Uint64  // the hash of the key, and its length
	key  *byte          // the bytes of the key
	data unsafe.Pointer // see shown. Safety: see words
	// the record of the key; in an index, the newest bucket of the value, or noBucket
	item atomic.Pointer[keyed]
}

// record returns the record of the key. Safety: e is of the store's table, whose items are all the
// first field of a record.
func (e *entry) record() *record { return (*record)(unsafe.Pointer(e.item.Load())) }

// The low bits of a word are the length of the key, or longKey for keys that are longer:
// these are compared through the item.
const (
	lengthBits = 10
	longKey    = 1<<lengthBits - 1
)

// is reports whether an entry with the word of key is of that key.
func (e *entry) is(word uint64, key string) bool {
	if word&longKey == longKey {
		return e.item.Load().key() == key
	}
	// Safety: the word has the key's length too, so len(key) bytes are there. No key changes.
	return unsafe.String(e.key, len(key)) == key
}

const (
	smallestPart = 8
	// entries, unless the hashes are bad; twice as many if an index's values come and go
	largestPart = 1024
)

// init makes t an empty table.
func (t *table) init() {
	t.seed = maphash.MakeSeed()
	dir := newDirectory(0)
	dir.set(0, newPart(0, smallestPart))
	t.dir.Store(dir)
}

func newPart(depth, entries int) *part {
	return &part{depth: depth, entries: make([]entry, max(smallestPart, entries))}
}

func (p *part) full() bool { return p.used+1 > len(p.entries)*4/5 }

// spare returns for how many more keys a new part has room at least, and how many must have gone
// from a part before it is rebuilt. A rebuild copies the directory, which keeps its size when
// most keys are deleted. So each key that comes or goes pays for about 16 of the directory's
// slots, or for a slot in 128 of more than 2,048.
func (d *directory) spare() int { return min(len(d.parts)/16, largestPart/8) }

// size returns how many entries a new part needs that keeps some keys: with room for that many,
// or for room keys if that is more, and for some that come.
func (t *table) size(keep, room int) int {
	return max(max(keep, room)*8/5, (keep+t.dir.Load().spare())*5/4)
}

// word returns the hash of a key with its length; it is not 0.
func (t *table) word(key string) uint64 {
	if w := hashOf(t.seed, key)&^longKey | uint64(min(len(key), longKey)); w != 0 {
		return w
	}
	return longKey + 1
}

func (d *directory) part(word uint64) *part { return d.parts[word>>(64-d.depth)] }

// home returns where the search for a word begins in a part's entries. A multiplication
// spreads the lower 32 bits of the word over the entries, so a part may have any size.
func home(entries []entry, word uint64) int {
	return int(uint64(uint32(word)) * uint64(len(entries)) >> 32)
}

// find returns the entry of key, nil if there is none, and the part in which it is or
// would be. Any goroutine may call it; only the writer may read used and live of the part.
func (t *table) find(word uint64, key string) (*part, *entry) {
	p := t.dir.Load().part(word)
	for i := home(p.entries, word); ; {
		e := &p.entries[i]
		switch e.word.Load() {
		case word:
			if e.is(word, key) {
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

// insert adds item, for whose key find returned the part p and no entry.
func (t *table) insert(word uint64, item *keyed, p *part, writing uint64) {
	for p.full() {
		room := 0
		if t.shown == nil {
			// An index whose values come and go needs room for those that a write adds beside
			// those that it drops: a part that shrank with each rebuild would grow again in steps.
			// With room for twice its values it is rebuilt less often.
			room = len(p.entries) * 5 / 8
			if p.live < p.used*3/4 {
				room = max(room, min(2*p.live, 2*largestPart*5/8))
			}
		}
		t.rebuild(p, word, writing, room)
		p = t.dir.Load().part(word)
	}
	t.shown.note(p.insert(word, item))
}

// died notes that a key in p was deleted, and reports whether p is sparse now.
func (t *table) died(p *part) (sparse bool) {
	p.live--
	return t.sparse(p)
}

// sparse reports whether most keys in p are deleted, so that shrink should be called.
func (t *table) sparse(p *part) bool {
	return p.live < p.used/8 && len(p.entries) > smallestPart && p.used > t.dir.Load().spare()
}

// shrink rebuilds the part in which word lies if it is sparse. No write may be under way: its
// tombstones would go, through which readers find the versions before.
func (t *table) shrink(word uint64) {
	if p := t.dir.Load().part(word); t.sparse(p) {
		t.rebuild(p, word, noWrite, 0)
	}
}

// insert returns the new entry, which is live and does not show the object.
func (p *part) insert(word uint64, item *keyed) *entry {
	return p.insertKey(word, item.keyData, item)
}

// insertKey is insert for an item that need not be read.
func (p *part) insertKey(word uint64, key *byte, item *keyed) *entry {
	i := home(p.entries, word)
	for p.entries[i].word.Load() != 0 {
		if i++; i == len(p.entries) {
			i = 0
		}
	}
	e := &p.entries[i]
	e.key = key
	e.item.Store(item)
	e.word.Store(word)
	p.used++
	p.live++
	return e
}

// rebuild replaces p, in which word lies, by a part without old tombstones, or by two parts
// if one would be too large. A tombstone of the write under way, whose number is writing, or
// noWrite, stays: until that write is committed, readers find the version before through it.
//
// There is room for as many keys as are kept, or room if that is more, and for some that come.
// Records lie elsewhere in memory. Those of objects that entries show (see shown), and of
// buckets, are not read.
func (t *table) rebuild(p *part, word, writing uint64, room int) {
	keep, upper := 0, 0
	bit := uint64(1) << (63 - p.depth)
	for i := range p.entries {
		if e := &p.entries[i]; t.keeps(e, writing) {
			keep++
			if e.word.Load()&bit != 0 {
				upper++
			}
		}
	}
	halves := []*part{newPart(p.depth, t.size(keep, room))}
	// If nearly all hashes fell into one half, splits would never end.
	if keep*8/5 > largestPart && min(upper, keep-upper) > keep/8 {
		halves = []*part{newPart(p.depth+1, t.size(keep-upper, room/2)),
			newPart(p.depth+1, t.size(upper, room/2))}
	}
	for i := range p.entries {
		if e := &p.entries[i]; t.keeps(e, writing) {
			half := halves[0]
			if e.word.Load()&bit != 0 {
				half = halves[len(halves)-1]
			}
			t.move(e, half, writing)
		}
	}
	t.dir.Store(t.dir.Load().with(p, word, halves))
}

// keeps reports whether a rebuild keeps e.
func (t *table) keeps(e *entry, writing uint64) bool {
	switch {
	case e.word.Load() == 0:
		return false
	case t.shown == nil:
		return e.item.Load() != noBucket
	case e.shows():
		return true
	}
	n := e.record().newest.Load()
	return n == nil || !n.absent() || n.seq == writing
}

// move puts what e leads to into a new part.
func (t *table) move(e *entry, to *part, writing uint64) {
	moved := to.insertKey(e.word.Load(), e.key, e.item.Load())
	if t.shown == nil {
		return
	}
	if data := atomic.LoadPointer(&e.data); data != nil {
		atomic.StorePointer(&moved.data, data)
		return
	}
	n := e.record().newest.Load()
	if n == nil {
		return // of another type than the table's
	}
	if n.absent() {
		to.live--
	}
	if n.seq == writing {
		t.shown.note(moved)
	}
}

// with returns a directory in which parts, one or two, replace p.
func (d *directory) with(p *part, word uint64, parts []*part) *directory {
	depth := max(d.depth, parts[0].depth)
	next := newDirectory(depth)
	for i := range next.parts {
		next.set(i, d.parts[i>>(depth-d.depth)])
	}
	// p stands at all values of the upper depth bits that begin with its own p.depth bits.
	first := 0
	if p.depth > 0 {
		first = int(word>>(64-p.depth)) << (depth - p.depth)
	}
	span := 1 << (depth - p.depth)
	for i := range span {
		next.set(first+i, parts[i*len(parts)/span])
	}
	return next
}
