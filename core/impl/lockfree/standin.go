package lockfree

import (
	"sync/atomic"
	"unsafe"

	"github.com/informerbench/informerbench/core/explore"
)

// Stand-ins: what a cell points to after its object has changed, how long, and how it is
// used again.

// standIn says that a record lies in a cell since write seq, and that another record, or
// none, lay there before. Cells point to its first field, the embedded record, which has no
// version: that tells a stand-in from a true record.
type standIn struct {
	record
	seq uint64
	of  *record // nil: nothing lies there
	// before is a *record. It is set plainly while no reader can reach the stand-in, and by
	// past and setPast otherwise.
	before unsafe.Pointer
}

func (s *standIn) past() *record        { return (*record)(atomic.LoadPointer(&s.before)) }
func (s *standIn) setPast(past *record) { atomic.StorePointer(&s.before, unsafe.Pointer(past)) }

// standIn returns the stand-in that r is the first field of, nil if r is a true record.
func (r *record) standIn() *standIn {
	if r.newest.Load() != nil {
		return nil
	}
	return (*standIn)(unsafe.Pointer(r))
}

// at returns the record that snapshot seq sees in a cell that points to r; nil if it sees
// none.
func (r *record) at(seq uint64) *record {
	for r != nil {
		s := r.standIn()
		if s == nil {
			return r
		}
		explore.Point("standIn.seq")
		if s.seq <= seq {
			return s.of
		}
		explore.Point("standIn.before")
		r = s.past()
	}
	return nil
}

// standIn makes a stand-in for a cell that pointed to before, and in which rec lies from
// this write on, nil for nothing. It returns the record that the cell must point to.
func (w *write) standIn(rec, before *record) *record {
	w.made++
	s := w.spares.take()
	s.seq, s.of = w.seq, rec
	// No snapshot sees a record that lay there only within this write.
	for before != nil {
		former := before.standIn()
		if former == nil || former.seq != w.seq {
			break
		}
		before = former.past()
	}
	s.before = unsafe.Pointer(before)
	return &s.record
}

// place is one cell of an array.
type place struct {
	array *array
	pos   uint32
}

// reclaim replaces a stand-in by the record that it stands for, or by nothing. That is
// possible when no open snapshot is older, or when none of them saw anything in the cell
// and the cell is empty now. Else reclaim drops what the snapshots do not see, and reports
// false: the place must stay on the retire list.
func (p place) reclaim(w *write, open []uint64) bool {
	a := p.array
	c := a.cell(p.pos)
	s := c.Load().standIn()
	if len(open) > 0 && open[0] < s.seq {
		s.prune(open)
		if s.of != nil || s.past() != nil {
			return false
		}
	}
	explore.Point("reclaim.cell")
	c.Store(s.of)
	if s.of == nil {
		a.trim()
	}
	if len(open) == 0 {
		w.spares.retire(s)
	}
	return true
}

// prune drops the records that lay in the cell at times that no open snapshot sees. Cost:
// O(stand-ins of the cell), and the versions of the record at their end.
func (s *standIn) prune(open []uint64) {
	for r := s.past(); r != nil; {
		since, before, older := r.oldest(), (*record)(nil), r.standIn()
		if older != nil {
			since, before = older.seq, older.past()
		}
		if anyWithin(open, since, s.seq) {
			explore.Point("prune.before")
			s.setPast(r)
			if s = older; s == nil {
				return
			}
		}
		r = before
	}
	explore.Point("prune.before")
	s.setPast(nil)
}

// spares are stand-ins to be used again. So where no reader is about, a write that moves an
// object allocates only the object's version. Only its cell leads to a stand-in that is
// retired, and readers go through cells only while they hold a slot. So a stand-in that was
// taken from its cell is out of reach once all slots have been seen free after that: later
// readers find the cell without it.
type spares struct {
	free    []*standIn
	retired []*standIn // taken from their cells after the slots were last seen free
}

// mostSpares is more than a write of one object needs, unless it has dozens of values. The
// garbage collector takes what a larger write leaves over.
const mostSpares = 64

func (s *spares) take() *standIn {
	last := len(s.free) - 1
	if last < 0 {
		return &standIn{}
	}
	taken := s.free[last]
	s.free = s.free[:last]
	return taken
}

// retire keeps a stand-in that was taken from its cell for later use. It cuts the
// stand-in's past: no open snapshot is older.
func (s *spares) retire(old *standIn) {
	if len(s.retired) < mostSpares {
		explore.Point("retire.before")
		old.setPast(nil)
		s.retired = append(s.retired, old)
	}
}

// recycle frees the retired stand-ins for use. Call it when all slots were seen free, before
// the next retire.
func (s *spares) recycle() {
	for _, old := range s.retired {
		explore.Point("recycle.of")
		old.of = nil
		if len(s.free) < mostSpares {
			s.free = append(s.free, old)
		}
	}
	s.forget()
}

// forget leaves the retired stand-ins to the garbage collector. With a slot taken, a reader
// may still hold them, and they must not keep objects alive until all slots are free.
func (s *spares) forget() {
	clear(s.retired)
	s.retired = s.retired[:0]
}
