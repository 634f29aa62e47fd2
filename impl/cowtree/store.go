package cowtree

import (
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Store is a contract.Store and has every optional power: it satisfies
// cache.ThreadSafeStoreWithTransaction. All methods may be called by any number
// of goroutines at once. An IndexFunc must not write to the store that it indexes.
type Store struct {
	// current is stored by the writer that holds mu, and loaded by every reader. The state
	// that it points to never changes.
	current atomic.Pointer[state]

	mu struct {
		sync.Mutex
		// trees are the writer's alone: it publishes clones of them. A clone shares all
		// nodes, and neither tree changes a shared node.
		trees trees
	}
}

var (
	_ cache.ThreadSafeStoreWithTransaction = (*Store)(nil)
	_ contract.Store                       = (*Store)(nil)
	_ contract.Transactor                  = (*Store)(nil)
	_ contract.ObjectDeleter               = (*Store)(nil)
	_ contract.ResourceVersioner           = (*Store)(nil)
)

// New returns an empty store with the given indexers, which may be nil. The map
// is copied.
func New(indexers contract.Indexers) *Store {
	s := &Store{}
	set := indexing.NewSet(indexers)
	s.mu.trees = trees{newObjects(), grown(nil, newObjects(), set)}
	s.publishAllLocked(set, "")
	return s
}

// publishAllLocked publishes clones of all of the writer's trees.
func (s *Store) publishAllLocked(set *indexing.Set, version string) {
	next := &state{objects: s.mu.trees.objects.Clone(), set: set, version: version}
	for _, index := range s.mu.trees.indexes {
		next.indexes = append(next.indexes, index.Clone())
	}
	s.current.Store(next)
}

// writeLocked carries out planned writes and publishes clones of the object tree and of the
// index trees that they changed. The published clones of the other trees stay.
func (s *Store) writeLocked(changes []indexing.Change, version string, known bool) {
	changed := s.mu.trees.apply(changes)
	next := *s.current.Load()
	next.objects = s.mu.trees.objects.Clone()
	if slices.Contains(changed, true) {
		next.indexes = slices.Clone(next.indexes)
	}
	for number, index := range s.mu.trees.indexes {
		if changed[number] {
			next.indexes[number] = index.Clone()
		}
	}
	if known {
		next.version = version
	}
	s.current.Store(&next)
}

// Add stores obj under key; it is Update by another name (STORE-2).
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key and takes its resource version if it has metadata.
// O(indexes*log n). It panics, with nothing written, if an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current.Load()
	old, _ := now.get(key)
	moves := now.set.AppendMoves(indexing.Values{}, key, old, obj)
	s.writeLocked([]indexing.Change{{Key: key, Object: obj, Moves: moves}}, version, known)
}

// Delete removes key, if it is there. The resource version stays as it was:
// DeleteWithObject moves it. O(indexes*log n).
func (s *Store) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes key, if it is there, and takes the resource version of
// obj, the object in its last state; obj may be nil. O(indexes*log n).
func (s *Store) DeleteWithObject(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current.Load()
	old, exists := now.get(key)
	var changes []indexing.Change
	if exists {
		moves := now.set.AppendMoves(indexing.Values{}, key, old, nil)
		changes = []indexing.Change{{Key: key, Delete: true, Moves: moves}}
	} else if !known {
		return
	}
	s.writeLocked(changes, version, known)
}

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does
// nothing, as in client-go. If an IndexFunc fails it panics with none of the
// writes applied. O(len(txns)*indexes*log n), and one publication.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current.Load()
	changes := now.set.Plan(txns, func(key string) any {
		obj, _ := now.get(key)
		return obj
	})
	s.writeLocked(changes, version, known)
}

// Replace makes items the whole content of the store, at one instant; nil stands
// for an empty map. It panics, with nothing changed, if an IndexFunc fails.
// O(n*indexes*log n), for which other writers wait and readers do not: IndexFuncs are
// called one at a time (STORE-48).
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.current.Load().set
	built := trees{objects: newObjects()}
	for key, obj := range items {
		built.objects.ReplaceOrInsert(object{key, obj})
	}
	built.indexes = grown(nil, built.objects, set)
	s.mu.trees = built
	s.publishAllLocked(set, resourceVersion)
}

