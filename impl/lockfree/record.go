package lockfree

import (
	"sync/atomic"
	"unsafe"
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

func (k *keyed) setKey(key string) {
	k.keyData, k.keyLen = unsafe.StringData(key), uint32(len(key))
}

// key returns the key. Safety: its bytes are those of the string that setKey was given, which the
// pointer keeps alive.
func (k *keyed) key() string { return unsafe.String(k.keyData, k.keyLen) }

// record holds a key's object, its versions, and where in the arrays the object lies. The table
// and the arrays point to it. The table keeps the record of a deleted key until its part is
// rebuilt. Readers look at key, newest and data; all other fields are the writer's. A record
// takes 48 bytes. Its fields newest and data always lie in one cache line.
//
// A record without versions is settled: all snapshots see the object of data. A write that is not
// in place makes a version, and data is then the object before the oldest version. When all open
// snapshots see the newest version, the record is settled again, if its object is of the store's
// type (see shown). An object of another type stays in a version, which is then the only one.
type record struct {
	keyed
	newest atomic.Pointer[version] // nil if the record is settled, standsIn in a stand-in
	// data is the second word of an object of the store's type. It is nil if there was no object
	// before the oldest version, or no open snapshot sees it. In a settled record a write in place
	// gives it another object's.
	// Safety: see words.
	data unsafe.Pointer
	// The places in the buckets of the indexes: in few up to the first bucket 0. If few is too
	// short, or was, they are in core.wide (see core.postings). Most objects have one value in each
	// of two indexes.
	few [2]posting
}

// newRecord returns the record of a key without an object, which the caller sets.
func newRecord(key string) *record {
	r := &record{}
	r.setKey(key)
	return r
}

// version is the object as one write left it, where an open snapshot may see another one. Once
// the write is committed, only prev changes: it is led past versions that no open snapshot
// sees. Before that, readers look at seq and prev only.
type version struct {
	obj any
	seq uint64
	// prev is the version before, as long as a snapshot may see it. It is set plainly before the
	// version is published, which an atomic.Pointer would not allow, and by past and setPast after
	// that. Safety: only a *version is stored, and it is loaded as one.
	prev unsafe.Pointer
}

func (n *version) past() *version        { return (*version)(atomic.LoadPointer(&n.prev)) }
func (n *version) setPast(past *version) { atomic.StorePointer(&n.prev, unsafe.Pointer(past)) }

// absence stands for no object: in a tombstone, the version that says that the key is deleted.
type absence struct{}

var absenceKind = wordsOf(absence{}).kind

func isAbsent(obj any) bool { return wordsOf(obj).kind == absenceKind }

func (n *version) absent() bool { return isAbsent(n.obj) }

// address is that of the data, to compare.
func (r *record) address() uintptr { return uintptr(atomic.LoadPointer(&r.data)) }

// setData puts another object, given by its data, in the place of a settled record's.
func (r *record) setData(data unsafe.Pointer) { atomic.StorePointer(&r.data, data) }

// settled returns the object of data to a reader, an absence if there is none.
func (r *record) settled(s *shown) any {
	if data := atomic.LoadPointer(&r.data); data != nil {
		return objectOf(s.kind, data)
	}
	return absence{}
}

// object returns the object that snapshot seq sees, an absence if it sees none.
//
//go:noinline
func (r *record) object(seq uint64, s *shown) any {
	for n := r.newest.Load(); n != nil; n = n.past() {
		if n.seq <= seq {
			return n.obj
		}
	}
	return r.settled(s)
}

// seen reports whether snapshot seq sees an object of r, which may be nil.
func (r *record) seen(seq uint64, s *shown) bool { return r != nil && !isAbsent(r.object(seq, s)) }

// current returns the newest object, an absence if there is none. Writer only.
func (r *record) current(s *shown) any {
	if n := r.newest.Load(); n != nil {
		return n.obj
	}
	if r.data == nil {
		return absence{}
	}
	return objectOf(s.kind, r.data)
}

// since returns the number of the oldest version, or 0 if data was there before it or r is a
// stand-in. Writer only.
func (r *record) since() (seq uint64) {
	if r.data != nil {
		return 0
	}
	for n := r.newest.Load(); n != nil; n = n.past() {
		seq = n.seq
	}
	return seq
}

// hasPast reports whether a snapshot may see another object than newest, the newest version,
// which is not nil. Writer only.
func (r *record) hasPast(newest *version) bool { return newest.past() != nil || r.data != nil }

// waits reports whether r is to be on the retire list: a snapshot may see another object than the
// newest, or the newest can be settled. Writer only.
func (r *record) waits(s *shown) bool {
	n := r.newest.Load()
	return n != nil && (r.hasPast(n) || s.fits(n.obj))
}

// isNew reports whether no snapshot sees an object before the newest version. Writer only.
func (r *record) isNew() bool {
	n := r.newest.Load()
	return n != nil && !r.hasPast(n)
}

// update makes a version of obj, of write w, the newest one of r, and reports whether the
// former object was an absence.
func (r *record) update(w *write, s *shown, obj any) (revived bool) {
	former := r.newest.Load()
	switch {
	case former == nil:
		w.updated = append(w.updated, r)
	case former.seq == w.seq:
		// A reader may have found this version already and see it committed later. It
		// must then hold the object that the whole write leaves.
		revived = former.absent()
		former.obj = obj
		return revived
	default:
		revived = former.absent()
		if !r.waits(s) {
			w.updated = append(w.updated, r)
			if revived {
				former = nil
			}
		}
	}
	n := w.version(obj, former)
	r.newest.Store(n)
	return revived
}

// settle makes the newest object the only one; all open snapshots must see it. It returns the
// object's version if the record does not need it any more, though readers may still hold it.
//
// No reader looks at data while settle changes it: a reader that would, through the record or
// through the stamp of a write in place, has a snapshot from before the version.
func (r *record) settle(s *shown) *version {
	n := r.newest.Load()
	if n.past() != nil {
		n.setPast(nil)
	}
	if !s.fits(n.obj) {
		r.data = nil
		return nil
	}
	r.data = wordsOf(n.obj).data
	r.newest.Store(nil)
	return n
}

// prune drops what lies before the newest version and none of the open snapshots sees. It
// settles r if nothing is left, and reports whether r still waits. Cost: O(versions of r).
func (r *record) prune(open []uint64, s *shown) (waits bool) {
	// A version is seen by the snapshots from its own number up to that of the next version.
	// If the next one was dropped, no snapshot was open between its number and that of the
	// version after it, and none will be.
	newest := r.newest.Load()
	n := newest
	for v := n.past(); v != nil; v = v.past() {
		if anyWithin(open, v.seq, n.seq) {
			n.setPast(v)
			n = v
		}
	}
	switch {
	case anyWithin(open, 0, n.seq): // also if no object was there
	case n == newest:
		r.settle(s)
		return false
	default:
		r.data = nil
	}
	if n.past() != nil {
		n.setPast(nil)
	}
	return r.waits(s)
}
