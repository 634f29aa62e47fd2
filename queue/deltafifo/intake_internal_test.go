package deltafifo

// What Coalescing and InOrder cost, and their parts.

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

func pods(n int) []any {
	objs := make([]any, n)
	for i := range objs {
		objs[i] = &metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("pod-", i)}
	}
	return objs
}

type intakeFIFO interface {
	contract.FIFO
	contract.BatchPopper
}

func intakeFIFOs() map[string]intakeFIFO {
	return map[string]intakeFIFO{
		"Coalescing":     NewCoalescing(contract.FIFOConfig{}, Options{}),
		"InOrder":        NewInOrder(contract.FIFOConfig{}, Options{}),
		"InOrder-atomic": NewInOrder(contract.FIFOConfig{}, Options{Atomic: true}),
	}
}

// In the steady state an event costs a quarter of an allocation, key included.
func TestAllocations(t *testing.T) {
	objs := pods(1000)
	for name, f := range intakeFIFOs() {
		seen := 0
		see := func(obj any, _ bool) error {
			seen += len(obj.(contract.Deltas))
			return nil
		}
		for _, waiting := range []int{0, 4, 100} { // few, and enough for an index
			for i := range waiting {
				if err := f.Add(objs[i]); err != nil {
					t.Fatal(err)
				}
			}
			next := waiting
			got := testing.AllocsPerRun(10, func() {
				for range 800 {
					if err := f.Add(objs[next%len(objs)]); err != nil {
						t.Fatal(err)
					}
					next++
					if _, err := f.Pop(see); err != nil {
						t.Fatal(err)
					}
				}
			}) / 800
			if got > 0.3 {
				t.Errorf("%s: %v allocations per event with %d waiting, want 0.25", name, got, waiting)
			}
			for range waiting {
				if _, err := f.Pop(see); err != nil {
					t.Fatal(err)
				}
			}
		}
		if seen == 0 {
			t.Errorf("%s: nothing came out", name)
		}
	}
}

// heap returns how many bytes are reachable.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A backlog costs what the package comment says, and is given back. The test runs
// alone in its process but for goroutines of the runtime's; the bounds have room
// for them.
func TestBacklogInBytes(t *testing.T) {
	const n = 200_000
	objs := pods(n)
	for _, c := range []struct {
		name    string
		f       contract.FIFO
		atMost  int // bytes per event that waits
		batches bool
	}{
		{"Coalescing", NewCoalescing(contract.FIFOConfig{}, Options{}), 2 * 112, false},
		{"InOrder", NewInOrder(contract.FIFOConfig{}, Options{}), 60, false},
		{"InOrder-atomic", NewInOrder(contract.FIFOConfig{}, Options{Atomic: true}), 60, true},
	} {
		before := heap()
		for _, obj := range objs {
			if err := c.f.Add(obj); err != nil {
				t.Fatal(err)
			}
		}
		if f, ok := c.f.(*Coalescing); ok && len(f.ListKeys()) != n { // folds
			t.Fatal("not all keys wait")
		}
		if got := (heap() - before) / n; got > c.atMost {
			t.Errorf("%s: an event that waits costs %d bytes, want at most %d", c.name, got, c.atMost)
		} else {
			t.Logf("%s: %d bytes per event that waits", c.name, got)
		}
		c.f.Close()
		for popped := 0; popped < n; {
			count := func(deltas []contract.Delta, _ bool) error {
				popped += len(deltas)
				return nil
			}
			one := func(obj any, initial bool) error { return count(obj.(contract.Deltas), initial) }
			var err error
			if c.batches {
				err = c.f.(contract.BatchPopper).PopBatch(count, one)
			} else {
				_, err = c.f.Pop(one)
			}
			if err != nil {
				t.Fatalf("%s, after %d: %v", c.name, popped, err)
			}
		}
		if got := heap() - before; got > 1<<20 {
			t.Errorf("%s: an empty FIFO keeps %d bytes of a backlog of %d events", c.name, got, n)
		} else {
			t.Logf("%s: empty again, it keeps %d bytes", c.name, got)
		}
		runtime.KeepAlive(c.f)
	}
	runtime.KeepAlive(objs)
}

