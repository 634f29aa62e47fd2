package lockfree

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// index is one secondary index: a table from values to buckets. ordinal is its place among
// the store's indexes.
type index struct {
	name    string
	compute contract.IndexFunc
	ordinal int
	buckets table
}

func newIndex(name string, compute contract.IndexFunc, ordinal int) *index {
	x := &index{name: name, compute: compute, ordinal: ordinal}
	x.buckets.init()
	return x
}

// valuesOf returns the IndexFunc's own slice: see indexing.ValuesOf. It panics if the
// IndexFunc fails, so it must run before anything is touched.
func (x *index) valuesOf(key string, obj any) []string {
	return indexing.ValuesOf(x.name, x.compute, key, obj)
}

// bucket holds the objects that have one value in an index, from the write that gives it its
// first object to the write that takes the last one out. After that it gets no object: if the
// value comes back, a new bucket takes its place in the table and leads to it. So a reader finds
// the bucket of its snapshot as it finds the version of an object, and a write that gives an
// object a value of its own, or takes it away, changes no cell that a reader may look at.
//
// A bucket leaves table and chain when no open snapshot lies within its time.
type bucket struct {
	keyed          // by the value
	ordinal uint32 // of its index
	mark    mark   // used only inside reindexMany
	retired bool   // whether the bucket is in a retire list

	until   atomic.Uint64          // the write that took the last object out, 0 before
	prior   atomic.Pointer[bucket] // the bucket of the value before, while a snapshot may see it
	later   *bucket                // the one that has this as its prior; writer only
	objects array                  // which exists since the bucket's first write
}

// bucketAt finds the bucket of a value that a reader's snapshot sees, nil for none.
func (x *index) bucketAt(value string, seq uint64) *bucket {
	_, e := x.buckets.find(x.buckets.word(value), value)
	return e.bucket().at(seq)
}

// bucket returns the newest bucket to which an entry of an index's table leads, nil for none; e
// may be nil.
func (e *entry) bucket() *bucket {
	if e == nil {
		return nil
	}
	item := e.item.Load()
	if item == noBucket {
		return nil
	}
	// Safety: all other items of an index's table are the first field of a bucket.
	return (*bucket)(unsafe.Pointer(item))
}

// at returns the bucket that snapshot seq sees, of b and those before it; b may be nil.
func (b *bucket) at(seq uint64) *bucket {
	for b != nil && b.objects.since > seq {
		b = b.prior.Load()
	}
	if b != nil {
		if until := b.until.Load(); until != 0 && until <= seq {
			return nil
		}
	}
	return b
}

// noBucket takes the place of a dropped bucket in the table of its index. Readers find no
// bucket there, and a rebuild need not read a bucket to see that the value is gone.
var noBucket = &keyed{}

// list returns the objects of snapshot seq, in room if they fit there; of no bucket, none.
func (b *bucket) list(room []any, seq uint64, s *shown) []any {
	if b == nil {
		return fit(room, 0)
	}
	return b.objects.objects(room, seq, s, nil)
}

// size is about how many objects a read of b finds; none of no bucket.
func (b *bucket) size() int {
	if b == nil {
		return 0
	}
	return int(b.objects.used.Load())
}

// values returns the values that snapshot seq sees. The directory, loaded within the snapshot,
// leads to all of them. What writes do to its parts later, this snapshot does not see.
func (x *index) values(seq uint64) []string {
	d := x.buckets.dir.Load()
	values := make([]string, 0, len(d.parts)*len(d.entries[0])/2) // about
	for i := 0; i < len(d.parts); i += 1 << (d.depth - d.parts[i].depth) {
		for j := range d.entries[i] {
			e := &d.entries[i][j]
			if e.word.Load() == 0 {
				continue
			}
			if b := e.bucket().at(seq); b != nil {
				values = append(values, b.key())
				yield(len(values))
			}
		}
	}
	return values
}

// isIn reports whether rec is in the bucket of value. O(postings of rec).
func (c *core) isIn(x *index, value string, rec *record) bool {
	return slices.ContainsFunc(c.postings(rec), func(p posting) bool {
		b := c.buckets[p.bucket]
		return int(b.ordinal) == x.ordinal && b.key() == value
	})
}

