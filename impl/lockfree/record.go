package lockfree

import (
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/internal/indexing"
	"github.com/informerbench/informerbench/internal/explore"
)

// record holds the versions of a key's object, and where in the arrays the object lies.
// The table and the arrays point to it. The table keeps the record of a deleted key until
// its part is rebuilt. Readers load newest, and read key and standIn, which never change;
// all other fields are the writer's. A record fills a cache line.
type record struct {
	newest  atomic.Pointer[version]
	standIn *standIn // the stand-in that this record is embedded in; nil in a true record
	key     string
	pos     uint32 // in the store's array; in a bucket's record, in its index's array of values
	// The places in the buckets of the indexes: in few, or all of them in more if few is
	// too short. Most objects have one value in each of two indexes.
	fewLen uint32
	few    [2]posting
	more   *postings
}

// version is one version of one object. Once the write with its number is committed, only
// prev changes: it is led past versions that no open snapshot sees. Before that, readers
// look at seq and prev only.
type version struct {
	obj  any
	seq  uint64
	prev atomic.Pointer[version] // the version before, as long as a snapshot may see it
}

// absence is the object of a tombstone, the version that says that the key is deleted.
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

// isNew reports whether no version is linked before the newest. The write that made the
// newest then knows that no earlier snapshot sees another.
func (r *record) isNew() bool { return r.newest.Load().prev.Load() == nil }

// update makes n, of write w, the newest version of r.
func (r *record) update(w *write, n *version) {
	former := r.newest.Load()
	if past := former.prev.Load(); past != nil || !former.absent() {
		n.prev.Store(former)
		w.made++
		if past == nil { // else r is on the retire list already
			w.updated = append(w.updated, r)
		}
	}
	explore.Point("update.newest")
	r.newest.Store(n)
}

// prune drops the versions before the newest that none of the open snapshots sees, and
// reports whether one is left. Cost: O(versions of r).
func (r *record) prune(open []uint64) (left bool) {
	// A version is seen by the snapshots from its own number up to that of the next version.
	// If the next one was dropped, no snapshot was open between its number and that of the
	// version after it, and none will be.
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

// postings holds the places of an object that has more of them than fit into few.
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
