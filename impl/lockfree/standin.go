package lockfree

// What stands in cells that another object lies in than before: how long, and what
// becomes of it.

// standIn returns what stands for n in a cell that held before so far: a copy of n, or
// for no n a tombstone, that leads older snapshots to what they see there.
func (w *write) standIn(n, before *node) *node {
	w.made++
	s := w.spares.take()
	s.seq = w.seq
	if n != nil {
		s.key, s.obj, s.rec = n.key, n.obj, n.rec
	}
	// No past leads over a node of the same write, whose own may be cut off when it is
	// committed.
	for before != nil && before.seq == w.seq {
		before = before.prev.Load()
	}
	s.prev.Store(before)
	return s
}

// note remembers that a cell, in which n lay so far, is given a stand-in, unless it
// had one: then it waits already.
func (w *write) note(a *array, pos uint32, n *node) {
	if n.rec != nil && n.rec.newest == n {
		w.changed = append(w.changed, place{a, pos})
	}
}

// place is one cell of an array.
type place struct {
	array *array
	pos   uint32
}

// settle ends the time of a stand-in: when no open snapshot is older than it, the
// cell gets the object's newest node, or nothing. It reports false if it must wait,
// and drops then what the snapshots do not see.
func (p place) settle(w *write, open []uint64) bool {
	a := p.array
	if p.pos >= a.used.Load() {
		return true
	}
	c := a.cell(p.pos)
	n := c.Load()
	switch {
	case n == nil:
		return true
	case len(open) > 0 && open[0] < n.seq:
		n.prune(open)
		return false
	case n.rec != nil:
		c.Store(n.rec.newest)
	default:
		c.Store(nil)
		a.trim()
	}
	if len(open) == 0 && (n.rec == nil || n.rec.newest != n) {
		w.spares.retire(n)
	}
	return true
}

// prune drops the versions before n that none of the open snapshots sees, and
// reports whether one is left. Cost: the versions there were.
func (n *node) prune(open []uint64) (left bool) {
	// A version was what there is from its own number to that of the one after it. If
	// that one is gone, no snapshot was open between the two, and none will be.
	for v := n.prev.Load(); v != nil; v = v.prev.Load() {
		if anyWithin(open, v.seq, n.seq) {
			n.prev.Store(v)
			n, left = v, true
		}
	}
	n.prev.Store(nil)
	return left
}

// spares are stand-ins to be used again, so that a write that moves an object makes
// nothing but the object's node where no reader is about. Only cells lead to
// stand-ins, and readers go through cells only while they are in a slot. So a
// stand-in that was taken from its cell is out of reach when all slots have been
// seen free once more: who comes after that finds the cell without it.
type spares struct {
	free    []*node
	retired []*node // taken from their cells after the slots were last seen free
}

// mostSpares is more than a write of one object needs, but for one of dozens of values.
// What a larger write leaves over goes to the garbage collector.
const mostSpares = 64

func (s *spares) take() *node {
	last := len(s.free) - 1
	if last < 0 {
		return &node{}
	}
	n := s.free[last]
	s.free = s.free[:last]
	return n
}

// retire gives n, which was taken from its cell, up for use. Its past is cut: no open
// snapshot is older than it.
func (s *spares) retire(n *node) {
	if len(s.retired) < mostSpares {
		n.prev.Store(nil)
		s.retired = append(s.retired, n)
	}
}

// recycle is called when all slots were seen free, before anything more is retired.
func (s *spares) recycle() {
	for _, n := range s.retired {
		n.key, n.obj, n.rec = "", nil, nil
		if len(s.free) < mostSpares {
			s.free = append(s.free, n)
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
