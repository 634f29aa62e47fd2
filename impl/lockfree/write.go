package lockfree

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/informerbench/informerbench/impl/indexing"
)

// core is the content of a store between two Replaces: an array and a table of the
// objects, and the number of the newest committed write. Readers load the atomic fields;
// everything else belongs to the writer, who holds the store's lock.
type core struct {
	committed atomic.Uint64
	_         [56]byte // the fields below, which readers load, do not share its cache line

	readers *readers
	keys    table
	shown   shown // the objects in the entries of keys
	objects allObjects

	resourceVersion resourceVersion

	indexes  []*index    // by ordinal
	buckets  []*bucket   // by id, from 1 up
	wide     []*postings // of records that have more than fit into them (postings.go)
	freeIDs  []uint32    // of buckets
	freeWide []uint32    // positions in wide
	write    write
	checker  checker // of invariants; empty in normal builds

	// retireList waits for open snapshots to close. It is reclaimed when none is open, or
	// when sinceReclaim exceeds reclaimThreshold, so that the writes in between pay for it.
	retireList retireList
	// versions and stand-ins made since the last reclaim; at least one per write
	sinceReclaim     int
	reclaimThreshold int      // see reclaimed
	open             []uint64 // room for the open snapshots

	sparse []uint64 // words of keys, each in a part of the table that its deletion left sparse
}

// write is one write under way: its number, and what it leaves to clean up.
type write struct {
	seq         uint64
	rv          string          // its resource version
	known       bool            // whether it has one
	alone       bool            // whether it is an Update of one object, which may be in place
	indexValues indexing.Values // of the objects that it stores
	made        int             // versions and stand-ins
	retireList
	spares  spares
	fetched uint64 // the sum of what fetch.go read, so that it is read
}

// retireList holds the records that wait (record.waits), and the cells and buckets with a past
// that open snapshots may see, each once.
type retireList struct {
	updated []*record
	changed []place // cells with a stand-in
	emptied []*bucket
}

func (w *retireList) len() int { return len(w.updated) + len(w.changed) + len(w.emptied) }

const (
	noWrite  = 0 // the number of none
	firstSeq = 1 // that of an empty store
)

func newCore() *core {
	c := &core{readers: &readers{}, reclaimThreshold: minReclaimThreshold, buckets: make([]*bucket, 1)}
	c.keys.init()
	c.keys.shown = &c.shown
	c.committed.Store(firstSeq)
	c.write.seq = firstSeq
	c.resourceVersion.newest.Store(&stamp{seq: firstSeq})
	return c
}

// begin starts a write with this resource version, if known says that it has one. If an
// IndexFunc then panics, before anything is touched, the write is over, and the next begin
// uses its number.
func (c *core) begin(rv string, known bool) *write {
	w := &c.write
	w.seq = c.committed.Load() + 1
	w.rv, w.known, w.alone = rv, known, false
	w.indexValues.Empty()
	return w
}

// put stores obj under key, whose word in keys is given. values are its index values, index by
// index. It reports whether the write was in place, and is thereby over.
func (c *core) put(w *write, word uint64, key string, obj any, indexes []*index,
	values *indexing.Values) (inPlace bool) {
	part, e := c.keys.find(word, key)
	if e == nil {
		rec := newRecord(key)
		rec.newest.Store(w.version(obj, nil))
		w.updated = append(w.updated, rec)
		rec.pos = c.objects.push(w, rec, true)
		c.reindex(w, rec, indexes, values)
		c.keys.insert(word, &rec.keyed, part, w.seq)
		return false
	}
	rec := e.record()
	// Buckets and values are cache misses. Here the processor waits for them while it does
	// update's work up to the first atomic store, which waits for all loads.
	stays := c.stays(rec, values)
	if stays && w.alone && c.inPlace(w, e, rec, obj) {
		w.indexValues.Empty()
		return true
	}
	c.shown.hide(e)
	if rec.update(w, &c.shown, obj) {
		part.live++
		rec.pos = c.objects.push(w, rec, rec.isNew())
	} else {
		c.objects.copies.touch(w, rec.pos)
	}
	if !stays {
		c.reindex(w, rec, indexes, values)
	}
	return false
}

// version makes a version of the write.
func (w *write) version(obj any, past *version) *version {
	w.made++
	n := w.spares.versions.take()
	if n == nil {
		n = &version{}
	}
	*n = version{obj, w.seq, unsafe.Pointer(past)} // Safety: see version.prev
	return n
}

// remove takes key, whose word in keys is given, out, if it is there. The caller calls
// shrinkKeys after the commit.
func (c *core) remove(w *write, word uint64, key string) {
	part, e := c.keys.find(word, key)
	if e == nil {
		return
	}
	rec := e.record()
	if isAbsent(rec.current(&c.shown)) {
		return
	}
	for n := len(c.postings(rec)); n > 0; n-- {
		c.removeFromBucket(w, rec, n-1)
	}
	c.fitPostings(rec)
	if moved := c.objects.remove(w, rec.pos); moved != nil {
		moved.pos = rec.pos
	}
	c.shown.hide(e)
	rec.update(w, &c.shown, absence{})
	if c.keys.died(part) {
		c.sparse = append(c.sparse, word)
	}
}

// commit ends the write under way. Tests under the race detector or with -tags invariants then
// check the invariants.
func (v *view) commit() {
	v.core.commit()
	v.checkSome()
}

