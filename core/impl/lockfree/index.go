package lockfree

import (
	"slices"
	"unsafe"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/explore"
	"github.com/informerbench/informerbench/core/impl/indexing"
)

// index is one secondary index: a table from values to buckets, and an array of the
// values that objects have. ordinal is its place among the store's indexes.
type index struct {
	name    string
	compute contract.IndexFunc
	ordinal int
	buckets table
	values  array // of the buckets' records
	// vacant are buckets that the write under way has emptied, and that are still among the
	// values. New values take their places there, which is less work than a removal.
	vacant []*bucket
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

// bucket holds the objects that have one value in an index. An empty bucket stays in the
// index's table until no open snapshot sees an object in it.
type bucket struct {
	record // whose key is the value, and whose only version is first
	// An Update reads index and key of its object's buckets: these fields fill up the
	// record's cache line.
	index   *index
	id      uint32
	retired bool // whether the bucket is in a retire list
	mark    mark // used only inside reindexMany

	first   version // says since which write the bucket exists
	objects array
}

// bucketOf finds the bucket of a value for a reader with a snapshot. It finds every bucket
// in which the snapshot sees an object.
func (x *index) bucketOf(value string) *bucket {
	_, e := x.buckets.find(x.buckets.word(value), value)
	return e.bucket()
}

// bucket returns the bucket to which an entry of an index's table leads, nil for none; e may
// be nil.
func (e *entry) bucket() *bucket {
	if e == nil {
		return nil
	}
	explore.Point("bucketOf.rec")
	rec := e.rec.Load()
	if rec == noBucket {
		return nil
	}
	return (*bucket)(unsafe.Pointer(rec)) // the record is its first field
}

// start makes b, which nothing points to yet, the bucket of a value from write seq on.
func (b *bucket) start(value string, seq uint64) {
	b.first.seq = seq
	b.init(value, &b.first)
}

// noBucket takes the place of a dropped bucket's record in the table of its index. Readers
// find no bucket there, and a rebuild need not read a record to see that the value is gone.
var noBucket = &record{}

// list returns the objects of snapshot seq, in room if they fit there; of no bucket, none.
func (b *bucket) list(room []any, seq uint64) []any {
	if b == nil {
		return fit(room, 0)
	}
	return b.objects.objects(room, seq)
}

// isIn reports whether rec is in the bucket of value. O(postings of rec).
func (c *core) isIn(x *index, value string, rec *record) bool {
	return slices.ContainsFunc(rec.postings(), func(p posting) bool {
		b := c.buckets[p.bucket]
		return b.index == x && b.key() == value
	})
}

// addToBucket puts rec in the bucket of value, in which it is not. For asIs see push.
func (c *core) addToBucket(w *write, x *index, word uint64, value string, rec *record, asIs bool) {
	b := c.bucket(w, x, word, value)
	rec.addPosting(posting{b.id, b.objects.push(w, rec, asIs)})
}

// bucket returns the bucket of a value, to which the caller then adds an object. From now
// on the value is one of the index's values.
func (c *core) bucket(w *write, x *index, word uint64, value string) *bucket {
	part, e := x.buckets.find(word, value)
	b := e.bucket()
	born := b == nil
	if born {
		if b = w.spares.buckets.take(); b == nil {
			b = &bucket{}
		}
		b.index, b.id = x, c.newBucketID()
		b.start(value, w.seq)
		c.buckets[b.id] = b
		if e == nil {
			x.buckets.insert(word, &b.record, part, w.seq)
		} else {
			explore.Point("bucket.rec")
			e.rec.Store(&b.record)
			part.live++
		}
	}
	if b.objects.n == 0 {
		x.addValue(w, b, born)
	}
	return b
}

// addValue puts the value of an empty bucket among those of the index. For asIs see push.
func (x *index) addValue(w *write, b *bucket, asIs bool) {
	last := len(x.vacant) - 1
	if last < 0 {
		b.pos = x.values.push(w, &b.record, asIs)
		return
	}
	b.pos = x.vacant[last].pos
	x.vacant[last] = nil
	x.vacant = x.vacant[:last]
	x.values.standIn(w, b.pos, &b.record)
}

// dropValues takes the values out of the index whose buckets are empty, and whose places no
// others have taken.
func (x *index) dropValues(w *write) {
	if len(x.vacant) == 0 {
		return
	}
	for _, b := range x.vacant {
		if moved := x.values.remove(w, b.pos); moved != nil {
			moved.pos = b.pos
		}
	}
	x.vacant = emptied(x.vacant)
}

// removeFromBucket takes the object with the given record out of its i-th bucket, and returns
// the bucket's index. If the bucket is empty now, its value is one of the index's until the
// place is taken by addValue, or given up by dropValues, which the caller calls in the end.
func (c *core) removeFromBucket(w *write, rec *record, i int) *index {
	p := rec.postings()[i]
	rec.dropPosting(i)
	b := c.buckets[p.bucket]
	if moved := b.objects.remove(w, p.pos); moved != nil {
		moved.postingIn(b.id).pos = p.pos
	}
	if b.objects.n > 0 {
		return b.index
	}
	b.index.vacant = append(b.index.vacant, b)
	if !b.retired {
		b.retired = true
		w.emptied = append(w.emptied, b)
	}
	return b.index
}

// reclaim takes b out of its table if b is empty and no cell of its array is in use. It
// reports false if b must stay on the retire list.
//
// The cells decide, not the time between the bucket's first write and its last. A cell
// may wait for a snapshot that is older than the bucket: AddIndexers puts records with a
// past into new buckets, and place.reclaim keeps what a snapshot of that past may see.
//
// In an empty bucket a cell is nil, or points to a stand-in for nothing. A cell with a
// stand-in is on the retire list. trim keeps used above the last cell that is not nil. So
// used is 0 exactly when every cell is nil, and from then on only these can reach the array:
//
//   - The writer, through a place: none is left, since a place names a cell on the retire
//     list. Through a posting: none is left, since the bucket is empty.
//   - A reader whose snapshot sees an object in b: none is open, since the stand-in in the
//     cell of that object would wait for it. For the same reason no open snapshot sees b
//     among the values of the index: one write changes both.
//   - A reader that found b and whose snapshot sees no object in it. It loads the blocks
//     once, and finds none, or cells that are nil.
//   - A later reader finds noBucket.
func (b *bucket) reclaim(c *core, open []uint64) bool {
	if b.objects.n > 0 {
		b.retired = false
		return true
	}
	if b.objects.used.Load() > 0 {
		return false
	}
	t := &b.index.buckets
	word := t.word(b.key())
	part, e := t.find(word, b.key())
	explore.Point("bucket.absent")
	e.rec.Store(noBucket)
	t.died(word, part, c.committed.Load()+1) // a later number: the write may have rebuilt the part before
	c.buckets[b.id] = nil
	c.freeIDs = append(c.freeIDs, b.id)
	if len(open) == 0 {
		b.retired = false
		c.write.spares.retireBucket(b)
	}
	return true
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
	all := rec.postings()
	if len(all) != values.Count() || len(all) > indexing.Few {
		return false
	}
	for _, p := range all {
		b := c.buckets[p.bucket]
		if !slices.Contains(values.List(b.index.ordinal), b.key()) {
			return false
		}
	}
	return true
}

// reindex moves rec into the buckets of values, the new values of its object, and out of
// all others. It writes nothing for a value that stays. O(values), old and new.
func (c *core) reindex(w *write, rec *record, indexes []*index, values *indexing.Values) {
	if max(values.Count(), len(rec.postings())) > indexing.Few {
		c.reindexMany(w, rec, indexes, values)
	} else {
		c.reindexFew(w, rec, indexes, values)
	}
	for _, x := range indexes {
		x.dropValues(w)
	}
}

// reindexFew is reindex for an object of few values. O(values squared).
func (c *core) reindexFew(w *write, rec *record, indexes []*index, values *indexing.Values) {
	for i := 0; i < len(rec.postings()); {
		b := c.buckets[rec.postings()[i].bucket]
		if slices.Contains(values.List(b.index.ordinal), b.key()) {
			i++
		} else {
			c.removeFromBucket(w, rec, i)
		}
	}
	if values.Count() == len(rec.postings()) {
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
	wanted        // and stays there
)

// reindexMany is reindex for an object of many values. Marks on the buckets take the place of
// a set of their values.
func (c *core) reindexMany(w *write, rec *record, indexes []*index, values *indexing.Values) {
	for _, p := range rec.postings() {
		c.buckets[p.bucket].mark = held
	}
	type missing struct {
		index *index
		word  uint64
		value string
	}
	var added []missing
	for i, x := range indexes {
		for _, value := range values.List(i) {
			word := x.buckets.word(value)
			_, e := x.buckets.find(word, value)
			if b := e.bucket(); b != nil && b.mark == held {
				b.mark = wanted
			} else {
				added = append(added, missing{x, word, value})
			}
		}
	}
	for i := 0; i < len(rec.postings()); {
		b := c.buckets[rec.postings()[i].bucket]
		if b.mark == wanted {
			i++
		} else {
			c.removeFromBucket(w, rec, i)
		}
		b.mark = unmarked
	}
	for _, m := range added {
		c.addToBucket(w, m.index, m.word, m.value, rec, rec.isNew())
	}
}
