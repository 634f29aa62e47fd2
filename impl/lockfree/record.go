package lockfree

import (
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/indexing"
	"github.com/informerbench/informerbench/internal/explore"
)

// record is what there is of a key: its versions, and where in the arrays its object
// lies. Table and arrays point to it, the table until it drops what was deleted. Of it,
// readers load newest, and read key and standIn, which never change; the rest is the
// writer's. It fills a cache line.
type record struct {
	newest  atomic.Pointer[version]
	standIn *standIn // of which this is a part; nil in a true record
	key     string
	pos     uint32 // in the store's array; of an indexed value, in its index's
	// The places in the buckets of the indexes: the first few here, all of them in
	// more when they are too many. Most objects have one value in each of two indexes.
	fewLen uint32
	few    [2]posting
	more   *postings
}

// version is one version of one object. Once the write with its number is committed, only prev
// changes: it is led past what nobody sees. Before, readers look at no more than seq and prev.
type version struct {
	obj  any
	seq  uint64
	prev atomic.Pointer[version] // the version before, as long as a snapshot may see it
}

// absence is the object of a node that says that there is none: of a tombstone.
type absence struct{}

func (n *version) absent() bool {
	_, is := n.obj.(absence)
	return is
}

// version returns the version that snapshot seq sees; nil, or a tombstone, if it sees none.
func (r *record) version(seq uint64) *version {
	explore.Point("version.newest")
	n := r.newest.Load()
	for n != nil && n.seq > seq {
		explore.Point("version.prev")
		n = n.prev.Load()
	}
	return n
}

// seen reports whether snapshot seq sees an object of r, which may be nil.
func (r *record) seen(seq uint64) bool {
	if r == nil {
		return false
	}
	n := r.version(seq)
	return n != nil && !n.absent()
}

// oldest returns the number of the first version there still is, 0 for a stand-in.
func (r *record) oldest() (seq uint64) {
	for n := r.newest.Load(); n != nil; n = n.prev.Load() {
		seq = n.seq
	}
	return seq
}

// isNew reports, to the write that made the newest version, whether no snapshot before
// it can see another.
func (r *record) isNew() bool { return r.newest.Load().prev.Load() == nil }

// update makes n, of write w, the newest version of r.
func (r *record) update(w *write, n *version) {
	former := r.newest.Load()
	if past := former.prev.Load(); past != nil || !former.absent() {
		n.prev.Store(former)
		w.made++
		if past == nil { // else r waits already
			w.updated = append(w.updated, r)
		}
	}
	explore.Point("update.newest")
	r.newest.Store(n)
}

// prune drops the versions before the newest that none of the open snapshots sees, and
// reports whether one is left. Cost: the versions there were.
func (r *record) prune(open []uint64) (left bool) {
	// A version was what there is from its own number to that of the one after it. If
	// that one is gone, no snapshot was open between the two, and none will be.
	n := r.newest.Load()
	for v := n.prev.Load(); v != nil; v = v.prev.Load() {
		if anyWithin(open, v.seq, n.seq) {
			explore.Point("prune.prev")
			n.prev.Store(v)
			n, left = v, true
		}
	}
	explore.Point("prune.prev")
	n.prev.Store(nil)
	return left
}

// posting is one place of an object in a bucket.
type posting struct {
	bucket uint32 // its id
	pos    uint32
}

// postings is the places of an object that has more of them than a record has room for.
type postings struct {
	list []posting
	at   map[uint32]int // positions in list, by bucket id; made by the first postingIn of a long list
}

func (r *record) postings() []posting {
	if r.more != nil {
		return r.more.list
	}
	return r.few[:r.fewLen]
}

// postingIn returns the posting in a bucket; the object must be in it. O(1), except for
// the first call for a record of many postings, which is O(postings).
func (r *record) postingIn(bucket uint32) *posting {
	all := r.postings()
	if len(all) <= indexing.Few {
		return &all[slices.IndexFunc(all, func(p posting) bool { return p.bucket == bucket })]
	}
	if r.more.at == nil {
		r.more.at = make(map[uint32]int, len(all))
		for i, p := range all {
			r.more.at[p.bucket] = i
		}
	}
	return &all[r.more.at[bucket]]
}

func (r *record) addPosting(p posting) {
	switch {
	case r.more != nil:
		if r.more.at != nil {
			r.more.at[p.bucket] = len(r.more.list)
		}
		r.more.list = append(r.more.list, p)
	case int(r.fewLen) < len(r.few):
		r.few[r.fewLen] = p
		r.fewLen++
	default:
		r.more = &postings{list: append(slices.Clone(r.few[:]), p)}
	}
}

// dropPosting puts the last posting in the place of the i-th.
func (r *record) dropPosting(i int) {
	all := r.postings()
	last := len(all) - 1
	dropped := all[i].bucket
	all[i] = all[last]
	if r.more == nil {
		r.fewLen--
		return
	}
	r.more.list = all[:last]
	if r.more.at != nil {
		r.more.at[all[i].bucket] = i
		delete(r.more.at, dropped)
	}
}
