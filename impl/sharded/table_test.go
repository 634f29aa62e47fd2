package sharded

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// verify checks that every record's places lead to its object and back, and that
// nothing else stands anywhere.
func (t *table) verify() error {
	places := 0
	at := func(l *list, i int) entry {
		c := l.chunks[i/chunkLen]
		return entry{c.objects[i%chunkLen], c.owners[i%chunkLen]}
	}
	for key, r := range t.records {
		want := entry{r.object, r}
		if r.key != key || at(&t.all, r.at) != want {
			return fmt.Errorf("the record of %q says %q and %d, where %v stands", key, r.key, r.at,
				at(&t.all, r.at))
		}
		for _, p := range r.places.Append(nil) {
			if t.indexes[p.Bucket.index][p.Bucket.value] != p.Bucket || at(&p.Bucket.list, p.At) != want {
				return fmt.Errorf("place %d of value %q is not %q's", p.At, p.Bucket.value, key)
			}
		}
		places += len(r.places.Append(nil))
	}
	for _, buckets := range t.indexes {
		for value, b := range buckets {
			if b.list.n == 0 {
				return fmt.Errorf("value %q is kept and empty", value)
			}
			places -= b.list.n
		}
	}
	if places != 0 || t.all.n != len(t.records) {
		return fmt.Errorf("%d objects of %d keys; the buckets lack %d places that records have", t.all.n,
			len(t.records), places)
	}
	return nil
}

