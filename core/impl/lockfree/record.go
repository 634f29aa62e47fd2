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

// record holds a key's object, its versions, and where in the arrays the object lies. The table
// and the arrays point to it. The table keeps the record of a deleted key until its part is
// rebuilt. Readers look at key, newest and obj; all other fields are the writer's. A record
// takes 64 bytes.
//
// A record without versions is settled: all snapshots see obj. A write that is not in place
// makes a version, and obj is then the object before the oldest version. When all open
// snapshots see the newest version, the record is settled again.
type record struct {
	keyed
	newest atomic.Pointer[version] // nil if the record is settled, standsIn in a stand-in
	// obj is an absence if there was no object before the oldest version, or no open snapshot
	// sees it. In a settled record a write in place gives it other data of the same type. Its
	// type changes only while every reader takes a version instead.
	obj any
	// The places in the buckets of the indexes: in few up to the first bucket 0, or all of
	// them in more if few is too short, or was. Most objects have one value in each of two indexes.
	few  [2]posting
	more *postings
}

// newRecord returns the record of a key without an object, which the caller sets: obj, or newest.
func newRecord(key string) *record {
	r := &record{obj: absence{}}
	r.setKey(key)
	return r
}

// version is the object as one write left it, where an open snapshot may see another one. Once
// the write is committed, only prev changes: it is led past versions that no open snapshot
// sees. Before that, readers look at seq and prev only.
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

// absence stands for no object: in a tombstone, the version that says that the key is deleted.
type absence struct{}

var absenceKind = wordsOf(absence{}).kind

func isAbsent(obj any) bool { return wordsOf(obj).kind == absenceKind }

func (n *version) absent() bool { return isAbsent(n.obj) }

// words leads to the two words of r's obj.
func (r *record) words() *words { return (*words)(unsafe.Pointer(&r.obj)) }

// data is the second word of r's obj, to compare.
func (r *record) data() uintptr { return uintptr(atomic.LoadPointer(&r.words().data)) }

// setData puts another object of the same type, given by its data, in the place of r's obj.
func (r *record) setData(data unsafe.Pointer) { atomic.StorePointer(&r.words().data, data) }

// settled returns obj to a reader.
func (r *record) settled() any {
	explore.Point("record.obj")
	w := r.words()
	return objectOf(w.kind, atomic.LoadPointer(&w.data))
}

// object returns the object that snapshot seq sees, an absence if it sees none.
//
//go:noinline
func (r *record) object(seq uint64) any {
	explore.Point("version.newest")
	for n := r.newest.Load(); n != nil; n = n.past() {
		explore.Point("version.seq")
		if n.seq <= seq {
			explore.Point("version.obj")
			return n.obj
		}
		explore.Point("version.prev")
	}
	return r.settled()
}

// seen reports whether snapshot seq sees an object of r, which may be nil.
func (r *record) seen(seq uint64) bool { return r != nil && !isAbsent(r.object(seq)) }

// current returns the newest object, an absence if there is none. Writer only.
func (r *record) current() any {
	if n := r.newest.Load(); n != nil {
		return n.obj
	}
	return r.obj
}

// since returns the number of the oldest version, or 0 if obj was there before it or r is a
// stand-in. Writer only.
func (r *record) since() (seq uint64) {
	if !isAbsent(r.obj) {
		return 0
	}
	for n := r.newest.Load(); n != nil; n = n.past() {
		seq = n.seq
	}
	return seq
}

// hasPast reports whether a snapshot may see another object than newest, the newest version,
// which is not nil. Writer only.
func (r *record) hasPast(newest *version) bool { return newest.past() != nil || !isAbsent(r.obj) }

// waits reports whether r is to be on the retire list: it is not settled, and a snapshot may see
// an object in it. Writer only.
func (r *record) waits() bool {
	n := r.newest.Load()
	return n != nil && (!n.absent() || r.hasPast(n))
}

// isNew reports whether no snapshot sees an object before the newest version. Writer only.
func (r *record) isNew() bool {
	n := r.newest.Load()
	return n != nil && !r.hasPast(n)
}

// update makes a version of obj, of write w, the newest one of r, and reports whether the
// former object was an absence.
func (r *record) update(w *write, obj any) (revived bool) {
	former := r.newest.Load()
	switch {
	case former == nil:
		w.updated = append(w.updated, r)
	case former.seq == w.seq:
		// A reader may have found this version already and see it committed later. It
		// must then hold the object that the whole write leaves.
		revived = former.absent()
		explore.Point("update.obj")
		former.obj = obj
		return revived
	default:
		revived = former.absent()
		if !r.waits() {
			w.updated = append(w.updated, r)
			former = nil
		}
	}
	n := w.version(obj, former)
	explore.Point("update.newest")
	r.newest.Store(n)
	return revived
}

// settle makes the newest object the only one. It returns that object's version, which leads to no
// other any more and which readers may still hold. All open snapshots must see that version.
//
// So no reader looks at obj while settle changes it. A reader that found newest nil before, or a
// version before this one, has an older snapshot. So has a reader that looks at obj through the
// stamp of a write in place: a write with a number, as made this version, replaces such a stamp.
func (r *record) settle() *version {
	n := r.newest.Load()
	if n.past() != nil {
		explore.Point("settle.prev")
		n.setPast(nil)
	}
	if n.absent() {
		explore.Point("settle.absent")
		r.obj = absence{}
		return nil
	}
	explore.Point("settle.obj")
	r.obj = n.obj
	explore.Point("settle.newest")
	r.newest.Store(nil)
	return n
}

// prune drops what lies before the newest version and none of the open snapshots sees. It
// settles r if nothing is left, and reports whether r still waits. Cost: O(versions of r).
func (r *record) prune(open []uint64) (waits bool) {
	// A version is seen by the snapshots from its own number up to that of the next version.
	// If the next one was dropped, no snapshot was open between its number and that of the
	// version after it, and none will be.
	newest := r.newest.Load()
	n := newest
	for v := n.past(); v != nil; v = v.past() {
		if anyWithin(open, v.seq, n.seq) {
			explore.Point("prune.prev")
			n.setPast(v)
			n = v
		}
	}
	switch {
	case anyWithin(open, 0, n.seq): // also if no object was there
	case n == newest:
		r.settle()
		return false
	default:
		explore.Point("prune.obj")
		r.obj = absence{}
	}
	if n.past() != nil {
		explore.Point("prune.prev")
		n.setPast(nil)
	}
	return r.waits()
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
