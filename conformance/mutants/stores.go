package mutants

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Stores returns the broken stores. The slice belongs to the caller.
func Stores() []Mutant {
	return slices.Concat(wrongReads(), wrongWrites(), wrongIndexers(), wrongIndexes(), wrongBatches(),
		wrongVersions(), clientGoStores(), appendingStores(), snapshotStores())
}

// base is what most broken stores are broken on: client-go's, all powers.
type base = cache.ThreadSafeStoreWithTransaction

// newBase makes client-go's store, with a map of indexers of its own.
func newBase(ix contract.Indexers) base {
	own := contract.Indexers{}
	maps.Copy(own, ix)
	return cache.NewThreadSafeStore(own, cache.Indices{}).(base)
}

type txn = contract.StoreTransaction

// brokenStore is client-go's store with some of its methods replaced.
type brokenStore struct {
	base
	add, update, deleteWith func(key string, obj any)
	del                     func(key string)
	replace                 func(items map[string]any, version string)
	get                     func(key string) (any, bool)
	list                    func() []any
	listKeys                func() []string
	index                   func(name string, obj any) ([]any, error)
	byIndex                 func(name, value string) ([]any, error)
	indexKeys               func(name, value string) ([]string, error)
	values                  func(name string) []string
	indexers                func() contract.Indexers
	addIndexers             func(contract.Indexers) error
	resync                  func() error
	transact                func(txns ...txn)
}

func (s *brokenStore) Add(key string, obj any)                   { s.add(key, obj) }
func (s *brokenStore) Update(key string, obj any)                { s.update(key, obj) }
func (s *brokenStore) DeleteWithObject(key string, obj any)      { s.deleteWith(key, obj) }
func (s *brokenStore) Delete(key string)                         { s.del(key) }
func (s *brokenStore) Replace(items map[string]any, v string)    { s.replace(items, v) }
func (s *brokenStore) Get(key string) (any, bool)                { return s.get(key) }
func (s *brokenStore) List() []any                               { return s.list() }
func (s *brokenStore) ListKeys() []string                        { return s.listKeys() }
func (s *brokenStore) Index(name string, obj any) ([]any, error) { return s.index(name, obj) }
func (s *brokenStore) ByIndex(name, value string) ([]any, error) { return s.byIndex(name, value) }
func (s *brokenStore) IndexKeys(name, value string) ([]string, error) {
	return s.indexKeys(name, value)
}
func (s *brokenStore) ListIndexFuncValues(name string) []string { return s.values(name) }
func (s *brokenStore) GetIndexers() contract.Indexers           { return s.indexers() }
func (s *brokenStore) AddIndexers(ix contract.Indexers) error   { return s.addIndexers(ix) }
func (s *brokenStore) Resync() error                            { return s.resync() }
func (s *brokenStore) Transaction(txns ...txn)                  { s.transact(txns...) }

// store makes a mutant of what change makes of client-go's store. The sound methods are ok's.
func store(name, mistake, clauses string, change func(s *brokenStore, ok base)) Mutant {
	return storeOver(name, mistake, clauses, func(_ string, f contract.IndexFunc) contract.IndexFunc {
		return f
	}, change)
}

// storeOver makes a mutant of a store whose IndexFuncs spoil changes.
func storeOver(name, mistake, clauses string,
	spoil func(name string, f contract.IndexFunc) contract.IndexFunc,
	change func(s *brokenStore, ok base)) Mutant {
	m := mutant(contract.ComponentStore, name, mistake, clauses)
	m.NewStore = func(ix contract.Indexers) contract.Store {
		spoilt := contract.Indexers{}
		for name, f := range ix {
			spoilt[name] = spoil(name, f)
		}
		ok := newBase(spoilt)
		s := &brokenStore{
			base: ok, add: ok.Add, update: ok.Update, deleteWith: ok.DeleteWithObject, del: ok.Delete,
			replace: ok.Replace, get: ok.Get, list: ok.List, listKeys: ok.ListKeys, index: ok.Index,
			byIndex: ok.ByIndex, indexKeys: ok.IndexKeys, indexers: ok.GetIndexers,
			addIndexers: ok.AddIndexers, values: ok.ListIndexFuncValues, resync: ok.Resync,
			transact: ok.Transaction,
		}
		change(s, ok)
		return s
	}
	return m
}

