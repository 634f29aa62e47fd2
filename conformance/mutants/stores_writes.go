package mutants

// client-go's store with a write that is wrong.

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

type addOnce struct{ base }

func (s addOnce) Add(key string, obj any) {
	if _, ok := s.Get(key); !ok {
		s.base.Add(key, obj)
	}
}

type skipsEqual struct{ base }

func (s skipsEqual) Update(key string, obj any) {
	if old, ok := s.Get(key); !ok || !reflect.DeepEqual(old, obj) {
		s.base.Update(key, obj)
	}
}

type keepsDeleted struct{ base }

func (s keepsDeleted) Delete(key string) {
	if keys := s.ListKeys(); len(keys) == 1 {
		s.base.Delete(key)
	}
}

type revives struct {
	base
	mu    sync.Mutex
	tombs map[string]any
}

func (s *revives) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if obj, ok := s.Get(key); ok {
		s.tombs[key] = obj
	}
	s.base.Delete(key)
}

func (s *revives) Add(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.tombs[key]; ok {
		obj = old
		delete(s.tombs, key)
	}
	s.base.Add(key, obj)
}

type sweeps struct {
	base
	mu struct {
		sync.Mutex
		deleted []string
	}
}

func (s *sweeps) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base.Delete(key)
	s.mu.deleted = append(s.mu.deleted, key)
	if len(s.mu.deleted) < 3 {
		return
	}
	for _, k := range s.mu.deleted {
		s.base.Delete(k)
	}
	s.mu.deleted = nil
}

type keepsOneOfMany struct{ base }

func (s keepsOneOfMany) Replace(items map[string]any, rv string) {
	old := s.ListKeys()
	if len(old) <= 500 || len(items) >= 100 {
		s.base.Replace(items, rv)
		return
	}
	kept, _ := s.Get(old[0])
	s.base.Replace(items, rv)
	if _, replaced := items[old[0]]; !replaced {
		s.Add(old[0], kept)
	}
}

type replaceInTwo struct{ base }

func (s replaceInTwo) Replace(items map[string]any, rv string) {
	s.base.Replace(map[string]any{}, rv)
	s.base.Replace(items, rv)
}

type merging struct{ base }

func (s merging) Replace(items map[string]any, rv string) {
	for k, o := range items {
		s.Add(k, o)
	}
	s.Bookmark(rv)
}

type updateInTwo struct{ base }

func (s updateInTwo) Update(key string, obj any) {
	s.Delete(key)
	s.base.Update(key, obj)
}

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

type leaky struct {
	base
	mu sync.Mutex
}

func (s *leaky) Update(key string, obj any) {
	s.mu.Lock()
	s.base.Update(key, obj)
	s.mu.Unlock()
}

func (s *leaky) Add(key string, obj any) { s.Update(key, obj) }

func (s *leaky) Replace(items map[string]any, rv string) {
	s.mu.Lock()
	s.base.Replace(items, rv)
	s.mu.Unlock()
}

type oneLock struct {
	base
	all *sync.Mutex
}

func (s oneLock) Update(key string, obj any) {
	s.all.Lock()
	defer s.all.Unlock()
	s.base.Update(key, obj)
}

func (s oneLock) Add(key string, obj any) { s.Update(key, obj) }

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

// freeList keeps what it deletes.
type freeList struct {
	base
	mu   sync.Mutex
	free []any
}

func (s *freeList) Delete(key string) {
	if obj, ok := s.Get(key); ok {
		s.mu.Lock()
		s.free = append(s.free, obj)
		s.mu.Unlock()
	}
	s.base.Delete(key)
}

// numbered gives each key a number for ever.
type numbered struct {
	base
	mu      sync.Mutex
	numbers map[string]int
}

func (s *numbered) Add(key string, obj any) {
	s.mu.Lock()
	if _, ok := s.numbers[key]; !ok {
		s.numbers[key] = len(s.numbers)
	}
	s.mu.Unlock()
	s.base.Add(key, obj)
}

// reindexed is a store whose index functions are spoilt.
func reindexed(s base, spoil func(contract.IndexFunc) contract.IndexFunc) contract.Store {
	ix := contract.Indexers{}
	for name, f := range s.GetIndexers() {
		ix[name] = spoil(f)
	}
	return newBase(ix)
}

func firstValue(f contract.IndexFunc) contract.IndexFunc {
	return func(obj any) ([]string, error) {
		values, err := f(obj)
		return values[:min(len(values), 1)], err
	}
}

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

