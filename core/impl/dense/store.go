package dense

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/indexing"
)

// Store is a contract.Store and has every optional power: it satisfies
// cache.ThreadSafeStoreWithTransaction. All methods may be called by any number
// of goroutines at once. An IndexFunc must not call the store that it indexes.
type Store struct {
	// computing is held by a write that calls IndexFuncs: they are called one at a time
	// (STORE-48), while readers go on. It is locked before mu.
	computing sync.Mutex
	// indexes is replaced, by a larger set, with computing and the write lock held: the
	// holder of either lock sees the set that the table has.
	indexes atomic.Pointer[indexing.Set]
	// size is the number of objects after the last write. Lists allocate by it before they
	// take the lock. It may be out of date at any time.
	size atomic.Int64

	mu struct {
		sync.RWMutex
		table   *table
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
	s.indexes.Store(indexing.NewSet(indexers))
	s.mu.table = newTable(len(indexers), 0)
	return s
}

// Add stores obj under key; it is Update by another name (STORE-2).
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key and takes its resource version if it has metadata.
// O(indexes). It panics, with nothing written, if an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.computing.Lock()
	defer s.computing.Unlock()
	var room indexing.Room
	values := s.indexes.Load().AppendValues(room.Values(), 0, key, obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.table.store(key, obj, values)
	s.wroteLocked(version, known)
}

// Delete removes key, if it is there. The resource version stays as it was:
// DeleteWithObject moves it. O(indexes).
func (s *Store) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes key, if it is there, and takes the resource version of
// obj, the object in its last state; obj may be nil. O(indexes).
func (s *Store) DeleteWithObject(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.table.remove(key)
	s.wroteLocked(version, known)
}

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does
// nothing, as in client-go. If an IndexFunc fails it panics with none of the
// writes applied. O(len(txns)*indexes); readers do not wait for the IndexFuncs.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	s.computing.Lock()
	defer s.computing.Unlock()
	set := s.indexes.Load()
	values := set.ValuesOfBatch(txns)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, txn := range txns {
		switch txn.Type {
		case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
			s.mu.table.store(txn.Key, txn.Object, values.Object(i, set.Len()))
		case contract.TransactionTypeDelete:
			s.mu.table.remove(txn.Key)
		}
	}
	s.wroteLocked(version, known)
}

// Replace makes items the whole content of the store, at one instant; nil stands
// for an empty map. It panics, with nothing changed, if an IndexFunc fails.
// O(n*indexes), for which AddIndexers and writes that store objects wait; readers do not.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	s.computing.Lock()
	defer s.computing.Unlock()
	set := s.indexes.Load()
	t := newTable(set.Len(), len(items))
	var values indexing.Values
	for key, obj := range items {
		values = set.AppendValues(values.Emptied(), 0, key, obj)
		t.store(key, obj, values)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.table = t
	s.wroteLocked(resourceVersion, true)
}

// wroteLocked ends a write: it notes the size and, if known, the resource version.
func (s *Store) wroteLocked(version string, known bool) {
	s.size.Store(int64(len(s.mu.table.keys)))
	if known {
		s.mu.version = version
	}
}

// AddIndexers adds indexes and fills them with the stored objects, at one instant. It
// returns an error, with nothing added, if the store has an index of one of the
// names, and panics, with nothing added, if an IndexFunc fails. O(n*len(newIndexers))
// under the write lock.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.computing.Lock()
	defer s.computing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	larger, err := s.indexes.Load().With(newIndexers)
	if err != nil {
		return err
	}
	s.mu.table.extend(larger)
	s.indexes.Store(larger)
	return nil
}

// GetIndexers returns a copy of the indexers, which is the caller's.
func (s *Store) GetIndexers() contract.Indexers { return s.indexes.Load().Indexers() }

// Resync does nothing; it is there for cache.ThreadSafeStore.
func (s *Store) Resync() error { return nil }

// Get returns the object under key. O(1), no allocation.
func (s *Store) Get(key string) (item any, exists bool) {
	s.mu.RLock()
	r, exists := s.mu.table.records[key]
	if exists {
		item = r.object
	}
	s.mu.RUnlock()
	return item, exists
}

// List returns all objects, in no order, in a slice that is the caller's. Under the
// read lock it copies n entries.
func (s *Store) List() []any {
	list := make([]any, 0, s.size.Load())
	s.mu.RLock()
	defer s.mu.RUnlock()
	return append(list, s.mu.table.objects...)
}

// ListKeys returns all keys, in no order, in a slice that is the caller's. Under
// the read lock it copies n entries.
func (s *Store) ListKeys() []string {
	keys := make([]string, 0, s.size.Load())
	s.mu.RLock()
	defer s.mu.RUnlock()
	return append(keys, s.mu.table.keys...)
}

// Index returns the objects that share a value of the index with obj, each once.
// The errors are those of ByIndex and of the IndexFunc, which runs outside the lock.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	set := s.indexes.Load()
	number, err := set.Find(indexName)
	if err != nil {
		return nil, err
	}
	values, err := set.Probe(number, obj)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(values) == 1 {
		return slices.Clone(s.bucketLocked(number, values[0]).objects), nil
	}
	union := map[*record]struct{}{}
	for _, value := range values {
		for _, r := range s.bucketLocked(number, value).records {
			union[r] = struct{}{}
		}
	}
	list := make([]any, 0, len(union))
	for r := range union {
		list = append(list, r.object)
	}
	return list, nil
}

// ByIndex returns the objects that have the value in the index, in no order, in a
// slice that is the caller's. An index that the store does not have is an error;
// a value that no object has is not. Under the read lock it copies the matches.
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	number, err := s.indexes.Load().Find(indexName)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.bucketLocked(number, indexedValue).objects), nil
}

// IndexKeys returns the keys of the objects that have the value in the index,
// sorted. The errors are those of ByIndex. O(matches log matches), the sorting
// outside the lock.
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	number, err := s.indexes.Load().Find(indexName)
	if err != nil {
		return nil, err
	}
	keys := s.indexKeys(number, indexedValue)
	slices.Sort(keys)
	return keys, nil
}

func (s *Store) indexKeys(number int, value string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	records := s.bucketLocked(number, value).records
	keys := make([]string, len(records))
	for i, r := range records {
		keys[i] = s.mu.table.keys[r.at]
	}
	return keys
}

// nobody is the empty bucket that stands for a value that no object has.
var nobody = &bucket{objects: []any{}, records: []*record{}}

func (s *Store) bucketLocked(number int, value string) *bucket {
	if b := s.mu.table.indexes[number][value]; b != nil {
		return b
	}
	return nobody
}

// ListIndexFuncValues returns the values that stored objects have in the index,
// in no order; an index that the store does not have has none. O(values).
func (s *Store) ListIndexFuncValues(indexName string) []string {
	number, err := s.indexes.Load().Find(indexName)
	if err != nil {
		return []string{}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	values := s.mu.table.indexes[number]
	return slices.AppendSeq(make([]string, 0, len(values)), maps.Keys(values))
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
