package storetest_test

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// base is what a broken store is broken on: client-go's, all powers.
type base = cache.ThreadSafeStoreWithTransaction

type copies struct{ base }

func (s copies) Get(key string) (any, bool) {
	got, ok := s.base.Get(key)
	if ok {
		got = &struct{ any }{got}
	}
	return got, ok
}

type addOnce struct{ base }

func (s addOnce) Add(key string, obj any) {
	if _, ok := s.Get(key); !ok {
		s.base.Add(key, obj)
	}
}

type keepsDeleted struct{ base }

func (s keepsDeleted) Delete(key string) {
	if keys := s.ListKeys(); len(keys) == 1 {
		s.base.Delete(key)
	}
}

type shortList struct{ base }

func (s shortList) List() []any {
	list := s.base.List()
	return list[:min(len(list), 256)]
}

type keysTwice struct{ base }

func (s keysTwice) ListKeys() []string {
	return append(s.base.ListKeys(), s.base.ListKeys()...)
}

// sharedSlice keeps its last list until the next write: a cache of the result.
type sharedSlice struct {
	base
	mu struct {
		sync.Mutex
		list []any
	}
}

func (s *sharedSlice) List() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh := s.base.List(); len(fresh) != len(s.mu.list) {
		s.mu.list = fresh
	}
	return s.mu.list
}

// listByKeys asks for each object by itself, as a store with a lock per shard does.
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

type replaceInTwo struct{ base }

func (s replaceInTwo) Replace(items map[string]any, rv string) {
	s.base.Replace(map[string]any{}, rv)
	s.base.Replace(items, rv)
}

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

type indexByValue struct{ base }

func (s indexByValue) Index(index string, obj any) ([]any, error) {
	f, ok := s.GetIndexers()[index]
	if !ok {
		return s.base.Index(index, obj)
	}
	values, err := f(obj)
	var list []any
	for _, v := range values {
		some, _ := s.ByIndex(index, v)
		list = append(list, some...)
	}
	return list, err
}

type updateInTwo struct{ base }

func (s updateInTwo) Update(key string, obj any) {
	s.Delete(key)
	s.base.Update(key, obj)
}

type lenient struct{ base }

func (s lenient) ByIndex(index, value string) ([]any, error) {
	list, _ := s.base.ByIndex(index, value)
	return list, nil
}

func (s lenient) Index(index string, obj any) ([]any, error) {
	list, _ := s.base.Index(index, obj)
	return list, nil
}

type unsorted struct{ base }

func (s unsorted) IndexKeys(index, value string) ([]string, error) {
	keys, err := s.base.IndexKeys(index, value)
	if len(keys) > 1 {
		keys[0], keys[1] = keys[1], keys[0]
	}
	return keys, err
}

type merging struct{ base }

func (s merging) Replace(items map[string]any, rv string) {
	for k, o := range items {
		s.Add(k, o)
	}
	s.Bookmark(rv)
}

// overwriting adds the names that are free before it finds the one that is not.
type overwriting struct{ base }

func (s overwriting) AddIndexers(ix contract.Indexers) error {
	var errs []error
	for name, f := range ix {
		errs = append(errs, s.base.AddIndexers(contract.Indexers{name: f}))
	}
	return errors.Join(errs...)
}

type firstIndexers struct {
	base
	first contract.Indexers
}

func (s firstIndexers) GetIndexers() contract.Indexers { return s.first }

// lock is a mutex whose waiters can be let go, so that the goroutines of a case
// that hangs end before the test does.
type lock struct {
	held   chan struct{}
	broken <-chan struct{}
}

func newLock(broken <-chan struct{}) lock { return lock{make(chan struct{}, 1), broken} }

func (l lock) Lock() {
	select {
	case l.held <- struct{}{}:
	case <-l.broken:
	}
}

func (l lock) Unlock() {
	select {
	case <-l.held:
	case <-l.broken:
	}
}

// leaky unlocks without defer.
type leaky struct {
	base
	mu lock
}