// commit makes the write under way visible, by the first store, and cleans up.
func (c *core) commit() {
	w := &c.write
	c.resourceVersion.note(w)
	c.committed.Store(w.seq)
	c.shown.show()
	c.objects.copies.waiting = 0 // asked stays: beside lists it would be set again at once
	w.indexValues.Empty()

	idle := c.idle()
	if idle {
		// Cells of a bucket that goes may be on the store's list: that one is gone through
		// below, before the bucket is used again.
		c.reclaim(&w.retireList, nil)
	} else {
		w.spares.forget()
		c.sinceReclaim += max(w.made, 1)
	}
	made := w.made
	w.made = 0
	c.retireList.take(&w.retireList, &c.shown)
	switch {
	case c.retireList.len() == 0:
		c.sinceReclaim = 0
	case idle:
		c.reclaim(&c.retireList, nil)
		c.reclaimed()
	case c.sinceReclaim > c.reclaimThreshold:
		c.open = c.readers.open(c.open[:0], c.committed.Load())
		c.reclaim(&c.retireList, c.open)
		c.reclaimed()
	}
	if made > mostSpares {
		c.giveBack(int(c.objects.n) / 8)
	}
}

// giveBack drops empty room for more than most things. What a batch needed would else be a large
// part of a small store.
func (c *core) giveBack(most int) {
	for _, l := range []*retireList{&c.write.retireList, &c.retireList} {
		l.updated, l.changed = atMost(l.updated, most), atMost(l.changed, most)
		l.emptied = atMost(l.emptied, most)
	}
	c.shown.changed = atMost(c.shown.changed, most)
	c.write.indexValues.Shrink(most)
}

// atMost returns nil if s is empty and has room for more than most.
func atMost[T any](s []T, most int) []T {
	if len(s) == 0 && cap(s) > most {
		return nil
	}
	return s
}

// idle reports whether no snapshot is open. Then no reader can reach what was retired before,
// and it is free to be used again.
func (c *core) idle() bool {
	if !c.readers.idle() {
		return false
	}
	c.resourceVersion.settle()
	c.write.spares.recycle()
	return true
}

// shrinkKeys rebuilds the parts of the table that deletions left sparse. A write with deletions
// ends with it, when it is committed: so its tombstones go, and each part is rebuilt once,
// however much of it was deleted.
func (c *core) shrinkKeys() {
	for _, word := range c.sparse {
		c.keys.shrink(word)
	}
	c.sparse = emptied(c.sparse)
}

// take moves what is on the list of a write to w.
func (w *retireList) take(of *retireList, s *shown) {
	if of.len() == 0 {
		return
	}
	for _, r := range of.updated {
		if r.waits(s) { // an object that one write adds and deletes does not
			w.updated = append(w.updated, r)
		}
	}
	w.changed = append(w.changed, of.changed...)
	w.emptied = append(w.emptied, of.emptied...)
	of.updated, of.changed, of.emptied = emptied(of.updated), emptied(of.changed), emptied(of.emptied)
}

// reclaim takes off a list what none of the open snapshots sees.
func (c *core) reclaim(list *retireList, open []uint64) {
	if len(open) > 0 {
		list.updated = drop(list.updated, func(r *record) bool { return !r.prune(open, &c.shown) })
		list.changed = drop(list.changed, func(p place) bool { return p.reclaim(&c.write, open) })
		// after its cells
		list.emptied = drop(list.emptied, func(b *bucket) bool { return b.reclaim(c, open, 0) })
		return
	}
	for _, r := range list.updated {
		if n := r.settle(&c.shown); n != nil {
			c.write.spares.versions.retire(n)
		}
	}
	for _, p := range list.changed {
		p.reclaim(&c.write, nil)
	}
	if len(list.emptied) > 0 {
		c.reclaimBuckets(list.emptied)
	}
	list.updated, list.changed, list.emptied = emptied(list.updated), emptied(list.changed),
		emptied(list.emptied)
}

// reclaimBuckets takes buckets out of their tables. No snapshot may be open.
func (c *core) reclaimBuckets(buckets []*bucket) {
	for some := range slices.Chunk(buckets, fetchLen) {
		words := c.fetchBuckets(some)
		for i, b := range some {
			b.reclaim(c, nil, words[i])
		}
	}
}

// reclaimed sets when the store's list is gone through again. That costs its length, n. After
// n versions each has paid for two things on the list. If n is large, it is the work of a long
// snapshot, which may close soon. So then each version pays for up to 17 things, and what
// waits is dropped after fewer writes.
func (c *core) reclaimed() {
	c.sinceReclaim = 0
	n := c.retireList.len()
	c.reclaimThreshold = max(minReclaimThreshold, min(n, 1024+n/16))
}

// drop returns s without the elements that are done.
func drop[T any](s []T, done func(T) bool) []T {
	if len(s) == 0 {
		return s
	}
	if s = slices.DeleteFunc(s, done); len(s) == 0 {
		return emptied(s)
	}
	return s
}

// emptied returns s without elements, for reuse by the next write. It keeps no element
// alive, and no room for more than 1,024.
func emptied[T any](s []T) []T {
	const most = 1024
	if cap(s) > most {
		return nil
	}
	clear(s)
	return s[:0]
}
