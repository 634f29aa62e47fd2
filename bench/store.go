package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// storeSubject is a store filled with a workload's objects.
type storeSubject struct {
	store   contract.Store
	objects *load.Objects
	index   string // the index to read where a group names none
	// later holds, for update and update-index, a later version of each object on a walk.
	// It is made once and shared by all actors.
	later map[load.Op]map[int]any
}

func newStoreSubject(newStore func(contract.Indexers) contract.Store, objects *load.Objects, w load.Workload) *storeSubject {
	s := &storeSubject{store: newStore(load.Indexers()), objects: objects, index: w.Index, later: map[load.Op]map[int]any{}}
	return s
}

// Fill gives the store all objects.
func (s *storeSubject) Fill() { s.store.Replace(s.objects.Map(), "1") }

func (s *storeSubject) Stop()     {}
func (s *storeSubject) Held() int { return s.objects.Len() }

const (
	// replaceChunk is how many whole maps a replace actor prepares.
	replaceChunk = 4
	// defaultBatch is the size of a transaction where the workload sets none.
	defaultBatch = 1000
	batchChunk   = 8
)

func (s *storeSubject) Actor(op load.Op, g load.Group, who int) (Actor, error) {
	w := newWalk(s.objects.Len(), g.Keys, who)
	switch op {
	case load.OpGet, load.OpList, load.OpListKeys:
		return s.reader(op, w), nil
	case load.OpByIndex, load.OpIndex, load.OpIndexKeys:
		return s.indexReader(op, g, w, who)
	case load.OpReplace:
		return s.replacer(), nil
	}
	w, err := ownWalk(s.objects.Len(), g.Keys, who, g.Goroutines)
	if err != nil {
		return Actor{}, fmt.Errorf("store: %s: %w", op, err)
	}
	switch op {
	case load.OpUpdate, load.OpUpdateIndex, load.OpAddDelete:
		return s.writer(op, w), nil
	case load.OpTransaction:
		return s.transactor(w, g.Batch)
	}
	return Actor{}, fmt.Errorf("store: %s: %w", op, ErrUnsupported)
}

// madeKeys are copies of the walk's keys, because a lister makes a string of namespace and
// name, and an informer makes one for each event. Given the stored string itself, Go would
// compare two pointers and not the bytes. That saves a cache miss which real callers pay.
func (s *storeSubject) madeKeys(w *walk) []string {
	return along(w, func(i int) string { return strings.Clone(s.objects.Key(i)) })
}

// eventKeys are two sets of copied keys that a writer uses by turns from lap to lap, as an
// informer makes a new string for each event. With one set, a store that keeps the newest
// string, as a Go map does, would be given the very string it keeps. The strings are made
// in random order and so lie scattered in memory. Made along the walk they would lie side
// by side in its order, and the processor would prefetch them.
func (s *storeSubject) eventKeys(w *walk) (sets [2][]string) {
	rng := rand.New(rand.NewPCG(1, uint64(len(w.order))))
	for i := range sets {
		all := make([]string, s.objects.Len())
		for _, p := range rng.Perm(len(all)) {
			all[p] = strings.Clone(s.objects.Key(p))
		}
		sets[i] = along(w, func(p int) string { return all[p] })
	}
	return sets
}

func (s *storeSubject) reader(op load.Op, w *walk) Actor {
	store := s.store
	switch op {
	case load.OpGet:
		keys := s.madeKeys(w)
		return Actor{Loop: func(n int) int {
			for range n {
				store.Get(keys[w.slot()])
			}
			return n
		}}
	case load.OpList:
		return Actor{Loop: func(n int) int {
			for range n {
				store.List()
			}
			return n
		}}
	default:
		return Actor{Loop: func(n int) int {
			for range n {
				store.ListKeys()
			}
			return n
		}}
	}
}