// oneByOne gets the objects of the keys, each under a lock of its own.
func oneByOne(s base, keys []string) (list []any) {
	for _, k := range keys {
		if o, ok := s.Get(k); ok {
			list = append(list, o)
		}
	}
	return list
}

// clientGoStores is client-go's store as it is: what it breaks.
func clientGoStores() []Mutant {
	const source = "https://github.com/kubernetes/client-go/blob/v0.37.2/tools/cache/thread_safe_store.go"
	asItIs := func(name, mistake, clauses string) Mutant {
		return store(name, mistake, clauses, func(*brokenStore, base) {}).real(source, "")
	}
	return []Mutant{
		asItIs("replace keeps a nil map",
			"the map that Replace is given becomes the store's, also if it is nil", "STORE-21"),
		asItIs("get-indexers gives its own map", "the map that AddIndexers writes to is handed out",
			"STORE-26"),
		asItIs("object in, then its values",
			"the object is put in before the values are computed, which may fail", "STORE-28"),
		asItIs("content in, then its values",
			"Replace has taken the content and dropped the indexes when an IndexFunc fails", "STORE-29"),
		asItIs("names in, then their values", "AddIndexers has added the names when an IndexFunc fails",
			"STORE-30"),
		asItIs("batch half applied", "the writes before the failing one are there", "STORE-39"),
	}
}

// appends is client-go's store with an AppendList of the mutant's.
type appends struct {
	base
	join func(s base, dst []any) []any
}

func (s appends) AppendList(dst []any) []any { return s.join(s.base, dst) }

func (s appends) AppendByIndex(dst []any, index, value string) ([]any, error) {
	list, err := s.ByIndex(index, value)
	return append(dst, list...), err
}

// appendingStores are the mistakes in lists that lie in memory of the caller's.
func appendingStores() []Mutant {
	on := func(name, mistake string, join func() func(s base, dst []any) []any) Mutant {
		m := mutant(contract.ComponentStore, name, mistake, "STORE-51")
		m.NewStore = func(ix contract.Indexers) contract.Store { return appends{newBase(ix), join()} }
		return m
	}
	return []Mutant{
		on("appends object by object", "AppendList looks up one key after the other",
			func() func(base, []any) []any {
				return func(s base, dst []any) []any { return append(dst, oneByOne(s, s.ListKeys())...) }
			}),
		on("appended over what was there", "AppendList takes all of the slice that it is given as room",
			func() func(base, []any) []any {
				return func(s base, dst []any) []any { return append(dst[:0], s.List()...) }
			}),
		on("appended to the same room",
			"AppendList makes room for a slice without room once, and uses it for the next such slice too",
			func() func(base, []any) []any {
				var mu sync.Mutex
				var room []any
				return func(s base, dst []any) []any {
					list := s.List()
					if cap(dst)-len(dst) >= len(list) {
						return append(dst, list...)
					}
					mu.Lock()
					defer mu.Unlock()
					room = append(append(room[:0], dst...), list...)
					return room
				}
			}),
	}
}

// Stores that read wrongly.

