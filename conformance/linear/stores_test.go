package linear_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

func clientGo(ix contract.Indexers) contract.Store {
	return cache.NewThreadSafeStore(ix, cache.Indices{})
}

// simple is the obvious store: one mutex and one map. It answers every question by looking
// at all objects.
type simple struct {
	mu struct {
		sync.Mutex
		items    map[string]any
		indexers contract.Indexers
		version  string
	}
}

var _ cache.ThreadSafeStoreWithTransaction = (*simple)(nil)

func newSimple(ix contract.Indexers) contract.Store {
	s := &simple{}
	s.mu.items, s.mu.indexers = map[string]any{}, maps.Clone(ix)
	return s
}

func (s *simple) writeLocked(key string, obj any, deleted bool) {
	if deleted {
		delete(s.mu.items, key)
	} else {
		s.mu.items[key] = obj
	}
	if m, err := meta.Accessor(obj); err == nil {
		s.mu.version = m.GetResourceVersion()
	}
}

func (s *simple) DeleteWithObject(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLocked(key, obj, true)
}

func (s *simple) Update(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLocked(key, obj, false)
}

func (s *simple) Add(key string, obj any) { s.Update(key, obj) }
func (s *simple) Delete(key string)       { s.DeleteWithObject(key, nil) }
func (s *simple) Resync() error           { return nil }

func (s *simple) Transaction(txns ...contract.StoreTransaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, txn := range txns {
		s.writeLocked(txn.Key, txn.Object, txn.Type == contract.TransactionTypeDelete)
	}
}

func (s *simple) Replace(items map[string]any, rv string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.items, s.mu.version = items, rv
}

func (s *simple) Bookmark(rv string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.version = rv
}

func (s *simple) LastStoreSyncResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.version
}

func (s *simple) Get(key string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, ok := s.mu.items[key]
	return obj, ok
}

func (s *simple) List() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.mu.items))
}

func (s *simple) ListKeys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.mu.items))
}

// keysLocked returns the sorted keys of the objects that have one of the values.
func (s *simple) keysLocked(index string, of ...string) ([]string, error) {
	f := s.mu.indexers[index]
	if f == nil {
		return nil, fmt.Errorf("no index %q", index)
	}
	var keys []string
	for key, obj := range s.mu.items {
		values, err := f(obj)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(values, func(v string) bool { return slices.Contains(of, v) }) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

func (s *simple) IndexKeys(index, value string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keysLocked(index, value)
}

func (s *simple) objectsLocked(index string, of ...string) (objects []any, err error) {
	keys, err := s.keysLocked(index, of...)
	for _, key := range keys {
		objects = append(objects, s.mu.items[key])
	}
	return objects, err
}

func (s *simple) ByIndex(index, value string) ([]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objectsLocked(index, value)
}

func (s *simple) Index(index string, obj any) ([]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.mu.indexers[index]
	if f == nil {
		return nil, fmt.Errorf("no index %q", index)
	}
	values, err := f(obj)
	if err != nil {
		return nil, err
	}
	return s.objectsLocked(index, values...)
}

func (s *simple) ListIndexFuncValues(index string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]bool{}
	if f := s.mu.indexers[index]; f != nil {
		for _, obj := range s.mu.items {
			values, _ := f(obj)
			for _, v := range values {
				all[v] = true
			}
		}
	}
	return slices.Collect(maps.Keys(all))
}

func (s *simple) GetIndexers() contract.Indexers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mu.indexers)
}

func (s *simple) AddIndexers(ix contract.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range ix {
		if s.mu.indexers[name] != nil {
			return fmt.Errorf("index %q is taken", name)
		}
	}
	maps.Copy(s.mu.indexers, ix)
	return nil
}
