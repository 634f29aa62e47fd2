package objects

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Store is a store whose callers give and get objects, over one that holds what a keeper keeps.
// What it promises of concurrency and of one instant is the inner store's. While an object that it
// returned is referenced, it returns the same one; later an equal one, so that a clause which wants
// the very object holds for as long as anyone can tell.
type Store struct {
	kept   cache.ThreadSafeStoreWithTransaction
	keeper contract.ObjectKeeper
	slots  struct {
		sync.Mutex
		of map[string]int // by the index's name; a slot is never used again
	}
}

var (
	_ cache.ThreadSafeStoreWithTransaction = (*Store)(nil)
	_ contract.Appender                    = (*Store)(nil)
)

// NewStore returns a Store over what newInner makes.
func NewStore(keeper contract.ObjectKeeper, indexers contract.Indexers,
	newInner func(contract.Indexers) cache.ThreadSafeStoreWithTransaction) *Store {
	s := &Store{keeper: keeper}
	s.slots.of = map[string]int{}
	s.kept = newInner(s.around(indexers))
	return s
}

// Kept returns the inner store, for those that write and read what the keeper keeps.
func (s *Store) Kept() cache.ThreadSafeStoreWithTransaction { return s.kept }

// around makes IndexFuncs take what is kept too. A keeper that remembers values spares a deletion
// or a move the object that went.
func (s *Store) around(indexers contract.Indexers) contract.Indexers {
	values, remembers := s.keeper.(contract.ValueKeeper)
	wrapped := make(contract.Indexers, len(indexers))
	for name, compute := range indexers {
		if compute == nil {
			wrapped[name] = nil
			continue
		}
		wrapped[name] = func(kept any) ([]string, error) { return compute(s.keeper.Object(kept)) }
		if remembers {
			slot := s.slot(name)
			wrapped[name] = func(kept any) ([]string, error) { return values.Values(kept, slot, compute) }
		}
	}
	return wrapped
}

func (s *Store) slot(name string) int {
	s.slots.Lock()
	defer s.slots.Unlock()
	n, known := s.slots.of[name]
	if !known {
		n = len(s.slots.of)
		s.slots.of[name] = n
	}
	return n
}

// Add keeps obj under key.
func (s *Store) Add(key string, obj any) { s.kept.Add(key, s.keeper.Keep(obj)) }

// Update keeps obj under key.
func (s *Store) Update(key string, obj any) { s.kept.Update(key, s.keeper.Keep(obj)) }

// Delete removes key.
func (s *Store) Delete(key string) { s.kept.Delete(key) }

// DeleteWithObject removes key and takes the resource version of obj.
func (s *Store) DeleteWithObject(key string, obj any) { s.kept.DeleteWithObject(key, obj) }

// Replace makes items the whole content.
func (s *Store) Replace(items map[string]any, resourceVersion string) {
	kept := make(map[string]any, len(items))
	for key, obj := range items {
		kept[key] = s.keeper.Keep(obj)
	}
	s.kept.Replace(kept, resourceVersion)
}

// Transaction applies the writes as one.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	kept := make([]contract.StoreTransaction, len(txns))
	for i, txn := range txns {
		kept[i] = txn
		if txn.Type != contract.TransactionTypeDelete {
			kept[i].Object = s.keeper.Keep(txn.Object)
		}
	}
	s.kept.Transaction(kept...)
}

// Get returns the object under key.
func (s *Store) Get(key string) (item any, exists bool) {
	kept, exists := s.kept.Get(key)
	return s.keeper.Object(kept), exists
}

// List returns all objects.
func (s *Store) List() []any { return s.open(s.kept.List()) }

// AppendList appends what List returns to dst.
func (s *Store) AppendList(dst []any) []any {
	if a, ok := s.kept.(contract.Appender); ok {
		n := len(dst)
		dst = a.AppendList(dst)
		s.open(dst[n:])
		return dst
	}
	return append(dst, s.List()...)
}

// ListKeys returns all keys.
func (s *Store) ListKeys() []string { return s.kept.ListKeys() }

// Index returns the objects that share a value of the index with obj.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	kept, err := s.kept.Index(indexName, obj)
	return s.open(kept), err
}

// ByIndex returns the objects that have the value in the index.
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	kept, err := s.kept.ByIndex(indexName, indexedValue)
	return s.open(kept), err
}

// AppendByIndex appends what ByIndex returns to dst.
func (s *Store) AppendByIndex(dst []any, indexName, indexedValue string) ([]any, error) {
	if a, ok := s.kept.(contract.Appender); ok {
		n := len(dst)
		dst, err := a.AppendByIndex(dst, indexName, indexedValue)
		s.open(dst[n:])
		return dst, err
	}
	list, err := s.ByIndex(indexName, indexedValue)
	return append(dst, list...), err
}

// IndexKeys returns the keys of the objects that have the value in the index.
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	return s.kept.IndexKeys(indexName, indexedValue)
}

// ListIndexFuncValues returns the values that objects have in the index.
func (s *Store) ListIndexFuncValues(indexName string) []string {
	return s.kept.ListIndexFuncValues(indexName)
}

// GetIndexers returns the indexers. Their functions take objects, and what is kept.
func (s *Store) GetIndexers() contract.Indexers { return s.kept.GetIndexers() }

// AddIndexers adds indexers. It makes each object once.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	return s.kept.AddIndexers(s.around(newIndexers))
}

// Resync does nothing.
func (s *Store) Resync() error { return s.kept.Resync() }

// Bookmark sets the resource version.
func (s *Store) Bookmark(rv string) { s.kept.Bookmark(rv) }

// LastStoreSyncResourceVersion returns the resource version of the newest write.
func (s *Store) LastStoreSyncResourceVersion() string { return s.kept.LastStoreSyncResourceVersion() }

// open puts objects in the place of what is kept. A list is its caller's.
func (s *Store) open(list []any) []any {
	for i, kept := range list {
		list[i] = s.keeper.Object(kept)
	}
	return list
}