func (s *Store) verify() error {
	for i := range s.shards {
		if err := s.shards[i].mu.table.verify(); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	return nil
}

// Thousands of random writes over several chunks, beside reads that freeze: results
// that are held stay, and every record knows its places.
func TestPlacesStayTrue(t *testing.T) {
	t.Parallel()
	words := func(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }
	first := func(obj any) ([]string, error) { return strings.Fields(obj.(string))[:1], nil }
	for _, shards := range []int{1, 4} {
		r := rand.New(rand.NewPCG(uint64(shards), 0))
		s, model := New(contract.Indexers{"words": words}, Options{Shards: shards}), map[string]any{}
		for step := range 6000 {
			key := fmt.Sprint(r.IntN(600))
			// The number of objects swells to hundreds and shrinks again.
			if deletes := step/1000%2 == 1; r.IntN(4) == 0 != deletes {
				s.Delete(key)
				delete(model, key)
			} else {
				obj := any(strings.Repeat(fmt.Sprintf("w%d ", r.IntN(2)), 2) +
					fmt.Sprintf("x%d y%d %d", r.IntN(5), r.IntN(50), step))
				s.Update(key, obj)
				model[key] = obj
			}
			switch r.IntN(10) {
			case 0:
				s.List()
			case 1:
				if _, err := s.ByIndex("words", "w0"); err != nil {
					t.Fatal(err)
				}
			}
			if step == 3000 {
				if err := s.AddIndexers(contract.Indexers{"first": first}); err != nil {
					t.Fatal(err)
				}
			}
			if step%50 != 0 {
				continue
			}
			if err := s.verify(); err != nil {
				t.Fatalf("%d shards, step %d: %v", shards, step, err)
			}
			if got := s.List(); len(got) != len(model) {
				t.Fatalf("%d shards, step %d: %d objects; want %d", shards, step, len(got), len(model))
			}
		}
		for key, obj := range model {
			if got, ok := s.Get(key); !ok || got != obj {
				t.Fatalf("%d shards: %q holds %v; want %v", shards, key, got, obj)
			}
			s.Delete(key)
		}
		if err := s.verify(); err != nil || len(s.List()) != 0 ||
			len(s.ListIndexFuncValues("words")) != 0 {
			t.Fatalf("%d shards, emptied: %v, %d objects, values %q", shards, err, len(s.List()),
				s.ListIndexFuncValues("words"))
		}
	}
}

// A read returns the objects of its instant, however late it copies them.
func TestFoundIsOneInstant(t *testing.T) {
	t.Parallel()
	s := New(contract.Indexers{"parity": parity}, Options{Shards: 4})
	for i := range 1000 {
		s.Add(fmt.Sprint(i), i)
	}
	number, err := s.indexes.Load().Find("parity")
	if err != nil {
		t.Fatal(err)
	}
	all := s.find(nil, nil, everything)
	odd := s.find(nil, nil, number, "odd")
	both := s.find(nil, nil, number, "odd", "even")
	none := s.find(nil, make([]entry, 0, fewEntries), number, "neither")
	for i := range 1000 {
		switch i % 3 {
		case 0:
			s.Update(fmt.Sprint(i), i+1) // moves between the values
		case 1:
			s.Delete(fmt.Sprint(i))
		case 2:
			s.Add(fmt.Sprint(-i), i)
		}
	}
	s.Replace(nil, "1")
	for _, c := range []struct {
		name string
		f    found
		want int
	}{{"everything", all, 1000}, {"odd", odd, 500}, {"odd and even", both, 1000},
		{"neither", none, 0}} {
		numbers := c.f.objects()
		keys := c.f.keys()
		if len(numbers) != c.want || len(keys) != c.want || c.f.n != c.want ||
			len(c.f.distinct()) != c.want {
			t.Fatalf("%s: %d objects and %d keys; want %d", c.name, len(numbers), len(keys), c.want)
		}
		for i, obj := range numbers {
			if keys[i] != fmt.Sprint(obj) || c.name == "odd" && obj.(int)%2 == 0 {
				t.Fatalf("%s: object %v under key %q was not there then", c.name, obj, keys[i])
			}
		}
		if slices.Sort(keys); len(slices.Compact(keys)) != c.want {
			t.Fatalf("%s: a key is there twice", c.name)
		}
	}
}

// A goroutine that cannot have all locks must release those that it has, or it would block
// others while it sleeps.
func TestNobodyQueuesWithLocksInHand(t *testing.T) {
	t.Parallel()
	s := New(nil, Options{Shards: 4})
	busy := &s.shards[2]
	busy.mu.Lock()
	if s.tryRLockAll() || tryLockMany(s.all()) != busy {
		t.Error("all shards are locked, and one of them twice")
	}
	busy.mu.Unlock()
	if tryLockMany(s.all()) != nil {
		t.Fatal("a shard was left locked")
	}
	unlockMany(s.all())

	// A reader may be beside readers, and a writer not.
	busy.mu.RLock()
	if !s.tryRLockAll() {
		t.Fatal("a reader keeps another out")
	}
	s.runlockAll()
	if tryLockMany(s.all()) != busy {
		t.Error("a shard is locked that is being read")
	}
	busy.mu.RUnlock()
}

// A goroutine that has tried for long queues, and gets the lock when it is free.
func TestLongWaits(t *testing.T) {
	t.Parallel()
	s := New(nil, Options{Shards: 4})
	s.Add("k", "object")
	shards := s.all()
	lockMany(shards)
	var wg sync.WaitGroup
	var waited atomic.Int64
	for _, wait := range []func(){
		func() {
			s.Get("k")
		}, func() {
			s.Update("k", "newer")
		}, func() { s.List() }, func() { s.Replace(nil, "1") }, func() { s.Delete("k") },
	} {
		wg.Go(func() {
			wait()
			waited.Add(1)
		})
	}
	// Longer than any of them tries without queueing.
	for range 20 * yields {
		runtime.Gosched()
	}
	if n := waited.Load(); n != 0 {
		t.Errorf("%d calls went on although all shards are locked", n)
	}
	unlockMany(shards)
	wg.Wait()
}

// Many that want many locks at once all get them in the end.
func TestManyLocks(t *testing.T) {
	t.Parallel()
	s := New(nil, Options{Shards: 8})
	var wg sync.WaitGroup
	counted := 0
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				shards := s.all()[i/4:] // all, or all but the first: shard 7 is in both
				lockMany(shards)
				counted++
				if i%2 == 0 {
					runtime.Gosched()
				}
				unlockMany(shards)
				s.rlockAll()
				_ = counted
				s.runlockAll()
			}
		})
	}
	wg.Wait()
	if counted != 8*200 {
		t.Errorf("counted %d; want %d: two had the locks at once", counted, 8*200)
	}
}

func parity(obj any) ([]string, error) {
	return []string{[]string{"even", "odd"}[obj.(int)%2]}, nil
}
