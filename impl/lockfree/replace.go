package lockfree

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/indexing"
	"github.com/informerbench/informerbench/internal/explore"
)

// Replace makes items the whole content of the store, at one instant, and takes the
// map over; nil stands for an empty one. It panics, with nothing changed, if an
// IndexFunc fails. O(n*indexes): the IndexFuncs one after the other on the caller's
// goroutine, the rest on all processors. Other writers wait for it; readers do not.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load().over(newCore())
	v.begin()
	v.fill(items)
	v.setVersion(resourceVersion)
	v.commit()
	explore.Point("view")
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

// filling is the content that a core is filled with at once, while nobody else sees
// the core. Sizes are counted before anything is made, so nothing grows; and since
// most of the time goes into waiting for memory, in which the objects lie scattered,
// several goroutines wait side by side, each for its share of the objects.
type filling struct {
	view   *view
	keys   []string
	objs   []any
	values indexing.Values // object by object
	hashes []uint64
	recs   []*record
	depth  int            // of the table's directory
	counts []atomic.Int32 // of keys, part by part
	shares []share
}

// share is a range of the objects, and their index values.
type share struct {
	from, to int
	indexes  []grouped // by ordinal
}

// grouped is the values that a share's objects have in one index.
type grouped struct {
	numbers map[string]uint32 // of the groups
	groups  []group
	of      []uint32 // the group of each value of each object
	ends    []uint32 // where in of the values of an object end
}

// group is the objects of a share that have one value.
type group struct {
	value string
	n     uint32
	// bucket is where they go to; next is the place of the next one.
	bucket *bucket
	next   uint32
}

// fill puts items in an empty core that nobody else sees yet.
func (v *view) fill(items map[string]any) {
	n := len(items)
	if n == 0 {
		return
	}
	f := &filling{
		view: v, keys: make([]string, 0, n), objs: make([]any, 0, n), values: indexing.MakeValues(n * len(v.indexes)),
		hashes: make([]uint64, n), recs: make([]*record, n),
		depth: max(0, bits.Len(uint(n/(largestPart/2)))),
	}
	f.counts = make([]atomic.Int32, 1<<f.depth)
	for key, obj := range explore.Ordered(items) {
		f.keys, f.objs = append(f.keys, key), append(f.objs, obj)
		v.values.learn(obj)
		f.values = v.appendValues(f.values, key, obj)
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), n/leastShare))
	f.shares = make([]share, workers)
	for i := range f.shares {
		f.shares[i] = share{from: i * n / workers, to: (i + 1) * n / workers, indexes: make([]grouped, len(v.indexes))}
	}

	f.each(f.group)
	f.values = indexing.Values{}
	f.makeRoom()
	f.each(f.place)
	f.each(f.enterTable)
}

// each does a step for all shares at once. No step calls an IndexFunc, so only a bug of
// this package panics here. No goroutine recovers from it, so it ends the process.
func (f *filling) each(step func(i int)) {
	if len(f.shares) == 1 {
		step(0)
		return
	}
	var wg sync.WaitGroup
	for i := range f.shares {
		wg.Go(func() { step(i) })
	}
	wg.Wait()
}

// breathe lets other goroutines run now and then, who would wait for up to 10 ms
// otherwise when every processor has a share to do.
func (f *filling) breathe(i int) {
	if len(f.shares) > 1 && i%256 == 0 {
		runtime.Gosched()
	}
}

// group computes the hashes of a share, and groups its objects by their index values.
func (f *filling) group(i int) {
	s := &f.shares[i]
	for x := range s.indexes {
		g := &s.indexes[x]
		g.numbers = map[string]uint32{}
		g.of, g.ends = make([]uint32, 0, s.to-s.from), make([]uint32, 0, s.to-s.from)
	}
	for i := s.from; i < s.to; i++ {
		f.breathe(i)
		f.hashes[i] = f.view.keys.hash(f.keys[i])
		f.counts[f.hashes[i]>>(64-f.depth)].Add(1)
		for x := range s.indexes {
			s.indexes[x].add(f.values.List(i*len(s.indexes) + x))
		}
	}
}

// add puts the next object in the groups of its values.
func (g *grouped) add(values []string) {
	for _, value := range values {
		number, known := g.numbers[value]
		if !known {
			number = uint32(len(g.groups))
			g.numbers[value] = number
			g.groups = append(g.groups, group{value: value})
		}
		g.groups[number].n++
		g.of = append(g.of, number)
	}
	g.ends = append(g.ends, uint32(len(g.of)))
}

// makeRoom makes the buckets, the arrays, and the table's parts.
func (f *filling) makeRoom() {
	v, w := f.view, &f.view.write
	v.objects.grow(uint32(len(f.keys)))
	for ordinal, x := range v.indexes {
		for s := range f.shares {
			groups := f.shares[s].indexes[ordinal].groups
			for i := range groups {
				g := &groups[i]
				g.bucket = v.bucket(w, x, g.value)
				g.next = g.bucket.objects.n
				g.bucket.objects.n += g.n
			}
		}
	}
	for _, b := range v.buckets {
		b.objects.grow(b.objects.n)
	}
	dir := newDirectory(f.depth)
	for i := range dir.parts {
		dir.set(i, newPart(f.depth, int(f.counts[i].Load())*5/6)) // to three quarters; full is four fifths
	}
	v.keys.dir.Store(dir)
}

// grow makes an empty array one of n cells, which the caller fills.
func (a *array) grow(n uint32) {
	a.reserve(int(n))
	a.n = n
	a.used.Store(n)
}

// place makes the records of a share and points the cells to them.
func (f *filling) place(i int) {
	s := &f.shares[i]
	seq := f.view.write.seq
	for i := s.from; i < s.to; i++ {
		f.breathe(i)
		rec := &record{key: f.keys[i], pos: uint32(i)}
		rec.newest.Store(&node{obj: f.objs[i], seq: seq})
		f.recs[i] = rec
		f.view.objects.cell(rec.pos).Store(rec)
		for x := range s.indexes {
			g := &s.indexes[x]
			from := uint32(0)
			if i > s.from {
				from = g.ends[i-s.from-1]
			}
			for _, number := range g.of[from:g.ends[i-s.from]] {
				group := &g.groups[number]
				group.bucket.objects.cell(group.next).Store(rec)
				rec.addPosting(posting{group.bucket.id, group.next})
				group.next++
			}
		}
	}
}

// enterTable puts the records of all shares in one of as many ranges of the table's
// parts.
func (f *filling) enterTable(i int) {
	dir := f.view.keys.dir.Load()
	from, to := i*len(dir.parts)/len(f.shares), (i+1)*len(dir.parts)/len(f.shares)
	for i, hash := range f.hashes {
		f.breathe(i)
		if p := int(hash >> (64 - f.depth)); p >= from && p < to {
			f.view.values.set(dir.parts[p].insert(hash, f.recs[i]))
		}
	}
}
