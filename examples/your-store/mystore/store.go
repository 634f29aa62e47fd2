// Package mystore is a store for programs that write often and seldom read an index. It has
// no index: the values of each object lie beside it, and a read of an index looks at all
// objects. It keeps the whole contract of a store.
//
// Costs, for n objects and i indexes: Get O(1); Add, Update and Delete O(i) under a lock that
// readers hold too; List, ListKeys, ByIndex, Index, IndexKeys and ListIndexFuncValues O(n).
package mystore

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/contract"
)

// Store is a contract.Store. All methods may be called by any number of goroutines at once.
type Store struct {
	mu struct {
		sync.RWMutex
		indexers contract.Indexers
		records  map[string]record
	}
}

// record is an object with the values that it has in each index.
type record struct {
	object any
	values map[string][]string // by the name of the index; not changed once stored
}

// New returns an empty store. The map of indexers is copied and may be nil.
func New(indexers contract.Indexers) *Store {
	s := &Store{}
	s.mu.indexers, s.mu.records = maps.Clone(indexers), map[string]record{}
	return s
}

// valuesOf computes the values of an object in some indexes. It panics if an IndexFunc fails,
// and so must run before anything is written.
func valuesOf(indexers contract.Indexers, key string, object any) map[string][]string {
	values := make(map[string][]string, len(indexers))
	for name, compute := range indexers {
		if object == nil {
			continue
		}
		v, err := compute(object)
		if err != nil {
			panic(fmt.Errorf("mystore: index %q of %q: %w", name, key, err))
		}
		values[name] = slices.Clone(v) // the slice is the IndexFunc's
	}
	return values
}

// Add stores an object.
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores an object. It panics, and writes nothing, if an IndexFunc fails.
func (s *Store) Update(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.records[key] = record{obj, valuesOf(s.mu.indexers, key, obj)}
}

// Delete removes an object.
func (s *Store) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.records, key)
}

// Replace makes items the whole content. It panics, and writes nothing, if an IndexFunc fails.
func (s *Store) Replace(items map[string]any, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	records := make(map[string]record, len(items))
	for key, obj := range items {
		records[key] = record{obj, valuesOf(s.mu.indexers, key, obj)}
	}
	s.mu.records = records
}

// Get returns the object under key.
func (s *Store) Get(key string) (item any, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.mu.records[key]
	return r.object, ok
}

// List returns all objects.
func (s *Store) List() []any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]any, 0, len(s.mu.records))
	for _, r := range s.mu.records {
		list = append(list, r.object)
	}
	return list
}

// ListKeys returns all keys.
func (s *Store) ListKeys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq(make([]string, 0, len(s.mu.records)), maps.Keys(s.mu.records))
}

// find calls found with each record that has one of the values in an index.
func (s *Store) find(index string, values []string, found func(key string, object any)) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.mu.indexers[index] == nil {
		return noIndex(index)
	}
	for key, r := range s.mu.records {
		if slices.ContainsFunc(r.values[index], func(v string) bool {
			return slices.Contains(values, v)
		}) {
			found(key, r.object)
		}
	}
	return nil
}

func noIndex(name string) error {
	return fmt.Errorf("mystore: Index with name %s does not exist", name)
}

// ByIndex returns the objects that have a value in an index.
func (s *Store) ByIndex(indexName, indexedValue string) (objects []any, err error) {
	err = s.find(indexName, []string{indexedValue}, func(_ string, o any) {
		objects = append(objects, o)
	})
	return objects, err
}

// IndexKeys returns the keys of the objects that have a value in an index, sorted.
func (s *Store) IndexKeys(indexName, indexedValue string) (keys []string, err error) {
	err = s.find(indexName, []string{indexedValue}, func(key string, _ any) {
		keys = append(keys, key)
	})
	slices.Sort(keys)
	return keys, err
}

// Index returns the objects that share a value in an index with obj.
func (s *Store) Index(indexName string, obj any) (objects []any, err error) {
	compute := s.GetIndexers()[indexName]
	if compute == nil {
		return nil, noIndex(indexName)
	}
	values, err := compute(obj)
	if err != nil {
		return nil, err
	}
	err = s.find(indexName, values, func(_ string, o any) { objects = append(objects, o) })
	return objects, err
}

// ListIndexFuncValues returns the values that objects have in an index.
func (s *Store) ListIndexFuncValues(indexName string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	values := map[string]bool{}
	for _, r := range s.mu.records {
		for _, v := range r.values[indexName] {
			values[v] = true
		}
	}
	return slices.Collect(maps.Keys(values))
}

// GetIndexers returns a copy of the indexers.
func (s *Store) GetIndexers() contract.Indexers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.mu.indexers)
}

// AddIndexers adds indexes, of the objects that are there too. A name that is taken is an
// error. It panics if an IndexFunc fails. Either way it adds none.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range newIndexers {
		if s.mu.indexers[name] != nil {
			return fmt.Errorf("mystore: indexer conflict: there is an index %q already", name)
		}
	}
	records := make(map[string]record, len(s.mu.records))
	for key, r := range s.mu.records {
		values := valuesOf(newIndexers, key, r.object)
		maps.Copy(values, r.values)
		records[key] = record{r.object, values}
	}
	indexers := contract.Indexers{}
	maps.Copy(indexers, s.mu.indexers)
	maps.Copy(indexers, newIndexers)
	s.mu.indexers, s.mu.records = indexers, records
	return nil
}

// Resync does nothing.
func (s *Store) Resync() error { return nil }
