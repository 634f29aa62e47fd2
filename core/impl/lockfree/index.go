package lockfree

import (
	"slices"

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
	record // whose key is the value, and whose only version is the bucket
	// An Update reads index and key of its object's buckets: these fields fill up the
	// record's cache line.
	index   *index
	id      uint32
	retired bool // whether the bucket is in a retire list

	first   version
	objects array
}

// bucketOf finds the bucket of a value for a reader with a snapshot. It finds every bucket
// in which the snapshot sees an object.
func (x *index) bucketOf(value string) *bucket {
	if _, e := x.buckets.find(x.buckets.word(value), value); e != nil {
		explore.Point("bucketOf.rec")
		b, _ := e.rec.Load().newest.Load().obj.(*bucket) // nil where it was dropped
		return b
	}
	return nil
}

// start makes b, which nothing points to yet, the bucket of a value from write seq on.
func (b *bucket) start(value string, seq uint64) {
	b.first.obj, b.first.seq = b, seq
	b.init(value, &b.first)
}

// noBucket is the version of the records of dropped buckets. No snapshot looks for an earlier
// one, and no rebuild keeps it as a tombstone of the write under way.
var noBucket = &version{obj: absence{}}

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
func (c *core) addToBucket(w *write, x *index, value string, rec *record, asIs bool) {
	b := c.bucket(w, x, value)
	rec.addPosting(posting{b.id, b.objects.push(w, rec, asIs)})
}

// bucket returns the bucket of a value, to which the caller then adds an object. From now
// on the value is one of the index's values.
func (c *core) bucket(w *write, x *index, value string) *bucket {
	word := x.buckets.word(value)
	part, e := x.buckets.find(word, value)
	var b *bucket
	if e != nil {
		b, _ = e.rec.Load().newest.Load().obj.(*bucket)
	}
	born := b == nil
	if born {
		b = &bucket{index: x, id: c.newBucketID()}
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
		b.pos = x.values.push(w, &b.record, born)
	}
	return b
}

// removeFromBucket takes the object with the given record out of its i-th bucket.
func (c *core) removeFromBucket(w *write, rec *record, i int) {
	p := rec.postings()[i]
	rec.dropPosting(i)
	b := c.buckets[p.bucket]
	if moved := b.objects.remove(w, p.pos); moved != nil {
		moved.postingIn(b.id).pos = p.pos
	}
	if b.objects.n > 0 {
		return
	}
	if moved := b.index.values.remove(w, b.pos); moved != nil {
		moved.pos = b.pos
	}
	if !b.retired {
		b.retired = true
		w.emptied = append(w.emptied, b)
	}
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
//   - A later reader finds the absence that the bucket's record leads to from now on.
func (b *bucket) reclaim(c *core) bool {
	if b.objects.n > 0 {
		b.retired = false
		return true
	}
	if b.objects.used.Load() > 0 {
		return false
	}
	t := &b.index.buckets
	word := t.word(b.key())
	part, _ := t.find(word, b.key())
	explore.Point("bucket.absent")
	b.newest.Store(noBucket)
	explore.Point("bucket.blocks")
	t.died(word, part, c.committed.Load()+1) // a later number, so a rebuild keeps no tombstone of a bucket
	// The table keeps the bucket's record until it copies that part.
	b.objects.blocks.Store(nil)
	c.buckets[b.id] = nil
	c.freeIDs = append(c.freeIDs, b.id)
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
	given := values.Count()
	if max(given, len(rec.postings())) > indexing.Few {
		c.reindexMany(w, rec, indexes, values)
		return
	}
	for i := 0; i < len(rec.postings()); {
		b := c.buckets[rec.postings()[i].bucket]
		if slices.Contains(values.List(b.index.ordinal), b.key()) {
			i++
		} else {
			c.removeFromBucket(w, rec, i)
		}
	}
	if given == len(rec.postings()) {
		return // each of them was found above
	}
	for i, x := range indexes {
		for _, value := range values.List(i) {
			if !c.isIn(x, value, rec) {
				c.addToBucket(w, x, value, rec, rec.isNew())
			}
		}
	}
}

// reindexMany is reindex for an object of many values: it looks them up in a table.
func (c *core) reindexMany(w *write, rec *record, indexes []*index, values *indexing.Values) {
	wanted := indexing.NewWanted(*values)
	for i := 0; i < len(rec.postings()); {
		b := c.buckets[rec.postings()[i].bucket]
		if wanted.Take(b.index.ordinal, b.key()) {
			i++
		} else {
			c.removeFromBucket(w, rec, i)
		}
	}
	for i, x := range indexes {
		for _, value := range values.List(i) {
			if wanted.Take(i, value) {
				c.addToBucket(w, x, value, rec, rec.isNew())
			}
		}
	}
}
