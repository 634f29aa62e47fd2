package linear_test

import (
	"maps"
	"runtime"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// base is the store that broken stores wrap: client-go's, with all optional interfaces.
// Where a broken store makes two calls of base in a row, another client may come in
// between.
type base = cache.ThreadSafeStoreWithTransaction

// listByKeys reads each object by itself.
type listByKeys struct{ base }

func (s listByKeys) List() []any {
	var list []any
	for _, k := range s.ListKeys() {
		if o, ok := s.Get(k); ok {
			list = append(list, o)
		}
	}
	return list
}

// appendsByKeys appends each object by itself.
type appendsByKeys struct{ base }

func (s appendsByKeys) AppendList(dst []any) []any { return append(dst, listByKeys(s).List()...) }

func (s appendsByKeys) AppendByIndex(dst []any, index, value string) ([]any, error) {
	objects, err := byIndexByKeys(s).ByIndex(index, value)
	return append(dst, objects...), err
}

// halves keeps some keys in one store and the others in another, each with a lock of its
// own. It has no optional interface.
type halves [2]contract.Store

func newHalves(ix contract.Indexers) contract.Store {
	return halves{clientGo(maps.Clone(ix)), clientGo(maps.Clone(ix))}
}

func (s halves) of(key string) contract.Store { return s[key[0]%2] }

func (s halves) Add(key string, obj any)    { s.of(key).Add(key, obj) }
func (s halves) Update(key string, obj any) { s.of(key).Update(key, obj) }
func (s halves) Delete(key string)          { s.of(key).Delete(key) }
func (s halves) Get(key string) (any, bool) { return s.of(key).Get(key) }
func (s halves) List() []any                { return append(s[0].List(), s[1].List()...) }
func (s halves) ListKeys() []string         { return append(s[0].ListKeys(), s[1].ListKeys()...) }
func (s halves) Resync() error              { return nil }

func (s halves) Replace(items map[string]any, rv string) {
	parts := [2]map[string]any{{}, {}}
	for k, o := range items {
		parts[k[0]%2][k] = o
	}
	s[0].Replace(parts[0], rv)
	s[1].Replace(parts[1], rv)
}

func (s halves) Index(index string, obj any) ([]any, error) {
	first, _ := s[0].Index(index, obj)
	second, err := s[1].Index(index, obj)
	return append(first, second...), err
}

func (s halves) ByIndex(index, value string) ([]any, error) {
	first, _ := s[0].ByIndex(index, value)
	second, err := s[1].ByIndex(index, value)
	return append(first, second...), err
}

func (s halves) IndexKeys(index, value string) ([]string, error) {
	first, _ := s[0].IndexKeys(index, value)
	second, err := s[1].IndexKeys(index, value)
	return slices.Sorted(slices.Values(append(first, second...))), err
}

func (s halves) ListIndexFuncValues(index string) []string {
	all := append(s[0].ListIndexFuncValues(index), s[1].ListIndexFuncValues(index)...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (s halves) GetIndexers() contract.Indexers { return s[0].GetIndexers() }

func (s halves) AddIndexers(ix contract.Indexers) error {
	if err := s[0].AddIndexers(ix); err != nil {
		return err
	}
	return s[1].AddIndexers(ix)
}

// overlaid returns an object that it is about to store beside the stored ones.
type overlaid struct {
	base
	mu struct {
		sync.Mutex
		coming []any
	}
}

func (s *overlaid) Update(key string, obj any) {
	s.mu.Lock()
	s.mu.coming = append(s.mu.coming, obj)
	s.mu.Unlock()
	s.base.Update(key, obj)
	s.mu.Lock()
	s.mu.coming = slices.DeleteFunc(s.mu.coming, func(o any) bool { return o == obj })
	s.mu.Unlock()
}

func (s *overlaid) List() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(s.base.List(), s.mu.coming...)
}

// byIndexByKeys reads the keys first and their objects later.
type byIndexByKeys struct{ base }

func (s byIndexByKeys) ByIndex(index, value string) ([]any, error) {
	keys, err := s.IndexKeys(index, value)
	var list []any
	for _, k := range keys {
		if o, ok := s.Get(k); ok {
			list = append(list, o)
		}
	}
	return list, err
}

// indexByValue reads one value of the index after the other.
type indexByValue struct {
	base
	first contract.Indexers
}

func (s indexByValue) Index(index string, obj any) ([]any, error) {
	f := s.first[index]
	if f == nil {
		return s.base.Index(index, obj)
	}
	values, err := f(obj)
	var list []any
	for _, v := range values {
		some, _ := s.ByIndex(index, v)
		for _, o := range some {
			if !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
	}
	return list, err
}

// lateValues keeps the values of its indexes apart, and brings them up to date
// after each write.
type lateValues struct {
	base
	first contract.Indexers
	mu    struct {
		sync.Mutex
		values map[string][]string
	}
}

func (s *lateValues) after() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.values = map[string][]string{}
	for name := range s.first {
		s.mu.values[name] = s.base.ListIndexFuncValues(name)
	}
}

func (s *lateValues) Add(key string, obj any)    { s.base.Add(key, obj); s.after() }
func (s *lateValues) Update(key string, obj any) { s.base.Update(key, obj); s.after() }
func (s *lateValues) Delete(key string)          { s.base.Delete(key); s.after() }

func (s *lateValues) Replace(items map[string]any, rv string) {
	s.base.Replace(items, rv)
	s.after()
}

func (s *lateValues) ListIndexFuncValues(index string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.values[index])
}

// busy drops an update if its lock is held, where it should wait.
type busy struct {
	base
	mu sync.Mutex
}

func (s *busy) Update(key string, obj any) {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		s.base.Update(key, obj)
	}
}