func (s *storeSubject) indexReader(op load.Op, g load.Group, w *walk, who int) (Actor, error) {
	store, index := s.store, g.Index
	if index == "" {
		index = s.index
	}
	if op == load.OpIndex {
		objects := along(w, func(i int) any { return s.objects.At(i) })
		return Actor{Loop: func(n int) int {
			for range n {
				_, _ = store.Index(index, objects[w.slot()])
			}
			return n
		}}, nil
	}
	all := s.objects.IndexedValues(index)
	if len(all) == 0 {
		return Actor{}, fmt.Errorf("store: %s: no object has a value in index %q", op, index)
	}
	w = newWalk(len(all), 0, who)
	values := along(w, func(i int) string { return all[i] })
	if op == load.OpByIndex {
		return Actor{Loop: func(n int) int {
			for range n {
				_, _ = store.ByIndex(index, values[w.slot()])
			}
			return n
		}}, nil
	}
	return Actor{Loop: func(n int) int {
		for range n {
			_, _ = store.IndexKeys(index, values[w.slot()])
		}
		return n
	}}, nil
}

// laterVersions gives each object of the walk a second version, so that every update
// changes the object and nothing is generated while the clock runs.
func (s *storeSubject) laterVersions(op load.Op, w *walk) []any {
	made := s.later[op]
	if made == nil {
		made = map[int]any{}
		s.later[op] = made
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(op))))
	return along(w, func(i int) any {
		if made[i] == nil {
			made[i] = s.objects.Mutate(s.objects.At(i), rng, op == load.OpUpdateIndex)
		}
		return made[i]
	})
}

func (s *storeSubject) firstVersions(w *walk) []any {
	return along(w, func(i int) any { return s.objects.At(i) })
}

// writer switches each object to its other version, pass by pass.
func (s *storeSubject) writer(op load.Op, w *walk) Actor {
	store := s.store
	if op == load.OpAddDelete {
		keys := s.madeKeys(w)
		objects, stored := s.firstVersions(w), along(w, s.objects.Key)
		return Actor{Loop: func(n int) int {
			for range n {
				i := w.slot()
				store.Delete(keys[i])
				store.Add(stored[i], objects[i])
			}
			return n
		}}
	}
	keys, versions := s.eventKeys(w), [2][]any{s.laterVersions(op, w), s.firstVersions(w)}
	return Actor{
		Begin: s.restorer(w, keys, versions),
		Loop: func(n int) int {
			for range n {
				k, v := keys[w.pass()], versions[w.pass()]
				i := w.slot()
				store.Update(k[i], v[i])
			}
			return n
		},
	}
}

// restorer restores the versions that the walk left. Operations that take turns store
// versions of their own. An update of such a version would move an object between index
// values when it must not, or store the version that is there.
func (s *storeSubject) restorer(w *walk, keys [2][]string, versions [2][]any) func() {
	return func() {
		done := w.at & w.mask
		for i := range w.order {
			pass := w.pass() ^ 1
			if uint32(i) < done {
				pass ^= 1
			}
			key, left := keys[pass][i], versions[pass][i]
			if got, _ := s.store.Get(key); got != left {
				s.store.Update(key, left)
			}
		}
	}
}

// replacer replaces the store's contents by whole new maps; making them is not timed.
func (s *storeSubject) replacer() Actor {
	store := s.store
	var maps []map[string]any
	return Actor{
		Chunk: replaceChunk,
		Prepare: func(n int) {
			maps = maps[:0]
			for range n {
				maps = append(maps, s.objects.Map())
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
func (s *storeSubject) transactor(w *walk, batch int) (Actor, error) {
	store, ok := s.store.(contract.Transactor)
	if !ok {
		return Actor{}, fmt.Errorf("store: %s: %w", load.OpTransaction, ErrUnsupported)
	}
	if batch <= 1 {
		batch = defaultBatch
	}
	keys, versions := s.eventKeys(w), [2][]any{s.laterVersions(load.OpUpdate, w), s.firstVersions(w)}
	var batches [][]contract.StoreTransaction
	return Actor{
		Begin: s.restorer(w, keys, versions),
		Chunk: batchChunk,
		Prepare: func(n int) {
			batches = batches[:0]
			for range n {
				b := make([]contract.StoreTransaction, batch)
				for j := range b {
					k, v := keys[w.pass()], versions[w.pass()]
					i := w.slot()
					b[j] = contract.StoreTransaction{Key: k[i], Transaction: contract.Transaction{Type: contract.TransactionTypeUpdate, Object: v[i]}}
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
