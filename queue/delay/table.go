package delay

// table finds the slot of an item by the item's hash. Its cells hold tags and slots, not
// items: the caller compares the items of the slots that the table returns.
//
// It is extendible hashing (Fagin, Nievergelt, Pippenger and Strong, "Extendible
// Hashing", ACM TODS 4(3), 1979): a directory of segments by the first bits of the
// tag, each a hash table of 1,024 cells with linear probing. A full segment is split,
// so an insert moves at most one segment's cells, however many items there are; only
// the directory, of a pointer for each segment, is copied whole when it doubles:
// 8 KB at a million items, 128 KB at ten. Two halves that are nearly empty become one
// again.
//
// Tags are 32 bits of a seeded hash: the first bits choose the segment, the last the
// cell. An item that goes leaves no tombstone: those behind it move up.
type table struct {
	work
	dir   []*segment // 1<<depth of them, by the first depth bits of the tag
	depth uint
	// deepest is how many segments have the table's depth; without any, the
	// directory is halved.
	deepest int
}

// segment has the cells of all tags that begin with the same depth bits.
type segment struct {
	// cells are a power of two in number and never all in use. One in use is the tag,
	// then the slot plus one.
	cells []uint64
	used  int
	depth uint
}

const (
	segmentLen = 1 << segmentBits
	firstCells = 8
	// A segment is full at loadNum/loadDen: 15 cells are looked at then, on average, for
	// an item that is not there (Knuth, TAOCP 3, 6.4).
	loadNum, loadDen = 13, 16
)

func newTable() table {
	return table{dir: []*segment{{cells: make([]uint64, firstCells)}}, deepest: 1}
}

func cellOf(tag, slot uint32) uint64 { return uint64(tag)<<32 | uint64(slot+1) }
func tagIn(cell uint64) uint32       { return uint32(cell >> 32) }

func (t *table) segment(tag uint32) *segment { return t.dir[tag>>(32-t.depth)] }

// insert adds a slot, which must not be there.
func (t *table) insert(tag, slot uint32) {
	s := t.segment(tag)
	for (s.used+1)*loadDen > len(s.cells)*loadNum {
		t.did(len(s.cells))
		if len(s.cells) < segmentLen || s.depth == maxDepth {
			s.resize(2 * len(s.cells))
		} else {
			t.split(s, tag)
			s = t.segment(tag)
		}
	}
	s.put(cellOf(tag, slot))
}

// rename gives the cell of a slot another slot.
func (t *table) rename(tag, from, to uint32) {
	s := t.segment(tag)
	s.cells[s.find(cellOf(tag, from))] = cellOf(tag, to)
}

// remove takes a slot out, which must be there.
func (t *table) remove(tag, slot uint32) {
	s := t.segment(tag)
	s.take(s.find(cellOf(tag, slot)))
	if s.used > segmentLen/8 {
		return
	}
	if len(s.cells) > segmentLen {
		s.resize(segmentLen)
	}
	if s.depth > 0 {
		t.merge(s, tag)
	}
}

func (s *segment) put(cell uint64) {
	mask := uint32(len(s.cells) - 1)
	i := tagIn(cell) & mask
	for s.cells[i] != 0 {
		i = (i + 1) & mask
	}
	s.cells[i] = cell
	s.used++
}

func (s *segment) find(cell uint64) uint32 {
	mask := uint32(len(s.cells) - 1)
	i := tagIn(cell) & mask
	for s.cells[i] != cell {
		i = (i + 1) & mask
	}
	return i
}

// take empties cell i. It looks at the cells behind it up to the next empty one, and moves
// each cell into the hole whose probe sequence begins at or before the hole.
func (s *segment) take(i uint32) {
	mask := uint32(len(s.cells) - 1)
	for j := (i + 1) & mask; s.cells[j] != 0; j = (j + 1) & mask {
		home := tagIn(s.cells[j]) & mask
		if (j-home)&mask >= (j-i)&mask {
			s.cells[i] = s.cells[j]
			i = j
		}
	}
	s.cells[i] = 0
	s.used--
}

// resize gives a segment n cells.
func (s *segment) resize(n int) {
	old := s.cells
	s.cells, s.used = make([]uint64, n), 0
	for _, cell := range old {
		if cell != 0 {
			s.put(cell)
		}
	}
}

// split shares the cells of s, to which tag belongs, between s and a new segment, by
// the next bit of their tags.
func (t *table) split(s *segment, tag uint32) {
	if s.depth == t.depth {
		t.double()
	}
	depth := s.depth + 1
	other := &segment{cells: make([]uint64, segmentLen), depth: depth}
	var old [segmentLen]uint64
	copy(old[:], s.cells)
	clear(s.cells)
	s.used, s.depth = 0, depth
	for _, cell := range old {
		switch {
		case cell == 0:
		case tagIn(cell)>>(32-depth)&1 == 1:
			other.put(cell)
		default:
			s.put(cell)
		}
	}
	t.point(tag>>(32-depth)|1, other)
	if depth == t.depth {
		t.deepest += 2
	}
}

// merge makes one segment of s, to which tag belongs, and of its buddy, the other half of
// the segment that both were split from, if their cells fill at most a quarter of one.
func (t *table) merge(s *segment, tag uint32) {
	prefix := tag >> (32 - s.depth)
	other := t.dir[(prefix^1)<<(t.depth-s.depth)]
	if other.depth != s.depth || s.used+other.used > segmentLen/4 ||
		max(len(s.cells), len(other.cells)) > segmentLen {
		return // the other grew at the greatest depth; split expects segmentLen cells
	}
	t.did(len(other.cells))
	for _, cell := range other.cells {
		if cell != 0 {
			s.put(cell)
		}
	}
	if s.depth == t.depth {
		t.deepest -= 2
	}
	s.depth--
	t.point(prefix>>1, s)
	for t.depth > 0 && t.deepest == 0 {
		t.halve()
	}
}

// point has the directory lead to s for all tags that begin with prefix, of s.depth bits.
func (t *table) point(prefix uint32, s *segment) {
	n := 1 << (t.depth - s.depth)
	first := int(prefix) * n
	t.did(n)
	for i := first; i < first+n; i++ {
		t.dir[i] = s
	}
}

func (t *table) double() {
	t.did(len(t.dir))
	dir := make([]*segment, 2*len(t.dir))
	for i, s := range t.dir {
		dir[2*i], dir[2*i+1] = s, s
	}
	t.dir, t.deepest = dir, 0
	t.depth++
}

// halve undoes double; no segment has the table's depth.
func (t *table) halve() {
	t.did(len(t.dir))
	dir := make([]*segment, len(t.dir)/2)
	t.depth--
	for i := range dir {
		dir[i] = t.dir[2*i]
		if dir[i].depth == t.depth {
			t.deepest++
		}
	}
	t.dir = dir
}