type overwriting struct{ base }

func (s overwriting) AddIndexers(ix contract.Indexers) error {
	var errs []error
	for name, f := range ix {
		errs = append(errs, s.base.AddIndexers(contract.Indexers{name: f}))
	}
	return errors.Join(errs...)
}

type ownWords struct{ base }

func (s ownWords) AddIndexers(ix contract.Indexers) error {
	if s.base.AddIndexers(ix) != nil {
		return errors.New("a name is taken")
	}
	return nil
}

type firstIndexers struct {
	base
	first contract.Indexers
}

func (s firstIndexers) GetIndexers() contract.Indexers { return s.first }

type backwards struct{ base }

func (s backwards) Transaction(txns ...contract.StoreTransaction) {
	for i := range txns {
		s.base.Transaction(txns[len(txns)-1-i])
	}
}

type needsObject struct{ base }

func (s needsObject) Transaction(txns ...contract.StoreTransaction) {
	s.base.Transaction(slices.DeleteFunc(slices.Clone(txns), func(t contract.StoreTransaction) bool {
		return t.Object == nil
	})...)
}

type indexesDeleted struct{ base }

func (s indexesDeleted) Transaction(txns ...contract.StoreTransaction) {
	for _, t := range txns {
		for _, f := range s.GetIndexers() {
			if t.Object == nil {
				continue
			}
			if _, err := f(t.Object); err != nil {
				panic(err)
			}
		}
	}
	s.base.Transaction(txns...)
}

type looksAtLast struct{ base }

func (s looksAtLast) Transaction(txns ...contract.StoreTransaction) {
	last := txns[len(txns)-1].Object
	s.base.Transaction(txns...)
	if m, err := meta.Accessor(last); err == nil {
		s.Bookmark(m.GetResourceVersion())
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

type versionlessReplace struct{ base }

func (s versionlessReplace) Replace(items map[string]any, _ string) {
	s.base.Replace(items, s.LastStoreSyncResourceVersion())
}

type versionless struct{ base }

func (s versionless) DeleteWithObject(key string, _ any) { s.Delete(key) }

type versionOfDeleted struct{ base }

func (s versionOfDeleted) Delete(key string) {
	obj, _ := s.Get(key)
	s.DeleteWithObject(key, obj)
}

type forgetful struct{ base }

func (s forgetful) Update(key string, obj any) {
	s.base.Update(key, obj)
	if _, err := meta.Accessor(obj); err != nil {
		s.Bookmark("")
	}
}

// readsLater keeps the object that was last given to Add or Update, until a write brings
// another version.
type readsLater struct {
	base
	mu     sync.Mutex
	newest metav1.Object
}

func (s *readsLater) write(newest metav1.Object, write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write()
	s.newest = newest
}

func (s *readsLater) Add(key string, obj any) { s.Update(key, obj) }

func (s *readsLater) Update(key string, obj any) {
	newest, err := meta.Accessor(obj)
	if err != nil {
		s.base.Update(key, obj)
		return
	}
	s.write(newest, func() { s.base.Update(key, obj) })
}

func (s *readsLater) DeleteWithObject(key string, obj any) {
	if _, err := meta.Accessor(obj); err != nil {
		s.base.DeleteWithObject(key, obj)
		return
	}
	s.write(nil, func() { s.base.DeleteWithObject(key, obj) })
}

func (s *readsLater) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	if _, err := meta.Accessor(txns[len(txns)-1].Object); err != nil {
		s.base.Transaction(txns...)
		return
	}
	s.write(nil, func() { s.base.Transaction(txns...) })
}

func (s *readsLater) Replace(items map[string]any, version string) {
	s.write(nil, func() { s.base.Replace(items, version) })
}

func (s *readsLater) Bookmark(version string) { s.write(nil, func() { s.base.Bookmark(version) }) }

func (s *readsLater) LastStoreSyncResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest != nil {
		return s.newest.GetResourceVersion()
	}
	return s.base.LastStoreSyncResourceVersion()
}

type versionFirst struct{ base }

func (s versionFirst) Update(key string, obj any) {
	if m, err := meta.Accessor(obj); err == nil {
		s.Bookmark(m.GetResourceVersion())
	}
	s.base.Update(key, obj)
}

type oldBatch struct{ base }

func (s oldBatch) Transaction(txns ...contract.StoreTransaction) {
	before := s.LastStoreSyncResourceVersion()
	s.base.Transaction(txns...)
	s.Bookmark(before)
}
