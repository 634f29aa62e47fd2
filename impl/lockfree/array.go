package lockfree

import "sync/atomic"

const (
	chunkSize = 1 << chunkShift
	chunkMask = chunkSize - 1
)

// chunk is one version of up to chunkSize neighbours in an array. Its items and
// records never change once the write with its number is committed; before that,
// readers look at no more than seq and prev.
type chunk struct {
	seq   uint64
	prev  atomic.Pointer[chunk] // the version before, while a reader may need it
	items []any
	recs  []*record // the same length and capacity as items
}

// fullChunk is a chunk and the room for its items in one allocation.
type fullChunk struct {
	chunk
	room [chunkSize]any
}

func newChunk(seq uint64, capacity int) *chunk {
	if capacity == chunkSize {
		f := &fullChunk{}
		f.seq, f.items = seq, f.room[:0]
		return &f.chunk
	}
	return &chunk{seq: seq, items: make([]any, 0, capacity)}
}

// cell holds the newest version of one chunk.
type cell = atomic.Pointer[chunk]

// at returns the version of a chunk that snapshot seq sees; nil stands for no items.
func at(c *cell, seq uint64) *chunk {
	v := c.Load()
	for v != nil && v.seq > seq {
		v = v.prev.Load()
	}
	return v
}

// array is a dense sequence of objects and their records, in chunks. At every
// instant all chunks but the last non-empty one are full. Readers call view,
// objects, keys; everything else is the writer's.
type array struct {
	// cells points to the cells in use. Its length changes by a new slice header;
	// a reader that holds an old one finds there what it needs: cells that came
	// later are later than its snapshot, and cells are cut off only when no open
	// snapshot sees anything in them.
	cells atomic.Pointer[[]cell]
	n     int // how many objects, for the writer
}

// view returns the cells that snapshot seq sees and the number of objects in them.
func (a *array) view(seq uint64) (cells []cell, n int) {
	if p := a.cells.Load(); p != nil {
		cells = *p
	}
	for last := len(cells) - 1; last >= 0; last-- {
		if v := at(&cells[last], seq); v != nil && len(v.items) > 0 {
			return cells[:last+1], last<<chunkShift + len(v.items)
		}
	}
	return nil, 0
}

// objects returns the objects of snapshot seq in a new slice.
func (a *array) objects(seq uint64) []any {
	cells, n := a.view(seq)
	list := make([]any, n)
	for i := range cells {
		copy(list[i<<chunkShift:], at(&cells[i], seq).items)
	}
	return list
}

// records appends the records of snapshot seq to dst.
func (a *array) records(dst []*record, seq uint64) []*record {
	cells, _ := a.view(seq)
	for i := range cells {
		dst = append(dst, at(&cells[i], seq).recs...)
	}
	return dst
}

// keys returns the keys of snapshot seq in a new slice.
func (a *array) keys(seq uint64) []string {
	cells, n := a.view(seq)
	keys := make([]string, 0, n)
	for i := range cells {
		for _, rec := range at(&cells[i], seq).recs {
			keys = append(keys, rec.key)
		}
	}
	return keys
}

// set stores obj at pos.
func (a *array) set(w *write, pos uint32, obj any) {
	a.edit(w, int(pos>>chunkShift), false).items[pos&chunkMask] = obj
}

// push appends an object and returns its position. Where the last chunk has room,
// the new version takes the next place of the room that the version before has, too:
// no version reads beyond its own length, and nothing else ever leads two versions to
// the same place, because whatever shortens a chunk gives it new room.
func (a *array) push(w *write, obj any, rec *record) uint32 {
	i := a.n >> chunkShift
	var cells []cell
	if p := a.cells.Load(); p != nil {
		cells = *p
	}
	if i == len(cells) {
		cells = a.extend(cells)
	}
	v := cells[i].Load()
	switch {
	case v == nil:
		v = newChunk(w.seq, firstCapacity(i))
		v.recs = make([]*record, 0, cap(v.items))
		cells[i].Store(v)
	case len(v.items) == cap(v.items):
		wider := newChunk(v.seq, nextCapacity(i, cap(v.items)))
		wider.items = append(wider.items, v.items...)
		wider.recs = append(make([]*record, 0, cap(wider.items)), v.recs...)
		v = a.succeed(w, &cells[i], i, v, wider)
	case v.seq != w.seq:
		v = a.succeed(w, &cells[i], i, v, &chunk{items: v.items, recs: v.recs})
	}
	v.items, v.recs = append(v.items, obj), append(v.recs, rec)
	a.n++
	return uint32(a.n - 1)
}

