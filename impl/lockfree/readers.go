package lockfree

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
)

// The states of a slot. Any number from slotBase on is a snapshot: its sequence
// number plus slotBase.
//
//	free --1--> pending --2--> snapshot --3--> free
//
// The reader takes steps 1 and 3. Step 2 is taken by the reader or the writer, whichever
// comes first. The writer gives a reader that is stopped between 1 and 2 the snapshot that
// it has just committed. Else that reader would keep every later version alive until it ran
// again.
const (
	slotFree    = 0
	slotPending = 1
	slotBase    = 2
)

// slot announces one open snapshot. It fills a cache line, so that readers on different
// processors do not contend for one (false sharing).
type slot struct {
	state atomic.Uint64
	_     [56]byte
}

// readers holds the snapshot slots: a first block of them, which the first reader makes, and more
// blocks for when more snapshots are open at once. A block that was made stays for good. The writer
// looks only at blocks 0 to deepest.
//
// A reader takes a slot before it loads the committed number; the writer commits before it
// looks at the slots. Go's atomics are sequentially consistent. So either the writer sees
// the slot taken, or the reader sees the writer's commit and needs no older version:
//
//	reader  R1 take a slot of block k    writer  W1 store committed
//	        R2 deepest is k or more:             W2 load deepest
//	           see it, or raise it               W3 look at the slots of blocks 0 to deepest
//	        R3 load committed                    W4 lower deepest, from f to t
//	                                             W5 look at blocks t+1 to f again; raise deepest
//	                                                to the last that has a slot taken
//
// If R3 comes before W1, W3 finds the slot taken. R1 and R2 come before W2, so deepest was k
// or more at some moment after R1 and before W2. Since then only W4 of an earlier look
// can have lowered it below k. The W5 after that W4 looked at block k, and did so after R1: it
// found the slot taken and raised deepest again. So W2 loads k or more. A writer that finds no
// first block at W3 comes before R1 of all readers.
//
// A write in place (inplace.go) looks at the slots before it changes anything.
type readers struct {
	first atomic.Pointer[block] // whose number is 0; nil until a reader comes
	// deepest is the number of the last block that the writer looks at. A reader that finds
	// all blocks up to deepest full raises it; the writer lowers it.
	deepest atomic.Uint32
	// busy is a slot in a later block that was taken when the writer last looked. While it
	// stays taken, one load tells the writer that a snapshot is open. Writer only.
	busy *slot
}

// block holds slots, and leads to the next block, which has twice as many.
type block struct {
	slots []slot // a power of two of them
	more  atomic.Pointer[block]
}

// firstBlock returns the first block, which it makes if there is none: with slots for the readers
// that can run at once, and for some more that were descheduled with a snapshot open. So a store
// that is neither listed nor read by an index has none.
func (r *readers) firstBlock() *block {
	b := r.first.Load()
	if b == nil {
		n := minSlots
		for n < 2*runtime.GOMAXPROCS(0) {
			n *= 2
		}
		r.first.CompareAndSwap(nil, &block{slots: make([]slot, n)})
		b = r.first.Load()
	}
	return b
}

// longReads is how many reads of yieldEvery objects or more are under way, in all stores of the
// program: they share its processors.
var longReads atomic.Int32

// crowded reports whether as many long reads are under way as there are processors. They may then
// occupy every processor, and leave none to a writer.
func crowded() bool {
	reads := longReads.Load()
	// the runtime follows the container's limit, which may change
	return reads > 0 && reads >= int32(runtime.GOMAXPROCS(0))
}

// admit is called before a read of n objects makes room for them. While reads are crowded, it lets
// others run first, so that long reads end one after the other. If 80 went on together, the
// collector would scan 80 half lists, and a writer would wait for a turn of each.
//
// It is no lock: after n/16 turns the read begins, even if another reader is stopped for ever.
func admit(n int) {
	if n < yieldEvery {
		return
	}
	for turn := 0; turn < n/16 && crowded(); turn++ {
		runtime.Gosched()
	}
	begin(n)
}

// begin counts a read of n objects if it is long. It ends with slot.end.
func begin(n int) {
	if n >= yieldEvery {
		longReads.Add(1)
	}
}

// end closes the snapshot of a read of n objects that admit or begin began.
func (s *slot) end(n int) {
	if n < yieldEvery {
		s.release(n)
		return
	}
	s.state.Store(slotFree)
	longReads.Add(-1)
	giveWay()
}

// release closes a snapshot in which read objects were read, without begin before and end after.
func (s *slot) release(read int) {
	s.state.Store(slotFree)
	if read > 0 && (read >= yieldEvery || rand.Uint32()%yieldEvery < uint32(read)) {
		runtime.Gosched()
	}
}

