package subject

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// Every update changes something: no version is stored twice in a row under one key, alone
// and by two goroutines.
func TestUpdatesChangeSomething(t *testing.T) {
	for _, op := range []load.Op{load.OpUpdate, load.OpUpdateIndex} {
		t.Run(string(op), func(t *testing.T) {
			w := load.Workload{Name: "w", Component: contract.ComponentStore,
				Objects: synthetic.ObjectSpec{Count: 300}}.WithDefaults()
			spy := &spyStore{last: map[string]any{}}
			s := NewStore(func(contract.Indexers) contract.Store {
				return spy
			}, synthetic.Generate(w.Objects, 1), w)
			s.Fill()
			actors, err := engine.Crew(s, op, 2)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				for _, a := range actors {
					do(a, 77)
				}
			}
			if spy.writes != 2*770 || spy.again != 0 {
				t.Errorf("%d of %d updates stored what was there", spy.again, spy.writes)
			}
		})
	}
}

// The same holds of an operation that is measured, in turns with another.
func TestTurnsUpdateEachTime(t *testing.T) {
	w := load.Workload{Name: "w", Component: contract.ComponentStore,
		Objects: synthetic.ObjectSpec{Count: 5000}, Ops: []load.Op{load.OpUpdateIndex},
		Duration: time.Millisecond}.WithDefaults()
	var spies []*spyStore
	entry := catalog.Entry{Component: contract.ComponentStore, Name: "spy",
		NewStore: func(contract.Indexers) contract.Store {
			spies = append(spies, &spyStore{last: map[string]any{}})
			return spies[len(spies)-1]
		}}
	f := &record.Fork{Process: map[string]float64{}}
	if err := Perform(t.Context(), Side{Entry: entry}, &Side{Entry: entry}, w, f, nil); err != nil {
		t.Fatal(err)
	}
	if d := f.Series[0].Duet; d == nil || len(spies) != 2*len(d.Ratios[metrics.NsPerOp].Sittings) {
		t.Fatalf("%d stores, the duet is %+v; want two in each sitting", len(spies), d)
	}
	for i, spy := range spies {
		if spy.writes == 0 || spy.again != 0 {
			t.Errorf("store %d: %d of %d updates stored what was there", i, spy.again, spy.writes)
		}
	}
}

// The same holds after other operations had their turn: update leaves each object on its
// node, update-index moves each.
func TestTurnsDoNotDisturbUpdates(t *testing.T) {
	t.Parallel()
	w := load.Workload{Name: "w", Component: contract.ComponentStore,
		Objects: synthetic.ObjectSpec{Count: 300}}.WithDefaults()
	spy := &spyStore{last: map[string]any{}}
	s := NewStore(func(contract.Indexers) contract.Store {
		return spy
	}, synthetic.Generate(w.Objects, 1), w)
	s.Fill()
	actor := map[load.Op]engine.Actor{}
	for _, op := range []load.Op{load.OpUpdate, load.OpUpdateIndex} {
		actors, err := engine.Crew(s, op, 1)
		if err != nil {
			t.Fatal(err)
		}
		actor[op] = actors[0]
	}
	for n := range 20 {
		for op, a := range actor {
			a.Begin()
			spy.writes, spy.again, spy.moved = 0, 0, 0
			do(a, 100+7*n)
			if want := map[load.Op]int{load.OpUpdate: 0,
				load.OpUpdateIndex: spy.writes}[op]; spy.moved != want || spy.again != 0 {
				t.Errorf("%s moved %d of %d objects, and stored what was there for %d", op, spy.moved,
					spy.writes, spy.again)
			}
		}
	}
}

// An operation reads the index that its workload names.
func TestByIndexReadsTheWorkloadsIndex(t *testing.T) {
	t.Parallel()
	for index, matches := range map[string]int{synthetic.IndexNamespace: 75, synthetic.IndexNode: 15} {
		w := load.Workload{Name: "w", Component: contract.ComponentStore,
			Objects: synthetic.ObjectSpec{Count: 300, Namespaces: 4, Nodes: 20}, Index: index,
			Ops: []load.Op{load.OpByIndex}}.WithDefaults()
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		spy := &spyStore{last: map[string]any{}}
		objects := synthetic.Generate(w.Objects, 1)
		s := NewStore(func(ix contract.Indexers) contract.Store {
			spy.Store = mutexmap.New(ix)
			spy.Store.Replace(objects.Map(), "1")
			return spy
		}, objects, w)
		actors, err := engine.Crew(s, load.OpByIndex, 1)
		if err != nil {
			t.Fatal(err)
		}
		do(actors[0], 16)
		if len(spy.found) != 16 || slices.Min(spy.found) != matches || slices.Max(spy.found) != matches {
			t.Errorf("index %s: found %v, want %d each time", index, spy.found, matches)
		}
	}
}

// spyStore observes updates and the results of index reads.
type spyStore struct {
	contract.Store
	last                 map[string]any
	writes, again, moved int
	found                []int
}

func (s *spyStore) Replace(items map[string]any, _ string) { s.last = items }
func (s *spyStore) Update(key string, obj any) {
	s.writes++
	if s.last[key] == obj {
		s.again++
	}
	if was, ok := s.last[key].(*corev1.Pod); ok &&
		was.Spec.NodeName != obj.(*corev1.Pod).Spec.NodeName {
		s.moved++
	}
	s.last[key] = obj
}

func (s *spyStore) Get(key string) (any, bool) {
	obj, ok := s.last[key]
	return obj, ok
}

func (s *spyStore) ByIndex(index, value string) ([]any, error) {
	found, err := s.Store.ByIndex(index, value)
	s.found = append(s.found, len(found))
	return found, err
}