// remove takes out the object at pos and puts the last one in its place. It returns
// the record that moved, nil if none did. Both ends are of one write, so no snapshot
// sees an object twice or not at all.
func (a *array) remove(w *write, pos uint32) (moved *record) {
	a.n--
	last := uint32(a.n)
	tail := a.edit(w, int(last>>chunkShift), true)
	off := last & chunkMask
	obj, rec := tail.items[off], tail.recs[off]
	if off == 0 {
		tail.items, tail.recs = nil, nil
	} else {
		tail.items[off], tail.recs[off] = nil, nil // spare room keeps nothing alive
		tail.items, tail.recs = tail.items[:off], tail.recs[:off]
	}
	if pos == last {
		return nil
	}
	hole := a.edit(w, int(pos>>chunkShift), true)
	hole.items[pos&chunkMask], hole.recs[pos&chunkMask] = obj, rec
	return rec
}

// edit returns the version of chunk i that w may change: its items and, for a change
// of membership, its records are in room that no other version shares.
func (a *array) edit(w *write, i int, membership bool) *chunk {
	c := &(*a.cells.Load())[i]
	v := c.Load()
	if v.seq != w.seq {
		next := newChunk(w.seq, cap(v.items))
		next.items, next.recs = append(next.items, v.items...), v.recs
		if membership {
			next.recs = clone(v.recs)
		}
		return a.succeed(w, c, i, v, next)
	}
	// What w has made already shares room with the version before at most.
	if before := v.prev.Load(); before != nil {
		if sameRoom(before.items, v.items) {
			v.items = clone(v.items)
		}
		if membership && sameRoom(before.recs, v.recs) {
			v.recs = clone(v.recs)
		}
	}
	return v
}

// succeed makes next the newest version in c, whose newest is v. Where w made v
// itself, v takes over what next holds: one write leaves one version.
func (a *array) succeed(w *write, c *cell, i int, v, next *chunk) *chunk {
	if v.seq == w.seq {
		v.items, v.recs = next.items, next.recs
		return v
	}
	next.seq = w.seq
	next.prev.Store(v)
	c.Store(next)
	w.versions++
	if v.prev.Load() == nil { // else the chunk waits already
		w.changed = append(w.changed, place{a, i})
	}
	return next
}

// extend adds a cell and returns the cells.
func (a *array) extend(cells []cell) []cell {
	n := len(cells)
	if n == cap(cells) {
		cells = moveCells(cells, 2*n)
	}
	cells = cells[:n+1]
	a.cells.Store(&cells)
	return cells
}

// moveCells copies cells to room for more. Readers go on with the old ones, which
// change no more.
func moveCells(cells []cell, room int) []cell {
	moved := make([]cell, len(cells), max(room, 1))
	for i := range cells {
		moved[i].Store(cells[i].Load())
	}
	return moved
}

// prune drops the versions of chunk i that none of the open snapshots sees, and
// reports whether an old version is left. Cost: the versions there were.
func (a *array) prune(i int, open []uint64) (left bool) {
	cells := *a.cells.Load()
	if i >= len(cells) {
		return false // cut off since
	}
	newer := cells[i].Load()
	// v was the newest from its own number to that of the version after it. If that
	// one is gone, no snapshot was open between the two, and none will be.
	for v := newer.prev.Load(); v != nil; v = v.prev.Load() {
		if anyWithin(open, v.seq, newer.seq) {
			newer.prev.Store(v)
			newer, left = v, true
		}
	}
	newer.prev.Store(nil)
	if !left {
		a.trim(cells)
	}
	return left
}

// trim cuts off the cells at the end in which no snapshot sees anything.
func (a *array) trim(cells []cell) {
	n := len(cells)
	for n > 0 {
		v := cells[n-1].Load()
		if v == nil || len(v.items) > 0 || v.prev.Load() != nil {
			break
		}
		n--
		cells[n].Store(nil)
	}
	if n == len(cells) {
		return
	}
	rest := cells[:n]
	if cap(rest) > 8 && n < cap(rest)/4 {
		rest = moveCells(rest, 2*n)
	}
	a.cells.Store(&rest)
}

// firstCapacity and nextCapacity are the room of chunk i: little at the start of an
// array, since most values of some indexes have one object.
func firstCapacity(i int) int {
	switch {
	case i == 0:
		return 1
	case i < 4:
		return min(4, chunkSize)
	}
	return chunkSize
}

func nextCapacity(i, capacity int) int {
	if capacity == 0 {
		return firstCapacity(i)
	}
	return min(2*capacity, chunkSize)
}

func sameRoom[T any](a, b []T) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

// clone copies s to room of its own, of the same capacity.
func clone[T any](s []T) []T { return append(make([]T, 0, cap(s)), s...) }