// acquire opens a snapshot. It returns the slot, which the caller must release, and the
// number of a write that was the newest committed one at some moment during the call. It
// never waits: it passes over a slot that another reader takes first.
func (r *readers) acquire(committed *atomic.Uint64) (*slot, uint64) {
	start := rand.Uint32()
	for b, k := r.firstBlock(), uint32(0); ; b, k = b.next(), k+1 {
		mask := uint32(len(b.slots) - 1)
		for i := range uint32(len(b.slots)) {
			s := &b.slots[(start+i)&mask]
			if s.state.Load() != slotFree || !s.state.CompareAndSwap(slotFree, slotPending) { // R1
				continue
			}
			if k > 0 {
				r.raise(k)
			}
			seq := committed.Load() // R3
			if s.state.CompareAndSwap(slotPending, seq+slotBase) {
				return s, seq
			}
			return s, s.state.Load() - slotBase // the writer's choice
		}
	}
}

// next returns the block after b, which it appends if there is none.
func (b *block) next() *block {
	if b.more.Load() == nil {
		b.more.CompareAndSwap(nil, &block{slots: make([]slot, 2*len(b.slots))})
	}
	return b.more.Load()
}

// raise makes the writer look at block k too. It is step R2, after the caller has taken a
// slot there.
func (r *readers) raise(k uint32) {
	for d := r.deepest.Load(); d < k; d = r.deepest.Load() {
		r.deepest.CompareAndSwap(d, k)
	}
}

// lower makes the writer look at blocks 0 to t only: W4 and W5. The writer has just looked
// at blocks 0 to f and found no slot taken after block t. Cost: the slots of blocks t+1 to
// f. The reader that raised deepest to f went over about half as many, so the raises pay for
// the lowering. Writer only.
func (r *readers) lower(f, t uint32) {
	if f == t {
		return
	}
	if !r.deepest.CompareAndSwap(f, t) {
		return // a reader has raised it since: the next look may lower it
	}
	for b, k := r.first.Load(), uint32(0); k <= f; b, k = b.more.Load(), k+1 {
		if k > t && b.taken() != nil {
			r.raise(k)
		}
	}
}

// taken returns a slot in which a snapshot is open or about to be, nil if there is none.
func (b *block) taken() *slot {
	for i := range b.slots {
		if b.slots[i].state.Load() != slotFree {
			return &b.slots[i]
		}
	}
	return nil
}

// yieldEvery is the mean number of objects read between calls to Gosched. A reader that
// lists in a loop never waits for anything, so on a busy processor it would run for Go's
// whole time slice of 10 ms, and a writer with a microsecond of work would wait for the
// slices of all such readers. Gosched puts the reader at the end of the queue, also within
// its snapshot.
//
// A long read calls it only while reads are crowded. At other times a processor is free of long
// reads, and a call could cost much: beside 25 writers that never pause, the reader waits for the
// time slices of all of them. A short read calls it at random, with a chance in proportion to its
// length.
const yieldEvery = 1 << 12

// yield lets others run after each yieldEvery objects, if reads are crowded; i is the number of
// the object that was read last.
func yield(i int) {
	if i&(yieldEvery-1) == yieldEvery-1 {
		giveWay()
	}
}

// giveWay lets others run if reads are crowded.
func giveWay() {
	if crowded() {
		runtime.Gosched()
	}
}

// idle reports whether no snapshot is open. Writer only, after a commit or before a write in
// place. Cost: the slots of the first block, and once after more readers have left those of the
// blocks that they used.
func (r *readers) idle() bool {
	if r.busy != nil {
		if r.busy.state.Load() != slotFree {
			return false
		}
		r.busy = nil
	}
	first := r.first.Load()
	if first == nil {
		return true
	}
	if first.taken() != nil {
		return false
	}
	deepest := r.deepest.Load() // W2
	for b, k := first.more.Load(), uint32(1); k <= deepest; b, k = b.more.Load(), k+1 {
		if r.busy = b.taken(); r.busy != nil {
			return false
		}
	}
	r.lower(deepest, 0)
	return true
}

// open appends the sequence numbers of the open snapshots to dst, sorted. A pending
// one is given committed, the newest committed number. Writer only.
func (r *readers) open(dst []uint64, committed uint64) []uint64 {
	deepest, used := r.deepest.Load(), uint32(0)
	for b, k := r.first.Load(), uint32(0); b != nil && k <= deepest; b, k = b.more.Load(), k+1 {
		for i := range b.slots {
			s := &b.slots[i]
			if s.state.Load() == slotPending {
				s.state.CompareAndSwap(slotPending, committed+slotBase)
			}
			if state := s.state.Load(); state >= slotBase {
				dst = append(dst, state-slotBase)
				used = k
			}
		}
	}
	r.lower(deepest, used)
	slices.Sort(dst)
	return dst
}

// anyWithin reports whether one of the sorted snapshots lies in [from, to).
func anyWithin(snapshots []uint64, from, to uint64) bool {
	if len(snapshots) == 0 {
		return false
	}
	i, _ := slices.BinarySearch(snapshots, from)
	return i < len(snapshots) && snapshots[i] < to
}
