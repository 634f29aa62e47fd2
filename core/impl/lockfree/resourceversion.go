package lockfree

import (
	"sync/atomic"
	"unsafe"

	"github.com/informerbench/informerbench/core/explore"
	"github.com/informerbench/informerbench/core/impl/indexing"
)

// resourceVersion leads to the store's resource version: to a version whose object has it. So
// up to three objects stay alive, though deleted, until other writes set it, and with
// them the former versions that an open snapshot kept.
//
// A write with a number sets newest to a version of that number before it is committed, and
// committed after that. A reader that finds the write of newest under way goes to
// committed. A write in place (inplace.go) sets newest to a placed, and leaves committed
// to the next write with a number.
type resourceVersion struct {
	newest, committed atomic.Pointer[version]
	placed            [2]placed // of writes in place, in turns
}

// placed is what newest leads to after a write in place. Its version has the write's object,
// and noWrite for a number. Its fields are set while no reader can reach it.
type placed struct {
	version
	in     *version // in which the object is placed
	before *version // what newest led to before; its write is over
}

// last returns the resource version. The caller has a slot, so no placed that it finds is used
// again meanwhile. It is linearized, if it returns that of newest, at the load of newest or,
// if that is later, where the write of newest becomes visible: at its commit, or where
// it places its object. Otherwise that write was under way when last looked, and last is
// linearized at that look.
func (r *resourceVersion) last(committed *atomic.Uint64) string {
	explore.Point("resourceVersion.newest")
	newest := r.newest.Load()
	explore.Point("resourceVersion.look")
	switch {
	case newest.seq == noWrite:
		if p := newest.placed(); !p.done() {
			newest = p.before
		}
	case newest.seq > committed.Load():
		explore.Point("resourceVersion.committed")
		newest = r.committed.Load()
	}
	return newest.resourceVersion()
}

// placed returns the placed whose first field n is.
func (n *version) placed() *placed { return (*placed)(unsafe.Pointer(n)) }

// done reports whether the object of p is in its place.
func (p *placed) done() bool {
	return atomic.LoadPointer(&(*words)(unsafe.Pointer(&p.in.obj)).data) == wordsOf(p.obj).data
}

// place is called by a write in place before it puts obj into the version in. Nothing but the
// other placed, which is newest or not reached at all, was set since a reader was last about.
func (r *resourceVersion) place(obj any, in *version) {
	before := r.newest.Load()
	p := &r.placed[0]
	if before == &p.version {
		p = &r.placed[1]
	}
	p.obj, p.in, p.before = obj, in, before
	explore.Point("resourceVersion.place")
	r.newest.Store(&p.version)
}

// isBookmark reports whether the resource version is no stored object's.
func (r *resourceVersion) isBookmark() bool {
	_, is := r.newest.Load().obj.(bookmark)
	return is
}

// set makes n, a version of the write under way, the newest.
func (r *resourceVersion) set(n *version) {
	if before := r.newest.Load(); before != nil && before.seq == noWrite {
		explore.Point("resourceVersion.catch up")
		r.committed.Store(before)
	}
	explore.Point("resourceVersion.set")
	r.newest.Store(n)
}

// commit is called after the commit of a write with a number.
func (r *resourceVersion) commit() {
	if n := r.newest.Load(); n != r.committed.Load() && n.seq != noWrite {
		explore.Point("resourceVersion.commit")
		r.committed.Store(n)
	}
}

// forget lets go of the objects of writes in place that no reader can reach any more. No
// reader may be about.
func (r *resourceVersion) forget() {
	if n := r.newest.Load(); n.seq != noWrite && (r.placed[0].in != nil || r.placed[1].in != nil) {
		r.placed = [2]placed{}
	}
}

// bookmark is the object of a version that is there for its resource version only.
type bookmark string

// resourceVersion is that of the version's object.
func (n *version) resourceVersion() string {
	obj := n.object()
	if b, is := obj.(bookmark); is {
		return string(b)
	}
	rv, _ := indexing.VersionOf(obj)
	return rv
}

// versionOf returns a version of the write under way that is no key's.
func (c *core) versionOf(obj any) *version { return &version{obj: obj, seq: c.write.seq} }

// noteResourceVersion takes the resource version of a write that keeps no object of its own. If
// it has none, which known says, the former one stays.
func (c *core) noteResourceVersion(rv string, known bool) {
	if known {
		c.resourceVersion.set(c.versionOf(bookmark(rv)))
	} else {
		c.keepResourceVersion()
	}
}

// keepResourceVersion keeps the resource version in a write that does not set it. The object
// that has it may leave the store with this write, and its owner may then change it.
func (c *core) keepResourceVersion() {
	if !c.resourceVersion.isBookmark() {
		c.resourceVersion.set(c.versionOf(bookmark(c.resourceVersion.newest.Load().resourceVersion())))
	}
}