// AddIndexers adds indexes and fills them with the stored objects, at one instant. It
// returns an error, with nothing added, if the store has an index of one of the
// names, and panics, with nothing added, if an IndexFunc fails. O(n*log n) for each
// index, while other writers wait and readers do not.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current.Load()
	larger, err := now.set.With(newIndexers)
	if err != nil {
		return err
	}
	s.mu.trees.indexes = grown(s.mu.trees.indexes, now.objects, larger)
	s.publishAllLocked(larger, now.version)
	return nil
}

// GetIndexers returns a copy of the indexers, which is the caller's.
func (s *Store) GetIndexers() contract.Indexers { return s.current.Load().set.Indexers() }

// Resync does nothing; it is there for cache.ThreadSafeStore.
func (s *Store) Resync() error { return nil }

// Get returns the object under key. O(log n), no allocation.
func (s *Store) Get(key string) (item any, exists bool) { return s.current.Load().get(key) }

// List returns all objects, in the order of their keys, in a slice that is the
// caller's. O(n).
func (s *Store) List() []any {
	now := s.current.Load()
	list := make([]any, 0, now.objects.Len())
	now.objects.Ascend(func(o object) bool {
		list = append(list, o.value)
		return true
	})
	return list
}

// ListKeys returns all keys, sorted, in a slice that is the caller's. O(n).
func (s *Store) ListKeys() []string {
	now := s.current.Load()
	keys := make([]string, 0, now.objects.Len())
	now.objects.Ascend(func(o object) bool {
		keys = append(keys, o.key)
		return true
	})
	return keys
}

// Index returns the objects that share a value of the index with obj, each once.
// The errors are those of ByIndex and of the IndexFunc.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	now := s.current.Load()
	number, err := now.set.Find(indexName)
	if err != nil {
		return nil, err
	}
	values, err := now.set.Probe(number, obj)
	if err != nil {
		return nil, err
	}
	list, seen := []any{}, map[string]struct{}{}
	for _, value := range values {
		now.keysOf(number, value, func(key string) {
			if _, again := seen[key]; again {
				return
			}
			if len(values) > 1 {
				seen[key] = struct{}{}
			}
			item, _ := now.get(key)
			list = append(list, item)
		})
	}
	return list, nil
}

// ByIndex returns the objects that have the value in the index, in the order of
// their keys, in a slice that is the caller's. An index that the store does not
// have is an error; a value that no object has is not. O(matches*log n).
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	now := s.current.Load()
	number, err := now.set.Find(indexName)
	if err != nil {
		return nil, err
	}
	list := []any{}
	now.keysOf(number, indexedValue, func(key string) {
		item, _ := now.get(key)
		list = append(list, item)
	})
	return list, nil
}

// IndexKeys returns the keys of the objects that have the value in the index,
// sorted. The errors are those of ByIndex. O(log n + matches).
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	now := s.current.Load()
	number, err := now.set.Find(indexName)
	if err != nil {
		return nil, err
	}
	keys := []string{}
	now.keysOf(number, indexedValue, func(key string) { keys = append(keys, key) })
	return keys, nil
}

// ListIndexFuncValues returns the values that stored objects have in the index,
// sorted; an index that the store does not have has none. O(values*log n).
func (s *Store) ListIndexFuncValues(indexName string) []string {
	now := s.current.Load()
	number, err := now.set.Find(indexName)
	if err != nil {
		return []string{}
	}
	return now.valuesOf(number)
}

// Bookmark sets the resource version.
func (s *Store) Bookmark(rv string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.current.Load()
	next.version = rv
	s.current.Store(&next)
}

// LastStoreSyncResourceVersion returns the resource version of the newest write
// that had one (STORE-40). Unlike client-go's it heeds no feature gate.
func (s *Store) LastStoreSyncResourceVersion() string { return s.current.Load().version }
