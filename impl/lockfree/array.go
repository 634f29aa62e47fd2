package lockfree

import (
	"slices"
	"sync/atomic"
)

const (
	blockSize = 1 << blockShift
	blockMask = blockSize - 1
)

// cell is one place of an array. It points to the record of the object that lies there. While an
// open snapshot may need what lay there before, it points to a stand-in, which leads to both.
//
// A reader goes back to the record that lay in the cell at its snapshot, and from the
// record's newest version to the first that is not newer than the snapshot. So a write
// that leaves an object where it is changes no cell.
type cell = atomic.Pointer[record]

// array is a dense sequence of objects: every snapshot has a length, below which it sees
// an object in each cell, and none from there on. Readers call length, objects, keys and
// records; everything else is the writer's, but used, which they load.
//
// The cells lie in blocks of blockSize. An array of one block starts smaller, and doubles.
// A block or a list of blocks that was replaced does not change any more. A reader that
// still reads it has a snapshot from before.
type array struct {
	blocks atomic.Pointer[[][]cell]
	since  uint64        // no snapshot before this write reads the array
	used   atomic.Uint32 // no open snapshot sees an object in this cell or a later one
	n      uint32        // the length, for the writer
}

// length returns the blocks and how many objects snapshot seq sees in them.
func (a *array) length(seq uint64, s *shown) (blocks [][]cell, n int) {
	p := a.blocks.Load()
	if p == nil {
		return nil, 0
	}
	blocks = *p
	// Later writes may have added cells since the blocks were loaded.
	n = min(int(a.used.Load()), capacity(blocks))
	for n > 0 && !recordAt(blocks, n-1, seq).seen(seq, s) {
		n--
	}
	return blocks, n
}

// recordAt returns the record in the i-th cell for snapshot seq, nil if there is none.
func recordAt(blocks [][]cell, i int, seq uint64) *record {
	return blocks[i>>blockShift][i&blockMask].Load().at(seq)
}

func capacity(blocks [][]cell) int {
	if len(blocks) == 1 {
		return len(blocks[0])
	}
	return len(blocks) << blockShift
}

// roomFor allocates room for n objects, and for some that are added meanwhile. A
// reader calls it before it opens its snapshot. The garbage collection that the allocation
// brings takes most of a list's time, and no version should be kept for it.
func roomFor[E any](n int) []E {
	room := make([]E, 0, n+n/64)
	if n >= yieldEvery {
		giveWay()
	}
	return room
}

// fit returns a slice of n elements, in room if they fit there.
func fit[E any](room []E, n int) []E {
	if room == nil || n > cap(room) {
		return make([]E, n)
	}
	return room[:n]
}

// objects returns the objects of snapshot seq, in room if they fit there. c has the copies of
// the blocks; nil where none are kept.
func (a *array) objects(room []any, seq uint64, s *shown, c *copies) []any {
	blocks, n := a.length(seq, s)
	list := fit(room, n)
	for i := 0; i<<blockShift < n; i++ {
		part := list[i<<blockShift : min((i+1)<<blockShift, n)]
		if c == nil {
			readBlock(part, blocks[i], seq, s)
		} else {
			c.read(part, i, blocks[i], seq, s)
		}
		yield((i+1)<<blockShift - 1)
	}
	return list
}

// readBlock sets part to the objects that snapshot seq sees at the start of a block.
func readBlock(part []any, block []cell, seq uint64, s *shown) {
	kind := atomic.LoadPointer(&s.kind) // nil while no record was settled
	for i := range part {
		r := block[i].Load()
		if r.newest.Load() == nil && kind != nil {
			part[i] = objectOf(kind, atomic.LoadPointer(&r.data))
		} else {
			part[i] = r.at(seq).object(seq, s) // there is one in each cell below the length
		}
	}
}

