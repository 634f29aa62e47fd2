package lockfree

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// inOneGoroutine skips the test under -short, as make race runs tests: the race detector sees
// nothing in it, and makes it many times slower.
func inOneGoroutine(t *testing.T) {
	if t.Helper(); testing.Short() {
		t.Skip("one goroutine, and slow")
	}
}

// thing is what these tests store: each version of it is told from the others, and
// it has one value in the index "group".
type thing struct {
	version int
	group   string
}

func byGroup(obj any) ([]string, error) { return []string{obj.(thing).group}, nil }

const things, groups = 1000, 20

func filled() *Store {
	s := New(contract.Indexers{"group": byGroup})
	for i := range things {
		s.Add(fmt.Sprint(i), thing{0, fmt.Sprint("g", i%groups)})
	}
	return s
}

// churn makes n writes of every kind, some of which move objects to groups that come
// and go. It returns how many.
func churn(s *Store, n int, rnd *rand.Rand) {
	for i := range n {
		key := fmt.Sprint(rnd.IntN(things))
		switch rnd.IntN(10) {
		case 0:
			s.Delete(key)
		case 1:
			s.Update(key, thing{i, fmt.Sprint("passing", i)})
		default:
			s.Update(key, thing{i, fmt.Sprint("g", rnd.IntN(groups))})
		}
	}
}

// kept counts the past versions and the stand-ins that cells lead to, and the buckets.
func kept(s *Store) (past, standIns, buckets int) {
	v := s.view.Load()
	seen := map[*record]bool{}
	see := func(r *record) {
		if r == nil || seen[r] {
			return
		}
		seen[r] = true
		n := r.newest.Load()
		if n == nil {
			return
		}
		if r.data != nil {
			past++
		}
		for n = n.past(); n != nil; n = n.past() {
			past++
		}
	}
	count := func(a *array) {
		for i := range a.used.Load() {
			r := a.cell(i).Load()
			for r != nil && r.standIn() != nil {
				standIns++
				see(r.standIn().of)
				r = r.standIn().past()
			}
			see(r)
		}
	}
	count(&v.objects.array)
	for _, b := range v.buckets {
		if b != nil {
			buckets++
			count(&b.objects)
		}
	}
	return past, standIns, buckets
}

func sorted(list []any) []int {
	out := make([]int, len(list))
	for i, obj := range list {
		out[i] = obj.(thing).version
	}
	slices.Sort(out)
	return out
}

// A reader that stands still inside its snapshot keeps one version of each object at
// most, however many writes come, and reads on as if none had come.
func TestAStalledReaderKeepsOneVersionOfEachObject(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	s := filled()
	v := s.view.Load()
	slot, seq := v.readers.acquire(&v.committed)
	all, group := sorted(v.objects.objects(nil, seq, &v.shown)),
		sorted(v.indexes[0].bucketAt("g3", seq).list(nil, seq, &v.shown))
	values := slices.Sorted(slices.Values(v.indexes[0].values(seq)))
	most := 0
	rnd := rand.New(rand.NewPCG(1, 2))
	// One version of each object that the snapshot sees; two stand-ins for each cell of
	// each array; and as much again between two looks.
	const bound = 2 * (things + 2*2*(2*things+groups))
	for range 20 {
		churn(s, 2000, rnd)
		past, standIns, buckets := kept(s)
		most = max(most, past+standIns)
		if past+standIns > bound || buckets > 2*(things+groups) {
			t.Fatalf("%d old versions, %d stand-ins and %d buckets are kept", past, standIns, buckets)
		}
	}
	if !slices.Equal(all, sorted(v.objects.objects(nil, seq, &v.shown))) {
		t.Error("the snapshot of all objects changed")
	}
	if !slices.Equal(group, sorted(v.indexes[0].bucketAt("g3", seq).list(nil, seq, &v.shown))) {
		t.Error("the snapshot of a group changed")
	}
	if !slices.Equal(values, slices.Sorted(slices.Values(v.indexes[0].values(seq)))) {
		t.Error("the snapshot of the index values changed")
	}
	slot.release(0)
	s.Add("last", thing{})
	wantNothingKept(t, s)
	t.Logf("at most %d nodes and stand-ins are kept for a snapshot of %d objects, in 40,000 "+
		"writes; the bound is %d", most, things, bound)
}