// cached fills its cache with a result that it read before a write emptied the cache.
type cached struct {
	base
	cache sync.Map
}

func (s *cached) Get(key string) (any, bool) {
	if o, ok := s.cache.Load(key); ok {
		return o, true
	}
	o, ok := s.base.Get(key)
	if ok {
		runtime.Gosched()
		s.cache.Store(key, o)
	}
	return o, ok
}

func (s *cached) Add(key string, obj any)    { s.base.Add(key, obj); s.cache.Delete(key) }
func (s *cached) Update(key string, obj any) { s.base.Update(key, obj); s.cache.Delete(key) }
func (s *cached) Delete(key string)          { s.base.Delete(key); s.cache.Delete(key) }

func (s *cached) DeleteWithObject(key string, obj any) {
	s.base.DeleteWithObject(key, obj)
	s.cache.Delete(key)
}

func (s *cached) Transaction(txns ...contract.StoreTransaction) {
	s.base.Transaction(txns...)
	s.cache.Clear()
}

// updateInTwo takes the old object away before it stores the new one.
type updateInTwo struct{ base }

func (s updateInTwo) Update(key string, obj any) {
	s.Delete(key)
	s.base.Update(key, obj)
}

// writeBehind applies an update when the next one comes.
type writeBehind struct {
	base
	mu struct {
		sync.Mutex
		waiting func()
	}
}

func (s *writeBehind) Update(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.waiting != nil {
		s.mu.waiting()
	}
	s.mu.waiting = func() { s.base.Update(key, obj) }
}

type replaceInTwo struct{ base }

func (s replaceInTwo) Replace(items map[string]any, rv string) {
	s.base.Replace(map[string]any{}, rv)
	s.base.Replace(items, rv)
}

type oneByOne struct{ base }

func (s oneByOne) Transaction(txns ...contract.StoreTransaction) {
	for _, txn := range txns {
		s.base.Transaction(txn)
	}
}

// versionFirst sets the version of an object before it stores the object.
type versionFirst struct{ base }

func (s versionFirst) Update(key string, obj any) {
	if m, err := meta.Accessor(obj); err == nil {
		s.Bookmark(m.GetResourceVersion())
	}
	s.base.Update(key, obj)
}

// oneIndexer adds the free names, one after the other.
type oneIndexer struct{ base }

func (s oneIndexer) AddIndexers(ix contract.Indexers) error {
	var refused error
	for name, f := range ix {
		if err := s.base.AddIndexers(contract.Indexers{name: f}); err != nil {
			refused = err
		}
	}
	return refused
}

// firstIndexers does not return the later indexers.
type firstIndexers struct {
	base
	first contract.Indexers
}

func (s firstIndexers) GetIndexers() contract.Indexers { return maps.Clone(s.first) }

// fragile panics if a key is deleted while it lists.
type fragile struct{ base }

func (s fragile) List() []any {
	var list []any
	for _, k := range s.ListKeys() {
		runtime.Gosched()
		o, ok := s.Get(k)
		if !ok {
			panic("key " + k + " is gone")
		}
		list = append(list, o)
	}
	return list
}

// modest is a store without optional interfaces.
type modest struct{ contract.Store }
