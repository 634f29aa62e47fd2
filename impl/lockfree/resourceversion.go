package lockfree

import (
	"sync/atomic"
)

// resourceVersion is the store's: that of the newest write that had one.
type resourceVersion struct {
	newest atomic.Pointer[stamp]
	// former was newest before the last set. When all slots are seen free after that, it is free
	// for the next set: the newest stamp, which may still lead to it, is over by then, so last does
	// not need the one before. Writer only.
	former, free *stamp
}

// stamp is the resource version of one write. Its fields but before are set while no reader
// can reach it. A reader has a slot while it looks at stamps, so that none is used again meanwhile.
type stamp struct {
	rv  string
	seq uint64 // the number of the write, noWrite if it is in place (inplace.go)

	in   *record // where a write in place puts its object
	data uintptr // and the address of that object's data, which it does not keep alive

	before atomic.Pointer[stamp] // the one that was newest before; nil if it is of no use any more
}

// over reports whether the write is visible. It also reports false if a later write in place
// changed the same record; newest is another stamp then. A write in place of the data that are
// there already is visible as soon as its stamp is the newest.
func (s *stamp) over(committed *atomic.Uint64) bool {
	if s.seq == noWrite {
		return s.in.address() == s.data
	}
	return s.seq <= committed.Load()
}

// last returns the resource version. The caller has a slot.
//
// It is linearized at the load of newest, or where the write of that stamp becomes visible if
// that is later; and if that write was still under way when last looked, at that look. A
// stamp that is not newest any more when last loads newest again is of a write that is
// over. Until the next write it was the newest, and that began after the first load.
//
//go:noinline
func (r *resourceVersion) last(committed *atomic.Uint64) string {
	s := r.newest.Load()
	if s.over(committed) {
		return s.rv
	}
	before := s.before.Load()
	if r.newest.Load() != s {
		return s.rv
	}
	return before.rv
}

// set makes rv, of the write under way, the resource version. A write in place gives the record
// in which it will put its object, and the object's data.
func (r *resourceVersion) set(rv string, seq uint64, in *record, data uintptr) {
	s, newest := r.free, r.newest.Load()
	if s == nil {
		s = &stamp{}
	}
	s.rv, s.seq, s.in, s.data = rv, seq, in, data
	s.before.Store(newest)
	r.newest.Store(s)
	if r.former != nil { // else newest leads to s, which was free, or is the first
		// or readers that go on for long would find ever more stamps
		newest.before.Store(nil)
	}
	r.former, r.free = newest, nil
}

// note takes the resource version of a write with a number, before its commit. If the write has
// none, the former one stays. If that is of a write in place, it gets another stamp: the stamp of
// that write is over as long as a record has its data, and this write may change the record.
func (r *resourceVersion) note(w *write) {
	rv := w.rv
	if !w.known {
		newest := r.newest.Load()
		if newest.seq != noWrite {
			return
		}
		rv = newest.rv
	}
	r.set(rv, w.seq, nil, 0)
}

// settle is called when all slots were seen free after the last set.
func (r *resourceVersion) settle() {
	if s := r.former; s != nil {
		*s = stamp{}
		r.former, r.free = nil, s
	}
}
