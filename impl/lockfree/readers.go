package lockfree

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/explore"
)

// The states of a slot. Any number from slotBase on is a snapshot: its sequence
// number plus slotBase.
//
//	free --1--> pending --2--> snapshot --3--> free
//
// Steps 1 and 3 are the reader's. Step 2 is the reader's or the writer's, whoever
// comes first: a reader that stands still between 1 and 2 is given the snapshot
// that the writer has just committed, so that it cannot keep every later version
// alive until it goes on.
const (
	slotFree    = 0
	slotPending = 1
	slotBase    = 2
)

// slot announces one open snapshot. It fills a cache line, so that readers on
// different processors do not take it from each other.
type slot struct {
	state atomic.Uint64
	_     [56]byte
}

// readers is where open snapshots are announced: a few slots, and when more readers
// than that are inside at once, another block of twice as many, which stays.
//
// A reader announces itself before it loads the committed number; the writer
// commits before it looks at the slots. Go's atomics are sequentially consistent, so
// either the writer sees the slot taken, or the reader sees the writer's commit and
// needs nothing older.
type readers struct {
	slots []slot // a power of two of them
	more  atomic.Pointer[readers]
}

// newReaders returns slots for the readers that can run at once, and some that were
// interrupted while inside.
func newReaders() *readers {
	n := leastSlots
	for n < 2*runtime.GOMAXPROCS(0) {
		n *= 2
	}
	return &readers{slots: make([]slot, n)}
}

// enter opens a snapshot: it returns its slot, which the caller must leave, and the
// sequence number of a write that was the newest committed one at some moment during
// the call. It never waits: a slot that another reader takes first is passed over.
func (r *readers) enter(committed *atomic.Uint64) (*slot, uint64) {
	start := explore.Uint32()
	for ; ; r = r.next() {
		mask := uint32(len(r.slots) - 1)
		for i := range uint32(len(r.slots)) {
			s := &r.slots[(start+i)&mask]
			explore.Point("enter.slot")
			if s.state.Load() != slotFree || !s.state.CompareAndSwap(slotFree, slotPending) {
				continue
			}
			explore.Point("enter.committed")
			seq := committed.Load()
			explore.Point("enter.snapshot")
			if s.state.CompareAndSwap(slotPending, seq+slotBase) {
				return s, seq
			}
			return s, s.state.Load() - slotBase // the writer's choice
		}
	}
}

// next returns the block after r, which it appends if there is none.
func (r *readers) next() *readers {
	explore.Point("next.more")
	if r.more.Load() == nil {
		r.more.CompareAndSwap(nil, &readers{slots: make([]slot, 2*len(r.slots))})
	}
	return r.more.Load()
}

// turn is after how many objects read, on average, a reader lets others run. Readers that
// list in a loop never wait for anything, so on busy processors each of them runs for Go's
// whole time slice of 10 ms, and a writer that has to do a microsecond's work waits for
// all of theirs. So after a turn a reader goes to the end of the queue, also within its
// snapshot; a read of few objects does it now and then, by chance. What it changed is in
// docs/stores.md.
const turn = 1 << 12

// rest lets others run if the i-th object was the last of a turn.
func rest(i int) {
	if i&(turn-1) == turn-1 {
		runtime.Gosched()
	}
}

// leave closes the snapshot in which read objects were read.
func (s *slot) leave(read int) {
	explore.Point("leave.slot")
	s.state.Store(slotFree)
	if read > 0 && (read >= turn || explore.Uint32()%turn < uint32(read)) {
		runtime.Gosched()
	}
}

// idle reports whether no snapshot is open. Writer only, after a commit.
func (r *readers) idle() bool {
	for ; r != nil; r = r.more.Load() {
		for i := range r.slots {
			explore.Point("idle.slot")
			if r.slots[i].state.Load() != slotFree {
				return false
			}
		}
	}
	return true
}

// open appends the sequence numbers of the open snapshots to dst, sorted. A pending
// one is given committed, the newest committed number. Writer only.
func (r *readers) open(dst []uint64, committed uint64) []uint64 {
	for ; r != nil; r = r.more.Load() {
		for i := range r.slots {
			s := &r.slots[i]
			explore.Point("open.slot")
			if s.state.Load() == slotPending {
				explore.Point("open.given")
				s.state.CompareAndSwap(slotPending, committed+slotBase)
			}
			explore.Point("open.snapshot")
			if state := s.state.Load(); state >= slotBase {
				dst = append(dst, state-slotBase)
			}
		}
	}
	slices.Sort(dst)
	return dst
}

// anyWithin reports whether one of the sorted snapshots lies in [from, to).
func anyWithin(snapshots []uint64, from, to uint64) bool {
	i, _ := slices.BinarySearch(snapshots, from)
	return i < len(snapshots) && snapshots[i] < to
}
