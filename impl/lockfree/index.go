package lockfree

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/internal/indexing"
)

// record says where in the arrays the object of a key lies. It is made once per key
// and outlives the key's versions. It is the writer's; readers compare its address.
type record struct {
	newest *node
	pos    uint32 // in the store's array; of an indexed value, in its index's
	// The places in the buckets of the indexes: the first few here, all of them in
	// more when they are too many. Most objects have one value in each of two indexes.
	fewLen uint32
	few    [2]posting
	more   *[]posting
}

// posting is one place of an object in a bucket.
type posting struct {
	bucket uint32 // its id
	pos    uint32
}

func (r *record) postings() []posting {
	if r.more != nil {
		return *r.more
	}
	return r.few[:r.fewLen]
}

func (r *record) addPosting(p posting) {
	switch {
	case r.more != nil:
		*r.more = append(*r.more, p)
	case int(r.fewLen) < len(r.few):
		r.few[r.fewLen] = p
		r.fewLen++
	default:
		all := append(slices.Clone(r.few[:]), p)
		r.more = &all
	}
}

// dropPosting puts the last posting in the place of the i-th.
func (r *record) dropPosting(i int) {
	all := r.postings()
	last := len(all) - 1
	all[i] = all[last]
	if r.more != nil {
		*r.more = all[:last]
	} else {
		r.fewLen--
	}
}

// index is one secondary index: a table from values to buckets, and an array of the
// values that objects have. ordinal is its place among the store's indexes.
type index struct {
	name    string
	compute contract.IndexFunc
	ordinal int
	buckets table
	values  array // of the buckets' nodes
}

func newIndex(name string, compute contract.IndexFunc, ordinal int) *index {
	x := &index{name: name, compute: compute, ordinal: ordinal}
	x.buckets.init()
	return x
}

// valuesOf computes the values of a storable object, each once. It panics if the
// IndexFunc fails, so it must run before anything is touched.
func (x *index) valuesOf(key string, obj any) []string {
	return indexing.ValuesOf(x.name, x.compute, key, obj)
}

// bucket holds the objects that have one value in an index. It stays in the index's
// table, empty, until no snapshot is open that saw objects in it.
type bucket struct {
	record  // whose newest node has the value as its key, and the bucket as its object
	objects array
	index   *index
	id      uint32
	waiting bool   // to be dropped, when no snapshot sees anything in it
	died    uint64 // the write that emptied it last
}

func (b *bucket) value() string { return b.newest.key }

// bucketOf finds the bucket of a value, for a reader with a snapshot: one that the
// snapshot sees objects in is found.
func (x *index) bucketOf(value string) *bucket {
	if _, e := x.buckets.find(x.buckets.hash(value), value); e != nil {
		b, _ := e.node.Load().obj.(*bucket) // a tombstone has none
		return b
	}
	return nil
}

// list returns the objects of snapshot seq in a new slice; of no bucket, none.
func (b *bucket) list(seq uint64) []any {
	if b == nil {
		return []any{}
	}
	return b.objects.objects(nil, seq)
}

// enter puts the object of n, whose record is rec, in the bucket of value, unless it
// is there. For asIs see push.
func (c *core) enter(w *write, x *index, value string, n *node, asIs bool) {
	rec := n.rec
	for _, p := range rec.postings() {
		if b := c.buckets[p.bucket]; b.index == x && b.value() == value {
			return
		}
	}
	b := c.bucket(w, x, value)
	rec.addPosting(posting{b.id, b.objects.push(w, n, asIs)})
}

// bucket returns the bucket of a value, to which the caller adds an object: it is one
// of the index's values from now on.
func (c *core) bucket(w *write, x *index, value string) *bucket {
	hash := x.buckets.hash(value)
	part, e := x.buckets.find(hash, value)
	var b *bucket
	if e != nil {
		b, _ = e.node.Load().obj.(*bucket)
	}
	born := b == nil
	if born {
		b = &bucket{index: x, id: c.newBucketID()}
		b.newest = &node{key: value, obj: b, rec: &b.record, seq: w.seq}
		c.buckets[b.id] = b
		x.buckets.putAt(hash, b.newest, part, e)
	}
	if b.objects.n == 0 {
		b.pos = x.values.push(w, b.newest, born)
	}
	return b
}

// leave takes the object with the given record out of its i-th bucket.
func (c *core) leave(w *write, rec *record, i int) {
	p := rec.postings()[i]
	rec.dropPosting(i)
	b := c.buckets[p.bucket]
	if moved := b.objects.remove(w, p.pos); moved != nil {
		at := slices.IndexFunc(moved.postings(), func(q posting) bool { return q.bucket == b.id })
		moved.postings()[at].pos = p.pos
	}
	if b.objects.n > 0 {
		return
	}
	if moved := b.index.values.remove(w, b.pos); moved != nil {
		moved.pos = b.pos
	}
	b.died = w.seq
	if !b.waiting {
		b.waiting = true
		w.emptied = append(w.emptied, b)
	}
}

// settle takes b out of its table if it is empty and none of the open snapshots sees
// objects in it. It reports false if b must wait on.
func (b *bucket) settle(c *core, open []uint64) bool {
	if b.objects.n > 0 {
		b.waiting = false
		return true
	}
	if anyWithin(open, b.newest.seq, b.died) {
		return false
	}
	value := b.value()
	b.index.buckets.put(b.index.buckets.hash(value), &node{key: value, seq: c.committed.Load()})
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

// reindex makes the object of n, which has these values in the indexes now, be found
// under them and under no others. former is the node before n, nil for a new object.
// Cost: the object's values, old and new, against each other.
func (c *core) reindex(w *write, former, n *node, indexes []*index, values [][]string) {
	rec := n.rec
	for i := 0; i < len(rec.postings()); {
		p := rec.postings()[i]
		b := c.buckets[p.bucket]
		if slices.Contains(values[b.index.ordinal], b.value()) {
			b.objects.set(w, p.pos, former, n)
			i++
		} else {
			c.leave(w, rec, i)
		}
	}
	given := 0
	for _, v := range values {
		given += len(v)
	}
	if given == len(rec.postings()) {
		return // each of them was found above
	}
	for i, x := range indexes {
		for _, value := range values[i] {
			c.enter(w, x, value, n, n.isNew())
		}
	}
}
