package lockfree

import (
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

// objects returns the objects of snapshot seq in a new slice.
func (a *array) objects(seq uint64) []any {
	blocks, n := a.length(seq)
	list := make([]any, n)
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

// keys returns the keys of snapshot seq in a new slice.
func (a *array) keys(seq uint64) []string {
	blocks, n := a.length(seq)
	keys := make([]string, n)
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
		c.Store(n.standIn(w, standIn))
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
	c.Store(n.standIn(w, before))
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
	w.made++
	dead := &node{seq: w.seq}
	dead.prev.Store(w.before(last))
	tail.Store(dead)
	if pos == a.n {
		return nil
	}
	a.copies.touch(w, pos)
	hole := a.cell(pos)
	w.note(a, pos, hole.Load())
	hole.Store(last.standIn(w, hole.Load()))
	return last.rec
}

// standIn returns a copy of n of this write, for a cell with another past than n's.
func (n *node) standIn(w *write, before *node) *node {
	w.made++
	s := &node{key: n.key, obj: n.obj, rec: n.rec, seq: w.seq}
	s.prev.Store(w.before(before))
	return s
}

// before returns the newest from n back that w did not make: no past leads over a
// node of the same write, whose own may be cut off when it is committed.
func (w *write) before(n *node) *node {
	for n != nil && n.seq == w.seq {
		n = n.prev.Load()
	}
	return n
}

// note remembers that a cell, in which n lay so far, is given a stand-in, unless it
// had one: then it waits already.
func (w *write) note(a *array, pos uint32, n *node) {
	if n.rec != nil && n.rec.newest == n {
		w.changed = append(w.changed, place{a, pos})
	}
}

// settle ends the time of a stand-in: when no open snapshot is older than it, the
// cell gets the object's newest node, or nothing. It reports false if it must wait,
// and drops then what the snapshots do not see.
func (p place) settle(open []uint64) bool {
	a := p.array
	if p.pos >= a.used.Load() {
		return true
	}
	c := a.cell(p.pos)
	n := c.Load()
	switch {
	case n == nil:
	case len(open) > 0 && open[0] < n.seq:
		n.prune(open)
		return false
	case n.rec != nil:
		c.Store(n.rec.newest)
	default:
		c.Store(nil)
		a.trim()
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
	a.blocks.Store(&blocks)
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
