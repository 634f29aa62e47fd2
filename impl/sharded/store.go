package sharded

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// DefaultShards is the number of shards if Options do not set it. With four, the memory
// stays below one and a half times the baseline's, see the package comment.
const DefaultShards = 4

// Options configures New. The zero value is the default.
type Options struct {
	// Shards is the number of locks that the keys are split over. More locks let more
	// writers work at once, and make every read of more than one object dearer. It is
	// rounded up to a power of two; 0 or less means DefaultShards.
	Shards int
}

// Store is a contract.Store and has every optional power: it satisfies
// cache.ThreadSafeStoreWithTransaction. All methods may be called by any number
// of goroutines at once. An IndexFunc must not call the store that it indexes.
type Store struct {
	seed   maphash.Seed
	shards []shard // a power of two of them
	// computing is held while IndexFuncs are called for a write: they are called one at a
	// time (STORE-48). It is locked before any shard.
	computing sync.Mutex
	// indexes is replaced, by a larger set, with computing and every shard locked: the
	// holder of one of these locks sees the set that the tables have.
	indexes atomic.Pointer[indexing.Set]

	// mu is taken last, with shards locked.
	mu struct {
		sync.Mutex
		version string
	}
}

// shard is a lock and what it guards. Locks of several shards are taken in the
// order of the shards.
type shard struct {
	mu struct {
		sync.RWMutex
		table *table
	}
	_ [96]byte // keeps the next shard's lock out of this cache line and of the adjacent one
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
func New(indexers contract.Indexers, opts Options) *Store {
	shards := opts.Shards
	if shards <= 0 {
		shards = DefaultShards
	}
	s := &Store{seed: maphash.MakeSeed(), shards: make([]shard, 1<<bits.Len(uint(shards-1)))}
	s.indexes.Store(indexing.NewSet(indexers))
	for i := range s.shards {
		s.shards[i].mu.table = newTable(len(indexers), 0)
	}
	return s
}

func (s *Store) shardOf(key string) *shard { return &s.shards[s.shardNumber(key)] }

func (s *Store) shardNumber(key string) int {
	return int(maphash.String(s.seed, key) & uint64(len(s.shards)-1))
}

// took sets the resource version of a write, whose shards are still locked. So the resource
// versions of writes to one key are set in the order of the writes.
func (s *Store) took(version string, known bool) {
	if !known {
		return
	}
	s.mu.Lock()
	s.mu.version = version
	s.mu.Unlock()
}

// Add stores obj under key; it is Update by another name (STORE-2).
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key and takes its resource version if it has metadata.
// O(indexes) under the lock of the key's shard. It panics, with nothing written, if
// an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	h := s.shardOf(key)
	var room indexing.Room
	set, values := s.compute(room.Values(), key, obj)
	h.lock()
	for s.indexes.Load() != set { // an AddIndexers came in between
		h.mu.Unlock()
		set, values = s.compute(values.Emptied(), key, obj)
		h.lock()
	}
	defer h.mu.Unlock()
	h.mu.table.store(key, obj, values)
	s.took(version, known)
}

// compute returns the values of an object, and in which indexes they are.
func (s *Store) compute(room indexing.Values, key string, obj any) (*indexing.Set,
	indexing.Values) {
	s.computing.Lock()
	defer s.computing.Unlock()
	set := s.indexes.Load()
	return set, set.AppendValues(room, 0, key, obj)
}

// Delete removes key, if it is there. The resource version stays as it was:
// DeleteWithObject moves it. O(indexes).
func (s *Store) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes key, if it is there, and takes the resource version of
// obj, the object in its last state; obj may be nil. O(indexes).
func (s *Store) DeleteWithObject(key string, obj any) {
	version, known := indexing.VersionOf(obj)
	h := s.shardOf(key)
	h.lock()
	defer h.mu.Unlock()
	h.mu.table.remove(key)
	s.took(version, known)
}

// Replace makes items the whole content of the store, at one instant; nil stands
// for an empty map. It panics, with nothing changed, if an IndexFunc fails.
// O(n*indexes), for which AddIndexers and other writes that store objects wait; all other
// calls go on. It holds the shards' locks only to exchange pointers.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	s.computing.Lock()
	defer s.computing.Unlock()
	set := s.indexes.Load()
	tables := make([]*table, len(s.shards))
	for i := range tables {
		tables[i] = newTable(set.Len(), len(items)/len(tables))
	}
	var values indexing.Values
	for key, obj := range items {
		values = set.AppendValues(values.Emptied(), 0, key, obj)
		tables[s.shardNumber(key)].store(key, obj, values)
	}
	shards := s.all()
	lockMany(shards)
	defer unlockMany(shards)
	for i, t := range tables {
		s.shards[i].mu.table = t
	}
	s.took(resourceVersion, true)
}

// AddIndexers adds indexes and fills them with the stored objects, at one instant. It
// returns an error, with nothing added, if the store has an index of one of the
// names, and panics, with nothing added, if an IndexFunc fails. O(n*len(newIndexers))
// with every shard locked.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.computing.Lock()
	defer s.computing.Unlock()
	shards := s.all()
	lockMany(shards)
	defer unlockMany(shards)
	larger, err := s.indexes.Load().With(newIndexers)
	if err != nil {
		return err
	}
	additions := make([]addition, len(s.shards))
	for i := range s.shards {
		additions[i] = s.shards[i].mu.table.addition(larger)
	}
	for i := range s.shards {
		s.shards[i].mu.table.extend(larger.Len(), additions[i])
	}
	s.indexes.Store(larger)
	return nil
}

// GetIndexers returns a copy of the indexers, which is the caller's.
func (s *Store) GetIndexers() contract.Indexers { return s.indexes.Load().Indexers() }

// Resync does nothing; it is there for cache.ThreadSafeStore.
func (s *Store) Resync() error { return nil }

// Bookmark sets the resource version.
func (s *Store) Bookmark(rv string) { s.took(rv, true) }

// LastStoreSyncResourceVersion returns the resource version of the newest write
// that had one (STORE-40). Unlike client-go's it heeds no feature gate.
func (s *Store) LastStoreSyncResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.version
}
