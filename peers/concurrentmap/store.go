package concurrentmap

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Store is a contract.Store, except for the clauses that the package comment names, and has
// every optional power: it has the methods of cache.ThreadSafeStoreWithTransaction.
// All methods may be called by any number of goroutines at once. An IndexFunc must
// not call the store that it indexes.
type Store struct {
	newMap func(size int) objectMap
	// content is replaced by Replace, with the lock held. For readers without a lock, that
	// store is the instant of the Replace.
	content atomic.Pointer[content]

	// writing is held by each write that calls IndexFuncs: they are called one at a time
	// (STORE-48), in Replace while readers go on. It is locked before mu.
	writing sync.Mutex
	// mu is held while an index is written, and content with it.
	mu struct {
		sync.RWMutex
		set      *indexing.Set
		postings []postings // by the number of the index
		version  string
	}
}

// content is the objects, and their number, size, by which lists allocate their result.
// size may be out of date beside writers.
type content struct {
	objects objectMap
	size    atomic.Int64
}

// postings maps an indexed value to the objects that have it, by key. No map in it
// is empty: values that come and go would grow it for ever (kubernetes#84959).
type postings map[string]map[string]any

var (
	_ cache.ThreadSafeStoreWithTransaction = (*Store)(nil)
	_ contract.Store                       = (*Store)(nil)
	_ contract.Transactor                  = (*Store)(nil)
	_ contract.ObjectDeleter               = (*Store)(nil)
	_ contract.ResourceVersioner           = (*Store)(nil)
)

func newStore(indexers contract.Indexers, newMap func(size int) objectMap) *Store {
	s := &Store{newMap: newMap}
	s.content.Store(&content{objects: newMap(0)})
	s.mu.set = indexing.NewSet(indexers)
	s.mu.postings = grown(nil, s.mu.set, nil)
	return s
}

// grown returns indexes and, after them, the further indexes of set, filled with the objects
// that each yields. It panics, with nothing touched, if an IndexFunc fails.
func grown(indexes []postings, set *indexing.Set,
	each func(visit func(key string, obj any) bool)) []postings {
	known := len(indexes)
	indexes = slices.Clone(indexes)
	for range set.Len() - known {
		indexes = append(indexes, postings{})
	}
	if each == nil || len(indexes) == known {
		return indexes
	}
	var values indexing.Values
	each(func(key string, obj any) bool {
		values = set.AppendValues(values.Emptied(), known, key, obj)
		for i := range values.Len() {
			for _, value := range values.List(i) {
				indexes[known+i].put(value, key, obj)
			}
		}
		return true
	})
	return indexes
}

func (p postings) put(value, key string, obj any) {
	matches := p[value]
	if matches == nil {
		matches = map[string]any{}
		p[value] = matches
	}
	matches[key] = obj
}

func (p postings) drop(value, key string) {
	matches := p[value]
	delete(matches, key)
	if len(matches) == 0 {
		delete(p, value)
	}
}

// writeLocked carries out a planned write. Get sees it as soon as the map has it; readers of
// an index see it once the lock is released.
func (s *Store) writeLocked(key string, obj any, deletes bool, moves indexing.Values) {
	c := s.content.Load()
	_, existed := c.objects.Load(key)
	switch {
	case deletes && existed:
		c.objects.Delete(key)
		c.size.Add(-1)
	case !deletes:
		c.objects.Store(key, obj)
		if !existed {
			c.size.Add(1)
		}
	}
	for number, index := range s.mu.postings {
		m := moves.Move(number)
		m.Diff(func(value string) { index.drop(value, key) }, func(string) {})
		for _, value := range m.To { // also where the key stays: the object has changed
			index.put(value, key, obj)
		}
	}
}

func (s *Store) tookLocked(version string, known bool) {
	if known {
		s.mu.version = version
	}
}

// Add stores obj under key; it is Update by another name (STORE-2).
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key and takes its resource version if it has metadata.
// O(indexes). It panics, with nothing written, if an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var room indexing.Room
	moves := s.mu.set.AppendMoves(room.Values(), key, s.stored(key), obj)
	s.writeLocked(key, obj, false, moves)
	s.tookLocked(version, known)
}

// stored returns the object under key, nil if there is none.
func (s *Store) stored(key string) any {
	obj, _ := s.content.Load().objects.Load(key)
	return obj
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
	var room indexing.Room
	moves := s.mu.set.AppendMoves(room.Values(), key, s.stored(key), nil)
	s.writeLocked(key, nil, true, moves)
	s.tookLocked(version, known)
}