// addToBucket puts rec in the bucket of value, in which it is not. For asIs see array.push.
func (c *core) addToBucket(w *write, x *index, word uint64, value string, rec *record, asIs bool) {
	c.addPosting(rec, c.bucket(w, x, word, value).push(w, rec, asIs))
}

// push puts rec in b, in which it is not, and returns its place there. For asIs see array.push.
func (b *bucket) push(w *write, rec *record, asIs bool) posting {
	return posting{b.pos, b.objects.push(w, rec, asIs || b.objects.since == w.seq)}
}

// bucket returns the bucket of a value. If it is new, or was over, the caller then adds an
// object: from now on the value is one of the index's values.
func (c *core) bucket(w *write, x *index, word uint64, value string) *bucket {
	part, e := x.buckets.find(word, value)
	prior := e.bucket()
	if prior != nil {
		until := prior.until.Load()
		if until == 0 {
			return prior
		}
		if prior.objects.since == w.seq { // made and emptied by this write, so no reader looks at it
			prior.until.Store(0)
			return prior
		}
	}
	b := w.spares.buckets.take()
	if b == nil {
		b = newBucket()
	}
	b.ordinal, b.objects.since = uint32(x.ordinal), w.seq
	b.setKey(value)
	b.pos = c.newBucketID()
	c.buckets[b.pos] = b
	if prior != nil {
		b.prior.Store(prior)
		prior.later = b
	}
	if e == nil {
		x.buckets.insert(word, &b.keyed, part, w.seq)
		return b
	}
	if prior == nil {
		part.live++
	}
	e.item.Store(&b.keyed)
	return b
}

// bucketWithCell is a bucket and its first block, of one cell, made in one piece: an index of many
// values has many buckets of one object. It takes 128 bytes, so all that stays reads of it lies in
// one cache line. A bucket that grows gets other blocks, and this cell keeps its record until
// reset.
type bucketWithCell struct {
	bucket
	blocks [][]cell
	block  [1][]cell
	cells  [1]cell
}

// newBucket returns the bucket of a new bucketWithCell. Every bucket is made so.
func newBucket() *bucket {
	b := &bucketWithCell{}
	b.block[0] = b.cells[:]
	b.blocks = b.block[:]
	b.objects.blocks.Store(&b.blocks)
	return &b.bucket
}

// removeFromBucket takes the object with the given record out of its i-th bucket.
func (c *core) removeFromBucket(w *write, rec *record, i int) {
	p := c.postings(rec)[i]
	c.dropPosting(rec, i)
	b := c.buckets[p.bucket]
	if b.objects.n > 1 {
		if moved := b.objects.remove(w, p.pos); moved != nil {
			c.postingIn(moved, b.pos).pos = p.pos
		}
		return
	}
	// The cell stays as it is, for the snapshots before.
	b.objects.n = 0
	b.until.Store(w.seq)
	w.made++
	if !b.retired {
		b.retired = true
		w.emptied = append(w.emptied, b)
	}
}

// reclaim takes b out of its table if no open snapshot lies within its time. word is that of its
// value in the table, or 0, which reclaim then computes if it needs it. It reports false
// if b must stay on the retire list. When it goes beside open snapshots, none of its cells is on
// that list any more: each waited only for a snapshot within b's time (place.reclaim). When no
// snapshot is open, cells of b may still be on it; they go before b is used again (core.commit).
//
// From then on only a reader can reach b that found it before. Its snapshot sees nothing in b,
// and it goes on to the bucket before, whose place in the chain b keeps for it.
func (b *bucket) reclaim(c *core, open []uint64, word uint64) bool {
	until := b.until.Load()
	if until == 0 { // it was emptied, and got an object again in the same write
		b.retired = false
		return true
	}
	if anyWithin(open, b.objects.since, until) {
		return false
	}
	prior, later := b.prior.Load(), b.later
	if prior != nil {
		prior.later = later
	}
	if later != nil {
		later.prior.Store(prior)
	} else {
		c.indexes[b.ordinal].replace(b, word, prior)
	}
	c.buckets[b.pos] = nil
	c.freeIDs = append(c.freeIDs, b.pos)
	if len(open) == 0 {
		b.retired = false
		c.write.spares.retireBucket(b)
	}
	return true
}