// The ring of entries against a list, with and without an index.
func TestEntries(t *testing.T) {
	t.Parallel()
	var r entries
	var model []objectKey
	next := 0
	for _, step := range []struct {
		in, out int
	}{{3, 3}, {7, 2}, {20, 10}, {1, 15}, {5000, 4000}, {100, 1101}, {4, 4}} {
		for range step.in {
			key := objectKey{"ns", strconv.Itoa(next)}
			next++
			r.push(key, 0, contract.Delta{Type: contract.Added, Object: key})
			model = append(model, key)
		}
		for range step.out {
			if e := r.front(); e.key != model[0] || e.one.Object != any(model[0]) {
				t.Fatalf("the front is %v, want %v", e.key, model[0])
			}
			r.pop()
			model = model[1:]
		}
		i := 0
		for e := range r.all() {
			if e.key != model[i] || r.find(e.key, 0) != e {
				t.Fatalf("entry %d is %v, want %v, and find gives %v", i, e.key, model[i], r.find(e.key, 0))
			}
			i++
		}
		if i != len(model) || r.len() != i || r.find(objectKey{"ns", "absent"}, 0) != nil || i > 0 &&
			r.find(objectKey{"ns", strconv.Itoa(next - len(model) - 1)}, 0) != nil {
			t.Fatalf("%d entries, want %d, or one that was popped is found", i, len(model))
		}
		held := 0
		for _, slot := range r.slots {
			if slot.key != (objectKey{}) || slot.one.Object != nil || slot.more != nil {
				held++
			}
		}
		placed := 0
		for _, p := range r.places {
			if p != (place{}) {
				placed++
			}
		}
		if held != len(model) || r.indexed && placed != len(model) || !r.indexed && placed > 0 {
			t.Fatalf("%d slots and %d places are held, want %d", held, placed, len(model))
		}
	}
}

func TestKeySet(t *testing.T) {
	t.Parallel()
	var s keySet
	for round := range 3 {
		for i := range 30 {
			if !s.add(objectKey{"ns", strconv.Itoa(i + round)}) {
				t.Fatalf("round %d: a key is there before it was added", round)
			}
			for j := range i + 1 {
				if s.add(objectKey{"ns", strconv.Itoa(j + round)}) {
					t.Fatalf("round %d: a key of %d is taken for new", round, i+1)
				}
			}
		}
		s.reset()
	}
}

// Deltas that were handed out are apart from each other.
func TestCarverKeepsApart(t *testing.T) {
	t.Parallel()
	var c boxPool
	items := make([]any, 3*boxesAtOnce+1)
	for i := range items {
		items[i] = c.one(contract.Delta{Type: contract.Added, Object: i})
	}
	for i, item := range items {
		deltas := item.(contract.Deltas)
		if len(deltas) != 1 || cap(deltas) != 1 || deltas[0].Object != i {
			t.Fatalf("item %d is %v with room for %d", i, deltas, cap(deltas))
		}
		_ = append(deltas, contract.Delta{})
		deltas[0] = contract.Delta{}
	}
}

// Events that come while process runs are folded in the order of arrival, and none that
// arrived behind a list before the list.
func TestFoldStopsBehindAList(t *testing.T) {
	t.Parallel()
	f := NewCoalescing(contract.FIFOConfig{KeyFunc: nameIsKey}, Options{})
	if err := f.Add("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Pop(func(any, bool) error {
		err := errors.Join(f.Add("b"), f.Replace([]any{"c"}, "1"), f.Add("d"))
		f.settle()
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := f.waiting.entries.len(); n != 1 || !f.unsettled.Load() {
			t.Errorf("%d keys wait within process, want b alone", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.ListKeys()); got != "[b c d]" {
		t.Errorf("%s wait after process, want [b c d]", got)
	}
}