// Transaction applies the writes in their order, and takes the resource version of
// the last one's object. It is one instant to every read of an index, and not to
// Get, List and ListKeys. A write of unknown type does nothing, as in client-go. If an
// IndexFunc fails it panics with none of the writes applied. O(len(txns)*indexes).
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.mu.set.Plan(txns, s.stored) {
		s.writeLocked(c.Key, c.Object, c.Delete, c.Moves)
	}
	s.tookLocked(version, known)
}

// Replace makes items the whole content of the store, at one instant; nil stands
// for an empty map. It panics, with nothing changed, if an IndexFunc fails.
// O(n*indexes), for which other writers wait, except Bookmark; readers do not.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	set := s.mu.set // it changes with writing held only
	c := &content{objects: s.newMap(len(items))}
	c.size.Store(int64(len(items)))
	for key, obj := range items {
		c.objects.Store(key, obj)
	}
	built := grown(nil, set, c.objects.Range)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.postings = built
	s.content.Store(c)
	s.tookLocked(resourceVersion, true)
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
	larger, err := s.mu.set.With(newIndexers)
	if err != nil {
		return err
	}
	s.mu.postings = grown(s.mu.postings, larger, s.content.Load().objects.Range)
	s.mu.set = larger
	return nil
}

// GetIndexers returns a copy of the indexers, which is the caller's.
func (s *Store) GetIndexers() contract.Indexers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.set.Indexers()
}

// Resync does nothing; it is there for cache.ThreadSafeStore.
func (s *Store) Resync() error { return nil }

// Get returns the object under key, without a lock. O(1).
func (s *Store) Get(key string) (item any, exists bool) {
	return s.content.Load().objects.Load(key)
}

// List returns all objects, in no order, in a slice that is the caller's, without a
// lock. Beside writers it is no single instant: an object that is written meanwhile may be
// listed or not, in its old state or its new, independently of other objects. O(n).
func (s *Store) List() []any {
	c := s.content.Load()
	list := make([]any, 0, c.size.Load())
	c.objects.Range(func(_ string, obj any) bool {
		list = append(list, obj)
		return true
	})
	return list
}

// ListKeys returns all keys, in no order, in a slice that is the caller's, without a
// lock. Like List, it sees no single instant beside writers. O(n).
func (s *Store) ListKeys() []string {
	c := s.content.Load()
	keys := make([]string, 0, c.size.Load())
	c.objects.Range(func(key string, _ any) bool {
		keys = append(keys, key)
		return true
	})
	return keys
}

// Index returns the objects that share a value of the index with obj, each once.
// The errors are those of ByIndex and of the IndexFunc, which runs under the read
// lock.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	number, err := s.mu.set.Find(indexName)
	if err != nil {
		return nil, err
	}
	values, err := s.mu.set.Probe(number, obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return s.matchesLocked(number, values[0]), nil
	}
	union := map[string]any{}
	for _, value := range values {
		maps.Copy(union, s.mu.postings[number][value])
	}
	return slices.AppendSeq(make([]any, 0, len(union)), maps.Values(union)), nil
}

// ByIndex returns the objects that have the value in the index, in no order, in a
// slice that is the caller's. An index that the store does not have is an error;
// a value that no object has is not. O(matches) under the read lock.
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	number, err := s.mu.set.Find(indexName)
	if err != nil {
		return nil, err
	}
	return s.matchesLocked(number, indexedValue), nil
}

func (s *Store) matchesLocked(number int, value string) []any {
	matches := s.mu.postings[number][value]
	return slices.AppendSeq(make([]any, 0, len(matches)), maps.Values(matches))
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
	number, err := s.mu.set.Find(indexName)
	if err != nil {
		return nil, err
	}
	matches := s.mu.postings[number][indexedValue]
	return slices.AppendSeq(make([]string, 0, len(matches)), maps.Keys(matches)), nil
}

// ListIndexFuncValues returns the values that stored objects have in the index,
// in no order; an index that the store does not have has none. O(values).
func (s *Store) ListIndexFuncValues(indexName string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	number, err := s.mu.set.Find(indexName)
	if err != nil {
		return []string{}
	}
	values := s.mu.postings[number]
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
