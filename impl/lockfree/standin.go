package lockfree

import (
	"sync/atomic"
	"unsafe"
)

// Stand-ins: what a cell points to after its object has changed, how long, and how it is
// used again.

// standIn says that a record lies in a cell since write seq, and that another record, or
// none, lay there before. Cells point to its first field, the embedded record, whose newest
// is standsIn: that tells a stand-in from a true record.
type standIn struct {
	record
	seq uint64
	// of is nil if nothing lies there. Readers look at it only if their snapshot has write
	// seq. So that write may set it more than once.
	of *record
	// before is set plainly while no reader can reach the stand-in, and by past and setPast
	// otherwise. Safety: only a *record is stored, and it is loaded as one.
	before unsafe.Pointer
}

func (s *standIn) past() *record        { return (*record)(atomic.LoadPointer(&s.before)) }
func (s *standIn) setPast(past *record) { atomic.StorePointer(&s.before, unsafe.Pointer(past)) }

// standsIn is the newest of a stand-in.
var standsIn = &version{}

// standIn returns the stand-in that r is the first field of, nil if r is a true record.
func (r *record) standIn() *standIn {
	if r.newest.Load() != standsIn {
		return nil
	}
	return (*standIn)(unsafe.Pointer(r)) // Safety: only stand-ins have this newest
}

// at returns the record that snapshot seq sees in a cell that points to r; nil if it sees
// none.
func (r *record) at(seq uint64) *record {
	for r != nil && r.newest.Load() == standsIn {
		s := (*standIn)(unsafe.Pointer(r)) // Safety: only stand-ins have this newest
		if s.seq <= seq {
			return s.of
		}
		r = s.past()
	}
	return r
}

// standIn makes a stand-in for a cell that pointed to before, and in which rec lies from
// this write on, nil for nothing. It returns the record that the cell must point to.
func (w *write) standIn(rec, before *record) *record {
	w.made++
	s := w.spares.standIns.take()
	if s == nil {
		s = &standIn{}
		s.newest.Store(standsIn)
	}
	s.seq, s.of = w.seq, rec
	s.before = unsafe.Pointer(before) // Safety: see standIn.before
	return &s.record
}

// place is one cell of an array.
type place struct {
	array *array
	pos   uint32
}

// reclaim replaces a stand-in by the record that it stands for, or by nothing. That is
// possible when no open snapshot that reads the array is older, or when none of them saw
// anything in the cell and the cell is empty now. Else reclaim drops what the snapshots do not
// see, and reports false: the place must stay on the retire list.
func (p place) reclaim(w *write, open []uint64) bool {
	a := p.array
	c := a.cell(p.pos)
	s := c.Load().standIn()
	if anyWithin(open, a.since, s.seq) {
		s.prune(open, a.since)
		if s.of != nil || s.past() != nil {
			return false
		}
	}
	c.Store(s.of)
	if s.of == nil {
		a.trim()
	}
	if len(open) == 0 {
		w.spares.standIns.retire(s)
	}
	return true
}

// prune drops the records that lay in the cell at times that no open snapshot sees; the cell's
// array exists from write first on. Cost: O(stand-ins of the cell), and the versions of the
// record at their end.
func (s *standIn) prune(open []uint64, first uint64) {
	for r := s.past(); r != nil; {
		since, before, older := max(first, r.since()), (*record)(nil), r.standIn()
		if older != nil {
			since, before = older.seq, older.past()
		}
		if anyWithin(open, since, s.seq) {
			s.setPast(r)
			if s = older; s == nil {
				return
			}
		}
		r = before
	}
	s.setPast(nil)
}

// spares are stand-ins, versions and buckets to be used again. So while no snapshot is open, a
// write that moves an object allocates none of them. Readers find a stand-in through its cell,
// a version through its record, and a bucket through the table of its index or a later bucket,
// and go through these only while they hold a slot. So what was taken from there is out of reach
// once all slots have been seen free after that: later readers do not find it.
type spares struct {
	standIns pool[standIn]
	versions pool[version]
	buckets  pool[bucket]
}

// mostSpares is more than a write of one object needs, unless it has dozens of values. The
// garbage collector takes what a larger write leaves over.
const mostSpares = 64

// retireBucket keeps a bucket that was taken from its index's table for later use, if it has
// few cells.
func (s *spares) retireBucket(old *bucket) {
	if blocks := old.objects.blocks.Load(); blocks == nil || capacity(*blocks) <= mostSpareCells {
		s.buckets.retire(old)
	}
}

// reset makes b, which no reader can reach, as newBucket returns it, or with a few cells more.
func (b *bucket) reset() {
	b.setKey("")
	b.later = nil
	b.until.Store(0)
	b.prior.Store(nil)
	for i := range b.objects.used.Load() {
		b.objects.cell(i).Store(nil)
	}
	b.objects.used.Store(0)
	// Safety: newBucket makes every bucket as the first field of a bucketWithCell.
	(*bucketWithCell)(unsafe.Pointer(b)).cells = [1]cell{}
}

// mostSpareCells is the number of cells of a bucket that is kept for use. Buckets that come
// and go are those of values that one object has, or few.
const mostSpareCells = 4

// recycle frees what was retired for use, so that it keeps nothing alive. Call it when all
// slots were seen free, before the next retirement.
func (s *spares) recycle() {
	if len(s.standIns.retired)+len(s.versions.retired)+len(s.buckets.retired) == 0 {
		return
	}
	for _, old := range s.standIns.retired {
		old.of, old.before = nil, nil
	}
	for _, old := range s.versions.retired {
		*old = version{}
	}
	for _, old := range s.buckets.retired {
		old.reset()
	}
	s.standIns.recycle()
	s.versions.recycle()
	s.buckets.recycle()
}

// forget leaves what was retired to the garbage collector. With a slot taken, a reader may
// still hold it, and it must not keep objects alive until all slots are free.
func (s *spares) forget() {
	s.standIns.forget()
	s.versions.forget()
	s.buckets.forget()
}

// pool keeps what one kind of spares have: up to mostSpares that are free, and as many that
// were retired after the slots were last seen free.
type pool[T any] struct{ free, retired []*T }

// take returns a free one, nil if there is none.
func (p *pool[T]) take() (taken *T) {
	if last := len(p.free) - 1; last >= 0 {
		taken = p.free[last]
		p.free = p.free[:last]
	}
	return taken
}

// retire keeps old, if there is room for it.
func (p *pool[T]) retire(old *T) {
	if len(p.retired) < mostSpares {
		p.retired = append(p.retired, old)
	}
}

func (p *pool[T]) recycle() {
	p.free = append(p.free, p.retired[:min(len(p.retired), mostSpares-len(p.free))]...)
	p.forget()
}

func (p *pool[T]) forget() {
	clear(p.retired)
	p.retired = p.retired[:0]
}
