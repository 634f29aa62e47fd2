package lockfree

import (
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/indexing"
	"github.com/informerbench/informerbench/internal/explore"
)

// core is the content of a store between two Replaces: an array and a table of the
// objects, and the number of the newest committed write. Readers load the atomic fields;
// everything else belongs to the writer, who holds the store's lock.
type core struct {
	committed atomic.Uint64
	_         [56]byte // the fields below, which readers load, do not share its cache line

	readers     *readers
	keys        table
	entryValues entryValues // of keys
	objects     array

	resourceVersion struct {
		newest, committed atomic.Pointer[resourceVersion]
	}

	buckets []*bucket // by id
	freeIDs []uint32
	write   write
	checker checker // of invariants; empty in normal builds

	// retireList waits for open snapshots to close. It is reclaimed when none is open, or
	// when sinceReclaim exceeds reclaimThreshold. The threshold is the length of the list
	// after the last reclaim, so the writes in between pay for the next one.
	retireList       retireList
	sinceReclaim     int      // versions and stand-ins with a past, made since the last reclaim
	reclaimThreshold int      // at least minReclaimThreshold
	open             []uint64 // room for the open snapshots
}

// write is one write under way: its number, and what it leaves to clean up.
type write struct {
	seq         uint64
	indexValues indexing.Values // of the objects that it stores
	made        int             // versions and stand-ins with a past
	retireList
	spares spares
}

// retireList holds the records, cells and buckets with a past that open snapshots may see,
// each once.
type retireList struct {
	updated []*record // with a version before the newest
	changed []place   // cells with a stand-in
	emptied []*bucket
}

func (w *retireList) len() int { return len(w.updated) + len(w.changed) + len(w.emptied) }

// resourceVersion is the resource version that write seq has set.
type resourceVersion struct {
	seq   uint64
	value string
}

const firstSeq = 1 // the number of an empty store

func newCore() *core {
	c := &core{readers: newReaders(), reclaimThreshold: minReclaimThreshold}
	c.keys.init()
	c.keys.entryValues = &c.entryValues
	c.objects.copies = &copies{}
	c.committed.Store(firstSeq)
	c.write.seq = firstSeq
	c.setResourceVersion("")
	c.resourceVersion.committed.Store(c.resourceVersion.newest.Load())
	return c
}

// begin starts a write. If an IndexFunc then panics, before anything is touched, the write
// is over, and the next begin uses its number.
func (c *core) begin() *write {
	w := &c.write
	w.seq = c.committed.Load() + 1
	w.indexValues.Empty()
	return w
}

// put stores obj under key. values are its index values, index by index.
func (c *core) put(w *write, key string, obj any, indexes []*index, values *indexing.Values) {
	hash := c.keys.hash(key)
	part, e := c.keys.find(hash, key)
	if e == nil {
		rec := &record{key: key}
		rec.newest.Store(&version{obj: obj, seq: w.seq})
		rec.pos = c.objects.push(w, rec, true)
		c.reindex(w, rec, indexes, values)
		c.keys.insert(hash, rec, part, w.seq)
		return
	}
	rec := e.rec.Load()
	if c.update(w, e, rec, obj) {
		part.live++
		rec.pos = c.objects.push(w, rec, rec.isNew())
	} else {
		c.objects.copies.touch(w, rec.pos)
	}
	c.reindex(w, rec, indexes, values)
}

// update makes obj the newest version of rec, to which e leads, and reports whether it
// was absent.
func (c *core) update(w *write, e *entry, rec *record, obj any) (revived bool) {
	former := rec.newest.Load()
	revived = former.absent()
	if former.seq == w.seq {
		// A reader may have found this version already and see it committed later. It must
		// then hold the object that the whole write leaves.
		explore.Point("update.obj")
		former.obj = obj
		return revived
	}
	c.entryValues.unsettle(e)
	rec.update(w, &version{obj: obj, seq: w.seq})
	return revived
}

// remove takes key out, if it is there.
func (c *core) remove(w *write, key string) {
	hash := c.keys.hash(key)
	part, e := c.keys.find(hash, key)
	if e == nil {
		return
	}
	rec := e.rec.Load()
	if rec.newest.Load().absent() {
		return
	}
	for n := len(rec.postings()); n > 0; n-- {
		c.removeFromBucket(w, rec, n-1)
	}
	if moved := c.objects.remove(w, rec.pos); moved != nil {
		moved.pos = rec.pos
	}
	c.update(w, e, rec, absence{})
	c.keys.died(hash, part, w.seq)
}

// setResourceVersion sets the resource version, as part of the write under way.
func (c *core) setResourceVersion(value string) {
	explore.Point("resourceVersion.newest")
	c.resourceVersion.newest.Store(&resourceVersion{c.write.seq, value})
}

// commit ends the write under way. Builds with the race detector or -tags invariants then
// check the invariants.
func (v *view) commit() {
	v.core.commit()
	v.checkSome()
}

// commit makes the write under way visible, by the first store, and cleans up.
func (c *core) commit() {
	w := &c.write
	explore.Point("commit")
	c.committed.Store(w.seq)
	c.entryValues.settle()
	if v := c.resourceVersion.newest.Load(); v.seq == w.seq {
		explore.Point("resourceVersion.committed")
		c.resourceVersion.committed.Store(v)
	}
	c.retireList.updated = append(c.retireList.updated, w.updated...)
	c.retireList.changed = append(c.retireList.changed, w.changed...)
	c.retireList.emptied = append(c.retireList.emptied, w.emptied...)
	c.sinceReclaim += w.made
	w.made = 0
	w.indexValues.Empty()
	w.updated, w.changed, w.emptied = emptied(w.updated), emptied(w.changed), emptied(w.emptied)

	switch {
	case c.retireList.len() == 0:
		c.sinceReclaim = 0
	case c.readers.idle():
		w.spares.recycle()
		c.reclaim(nil)
	default:
		w.spares.forget()
		if c.sinceReclaim > c.reclaimThreshold {
			c.open = c.readers.open(c.open[:0], c.committed.Load())
			c.reclaim(c.open)
		}
	}
}

// reclaim takes off the retire list what none of the open snapshots sees.
func (c *core) reclaim(open []uint64) {
	w := &c.retireList
	w.updated = drop(w.updated, func(r *record) bool { return !r.prune(open) })
	w.changed = drop(w.changed, func(p place) bool { return p.reclaim(&c.write, open) })
	w.emptied = drop(w.emptied, func(b *bucket) bool { return b.reclaim(c) }) // after its cells
	c.sinceReclaim = 0
	c.reclaimThreshold = max(minReclaimThreshold, w.len())
}

// drop returns s without the elements that are done.
func drop[T any](s []T, done func(T) bool) []T {
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
