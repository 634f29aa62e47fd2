package sharded

import (
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/impl/indexing"
)

// chunkLen is how many entries a full chunk has. With the allocator's header of 8
// bytes, 127 objects fill its class of 2,048 bytes and their owners that of 1,024;
// 128 would take a larger class each.
const chunkLen = 127

// list is a dense sequence of objects, with the record that each belongs to. It
// lies in chunks, all full but the last, and a directory of them.
//
// A reader freezes the list: it sets frozen and takes the directory. From then on that
// directory and its chunks are never changed, so they may be read without the lock. The
// next writer begins a new epoch. A reader may have the directory and the chunks of an
// earlier epoch: a writer copies them before it changes them, once per epoch. Without
// readers nothing is copied.
//
// Writers hold the shard's lock, readers that freeze at least its read lock. So several
// readers may set frozen at once, which is why it is atomic, and none sets it while a
// writer looks at it.
type list struct {
	frozen    atomic.Bool
	epoch     uint64 // of the writer
	directory uint64 // the epoch in which chunks, the slice, was made
	n         int
	chunks    []*chunk
}

// chunk is up to chunkLen entries. It may be changed only in its own epoch.
type chunk struct {
	epoch   uint64
	objects []any
	owners  []*record // parallel to objects
}

// cut is a list as it was when it was frozen.
type cut struct {
	list   *list
	chunks []*chunk
	n      int
}

// look returns the list as it is: valid as long as the read lock is held, and
// longer if it is frozen before.
func (l *list) look() cut { return cut{l, l.chunks, l.n} }

func (l *list) freeze() {
	if !l.frozen.Load() { // else every reader would write to the same word
		l.frozen.Store(true)
	}
}

// begin starts a new epoch if the list is frozen. Every change calls it first.
func (l *list) begin() {
	if l.frozen.Load() {
		l.frozen.Store(false)
		l.epoch++
	}
}

// ownDirectory makes the directory one of this epoch.
func (l *list) ownDirectory() {
	if l.directory != l.epoch {
		l.chunks = slices.Clone(l.chunks)
		l.directory = l.epoch
	}
}

// own returns chunk number i, made one of this epoch.
func (l *list) own(i int) *chunk {
	c := l.chunks[i]
	if c.epoch != l.epoch {
		c = &chunk{l.epoch, c.objects, c.owners}
		c.resize(roomFor(len(c.objects)))
		l.ownDirectory()
		l.chunks[i] = c
	}
	return c
}

// set replaces the object at a position.
func (l *list) set(at int, obj any) {
	l.begin()
	l.own(at / chunkLen).objects[at%chunkLen] = obj
}

// add puts an entry at the end and returns its position.
func (l *list) add(obj any, owner *record) (at int) {
	l.begin()
	at = l.n
	if at%chunkLen == 0 {
		l.ownDirectory()
		l.chunks = append(l.chunks, &chunk{epoch: l.epoch})
	}
	c := l.own(at / chunkLen)
	if len(c.objects) == cap(c.objects) {
		c.resize(roomFor(len(c.objects) + 1))
	}
	c.objects = append(c.objects, obj)
	c.owners = append(c.owners, owner)
	l.n++
	return at
}

// remove swaps the last entry into the position of the removed one. It returns the owner
// of the entry that moved, whose position the caller must correct; nil if none moved.
func (l *list) remove(at int) (moved *record) {
	l.begin()
	last := l.n - 1
	tail := l.own(last / chunkLen)
	if at != last {
		moved = tail.owners[last%chunkLen]
		c := l.own(at / chunkLen)
		c.objects[at%chunkLen], c.owners[at%chunkLen] = tail.objects[last%chunkLen], moved
	}
	l.n = last
	if left := last % chunkLen; left > 0 {
		tail.shorten(left)
	} else {
		l.ownDirectory()
		l.chunks[last/chunkLen] = nil
		l.chunks = l.chunks[:last/chunkLen]
	}
	return moved
}

// shorten drops the last entry, so that left entries remain. It gives half of the room
// back once three quarters of it are empty.
func (c *chunk) shorten(left int) {
	c.objects[left], c.owners[left] = nil, nil
	c.objects, c.owners = c.objects[:left], c.owners[:left]
	if left <= cap(c.objects)/4 {
		c.resize(roomFor(2 * left))
	}
}

// resize moves the entries to arrays of their own with so much room.
func (c *chunk) resize(room int) {
	objects, owners := make([]any, len(c.objects), room), make([]*record, len(c.owners), room)
	copy(objects, c.objects)
	copy(owners, c.owners)
	c.objects, c.owners = objects, owners
}

// rooms are the capacities of chunks. From 2 on each is a third to a half more than the one
// before, so that values with few matches cost little. Arrays above 512 bytes have a header
// of the allocator's; with it the large ones, like chunkLen, fill their size class.
var rooms = [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 47, 63, 95, chunkLen}

// roomFor is the capacity of a chunk that has n entries, 1 to chunkLen.
func roomFor(n int) int {
	i, _ := slices.BinarySearch(rooms[:], n)
	return rooms[i]
}

// appendObjects appends the objects that the list held when it was frozen.
func (c cut) appendObjects(list []any) []any {
	for _, chunk := range c.chunks {
		n := len(list)
		list = slices.Grow(list, len(chunk.objects))[:n+len(chunk.objects)]
		indexing.Copy(list[n:], chunk.objects)
	}
	return list
}

// appendEntries is appendObjects with the owners.
func (c cut) appendEntries(entries []entry) []entry {
	for _, chunk := range c.chunks {
		for i, obj := range chunk.objects {
			entries = append(entries, entry{obj, chunk.owners[i]})
		}
	}
	return entries
}
