package subject

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Store is a store filled with a workload's objects.
type Store struct {
	seat
	Store   contract.Store
	Objects *synthetic.Objects
	index   string   // the index to read where a group names none
	plant   *float64 // see slowed; nil for none
	// later holds, for update and update-index, a later version of each object on a walk.
	// It is made once and shared by all actors.
	later map[load.Op]map[int]any
}

// NewStore makes the subject of a store, which is empty until Fill.
func NewStore(newStore func(contract.Indexers) contract.Store, objects *synthetic.Objects,
	w load.Workload) *Store {
	s := &Store{Store: newStore(synthetic.Indexers()), Objects: objects, index: w.Index,
		later: map[load.Op]map[int]any{}}
	return s
}

// Fill gives the store all objects.
func (s *Store) Fill() { s.Store.Replace(s.Objects.Map(), "1") }

// Stop is part of engine.Subject.
func (s *Store) Stop() {}

// Held is part of engine.Subject.
func (s *Store) Held() int { return s.Objects.Len() }

const (
	// replaceChunk is how many whole maps a replace actor prepares.
	replaceChunk = 4
	// defaultBatch is the size of a transaction where the workload sets none.
	defaultBatch = 1000
	batchChunk   = 8
)

// Actor is part of engine.Subject.
func (s *Store) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	a, err := s.actor(op, g, who)
	if err == nil && s.plant != nil {
		a = slowed(a, *s.plant)
	}
	return a, err
}

func (s *Store) actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	w := s.walk(s.Objects.Len(), g.Keys, who)
	switch op {
	case load.OpGet, load.OpList, load.OpListKeys:
		return s.reader(op, w), nil
	case load.OpByIndex, load.OpIndex, load.OpIndexKeys:
		return s.indexReader(op, g, w, who)
	case load.OpReplace:
		return s.replacer(), nil
	}
	w, err := s.ownWalk(s.Objects.Len(), g.Keys, who, g.Goroutines)
	if err != nil {
		return engine.Actor{}, fmt.Errorf("store: %s: %w", op, err)
	}
	switch op {
	case load.OpUpdate, load.OpUpdateIndex, load.OpAddDelete:
		return s.writer(op, w), nil
	case load.OpTransaction:
		return s.transactor(w, g.Batch)
	}
	return engine.Actor{}, fmt.Errorf("store: %s: %w", op, engine.ErrUnsupported)
}

// madeKeys are copies of the walk's keys, because a lister makes a string of namespace and
// name, and an informer makes one for each event. Given the stored string itself, Go would
// compare two pointers and not the bytes. That saves a cache miss which real callers pay.
func (s *Store) madeKeys(w *engine.Walk) []string {
	return engine.Along(w, func(i int) string { return strings.Clone(s.Objects.Key(i)) })
}

// eventKeys are two sets of copied keys that a writer uses by turns from lap to lap, as an
// informer makes a new string for each event. With one set, a store that keeps the newest
// string, as a Go map does, would be given the very string it keeps. The strings are made
// in random order and so lie scattered in memory. Made along the walk they would lie side
// by side in its order, and the processor would prefetch them.
func (s *Store) eventKeys(w *engine.Walk) (sets [2][]string) {
	rng := rand.New(rand.NewPCG(1, uint64(len(w.Order))))
	for i := range sets {
		all := make([]string, s.Objects.Len())
		for _, p := range rng.Perm(len(all)) {
			all[p] = strings.Clone(s.Objects.Key(p))
		}
		sets[i] = engine.Along(w, func(p int) string { return all[p] })
	}
	return sets
}

func (s *Store) reader(op load.Op, w *engine.Walk) engine.Actor {
	store := s.Store
	switch op {
	case load.OpGet:
		keys := s.madeKeys(w)
		return engine.Actor{Loop: func(n int) int {
			for range n {
				store.Get(keys[w.Slot()])
			}
			return n
		}}
	case load.OpList:
		return engine.Actor{Loop: func(n int) int {
			for range n {
				store.List()
			}
			return n
		}}
	default:
		return engine.Actor{Loop: func(n int) int {
			for range n {
				store.ListKeys()
			}
			return n
		}}
	}
}

