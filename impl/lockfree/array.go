package lockfree

import (
	"runtime"
	"slices"
	"sync/atomic"
)

const (
	blockSize = 1 << blockShift
	blockMask = blockSize - 1
)

// cell is one place of an array. It points to
//
//   - the newest node of the object that lies there (Store's table has the same one),
//     if the object has lain there as far back as any open snapshot goes;
//   - otherwise a stand-in: a copy of that node, stamped with the write that put the
//     object there, or a tombstone stamped with the write that took it away. Its prev
//     is what the cell pointed to before.
//
// Either way a snapshot finds what it sees by going back to the first node that is
// not newer than it.
type cell = atomic.Pointer[node]

// at returns the node that snapshot seq sees in a cell, nil if it sees none.
func at(c *cell, seq uint64) *node {
	n := c.Load()
	for n != nil && n.seq > seq {
		n = n.prev.Load()
	}
	if n == nil || n.rec == nil {
		return nil
	}
	return n
}

// array is a dense sequence of objects: for every snapshot there is a length below
// which it sees an object in each cell, and none from there on. Readers call length,
// objects, keys, nodes; everything else is the writer's.
//
// The cells lie in blocks of blockSize; a lone first block is smaller, and doubles. A
// block or a row of blocks that was replaced does not change any more, and whoever
// reads it has a snapshot from before.
type array struct {
	blocks atomic.Pointer[[][]cell]
	copies *copies       // of the objects, block by block; nil where none are kept
	used   atomic.Uint32 // no open snapshot sees anything from here on
	n      uint32        // the length, for the writer
}

// length returns the blocks and how many objects snapshot seq sees in them.
func (a *array) length(seq uint64) (blocks [][]cell, n int) {
	p := a.blocks.Load()
	if p == nil {
		return nil, 0
	}
	blocks = *p
	// After the blocks were loaded there may have come more cells, of later writes.
	n = min(int(a.used.Load()), capacity(blocks))
	for n > 0 && at(&blocks[(n-1)>>blockShift][(n-1)&blockMask], seq) == nil {
		n--
	}
	return blocks, n
}

func capacity(blocks [][]cell) int {
	if len(blocks) == 1 {
		return len(blocks[0])
	}
	return len(blocks) << blockShift
}

// roomFor makes room for all that lies in a, and some that come meanwhile. A reader
// calls it before it opens its snapshot: the garbage collection that making room brings
// takes most of a list's time (docs/stores.md), for which no version should be kept.
func roomFor[E any](a *array) []E {
	n := int(a.used.Load())
	room := make([]E, 0, n+n/64)
	if n >= turn {
		runtime.Gosched() // see slot.leave
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

// objects returns the objects of snapshot seq, in room if they fit there.
func (a *array) objects(room []any, seq uint64) []any {
	blocks, n := a.length(seq)
	list := fit(room, n)
	for i := 0; i<<blockShift < n; i++ {
		part := list[i<<blockShift : min((i+1)<<blockShift, n)]
		if a.copies == nil {
			readBlock(part, blocks[i], seq)
		} else {
			a.copies.read(part, i, blocks[i], seq)
		}
	}
	return list
}

// readBlock sets part to the objects that snapshot seq sees at the start of a block.
func readBlock(part []any, block []cell, seq uint64) {
	for i := range part {
		// As at, but for the tombstone: no cell below the length has one.
		n := block[i].Load()
		for n.seq > seq {
			n = n.prev.Load()
		}
		part[i] = n.obj
	}
}

// keys returns the keys of snapshot seq, in room if they fit there.
func (a *array) keys(room []string, seq uint64) []string {
	blocks, n := a.length(seq)
	keys := fit(room, n)
	for i := range keys {
		keys[i] = at(&blocks[i>>blockShift][i&blockMask], seq).key
	}
	return keys
}

// nodes appends the nodes of snapshot seq to dst.
func (a *array) nodes(dst []*node, seq uint64) []*node {
	blocks, n := a.length(seq)
	for i := range n {
		dst = append(dst, at(&blocks[i>>blockShift][i&blockMask], seq))
	}
	return dst
}

func (a *array) cell(pos uint32) *cell {
	return &(*a.blocks.Load())[pos>>blockShift][pos&blockMask]
}

// set makes n, the successor of former, what lies at pos.
func (a *array) set(w *write, pos uint32, former, n *node) {
	a.copies.touch(w, pos)
	c := a.cell(pos)
	switch standIn := c.Load(); {
	case standIn == former:
		c.Store(n)
	case standIn.seq == w.seq:
		standIn.obj = n.obj // nobody reads it before w is committed
	default:
		c.Store(w.standIn(n, standIn))
	}
}

// push puts the object of n behind the last one and returns its position. asIs says
// that n itself may lie there: every snapshot that will read the cell, and is not
// older than n, sees the object in this array.
func (a *array) push(w *write, n *node, asIs bool) uint32 {
	pos := a.n
	a.n++
	if a.n > a.used.Load() {
		a.reserve(int(a.n))
		a.used.Store(a.n)
	}
	a.copies.touch(w, pos)
	c := a.cell(pos)
	before := c.Load()
	if before == nil && asIs {
		c.Store(n)
		return pos
	}
	c.Store(w.standIn(n, before))
	if before == nil {
		w.changed = append(w.changed, place{a, pos})
	}
	return pos
}

// remove takes out the object at pos and puts the last one in its place. It returns
// the record that moved, nil if none did. Both ends are of one write, so no snapshot
// sees an object twice or not at all.
func (a *array) remove(w *write, pos uint32) (moved *record) {
	a.n--
	a.copies.touch(w, a.n)
	tail := a.cell(a.n)
	last := tail.Load()
	w.note(a, a.n, last)
	tail.Store(w.standIn(nil, last))
	if pos == a.n {
		return nil
	}
	a.copies.touch(w, pos)
	hole := a.cell(pos)
	w.note(a, pos, hole.Load())
	hole.Store(w.standIn(last, hole.Load()))
	return last.rec
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
	if a.copies != nil {
		a.copies.reserve((n + blockMask) >> blockShift)
	}
	if len(blocks) <= 1 && n <= blockSize {
		first := make([]cell, max(n, min(2*capacity(blocks), blockSize)))
		for _, block := range blocks {
			moveCells(first, block)
		}
		a.blocks.Store(&[][]cell{first})
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
	more := blocks // so that blocks need not be on the heap when there is room
	a.blocks.Store(&more)
}

func moveCells(to, from []cell) {
	for i := range from {
		to[i].Store(from[i].Load())
	}
}

// trim gives up the cells at the end in which no snapshot sees anything.
func (a *array) trim() {
	used := a.used.Load()
	for used > 0 && a.cell(used-1).Load() == nil {
		used--
	}
	a.used.Store(used)
	blocks := *a.blocks.Load()
	if whole := int(used)>>blockShift + 2; len(blocks) >= 2*whole {
		rest := slices.Clone(blocks[:whole])
		a.blocks.Store(&rest)
	}
}
