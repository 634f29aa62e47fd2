package rows

import (
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Store is a contract.Store and a contract.Transactor. All methods may be called by any number of
// goroutines at once, and readers wait for no one.
type Store struct {
	db Database
	// set is stored after the rows have its indexes.
	set atomic.Pointer[indexing.Set]
	// writing is held by each write, and while set changes.
	writing sync.Mutex
}

var (
	_ contract.Store      = (*Store)(nil)
	_ contract.Transactor = (*Store)(nil)
)

// NewStore returns a store over db, which must be empty. The map of indexers may be nil.
func NewStore(db Database, indexers contract.Indexers) *Store {
	s := &Store{db: db}
	s.set.Store(indexing.NewSet(indexers))
	return s
}

// write makes the writes of work, or none if work panics.
func (s *Store) write(work func(tx Tx, set *indexing.Set)) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.writeLocked(work)
}

func (s *Store) writeLocked(work func(tx Tx, set *indexing.Set)) {
	tx := s.db.Begin()
	defer tx.Abort()
	work(tx, s.set.Load())
	tx.Commit()
}

// Add stores obj under key.
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key. It panics, and writes nothing, if an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	s.write(func(tx Tx, set *indexing.Set) { tx.Put(newRow(set, key, obj)) })
}

// Delete removes key.
func (s *Store) Delete(key string) {
	s.write(func(tx Tx, _ *indexing.Set) { tx.Delete(key) })
}

// Transaction applies the writes at one instant. It panics, and writes nothing, if an IndexFunc
// fails.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	s.write(func(tx Tx, set *indexing.Set) {
		for _, txn := range txns {
			switch txn.Type {
			case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
				tx.Put(newRow(set, txn.Key, txn.Object))
			case contract.TransactionTypeDelete:
				tx.Delete(txn.Key)
			}
		}
	})
}

// Replace makes items the whole content. It panics, and writes nothing, if an IndexFunc fails.
func (s *Store) Replace(items map[string]any, _ string) {
	s.write(func(tx Tx, set *indexing.Set) {
		tx.Clear()
		for key, obj := range items {
			tx.Put(newRow(set, key, obj))
		}
	})
}

// AddIndexers adds indexes. A name that is taken is an error. It panics if an IndexFunc fails.
// Either way it adds none.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	known := s.set.Load().Len()
	larger, err := s.set.Load().With(newIndexers)
	if err != nil {
		return err
	}
	now := s.db.Snapshot()
	s.writeLocked(func(tx Tx, _ *indexing.Set) {
		now.All(func(r *Row) {
			tx.Put(&Row{r.Key, r.Object, appendEntries(r.Entries, larger, known, r.Key, r.Object)})
		})
	})
	s.set.Store(larger)
	return nil
}

// GetIndexers returns a copy of the indexers.
func (s *Store) GetIndexers() contract.Indexers { return s.set.Load().Indexers() }

// Resync does nothing.
func (s *Store) Resync() error { return nil }

// Get returns the object under key.
func (s *Store) Get(key string) (item any, exists bool) {
	if r := s.db.Get(key); r != nil {
		return r.Object, true
	}
	return nil, false
}

// List returns all objects.
func (s *Store) List() []any {
	list := []any{}
	s.db.Snapshot().All(func(r *Row) { list = append(list, r.Object) })
	return list
}

// ListKeys returns all keys.
func (s *Store) ListKeys() []string {
	keys := []string{}
	s.db.Snapshot().All(func(r *Row) { keys = append(keys, r.Key) })
	return keys
}

// Index returns the objects that share a value of the index with obj, each once.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	set := s.set.Load()
	number, err := set.Find(indexName)
	if err != nil {
		return nil, err
	}
	values, err := set.Probe(number, obj)
	if err != nil {
		return nil, err
	}
	now, list, seen := s.db.Snapshot(), []any{}, map[*Row]bool{}
	for _, value := range values {
		now.Find(Entry{number, value}, func(r *Row) {
			if !seen[r] {
				seen[r] = true
				list = append(list, r.Object)
			}
		})
	}
	return list, nil
}

// ByIndex returns the objects that have the value in the index.
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	list := []any{}
	err := s.find(indexName, indexedValue, func(r *Row) { list = append(list, r.Object) })
	return list, err
}

// IndexKeys returns the keys of the objects that have the value in the index.
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	keys := []string{}
	err := s.find(indexName, indexedValue, func(r *Row) { keys = append(keys, r.Key) })
	return keys, err
}

func (s *Store) find(index, value string, visit func(*Row)) error {
	number, err := s.set.Load().Find(index)
	if err != nil {
		return err
	}
	s.db.Snapshot().Find(Entry{number, value}, visit)
	return nil
}

// ListIndexFuncValues returns the values that objects have in the index.
func (s *Store) ListIndexFuncValues(indexName string) []string {
	values := []string{}
	number, err := s.set.Load().Find(indexName)
	if err != nil {
		return values
	}
	seen := map[string]bool{}
	s.db.Snapshot().All(func(r *Row) {
		for _, e := range r.Entries {
			if e.Index == number && !seen[e.Value] {
				seen[e.Value] = true
				values = append(values, e.Value)
			}
		}
	})
	return values
}