// Objects and index values that came after a stalled reader's snapshot and are gone again
// do not wait for that reader.
func TestWhatPassesBesideAStalledReaderDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, pass := range map[string]func(s *Store, i int){
		"an object through index values": func(s *Store, i int) {
			s.Update("7", thing{i, fmt.Sprint("passing", i)})
		},
		"objects with values of their own": func(s *Store, i int) {
			s.Add("new", thing{i, fmt.Sprint("passing", i)})
			s.Delete("new")
		},
		"objects with a value that stays": func(s *Store, i int) {
			s.Add(fmt.Sprint("new", i), thing{i, "g3"})
			s.Delete(fmt.Sprint("new", i))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := filled()
			v := s.view.Load()
			slot, _ := v.readers.acquire(&v.committed)
			for i := range 20000 {
				pass(s, i)
			}
			if waiting := v.retireList.len(); waiting > 10*minReclaimThreshold {
				t.Errorf("%d things wait for the reader", waiting)
			}
			slot.release(0)
			s.Add("last", thing{})
			wantNothingKept(t, s)
		})
	}
}

// A reader that is stopped between taking its slot and loading its snapshot must not keep
// every later version: the writer gives it a snapshot.
func TestAReaderStoppedBeforeItsSnapshotIsGivenOne(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	s := filled()
	v := s.view.Load()
	slot := &v.readers.firstBlock().slots[0]
	slot.state.Store(slotPending)
	churn(s, 20000, rand.New(rand.NewPCG(3, 4)))
	if past, _, _ := kept(s); past > 12*things {
		t.Errorf("%d old versions are kept", past)
	}
	if slot.state.Load() < slotBase {
		t.Error("the slot was given no snapshot")
	}
	slot.release(0)
	s.Add("last", thing{})
	wantNothingKept(t, s)
}

// A Get that finds a write under way may be interrupted before it goes back to the version
// before. It must not go back too far: beside a stalled reader, only the versions that its
// snapshot sees are left of the past. Getters outnumber the processors, so that they are
// interrupted.
func TestAGetBesideAStalledReaderNeverGoesBackTooFar(t *testing.T) {
	t.Parallel()
	s := New(nil)
	const others = 100 // written with k, so that each write looks at the slots
	txns := make([]contract.StoreTransaction, 1+others)
	write := func(i int) {
		for j := range txns { // no pointers: each Get goes by the version
			txns[j] = contract.StoreTransaction{Key: fmt.Sprint("other", j),
				Transaction: contract.Transaction{Type: contract.TransactionTypeUpdate, Object: i}}
		}
		txns[0].Key = "k"
		s.Transaction(txns...)
	}
	write(0)
	v := s.view.Load()
	slot, _ := v.readers.acquire(&v.committed)
	n := 3000
	if testing.Short() {
		n = 300
	}
	var written atomic.Int64
	var wg sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for least := 0; least < n; {
				least = int(written.Load())
				if got, _ := s.Get("k"); got.(int) < least {
					t.Errorf("a Get that began after write %d returned %v", least, got)
					return
				}
			}
		})
	}
	for i := 1; i <= n; i++ {
		write(i)
		written.Store(int64(i))
	}
	wg.Wait()
	slot.release(0)
}

// Without readers a write leaves nothing behind.
func TestNothingIsKeptWithoutReaders(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	s := filled()
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		churn(s, 50, rnd)
		wantNothingKept(t, s)
	}
	for i := range things {
		s.Delete(fmt.Sprint(i))
	}
	wantNothingKept(t, s)
	if v := s.view.Load(); v.objects.used.Load() > mostFree || len(v.freeIDs) != len(v.buckets)-1 {
		t.Error("the empty store has cells or buckets in use")
	}
}

func wantNothingKept(t *testing.T, s *Store) {
	t.Helper()
	v := s.view.Load()
	past, standIns, buckets := kept(s)
	if values := len(s.ListIndexFuncValues("group")); past != 0 || standIns != 0 || buckets != values {
		t.Fatalf("%d old versions, %d stand-ins and %d buckets for %d values are kept; want none, and "+
			"as many", past, standIns, buckets, values)
	}
	if n := v.retireList.len(); n != 0 {
		t.Fatalf("%d things wait to be cleaned up", n)
	}
}

