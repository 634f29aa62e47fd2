package lockfree

import (
	"slices"
	"sync/atomic"
)

// core is the content of a store between two Replaces: an array and a table of the
// objects, and the number of the newest committed write. Readers load what is atomic;
// everything else belongs to the writer, who holds the store's lock.
type core struct {
	committed atomic.Uint64
	_         [56]byte // readers' pointers below do not share its cache line

	readers *readers
	nodes   *table
	objects array

	version struct{ newest, committed atomic.Pointer[version] }

	buckets []*bucket // by id
	freeIDs []uint32
	write   write

	// What waits for open snapshots to close. It is looked at when none is open, and
	// when patience versions have come since the last time: twice as many as waited
	// then, so that the writes in between pay for the look.
	waitingPlaces  []place // chunks with old versions, each once
	waitingBuckets []*bucket
	unsifted       int // versions since the last look
	patience       int
	open           []uint64 // room for the open snapshots
}

// write is one write under way: its number, and what it leaves to clean up.
type write struct {
	seq      uint64
	versions int       // of chunks, made by this write
	changed  []place   // chunks that have a version before, and had none
	nodes    []*node   // nodes that have a version before
	emptied  []*bucket // buckets that lost their last object
}

// place is one chunk of an array.
type place struct {
	array *array
	chunk int
}

// version is the resource version that a write set.
type version struct {
	seq   uint64
	value string
}

const (
	firstSeq      = 1 // the number of an empty store
	leastPatience = 64
)

func newCore() *core {
	c := &core{readers: newReaders(), nodes: newTable(), patience: leastPatience}
	c.committed.Store(firstSeq)
	c.write.seq = firstSeq
	c.setVersion("")
	c.version.committed.Store(c.version.newest.Load())
	return c
}

// begin starts a write.
func (c *core) begin() *write {
	w := &c.write
	w.seq = c.committed.Load() + 1
	return w
}

// put stores obj under key. values are its index values, index by index.
func (c *core) put(w *write, key string, obj any, indexes []*index, values [][]string) {
	hash := c.nodes.hash(key)
	part, e := c.nodes.find(hash, key)
	var rec *record
	if e != nil {
		rec = e.node.Load().rec
	}
	if rec != nil {
		c.objects.set(w, rec.pos, obj)
	} else {
		rec = &record{key: key}
		rec.pos = c.objects.push(w, obj, rec)
	}
	c.reindex(w, rec, obj, indexes, values)
	c.succeed(w, rec.key, obj, rec, hash, part, e)
}

// remove takes key out, if it is there.
func (c *core) remove(w *write, key string) {
	hash := c.nodes.hash(key)
	part, e := c.nodes.find(hash, key)
	if e == nil || e.node.Load().rec == nil {
		return
	}
	rec := e.node.Load().rec
	for n := len(rec.postings()); n > 0; n-- {
		c.leave(w, rec, n-1)
	}
	if moved := c.objects.remove(w, rec.pos); moved != nil {
		moved.pos = rec.pos
	}
	c.succeed(w, rec.key, nil, nil, hash, part, e)
}

// succeed gives key its node of this write; without a record it is a tombstone.
func (c *core) succeed(w *write, key string, obj any, rec *record, hash uint64, p *part, e *entry) {
	n := &node{key: key, obj: obj, rec: rec, seq: w.seq}
	if e != nil {
		former := e.node.Load()
		if former.seq == w.seq {
			// A reader may have found former and see it committed later, so that it
			// must say then what the whole write says.
			p.live += alive(n) - alive(former)
			former.obj, former.rec = obj, rec
			return
		}
		n.prev.Store(former)
		w.nodes = append(w.nodes, n)
	}
	c.nodes.putAt(hash, n, p, e)
}

// setVersion is part of the write under way.
func (c *core) setVersion(value string) {
	c.version.newest.Store(&version{c.write.seq, value})
}

// commit makes the write under way visible, by the first store, and cleans up.
func (c *core) commit() {
	w := &c.write
	c.committed.Store(w.seq)
	if v := c.version.newest.Load(); v.seq == w.seq {
		c.version.committed.Store(v)
	}
	for _, n := range w.nodes {
		n.prev.Store(nil)
	}
	c.waitingPlaces = append(c.waitingPlaces, w.changed...)
	for _, b := range w.emptied {
		if !b.waiting {
			b.waiting = true
			c.waitingBuckets = append(c.waitingBuckets, b)
		}
	}
	c.unsifted += w.versions + len(w.emptied)
	clear(w.nodes)
	clear(w.changed)
	clear(w.emptied)
	*w = write{changed: w.changed[:0], nodes: w.nodes[:0], emptied: w.emptied[:0]}

	switch {
	case len(c.waitingPlaces)+len(c.waitingBuckets) == 0:
	case c.readers.idle():
		c.sift(nil)
	case c.unsifted > c.patience:
		c.open = c.readers.open(c.open[:0], c.committed.Load())
		c.sift(c.open)
	}
}

// sift drops what waits and is seen by none of the open snapshots.
func (c *core) sift(open []uint64) {
	c.waitingPlaces = slices.DeleteFunc(c.waitingPlaces, func(p place) bool {
		return !p.array.prune(p.chunk, open)
	})
	c.waitingBuckets = slices.DeleteFunc(c.waitingBuckets, func(b *bucket) bool {
		return c.dropUnseen(b, open)
	})
	c.unsifted = 0
	c.patience = max(leastPatience, 2*(len(c.waitingPlaces)+len(c.waitingBuckets)))
}