func wrongReads() []Mutant {
	return []Mutant{
		store("get returns a copy", "the object is wrapped anew on the way out", "STORE-1",
			func(s *brokenStore, ok base) {
				s.get = func(key string) (any, bool) {
					got, exists := ok.Get(key)
					if exists {
						got = &struct{ any }{got}
					}
					return got, exists
				}
			}),
		store("get from a cache that misses Replace",
			"a cache in front of Get follows Add, Update and Delete, and not Replace", "STORE-20",
			func(s *brokenStore, ok base) {
				var front sync.Map
				s.update = func(key string, obj any) { ok.Update(key, obj); front.Store(key, obj) }
				s.add = s.update
				s.del = func(key string) { ok.Delete(key); front.Delete(key) }
				s.get = func(key string) (any, bool) {
					if obj, cached := front.Load(key); cached {
						return obj, true
					}
					return ok.Get(key)
				}
			}),
		store("keys are given twice", "what two places hold is put together and not compared", "STORE-5",
			func(s *brokenStore, ok base) {
				s.listKeys = func() []string { return append(ok.ListKeys(), ok.ListKeys()...) }
			}),
		store("list shares its slice",
			"the last list is kept for the next caller while the number of objects is the same", "STORE-6",
			func(s *brokenStore, ok base) {
				var mu sync.Mutex
				var last []any
				s.list = func() []any {
					mu.Lock()
					defer mu.Unlock()
					if fresh := ok.List(); len(fresh) != len(last) {
						last = fresh
					}
					return last
				}
			}),
		store("list by keys", "List asks for the keys, then for each object by itself",
			"STORE-7 STORE-35", func(s *brokenStore, ok base) {
				s.list = func() []any { return oneByOne(ok, ok.ListKeys()) }
			}),
		store("by-index by keys",
			"ByIndex asks for the keys of the value, then for each object by itself", "STORE-9",
			func(s *brokenStore, ok base) {
				s.byIndex = func(name, value string) ([]any, error) {
					keys, err := ok.IndexKeys(name, value)
					return oneByOne(ok, keys), err
				}
			}).real(inKubernetes, "141736"),
		store("index value by value",
			"Index asks ByIndex for each value of the object and puts the answers together",
			"STORE-10 STORE-15", func(s *brokenStore, ok base) {
				s.index = func(name string, obj any) (list []any, err error) {
					f := ok.GetIndexers()[name]
					if f == nil {
						return ok.Index(name, obj)
					}
					values, err := f(obj)
					for _, v := range values {
						some, _ := ok.ByIndex(name, v)
						list = append(list, some...)
					}
					return list, err
				}
			}),
		store("by-index misses one", "the loop over the matches ends at nine", "STORE-13",
			func(s *brokenStore, ok base) {
				s.byIndex = func(name, value string) ([]any, error) {
					list, err := ok.ByIndex(name, value)
					return list[:min(len(list), 9)], err
				}
			}),
		store("index-keys unsorted", "the keys come as a map gives them", "STORE-14",
			func(s *brokenStore, ok base) {
				s.indexKeys = func(name, value string) ([]string, error) {
					keys, err := ok.IndexKeys(name, value)
					slices.Reverse(keys)
					return keys, err
				}
			}),
		store("unknown index is empty", "the error of a look-up is dropped", "STORE-17 STORE-31",
			func(s *brokenStore, ok base) {
				s.byIndex = func(name, value string) ([]any, error) {
					list, _ := ok.ByIndex(name, value)
					return list, nil
				}
				s.index = func(name string, obj any) ([]any, error) {
					list, _ := ok.Index(name, obj)
					return list, nil
				}
			}),
		store("index leaves its read lock",
			"Index returns early, with the IndexFunc's error and without unlocking", "STORE-31",
			func(s *brokenStore, ok base) {
				var mu sync.RWMutex
				s.index = func(name string, obj any) ([]any, error) {
					mu.RLock()
					list, err := ok.Index(name, obj)
					if err == nil {
						mu.RUnlock()
					}
					return list, err
				}
				s.update = func(key string, obj any) {
					mu.Lock()
					defer mu.Unlock()
					ok.Update(key, obj)
				}
			}).hangs(),
		store("a read ends where AddIndexers begins",
			"AddIndexers frees the content that open reads go through, and they return what they have",
			"STORE-44", func(s *brokenStore, ok base) {
				var indexings atomic.Int64
				s.addIndexers = func(ix contract.Indexers) error {
					indexings.Add(1)
					return ok.AddIndexers(ix)
				}
				s.list = func() []any {
					began, list := indexings.Load(), ok.List()
					for i := range list {
						if runtime.Gosched(); indexings.Load() != began {
							return list[:i]
						}
					}
					return list
				}
			}),
		store("resync fails", "Resync says that it is not supported", "STORE-33",
			func(s *brokenStore, _ base) { s.resync = func() error { return errors.New("not supported") } }),
	}
}
