package lockfree

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// Replace makes items the whole content of the store, at one instant, and takes the
// map over; nil stands for an empty one. It panics, with nothing changed, if an
// IndexFunc fails. O(n*indexes): the IndexFuncs run one after the other on the caller's
// goroutine. Other goroutines, one for each other processor at most, meanwhile do the work
// that needs no index values. Other writers wait for Replace; readers do not.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load().over(newCore())
	v.begin(resourceVersion, true)
	v.fill(items)
	v.commit()
	s.view.Store(v)
	v.checkAll()
}

// over returns a view with the same indexers over an empty core.
func (v *view) over(c *core) *view {
	empty := &view{core: c}
	for _, x := range v.indexes {
		empty = empty.with(newIndex(x.name, x.compute, x.ordinal))
	}
	return empty
}

// filling is the content that Replace fills a core with, before any reader sees the core.
// Sizes are counted before anything is made, so nothing grows. Most of the time goes into
// cache misses, since the objects lie scattered in memory. So goroutines work side by side,
// one for each share:
//
//	caller   calls the IndexFuncs and groups the objects, then helps the others  | fill the
//	others   make the records, their cells in the array, and the hash table      | buckets
type filling struct {
	view   *view
	keys   []string
	objs   []any
	words  []uint64 // as table.word
	recs   []*record
	depth  int            // of the table's directory
	counts []atomic.Int32 // of keys, part by part
	dir    *directory
	shares []share
}

// share is a range of the objects, and their index values.
type share struct {
	from, to int
	indexes  []grouped // by ordinal
	wide     uint32    // how many objects have more values than a record has room for
	nextWide uint32    // the place in core.wide of the next one of them
}

// grouped holds the values that a share's objects have in one index.
type grouped struct {
	numbers map[string]uint32 // of the groups
	groups  []group
	of      []uint32 // the group of each value of each object
	ends    []uint32 // for each object, the index in of at which its values end
}

// group counts the objects of a share that have one value.
type group struct {
	value string
	n     uint32
	last  uint32 // the number, from 1 up within the share, of the object that was added last
	// bucket is where the objects go; next is the position of the next one.
	bucket *bucket
	next   uint32
}

// fill puts items in an empty core that no reader sees yet.
func (v *view) fill(items map[string]any) {
	n := len(items)
	if n == 0 {
		return
	}
	f := &filling{
		view: v, keys: make([]string, 0, n), objs: make([]any, 0, n),
		words: make([]uint64, n), recs: make([]*record, n),
		depth: max(0, bits.Len(uint(n/(largestPart/2)))),
	}
	f.counts = make([]atomic.Int32, 1<<f.depth)
	f.dir = newDirectory(f.depth)
	for key, obj := range items {
		f.keys, f.objs = append(f.keys, key), append(f.objs, obj)
		v.shown.learn(obj)
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), n/minShare))
	f.shares = make([]share, workers)
	for i := range f.shares {
		f.shares[i] = share{from: i * n / workers, to: (i + 1) * n / workers,
			indexes: make([]grouped, len(v.indexes))}
	}
	v.objects.grow(uint32(n))

	f.indexAndStore()
	f.makeBuckets()
	f.each(f.fillBuckets)
}

// indexAndStore calls the IndexFuncs on this goroutine. Meanwhile other goroutines make the
// records and put them in array and table; this one then helps them. If an IndexFunc panics,
// indexAndStore waits for the other goroutines, so that none still works when Replace ends.
func (f *filling) indexAndStore() {
	n := len(f.keys)
	records := newParts((n+recordsPart-1)/recordsPart, func(i int) {
		f.makeRecords(i*recordsPart, min((i+1)*recordsPart, n))
	})
	table := newParts(len(f.shares), f.fillTable)
	store := func() {
		records.do()
		table.do() // the parts' sizes are known once all records are made
	}
	var others sync.WaitGroup
	defer others.Wait()
	for range len(f.shares) - 1 {
		others.Go(store)
	}
	for i := range f.shares {
		f.group(&f.shares[i])
	}
	store()
	f.view.keys.dir.Store(f.dir)
}

// parts is work that goroutines share, part by part: a goroutine that is free takes the next.
type parts struct {
	n    int
	next atomic.Int64
	left sync.WaitGroup
	part func(i int)
}

func newParts(n int, part func(i int)) *parts {
	p := &parts{n: n, part: part}
	p.left.Add(n)
	return p
}

// do does parts until none is left, and returns when all are done. Parts call no IndexFunc,
// so only a bug of this package can panic in one, and no goroutine recovers from that.
func (p *parts) do() {
	for i := int(p.next.Add(1)) - 1; i < p.n; i = int(p.next.Add(1)) - 1 {
		p.part(i)
		p.left.Done()
	}
	p.left.Wait()
}

// each does a step for all shares at once.
func (f *filling) each(step func(i int)) {
	all := newParts(len(f.shares), step)
	for range len(f.shares) - 1 {
		go all.do()
	}
	all.do()
}

// yield calls Gosched at each 256th object. Else other goroutines would wait for up to 10 ms
// when every processor has a share to do.
func (f *filling) yield(i int) {
	if len(f.shares) > 1 && i%256 == 0 {
		runtime.Gosched()
	}
}

