package mutexmap

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Store is a contract.Store and has every optional power: it satisfies
// cache.ThreadSafeStoreWithTransaction. All methods may be called by any number
// of goroutines at once. An IndexFunc must not call the store that it indexes.
type Store struct {
	// writing is held by each write that calls IndexFuncs: they are called one at a time
	// (STORE-48), in Replace while readers go on. It is locked before mu.
	writing sync.Mutex
	mu      struct {
		sync.RWMutex
		items   map[string]any
		indexes []*index
		byName  map[string]*index
		version string
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
	s.mu.items = map[string]any{}
	s.mu.byName = make(map[string]*index, len(indexers))
	for name, f := range indexers {
		s.addIndexLocked(&index{name: name, compute: f, keys: postings{}})
	}
	return s
}

// Add stores obj under key; it is Update by another name (STORE-2). O(indexes).
// It panics, with nothing written, if an IndexFunc fails (STORE-27, STORE-28).
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key and takes its resource version if it has metadata.
// O(indexes). It panics, with nothing written, if an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeLocked(key, obj)
	if known {
		s.mu.version = version
	}
}

// Delete removes key, if it is there. The resource version stays as it was:
// DeleteWithObject moves it. O(indexes).
func (s *Store) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes key, if it is there, and takes the resource version of
// obj, the object in its last state; obj may be nil. O(indexes).
func (s *Store) DeleteWithObject(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(key)
	if known {
		s.mu.version = version
	}
}

// Get returns the object under key. O(1), no allocation.
func (s *Store) Get(key string) (item any, exists bool) {
	s.mu.RLock()
	item, exists = s.mu.items[key]
	s.mu.RUnlock()
	return item, exists
}

// List returns all objects, in no order, in a slice that is the caller's. O(n)
// under the read lock.
func (s *Store) List() []any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]any, 0, len(s.mu.items))
	for _, item := range s.mu.items {
		list = append(list, item)
	}
	return list
}

// ListKeys returns all keys, in no order, in a slice that is the caller's. O(n)
// under the read lock.
func (s *Store) ListKeys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]string, 0, len(s.mu.items))
	for key := range s.mu.items {
		keys = append(keys, key)
	}
	return keys
}

// Replace makes items the whole content of the store, at one instant, and takes
// the map over; nil stands for an empty one. It panics, with nothing changed, if
// an IndexFunc fails. O(n*indexes), for which other writers wait, except Bookmark; readers do not.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	if items == nil {
		items = map[string]any{}
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	built := buildAll(s.mu.indexes, items) // indexes changes with writing held only

	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.mu.indexes {
		x.keys = built[i]
	}
	s.mu.items = items
	s.mu.version = resourceVersion
}

// AddIndexers adds indexes and fills them with the stored objects, at one instant. It
// returns an error, with nothing added, if the store has an index of one of the
// names, and panics, with nothing added, if an IndexFunc fails. O(n*len(newIndexers))
// under the write lock.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	added := make([]*index, 0, len(newIndexers))
	for name, f := range newIndexers {
		if _, taken := s.mu.byName[name]; taken {
			return indexing.ErrTaken(name)
		}
		added = append(added, &index{name: name, compute: f})
	}
	for i, keys := range buildAll(added, s.mu.items) {
		added[i].keys = keys
	}
	for _, x := range added {
		s.addIndexLocked(x)
	}
	return nil
}

// GetIndexers returns a copy of the indexers, which is the caller's.
func (s *Store) GetIndexers() contract.Indexers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	indexers := make(contract.Indexers, len(s.mu.indexes))
	for _, x := range s.mu.indexes {
		indexers[x.name] = x.compute
	}
	return indexers
}

// Resync does nothing; it is there for cache.ThreadSafeStore.
func (s *Store) Resync() error { return nil }

// Index returns the objects that share a value of the index with obj, each once.
// The errors are those of ByIndex and of the IndexFunc, which runs under the read
// lock.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, err := s.findLocked(indexName)
	if err != nil {
		return nil, err
	}
	values, err := x.compute(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return s.objectsLocked(x.keys[values[0]]), nil
	}
	union := set{}
	for _, value := range values {
		maps.Copy(union, x.keys[value])
	}
	return s.objectsLocked(union), nil
}

// ByIndex returns the objects that have the value in the index, in no order, in a
// slice that is the caller's. An index that the store does not have is an error;
// a value that no object has is not. O(matches).
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, err := s.findLocked(indexName)
	if err != nil {
		return nil, err
	}
	return s.objectsLocked(x.keys[indexedValue]), nil
}

// IndexKeys returns the keys of the objects that have the value in the index,
// sorted. The errors are those of ByIndex. O(matches log matches), the sorting
// outside the lock.
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	keys, err := s.indexKeys(indexName, indexedValue)
	slices.Sort(keys)
	return keys, err
}

func (s *Store) indexKeys(indexName, indexedValue string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, err := s.findLocked(indexName)
	if err != nil {
		return nil, err
	}
	matches := x.keys[indexedValue]
	keys := make([]string, 0, len(matches))
	for key := range matches {
		keys = append(keys, key)
	}
	return keys, nil
}

// ListIndexFuncValues returns the values that stored objects have in the index,
// in no order; an index that the store does not have has none. O(values).
func (s *Store) ListIndexFuncValues(indexName string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, err := s.findLocked(indexName)
	if err != nil {
		return []string{}
	}
	values := make([]string, 0, len(x.keys))
	for value := range x.keys {
		values = append(values, value)
	}
	return values
}

// Bookmark sets the resource version.
func (s *Store) Bookmark(rv string) {
	s.mu.Lock()
	s.mu.version = rv
	s.mu.Unlock()
}

// LastStoreSyncResourceVersion returns the resource version of the newest write
// that had one (STORE-40). Unlike client-go's it heeds no feature gate.
func (s *Store) LastStoreSyncResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.version
}

func (s *Store) addIndexLocked(x *index) {
	s.mu.indexes = append(s.mu.indexes, x)
	s.mu.byName[x.name] = x
}

func (s *Store) findLocked(indexName string) (*index, error) {
	x, ok := s.mu.byName[indexName]
	if !ok {
		return nil, indexing.ErrUnknown(indexName)
	}
	return x, nil
}

func (s *Store) objectsLocked(keys set) []any {
	list := make([]any, 0, len(keys))
	for key := range keys {
		list = append(list, s.mu.items[key])
	}
	return list
}