func (s *Store) indexReader(op load.Op, g load.Group, w *engine.Walk, who int) (engine.Actor,
	error) {
	store, index := s.Store, cmp.Or(g.Index, s.index)
	if op == load.OpIndex {
		objects := engine.Along(w, func(i int) any { return s.Objects.At(i) })
		return engine.Actor{Loop: func(n int) int {
			for range n {
				_, _ = store.Index(index, objects[w.Slot()])
			}
			return n
		}}, nil
	}
	all := s.Objects.IndexedValues(index)
	if len(all) == 0 {
		return engine.Actor{}, fmt.Errorf("store: %s: no object has a value in index %q", op, index)
	}
	w = s.walk(len(all), 0, who)
	values := engine.Along(w, func(i int) string { return all[i] })
	if op == load.OpByIndex {
		return engine.Actor{Loop: func(n int) int {
			for range n {
				_, _ = store.ByIndex(index, values[w.Slot()])
			}
			return n
		}}, nil
	}
	return engine.Actor{Loop: func(n int) int {
		for range n {
			_, _ = store.IndexKeys(index, values[w.Slot()])
		}
		return n
	}}, nil
}

// laterVersions gives each object of the walk a second version, so that every update
// changes the object and nothing is generated while the clock runs.
func (s *Store) laterVersions(op load.Op, w *engine.Walk) []any {
	made := s.later[op]
	if made == nil {
		made = map[int]any{}
		s.later[op] = made
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(op))))
	return engine.Along(w, func(i int) any {
		if made[i] == nil {
			made[i] = s.Objects.Mutate(s.Objects.At(i), rng, op == load.OpUpdateIndex)
		}
		return made[i]
	})
}

func (s *Store) firstVersions(w *engine.Walk) []any {
	return engine.Along(w, func(i int) any { return s.Objects.At(i) })
}

// writer switches each object to its other version, pass by pass.
func (s *Store) writer(op load.Op, w *engine.Walk) engine.Actor {
	store := s.Store
	if op == load.OpAddDelete {
		keys := s.madeKeys(w)
		objects, stored := s.firstVersions(w), engine.Along(w, s.Objects.Key)
		return engine.Actor{Loop: func(n int) int {
			for range n {
				i := w.Slot()
				store.Delete(keys[i])
				store.Add(stored[i], objects[i])
			}
			return n
		}}
	}
	keys, versions := s.eventKeys(w), [2][]any{s.laterVersions(op, w), s.firstVersions(w)}
	return engine.Actor{
		Begin: s.restorer(w, keys, versions),
		Loop: func(n int) int {
			for range n {
				k, v := keys[w.Pass()], versions[w.Pass()]
				i := w.Slot()
				store.Update(k[i], v[i])
			}
			return n
		},
	}
}

// restorer restores the versions that the walk left. Operations that take turns store
// versions of their own. An update of such a version would move an object between index
// values when it must not, or store the version that is there.
func (s *Store) restorer(w *engine.Walk, keys [2][]string, versions [2][]any) func() {
	return func() {
		for slot, pass := range w.Visited {
			key, left := keys[pass][slot], versions[pass][slot]
			if got, _ := s.Store.Get(key); got != left {
				s.Store.Update(key, left)
			}
		}
	}
}

// replacer replaces the store's contents by whole new maps; making them is not timed.
func (s *Store) replacer() engine.Actor {
	store := s.Store
	var maps []map[string]any
	return engine.Actor{
		Chunk: replaceChunk,
		Prepare: func(n int) {
			maps = maps[:0]
			for range n {
				maps = append(maps, s.Objects.Map())
			}
		},
		Loop: func(n int) int {
			for i := range n {
				store.Replace(maps[i], "1")
				maps[i] = nil
			}
			return n
		},
	}
}

// transactor updates batches of objects; making the batches is not timed.
func (s *Store) transactor(w *engine.Walk, batch int) (engine.Actor, error) {
	store, ok := s.Store.(contract.Transactor)
	if !ok {
		return engine.Actor{}, fmt.Errorf("store: %s: %w", load.OpTransaction, engine.ErrUnsupported)
	}
	if batch <= 1 {
		batch = defaultBatch
	}
	keys, versions := s.eventKeys(w), [2][]any{s.laterVersions(load.OpUpdate, w), s.firstVersions(w)}
	var batches [][]contract.StoreTransaction
	return engine.Actor{
		Begin: s.restorer(w, keys, versions),
		Chunk: batchChunk,
		Prepare: func(n int) {
			batches = batches[:0]
			for range n {
				b := make([]contract.StoreTransaction, batch)
				for j := range b {
					k, v := keys[w.Pass()], versions[w.Pass()]
					i := w.Slot()
					b[j] = contract.StoreTransaction{Key: k[i],
						Transaction: contract.Transaction{Type: contract.TransactionTypeUpdate, Object: v[i]}}
				}
				batches = append(batches, b)
			}
		},
		Loop: func(n int) int {
			for i := range n {
				store.Transaction(batches[i]...)
			}
			return n
		},
	}, nil
}
