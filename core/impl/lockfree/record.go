package lockfree

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/informerbench/informerbench/core/explore"
	"github.com/informerbench/informerbench/core/impl/indexing"
)

// keyed is the first field of what a table leads to: of a record, by its key, and of a bucket,
// by its value. Readers read the key, which does not change while they can reach it (a bucket
// gets another when it is used again). It is of less than 4 GiB, and kept as pointer and
// length.
type keyed struct {
	keyData *byte
	keyLen  uint32
	pos     uint32 // of a record: its cell in the store's array. Of a bucket: its id, from 1 up
}

func (k *keyed) setKey(key string) { k.keyData, k.keyLen = unsafe.StringData(key), uint32(len(key)) }

// key returns the key. Its bytes are those of the string that setKey was given.
func (k *keyed) key() string { return unsafe.String(k.keyData, k.keyLen) }

// record holds the versions of a key's object, and where in the arrays the object lies.
// The table and the arrays point to it. The table keeps the record of a deleted key until
// its part is rebuilt. Readers load newest and read the key; all other fields are the
// writer's. A record takes 48 bytes.
type record struct {
	keyed
	newest atomic.Pointer[version] // nil in a stand-in, and nowhere else
	// The places in the buckets of the indexes: in few up to the first bucket 0, or all of
	// them in more if few is too short, or was. Most objects have one value in each of two indexes.
	few  [2]posting
	more *postings
}

// newRecord returns the record of a key with its first version.
func newRecord(key string, first *version) *record {
	r := &record{}
	r.setKey(key)
	r.newest.Store(first)
	return r
}

// version is one version of one object. Before the write with its number is committed, readers
// look at seq and prev only. After that prev is led past versions that no open snapshot sees.
// And a write in place (inplace.go) gives the newest version another object of the same type:
// so readers get it by object.
type version struct {
	obj any
	seq uint64
	// prev is the version before, as long as a snapshot may see it: a *version. It is set
	// plainly before the version is published, which an atomic.Pointer would not allow, and
	// by past and setPast after that.
	prev unsafe.Pointer
}

func (n *version) past() *version        { return (*version)(atomic.LoadPointer(&n.prev)) }
func (n *version) setPast(past *version) { atomic.StorePointer(&n.prev, unsafe.Pointer(past)) }

// object returns the object of a committed version.
func (n *version) object() any {
	return objectOf((*words)(unsafe.Pointer(&n.obj)).kind, atomic.LoadPointer(n.dataWord()))
}

// dataWord leads to the second word of n's object.
func (n *version) dataWord() *unsafe.Pointer { return &(*words)(unsafe.Pointer(&n.obj)).data }

// data is the second word of n's object, to compare.
func (n *version) data() uintptr { return uintptr(atomic.LoadPointer(n.dataWord())) }

// setData puts another object of the same type, given by its data, in the place of the object.
func (n *version) setData(data unsafe.Pointer) { atomic.StorePointer(n.dataWord(), data) }

// absence is the object of a tombstone, the version that says that the key is deleted.
type absence struct{}

var absenceKind = wordsOf(absence{}).kind

func (n *version) absent() bool { return (*words)(unsafe.Pointer(&n.obj)).kind == absenceKind }

// version returns the version that snapshot seq sees; nil, or a tombstone, if it sees none.
func (r *record) version(seq uint64) *version {
	explore.Point("version.newest")
	n := r.newest.Load()
	for n != nil && n.seq > seq {
		explore.Point("version.prev")
		n = n.past()
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
	for n := r.newest.Load(); n != nil; n = n.past() {
		seq = n.seq
	}
	return seq
}

// isNew reports whether no version is linked before the newest. The write that made the
// newest then knows that no earlier snapshot sees another.
func (r *record) isNew() bool { return r.newest.Load().past() == nil }

// update makes a version of obj, of write w, the newest one of r. former is the newest so far. If it is known to be lone, an object without a version before it, then
// it is not read.
func (r *record) update(w *write, obj any, former *version, lone bool) {
	n := &version{obj: obj, seq: w.seq}
	switch {
	case lone || former.past() == nil && !former.absent():
		w.updated = append(w.updated, r)
		fallthrough
	case former.past() != nil: // r is on the retire list already
		n.prev = unsafe.Pointer(former)
		w.made++
	}
	explore.Point("update.newest")
	r.newest.Store(n)
}

// cut drops the versions before the newest. No snapshot may be open.
func (r *record) cut() {
	explore.Point("prune.prev")
	r.newest.Load().setPast(nil)
}

// prune drops the versions before the newest that none of the open snapshots sees, and
// reports whether one is left. Cost: O(versions of r).
func (r *record) prune(open []uint64) (left bool) {
	// A version is seen by the snapshots from its own number up to that of the next version.
	// If the next one was dropped, no snapshot was open between its number and that of the
	// version after it, and none will be.
	n := r.newest.Load()
	for v := n.past(); v != nil; v = v.past() {
		if anyWithin(open, v.seq, n.seq) {
			explore.Point("prune.prev")
			n.setPast(v)
			n, left = v, true
		}
	}
	explore.Point("prune.prev")
	n.setPast(nil)
	return left
}

// posting is one place of an object in a bucket. The zero value is none.
type posting struct {
	bucket uint32 // its id, from 1 up
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
	n := 0
	for n < len(r.few) && r.few[n].bucket != 0 {
		n++
	}
	return r.few[:n]
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
	if r.more != nil {
		if r.more.at != nil {
			r.more.at[p.bucket] = len(r.more.list)
		}
		r.more.list = append(r.more.list, p)
		return
	}
	if n := len(r.postings()); n < len(r.few) {
		r.few[n] = p
		return
	}
	r.more = &postings{list: append(slices.Clone(r.few[:]), p)}
}

// dropPosting puts the last posting in the place of the i-th.
func (r *record) dropPosting(i int) {
	all := r.postings()
	last := len(all) - 1
	dropped := all[i].bucket
	all[i] = all[last]
	if r.more == nil {
		all[last] = posting{}
		return
	}
	r.more.list = all[:last]
	if r.more.at != nil {
		r.more.at[all[i].bucket] = i
		delete(r.more.at, dropped)
	}
}

// fitPostings gives back the room of more if over three quarters of it are free. Call it at the
// end of a change: in between, an object that has new values may have few postings.
func (r *record) fitPostings() {
	list := r.more.list
	if cap(list) <= 4*len(list) {
		return
	}
	if len(list) > len(r.few) {
		r.more = &postings{list: slices.Clone(list)} // postingIn makes another map
		return
	}
	r.more, r.few = nil, [len(r.few)]posting{}
	copy(r.few[:], list)
}
