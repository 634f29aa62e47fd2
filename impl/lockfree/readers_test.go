package lockfree

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// slotsOf returns the slots of every block there is.
func slotsOf(r *readers) (all []*slot) {
	for b := r.first.Load(); b != nil; b = b.more.Load() {
		for i := range b.slots {
			all = append(all, &b.slots[i])
		}
	}
	return all
}

// lookedAt counts the slots that idle looks at: it takes one slot at a time, and counts those
// that change idle's answer. It sets the slots by hand, because acquire would raise deepest.
func lookedAt(r *readers) (n int) {
	for _, sl := range slotsOf(r) {
		sl.state.Store(slotPending)
		if !r.idle() {
			n++
		}
		sl.state.Store(slotFree)
		r.idle()
	}
	return n
}

// acquireMany opens n snapshots.
func acquireMany(v *view, n int) (open []*slot) {
	for range n {
		sl, _ := v.readers.acquire(&v.committed)
		open = append(open, sl)
	}
	return open
}

// Long reads let each other end first, but go on beside reads that are stopped; and what admit
// counts is counted back. Not parallel: other tests' reads are counted too.
func TestLongReadsWaitForNobody(t *testing.T) {
	defer longReads.Store(0)
	s := New(nil)
	const objects = 2 * yieldEvery
	items := map[string]any{}
	for i := range objects {
		items[fmt.Sprint(i)] = i
	}
	s.Replace(items, "1")
	for _, stopped := range []int32{0, 1000} {
		longReads.Store(stopped)
		var all sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			all.Go(func() {
				if list, keys := s.List(), s.ListKeys(); len(list) != objects || len(keys) != objects {
					t.Errorf("beside %d stopped reads: %d objects and %d keys, want %d", stopped, len(list),
						len(keys), objects)
				}
			})
		}
		all.Wait()
		if left := longReads.Load(); left != stopped {
			t.Errorf("%d reads are counted when all have ended but %d", left, stopped)
		}
	}
}

// After a crowd of readers has gone, a write looks at as few slots as before it came.
func TestAQuietWriteLooksAtFewSlots(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	first := len(v.readers.firstBlock().slots)
	before := lookedAt(v.readers)
	if before != first {
		t.Fatalf("a write looks at %d slots before anybody came; want the %d of the first block", before,
			first)
	}
	for range 3 {
		for _, sl := range acquireMany(v, 1000) {
			sl.release(0)
		}
		s.Update("1", thing{1, "g2"})
		s.Update("1", thing{1, "g1"})
		if after := lookedAt(v.readers); after != before {
			t.Errorf("of %d slots a quiet write looks at %d after 1,000 snapshots at once, and at %d before",
				len(slotsOf(v.readers)), after, before)
		}
	}
	wantNothingKept(t, s)
}

// While one snapshot of a crowd is left, in whatever block, the writer remembers its slot,
// and does not look at the blocks beyond.
func TestTheLastOfACrowd(t *testing.T) {
	t.Parallel()
	for _, last := range []int{0, 1, 30, 999} {
		s := filled()
		v := s.view.Load()
		all := sorted(s.List())
		seq := v.committed.Load()
		crowd := acquireMany(v, 1000)
		for i, sl := range crowd {
			if i != last {
				sl.release(0)
			}
		}
		churn(s, 500, rand.New(rand.NewPCG(9, 10)))
		if got := sorted(v.objects.objects(nil, seq, &v.shown)); fmt.Sprint(got) != fmt.Sprint(all) {
			t.Errorf("the snapshot changed that the reader %d of a crowd holds", last)
		}
		used := uint32(0)
		for b, k := v.readers.first.Load(), uint32(0); b != nil; b, k = b.more.Load(), k+1 {
			if b.taken() != nil {
				used = k
			}
		}
		if d := v.readers.deepest.Load(); d != used {
			t.Errorf("the writer looks at blocks 0 to %d; want 0 to %d", d, used)
		}
		if used > 0 && v.readers.busy != crowd[last] {
			t.Error("the writer does not know the slot of the snapshot that is left")
		}
	}
}

// A reader that took a slot after the writer looked at it, and saw that the writer looks at
// its block, is not forgotten when the writer gives that block up.
func TestABlockIsNotGivenUpUnderAReader(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	snapshots := 16 * max(minSlots, runtime.GOMAXPROCS(0))
	for _, sl := range acquireMany(v, snapshots) {
		sl.release(0)
	}
	deepest := v.readers.deepest.Load()
	if deepest < 2 {
		t.Fatalf("%d snapshots at once use blocks 0 to %d; want more", snapshots, deepest)
	}
	inside := &v.readers.first.Load().more.Load().slots[0] // of block 1
	inside.state.Store(slotPending)
	v.readers.lower(deepest, 0)
	if got := v.readers.deepest.Load(); got != 1 {
		t.Errorf("the writer looks at blocks 0 to %d; want 0 to 1, where a reader is", got)
	}
	if v.readers.idle() {
		t.Error("the reader is not seen")
	}
	// A reader that raised it meanwhile wins over a writer that looked at less.
	v.readers.raise(deepest)
	v.readers.lower(1, 0)
	if got := v.readers.deepest.Load(); got != deepest {
		t.Errorf("the writer looks at blocks 0 to %d; want 0 to %d, as a reader asked for", got, deepest)
	}
	inside.state.Store(slotFree)
	if !v.readers.idle() || v.readers.deepest.Load() != 0 {
		t.Error("the blocks are not given up when the reader has left")
	}
}

// Crowds of readers come and go, so that blocks are taken up and given up all the time,
// while a writer moves a value between two objects. Every snapshot sees the same sum.
func TestSnapshotsHoldWhileBlocksAreGivenUp(t *testing.T) {
	t.Parallel()
	const crowd, objects, bursts = 40, 10, 100
	s := New(nil)
	put := func(i, value int) contract.StoreTransaction {
		return contract.StoreTransaction{Key: fmt.Sprint(i),
			Transaction: contract.Transaction{Type: contract.TransactionTypeUpdate, Object: value}}
	}
	values := make([]int, objects)
	for i := range values {
		s.Transaction(put(i, 0))
	}
	v := s.view.Load()
	sum := func(seq uint64) (sum int) {
		for _, obj := range v.objects.objects(nil, seq, &v.shown) {
			sum += obj.(int)
		}
		return sum
	}
	stop := make(chan struct{})
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			from, to := i%objects, (i*7+3)%objects
			if from == to {
				continue
			}
			values[from]--
			values[to]++
			s.Transaction(put(from, values[from]), put(to, values[to]))
			if i%16 == 0 {
				runtime.Gosched()
			}
		}
	})
	for range bursts {
		for range crowd {
			readers.Go(func() {
				slot, seq := v.readers.acquire(&v.committed)
				for range 3 {
					runtime.Gosched()
					if got := sum(seq); got != 0 {
						t.Errorf("a snapshot has the sum %d; want 0", got)
					}
				}
				slot.release(0)
			})
		}
		readers.Wait()
	}
	close(stop)
	writer.Wait()
}