func (s leaky) Update(key string, obj any) {
	s.mu.Lock()
	s.base.Update(key, obj)
	s.mu.Unlock()
}

func (s leaky) Add(key string, obj any) { s.Update(key, obj) }

func (s leaky) Replace(items map[string]any, rv string) {
	s.mu.Lock()
	s.base.Replace(items, rv)
	s.mu.Unlock()
}

// oneLock holds the lock of all stores while an IndexFunc runs.
type oneLock struct {
	base
	all lock
}

func (s oneLock) Update(key string, obj any) {
	s.all.Lock()
	defer s.all.Unlock()
	s.base.Update(key, obj)
}

func (s oneLock) Add(key string, obj any) { s.Update(key, obj) }

type noResync struct{ base }

func (noResync) Resync() error { return errors.New("not supported") }

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

// busy gives up where it should wait.
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

type backwards struct{ base }

func (s backwards) Transaction(txns ...contract.StoreTransaction) {
	for i := range txns {
		s.base.Transaction(txns[len(txns)-1-i])
	}
}

type oneByOne struct{ base }

func (s oneByOne) Transaction(txns ...contract.StoreTransaction) {
	for _, txn := range txns {
		s.base.Transaction(txn)
	}
}

type noBookmark struct{ base }

func (noBookmark) Bookmark(string) {}

type versionless struct{ base }

func (s versionless) DeleteWithObject(key string, _ any) { s.Delete(key) }

type forgetful struct{ base }

func (s forgetful) Update(key string, obj any) {
	s.base.Update(key, obj)
	if _, err := cache.MetaNamespaceKeyFunc(obj); err != nil {
		s.Bookmark("")
	}
}

type oldBatch struct{ base }

func (s oldBatch) Transaction(txns ...contract.StoreTransaction) {
	before := s.LastStoreSyncResourceVersion()
	s.base.Transaction(txns...)
	s.Bookmark(before)
}

type missesOne struct{ base }

func (s missesOne) ByIndex(index, value string) ([]any, error) {
	list, err := s.base.ByIndex(index, value)
	return list[:min(len(list), 9)], err
}

// remembers keeps the empty sets of values that are gone.
type remembers struct {
	base
	mu   sync.Mutex
	ever map[string]map[string]bool
}

func (s *remembers) ListIndexFuncValues(index string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ever[index] == nil {
		s.ever[index] = map[string]bool{}
	}
	for _, o := range s.List() {
		values, _ := s.GetIndexers()[index](o)
		for _, v := range values {
			s.ever[index][v] = true
		}
	}
	return slices.Collect(maps.Keys(s.ever[index]))
}

// Replace notes the values before they go.
func (s *remembers) Replace(items map[string]any, rv string) {
	for index := range s.GetIndexers() {
		s.ListIndexFuncValues(index)
	}
	s.base.Replace(items, rv)
}

// reindexed is a store whose index functions are spoilt.
func reindexed(s base, spoil func(contract.IndexFunc) contract.IndexFunc) contract.Store {
	ix := contract.Indexers{}
	for name, f := range s.GetIndexers() {
		ix[name] = spoil(f)
	}
	return clientGo(ix)
}

func firstValue(f contract.IndexFunc) contract.IndexFunc {
	return func(obj any) ([]string, error) {
		values, err := f(obj)
		return values[:min(len(values), 1)], err
	}
}

// frozenValue gives what the index's first object had, as an index that is not
// kept up does.
func frozenValue(f contract.IndexFunc) contract.IndexFunc {
	var mu sync.Mutex
	var first []string
	return func(obj any) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first, _ = f(obj)
		}
		return first, nil
	}
}

type noBackFill struct{ base }

func (s noBackFill) AddIndexers(ix contract.Indexers) error {
	later := contract.Indexers{}
	var filled atomic.Bool
	for name, f := range ix {
		later[name] = func(obj any) ([]string, error) {
			if !filled.Load() {
				return nil, nil
			}
			return f(obj)
		}
	}
	err := s.base.AddIndexers(later)
	filled.Store(true)
	return err
}
