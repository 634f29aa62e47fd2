package lockfree

import (
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/explore"
)

// What stands in cells that another object lies in than before: how long, and what
// becomes of it.

// standIn says that a record lies in a cell since write seq, and that before, it was
// another, or none. What cells point to is its first part.
type standIn struct {
	record
	seq    uint64
	of     *record // nil: nothing lies there
	before atomic.Pointer[record]
}

// at returns the record that lies, for snapshot seq, in a cell that points to r; nil
// if it is none.
func (r *record) at(seq uint64) *record {
	for r != nil && r.standIn != nil {
		s := r.standIn
		explore.Point("standIn.seq")
		if s.seq <= seq {
			return s.of
		}
		explore.Point("standIn.before")
		r = s.before.Load()
	}
	return r
}

// standIn returns what a cell points to in which rec lies from this write on, nil for
// nothing, and that pointed to before so far.
func (w *write) standIn(rec, before *record) *record {
	w.made++
	s := w.spares.take()
	s.seq, s.of = w.seq, rec
	// No snapshot sees what lay there within this write only.
	for before != nil && before.standIn != nil && before.standIn.seq == w.seq {
		before = before.standIn.before.Load()
	}
	s.before.Store(before)
	return &s.record
}

// place is one cell of an array.
type place struct {
	array *array
	pos   uint32
}

// reclaim ends the time of a stand-in: when no open snapshot is older than it, or none saw
// anything there, the cell gets the record itself, or nothing. It reports false if it must wait,
// and drops then what the snapshots do not see.
func (p place) reclaim(w *write, open []uint64) bool {
	a := p.array
	c := a.cell(p.pos)
	s := c.Load().standIn
	if len(open) > 0 && open[0] < s.seq {
		s.prune(open)
		if s.of != nil || s.before.Load() != nil {
			return false
		}
	}
	explore.Point("settle.cell")
	c.Store(s.of)
	if s.of == nil {
		a.trim()
	}
	if len(open) == 0 {
		w.spares.retire(s)
	}
	return true
}

// prune drops what lay in the cell when none of the open snapshots looked. Cost: the
// stand-ins there were.
func (s *standIn) prune(open []uint64) {
	for r := s.before.Load(); r != nil; {
		since, before := r.oldest(), (*record)(nil)
		if r.standIn != nil {
			since, before = r.standIn.seq, r.standIn.before.Load()
		}
		if anyWithin(open, since, s.seq) {
			explore.Point("settle.before")
			s.before.Store(r)
			if s = r.standIn; s == nil {
				return
			}
		}
		r = before
	}
	explore.Point("settle.before")
	s.before.Store(nil)
}

// spares are stand-ins to be used again, so that a write that moves an object makes
// nothing but the object's node where no reader is about. Only its cell leads to a
// stand-in that is taken from it, and readers go through cells only while they are in a slot. So a
// stand-in that was taken from its cell is out of reach when all slots have been
// seen free once more: who comes after that finds the cell without it.
type spares struct {
	free    []*standIn
	retired []*standIn // taken from their cells after the slots were last seen free
}

// mostSpares is more than a write of one object needs, but for one of dozens of values.
// What a larger write leaves over goes to the garbage collector.
const mostSpares = 64

func (s *spares) take() *standIn {
	last := len(s.free) - 1
	if last < 0 {
		made := &standIn{}
		made.standIn = made
		return made
	}
	taken := s.free[last]
	s.free = s.free[:last]
	return taken
}

// retire gives a stand-in that was taken from its cell up for use. Its past is cut: no
// open snapshot is older than it.
func (s *spares) retire(old *standIn) {
	if len(s.retired) < mostSpares {
		explore.Point("retire.before")
		old.before.Store(nil)
		s.retired = append(s.retired, old)
	}
}

// recycle is called when all slots were seen free, before anything more is retired.
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

// forget leaves what was retired to the garbage collector: with a slot taken, nobody
// knows who reads it, and it must not keep objects alive until somebody does.
func (s *spares) forget() {
	clear(s.retired)
	s.retired = s.retired[:0]
}