// replace puts the bucket before b, nil for none, in the place of b in the table.
func (x *index) replace(b *bucket, word uint64, prior *bucket) {
	t := &x.buckets
	if word == 0 {
		word = t.word(b.key())
	}
	part, e := t.find(word, b.key())
	if prior != nil {
		e.item.Store(&prior.keyed)
		return
	}
	e.item.Store(noBucket)
	if t.died(part) {
		t.shrink(word)
	}
}

func (c *core) newBucketID() uint32 {
	if last := len(c.freeIDs) - 1; last >= 0 {
		id := c.freeIDs[last]
		c.freeIDs = c.freeIDs[:last]
		return id
	}
	c.buckets = append(c.buckets, nil)
	return uint32(len(c.buckets) - 1)
}

// stays reports whether rec is in the buckets of values and in no others. It reports false
// for an object of many values, which reindex compares in less time. O(values squared).
func (c *core) stays(rec *record, values *indexing.Values) bool {
	all := c.postings(rec)
	if len(all) != values.Count() || len(all) > indexing.Few {
		return false
	}
	for _, p := range all {
		b := c.buckets[p.bucket]
		if !slices.Contains(values.List(int(b.ordinal)), b.key()) {
			return false
		}
	}
	return true
}

// reindex moves rec into the buckets of values, the new values of its object, and out of
// all others. It writes nothing for a value that stays. O(values), old and new.
func (c *core) reindex(w *write, rec *record, indexes []*index, values *indexing.Values) {
	if max(values.Count(), len(c.postings(rec))) > indexing.Few {
		c.reindexMany(w, rec, indexes, values)
	} else {
		c.reindexFew(w, rec, indexes, values)
	}
	c.fitPostings(rec)
}

// reindexFew is reindex for an object of few values. O(values squared).
func (c *core) reindexFew(w *write, rec *record, indexes []*index, values *indexing.Values) {
	for i := 0; i < len(c.postings(rec)); {
		b := c.buckets[c.postings(rec)[i].bucket]
		if slices.Contains(values.List(int(b.ordinal)), b.key()) {
			i++
		} else {
			c.removeFromBucket(w, rec, i)
		}
	}
	if values.Count() == len(c.postings(rec)) {
		return // each of them was found above
	}
	for i, x := range indexes {
		for _, value := range values.List(i) {
			if !c.isIn(x, value, rec) {
				c.addToBucket(w, x, x.buckets.word(value), value, rec, rec.isNew())
			}
		}
	}
}

// mark says of a bucket what reindexMany knows about it.
type mark uint8

const (
	unmarked mark = iota
	held          // the record is in it
	wanted        // and stays there, or was put there
)

// reindexMany is reindex for an object of many values, each of which may be listed twice. It
// looks each value up once: the mark of its bucket says whether the record is in there. The
// record enters its new buckets before it leaves the others. O(values).
func (c *core) reindexMany(w *write, rec *record, indexes []*index, values *indexing.Values) {
	former := len(c.postings(rec))
	for _, p := range c.postings(rec) {
		c.buckets[p.bucket].mark = held
	}
	staying := 0
	for i, x := range indexes {
		for list := range slices.Chunk(values.List(i), fetchLen) {
			words := c.fetchValues(x, list)
			for j, value := range list {
				b := c.bucket(w, x, words[j], value)
				switch b.mark {
				case held:
					staying++
				case unmarked:
					c.addPosting(rec, b.push(w, rec, rec.isNew()))
				}
				b.mark = wanted
			}
		}
	}
	w.emptied = slices.Grow(w.emptied, former-staying)
	for i := 0; i < len(c.postings(rec)); {
		b := c.buckets[c.postings(rec)[i].bucket]
		if b.mark == wanted {
			i++
		} else {
			c.removeFromBucket(w, rec, i) // another posting takes its place
		}
		b.mark = unmarked
	}
}