// keys returns the keys of snapshot seq, in room if they fit there.
func (a *array) keys(room []string, seq uint64, s *shown) []string {
	blocks, n := a.length(seq, s)
	keys := fit(room, n)
	for i := range keys {
		keys[i] = recordAt(blocks, i, seq).key()
		yield(i)
	}
	return keys
}

// records returns the records of the objects that snapshot seq sees.
func (a *array) records(seq uint64, s *shown) []*record {
	blocks, n := a.length(seq, s)
	records := make([]*record, n)
	for i := range records {
		records[i] = recordAt(blocks, i, seq)
	}
	return records
}

func (a *array) cell(pos uint32) *cell {
	return &(*a.blocks.Load())[pos>>blockShift][pos&blockMask]
}

// push puts rec behind the last record and returns its position. asIs says that rec needs
// no stand-in: every snapshot that will read the cell, and sees the object, sees it in
// this array.
func (a *array) push(w *write, rec *record, asIs bool) uint32 {
	pos := a.n
	a.n++
	if a.n > a.used.Load() {
		a.reserve(int(a.n))
		a.used.Store(a.n)
	}
	if c := a.cell(pos); asIs && c.Load() == nil {
		c.Store(rec)
	} else {
		a.standIn(w, pos, rec)
	}
	return pos
}

// remove takes out the object at pos and puts the last one in its place. It returns
// the record that moved, nil if none did. One write changes both cells, so no snapshot
// sees an object twice or not at all.
func (a *array) remove(w *write, pos uint32) (moved *record) {
	a.n--
	last := a.cell(a.n).Load()
	if s := last.standIn(); s != nil {
		last = s.of
	}
	a.standIn(w, a.n, nil)
	if pos == a.n {
		return nil
	}
	a.standIn(w, pos, last)
	return last
}

// standIn puts a stand-in for rec, nil for nothing, in a cell that held something else
// so far, and notes the cell for the retire list.
func (a *array) standIn(w *write, pos uint32, rec *record) {
	c := a.cell(pos)
	before := c.Load()
	if before == nil || before.standIn() == nil { // else the cell is noted already
		w.changed = append(w.changed, place{a, pos})
	} else if s := before.standIn(); s.seq == w.seq {
		s.of = rec // no reader looks at it yet
		return
	}
	c.Store(w.standIn(rec, before))
}

// reserve makes room for n cells.
func (a *array) reserve(n int) {
	var blocks [][]cell
	if p := a.blocks.Load(); p != nil {
		blocks = *p
	}
	if n <= capacity(blocks) {
		return
	}
	if len(blocks) <= 1 && n <= blockSize {
		more := [][]cell{make([]cell, max(n, min(2*capacity(blocks), blockSize)))}
		for _, block := range blocks {
			moveCells(more[0], block)
		}
		a.blocks.Store(&more)
		return
	}
	if len(blocks) == 1 && len(blocks[0]) < blockSize {
		first := make([]cell, blockSize)
		moveCells(first, blocks[0])
		blocks = [][]cell{first}
	}
	for capacity(blocks) < n {
		blocks = append(blocks, make([]cell, blockSize))
	}
	more := blocks // a copy, so that blocks itself need not escape to the heap when there is room
	a.blocks.Store(&more)
}

func moveCells(to, from []cell) {
	for i := range from {
		to[i].Store(from[i].Load())
	}
}

// mostFree is how many cells below used may be free: an array that shrinks and grows again by
// one object need not change used.
const mostFree = 2

// trim gives up the cells at the end in which no snapshot sees an object.
func (a *array) trim() {
	used := a.used.Load()
	for used > 0 && a.cell(used-1).Load() == nil {
		used--
	}
	if used+mostFree >= a.used.Load() {
		return
	}
	a.used.Store(used)
	blocks := *a.blocks.Load()
	if whole := int(used)>>blockShift + 2; len(blocks) >= 2*whole {
		rest := slices.Clone(blocks[:whole])
		a.blocks.Store(&rest)
	}
}