// group groups the objects of a share by their index values.
func (f *filling) group(s *share) {
	for x := range s.indexes {
		g := &s.indexes[x]
		g.numbers = map[string]uint32{}
		g.of, g.ends = make([]uint32, 0, s.to-s.from), make([]uint32, 0, s.to-s.from)
	}
	for i := s.from; i < s.to; i++ {
		f.yield(i)
		values := 0
		for x, index := range f.view.indexes {
			values += s.indexes[x].add(index.valuesOf(f.keys[i], f.objs[i]))
		}
		if values > len(record{}.few) {
			s.wide++
		}
	}
}

// add puts the next object in the groups of its values. values may be the IndexFunc's own
// slice, and have a value twice. It returns how many different ones there are.
func (g *grouped) add(values []string) (different int) {
	object := uint32(len(g.ends)) + 1
	for _, value := range values {
		number, known := g.numbers[value]
		if !known {
			number = uint32(len(g.groups))
			g.numbers[value] = number
			g.groups = append(g.groups, group{value: value})
		}
		of := &g.groups[number]
		if of.last == object {
			continue
		}
		of.last = object
		of.n++
		g.of = append(g.of, number)
		different++
	}
	g.ends = append(g.ends, uint32(len(g.of)))
	return different
}

// recordsPart is how many records a goroutine makes before it looks for more to do.
const recordsPart = 1024

// makeRecords makes the records of a range of the objects, and points the cells of the
// array to them.
func (f *filling) makeRecords(from, to int) {
	for i := from; i < to; i++ {
		f.yield(i)
		f.words[i] = f.view.keys.word(f.keys[i])
		f.counts[f.words[i]>>(64-f.depth)].Add(1)
		rec := newRecord(f.keys[i])
		if obj := f.objs[i]; f.view.shown.fits(obj) {
			rec.data = wordsOf(obj).data
		} else {
			rec.newest.Store(&version{obj: obj, seq: f.view.write.seq})
		}
		rec.pos = uint32(i)
		f.recs[i] = rec
		f.view.objects.cell(rec.pos).Store(rec)
	}
}

// fillTable makes the i-th range of the table's parts, of as many ranges as there are
// shares, and puts the records that belong there into them.
func (f *filling) fillTable(i int) {
	from, to := i*len(f.dir.parts)/len(f.shares), (i+1)*len(f.dir.parts)/len(f.shares)
	for p := from; p < to; p++ {
		// three quarters full; full is four fifths
		f.dir.set(p, newPart(f.depth, int(f.counts[p].Load())*4/3))
	}
	for i, word := range f.words {
		f.yield(i)
		if p := int(word >> (64 - f.depth)); p >= from && p < to {
			f.view.shown.set(f.dir.parts[p].insert(word, &f.recs[i].keyed), f.objs[i])
		}
	}
}

// makeBuckets makes the buckets, and room in them for the objects of each group.
func (f *filling) makeBuckets() {
	v, w := f.view, &f.view.write
	for ordinal, x := range v.indexes {
		for s := range f.shares {
			groups := f.shares[s].indexes[ordinal].groups
			for i := range groups {
				g := &groups[i]
				g.bucket = v.bucket(w, x, x.buckets.word(g.value), g.value)
				g.next = g.bucket.objects.n
				g.bucket.objects.n += g.n
			}
		}
	}
	for _, b := range v.buckets[1:] {
		b.objects.grow(b.objects.n)
	}
	wide := uint32(0)
	for i := range f.shares {
		s := &f.shares[i]
		s.nextWide = wide
		wide += s.wide
	}
	v.wide = make([]*postings, wide)
}

// grow gives an empty array n cells, which the caller fills.
func (a *array) grow(n uint32) {
	a.reserve(int(n))
	a.n = n
	a.used.Store(n)
}

// groupsOf returns the groups of the i-th object of the share.
func (g *grouped) groupsOf(i int) []uint32 {
	from := uint32(0)
	if i > 0 {
		from = g.ends[i-1]
	}
	return g.of[from:g.ends[i]]
}

// fillBuckets points cells of the buckets to the records of a share.
func (f *filling) fillBuckets(i int) {
	s := &f.shares[i]
	for i := s.from; i < s.to; i++ {
		f.yield(i)
		rec := f.recs[i]
		n := 0
		for x := range s.indexes {
			n += len(s.indexes[x].groupsOf(i - s.from))
		}
		places := rec.few[:0]
		if n > len(rec.few) {
			places = make([]posting, 0, n)
		}
		for x := range s.indexes {
			g := &s.indexes[x]
			for _, number := range g.groupsOf(i - s.from) {
				group := &g.groups[number]
				group.bucket.objects.cell(group.next).Store(rec)
				places = append(places, posting{group.bucket.pos, group.next})
				group.next++
			}
		}
		if n > len(rec.few) {
			f.view.wide[s.nextWide] = &postings{list: places}
			rec.few[0] = posting{wideMark, s.nextWide}
			s.nextWide++
		}
	}
}