// Reads return while the writers' mutex is held, and writes while a snapshot is open.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	s := filled()
	s.writer.Lock()
	s.Get("1")
	s.List()
	s.ListKeys()
	s.ListIndexFuncValues("group")
	s.GetIndexers()
	s.LastStoreSyncResourceVersion()
	for _, err := range []error{
		second(s.Index("group", thing{0, "g1"})), second(s.IndexKeys("group", "g1")),
		second(s.ByIndex("group", "g1")),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	s.writer.Unlock()

	v := s.view.Load()
	slot, _ := v.readers.acquire(&v.committed)
	churn(s, 100, rand.New(rand.NewPCG(7, 8)))
	s.Replace(map[string]any{"k": thing{}}, "1")
	if err := s.AddIndexers(contract.Indexers{"other": byGroup}); err != nil {
		t.Error(err)
	}
	slot.release(0)
}

func second[T any](_ T, err error) error { return err }

// Readers beyond the first block's slots get slots too, each its own.
func TestMoreReadersThanSlots(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	seen := map[*slot]bool{}
	for i := range 500 {
		sl, seq := v.readers.acquire(&v.committed)
		if seen[sl] {
			t.Fatal("two snapshots have one slot")
		}
		seen[sl] = true
		if open := v.readers.open(nil, seq); len(open) != i+1 {
			t.Fatalf("%d snapshots are open; want %d", len(open), i+1)
		}
		s.Update("1", thing{i, "g1"})
	}
	for sl := range seen {
		sl.release(0)
	}
	if !v.readers.idle() {
		t.Error("snapshots are open after the last was left")
	}
}

// The work of a write does not grow with the store: it copies a bounded number of cells.
func TestAWriteTouchesFewCells(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	moved := &indexing.Values{}
	v.addValues(moved, "", thing{1, "g5"})
	for name, c := range map[string]struct {
		write func(w *write)
		most  int
	}{
		"update": {func(w *write) {
			v.put(w, v.keys.word("5"), "5", thing{1, "g5"}, v.indexes, moved)
		}, 0},
		"update index": {func(w *write) {
			v.put(w, v.keys.word("6"), "6", thing{1, "g5"}, v.indexes, moved)
		}, 3},
		"add": {func(w *write) {
			v.put(w, v.keys.word("new"), "new", thing{1, "g5"}, v.indexes, moved)
		}, 0},
		"delete": {func(w *write) { v.remove(w, v.keys.word("7"), "7") }, 4},
	} {
		w := v.begin("", false)
		c.write(w)
		if len(w.changed) > c.most {
			t.Errorf("%s gave %d cells a stand-in; want %d at most", name, len(w.changed), c.most)
		}
		v.commit()
	}
}

// A list makes copies of the blocks that did not change since the list before. A write
// drops the copies of the blocks that it changes: they would keep replaced objects alive.
func TestCopiesAreDropped(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	copied := func() (n int) {
		for _, b := range *v.objects.copies.blocks.Load() {
			if b.copy.Load() != nil {
				n++
			}
		}
		return n
	}
	all := (things + blockSize - 1) / blockSize
	s.List()
	if n := copied(); n != 0 {
		t.Errorf("one list made %d copies", n)
	}
	s.List()
	if n := copied(); n != all {
		t.Errorf("two lists made %d copies; want %d", n, all)
	}
	s.Update("17", thing{7, "g1"})
	if n := copied(); n != all-1 {
		t.Errorf("%d copies are left by an update; want %d", n, all-1)
	}
	want := []int{7}
	for len(want) < things {
		want = slices.Insert(want, 0, 0)
	}
	for i := range 3 {
		if got := sorted(s.List()); !slices.Equal(got, want) {
			t.Fatalf("list %d is not what is stored: %v", i, got)
		}
	}
	if n := copied(); n != all {
		t.Errorf("%d copies after lists; want %d", n, all)
	}
	s.Delete("17")
	if got := s.List(); len(got) != things-1 || slices.Contains(got, any(thing{7, "g1"})) {
		t.Error("the deleted object is listed")
	}
}
