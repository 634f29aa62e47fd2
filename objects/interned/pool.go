package interned

import (
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// pool finds the parts that objects share. It holds none of them: an entry has a weak pointer, and
// dead entries go when the table is rebuilt, after at most twice as many additions as it had live
// entries.
//
// Readers take no lock. They load the table, and then its slots, which are written once.
type pool struct {
	table atomic.Pointer[table]
	mu    struct {
		sync.Mutex
		used int // slots of the table
	}
}

type table struct {
	slots []atomic.Pointer[entry] // a power of two, at most half of them used
}

// entry is a part that objects may share; nothing of it changes.
type entry struct {
	hash  uint64
	shape *shape
	len   int // of a string or a slice
	part  weak.Pointer[byte]
}

const leastSlots = 64

func newPool() *pool {
	p := &pool{}
	p.table.Store(&table{slots: make([]atomic.Pointer[entry], leastSlots)})
	return p
}

// find returns the entry of the part that equals the one at part, and that part; nil if there is
// none.
func (p *pool) find(hash uint64, sh *shape, part unsafe.Pointer, n int) (*entry, unsafe.Pointer) {
	t := p.table.Load()
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := t.slots[i].Load()
		if e == nil {
			return nil, nil
		}
		if e.hash != hash {
			continue
		}
		if found := e.equal(sh, part, n); found != nil {
			return e, found
		}
	}
}

// equal returns the part of e if it is alive and equals the one at part.
func (e *entry) equal(sh *shape, part unsafe.Pointer, n int) unsafe.Pointer {
	if e.shape != sh || e.len != n {
		return nil
	}
	// Safety: the entry's part has its shape, and the pointer keeps it from now on.
	found := unsafe.Pointer(e.part.Value())
	if found == nil || !equalPart(sh, found, part, n) {
		return nil
	}
	return found
}

// add is find, but enters the part at part if there is none equal to it. From then on, as long as
// anything refers to that part, nobody may write to it.
func (p *pool) add(hash uint64, sh *shape, part unsafe.Pointer, n int) unsafe.Pointer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, found := p.find(hash, sh, part, n); found != nil {
		return found
	}
	t := p.table.Load()
	if 2*(p.mu.used+1) > len(t.slots) {
		t = p.rebuildLocked(t)
	}
	// Safety: a weak pointer is to the memory, whatever its type.
	t.put(&entry{hash, sh, n, weak.Make((*byte)(part))})
	p.mu.used++
	return part
}

// rebuildLocked makes a table of the live entries that has room for half as many more at least.
func (p *pool) rebuildLocked(old *table) *table {
	var live []*entry
	for i := range old.slots {
		if e := old.slots[i].Load(); e != nil && e.part.Value() != nil {
			live = append(live, e)
		}
	}
	size := max(leastSlots, 1<<bits.Len(uint(3*len(live))))
	t := &table{slots: make([]atomic.Pointer[entry], size)}
	for _, e := range live {
		t.put(e)
	}
	p.mu.used = len(live)
	p.table.Store(t)
	return t
}

func (t *table) put(e *entry) {
	mask := uint64(len(t.slots) - 1)
	i := e.hash & mask
	for t.slots[i].Load() != nil {
		i = (i + 1) & mask
	}
	t.slots[i].Store(e)
}

// sights remembers which parts were seen once, and by which object, in four bytes each. A part
// goes to the pool when a second object has it. Versions of one object count as that object:
// otherwise all that distinguishes it would enter the pool at its first update.
//
// A sight is forgotten when another one takes its slot. A wrong guess costs memory, nothing else.
type sights struct {
	slots []atomic.Uint32 // 20 bits of a hash, 12 of an owner
}

const ownerBits = 12

func newSights(n int) *sights {
	return &sights{slots: make([]atomic.Uint32, 1<<bits.Len(uint(max(n, 2)-1)))}
}

// seen says whether another object than owner has seen the hash, and notes that owner has.
func (s *sights) seen(hash uint64, owner uint32) bool {
	slot := &s.slots[hash&uint64(len(s.slots)-1)]
	now := uint32(hash>>(32+ownerBits))<<ownerBits | owner
	before := slot.Load()
	if before>>ownerBits == now>>ownerBits {
		return before != now
	}
	slot.Store(now)
	return false
}

// keys keeps the keys of maps once, of which there are few in a cluster. It holds the latest two
// in each pair of slots, because looking for these takes a fraction of the time that a pool takes.
type keys struct {
	slots [1 << 11]atomic.Pointer[string]
}

// longestKey is the number of bytes up to which keys are kept: all of them take 200 KB at most.
const longestKey = 63

func (k *keys) share(s string, hash uint64) string {
	if len(s) > longestKey || s == "" {
		return s
	}
	i := hash % uint64(len(k.slots))
	first, second := &k.slots[i], &k.slots[i^1]
	known := first.Load()
	if known != nil && *known == s {
		return *known
	}
	if other := second.Load(); other != nil && *other == s {
		return *other
	}
	kept := strings.Clone(s)
	second.Store(known)
	first.Store(&kept)
	return kept
}

const guessBits = 15

// guesses are the entries of the pool that objects of a template had last, by the way to them from
// the root. Where the guess is right, the part needs no hash, which is half of the work.
type guesses struct {
	slots [1 << guessBits]atomic.Pointer[entry]
}

func (g *guesses) slot(path uint64) *atomic.Pointer[entry] {
	return &g.slots[path>>(64-guessBits)]
}

// right returns the entry for path and its part if that equals the one at part.
func (g *guesses) right(path uint64, sh *shape, part unsafe.Pointer, n int) (
	*entry, unsafe.Pointer) {
	slot := g.slot(path)
	e := slot.Load()
	if e == nil {
		return nil, nil
	}
	if found := e.equal(sh, part, n); found != nil {
		return e, found
	}
	slot.Store(nil)
	return nil, nil
}
