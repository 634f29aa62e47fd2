package mutants

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
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

func wrongWrites() []Mutant {
	var all sync.Mutex
	return []Mutant{
		store("the first byte of the key",
			"a shard is found by the first byte of the key, which the empty key has not", "STORE-1",
			func(s *brokenStore, ok base) {
				s.add = func(key string, obj any) { _ = key[0]; ok.Add(key, obj) }
			}),
		store("add keeps what is there", "Add does nothing for a key that is present", "STORE-2",
			func(s *brokenStore, ok base) {
				s.add = func(key string, obj any) {
					if _, exists := ok.Get(key); !exists {
						ok.Add(key, obj)
					}
				}
			}),
		store("update skips what is equal", "an Update with an equal object is taken for no change",
			"STORE-1", func(s *brokenStore, ok base) {
				s.update = func(key string, obj any) {
					if old, exists := ok.Get(key); !exists || !reflect.DeepEqual(old, obj) {
						ok.Update(key, obj)
					}
				}
			}),
		store("nil is no object", "an Update with a nil object is taken for a deletion", "STORE-54",
			func(s *brokenStore, ok base) {
				s.update = func(key string, obj any) {
					if obj == nil {
						ok.Delete(key)
						return
					}
					ok.Update(key, obj)
				}
			}),
		store("delete needs company", "a deletion happens only if the store has one key", "STORE-3",
			func(s *brokenStore, ok base) {
				s.del = func(key string) {
					if len(ok.ListKeys()) == 1 {
						ok.Delete(key)
					}
				}
			}),
		store("tombstone revives the old object",
			"Add finds the tombstone of its key and revives what it holds", "STORE-2 STORE-3",
			func(s *brokenStore, ok base) {
				var tombs sync.Map
				s.del = func(key string) {
					if obj, exists := ok.Get(key); exists {
						tombs.Store(key, obj)
					}
					ok.Delete(key)
				}
				s.add = func(key string, obj any) {
					if old, buried := tombs.LoadAndDelete(key); buried {
						obj = old
					}
					ok.Add(key, obj)
				}
			}),
		store("replace as empty and fill", "Replace empties the store first and lets readers in between",
			"STORE-8", func(s *brokenStore, ok base) {
				s.replace = func(items map[string]any, version string) {
					ok.Replace(map[string]any{}, version)
					ok.Replace(items, version)
				}
			}),
		store("replace of many by few keeps one",
			"a Replace of more than 500 objects by fewer than 100 misses one of the old ones", "STORE-20",
			func(s *brokenStore, ok base) {
				s.replace = func(items map[string]any, version string) {
					if old := ok.ListKeys(); len(old) > 500 && len(items) < 100 {
						defer ok.Add(old[0], oneByOne(ok, old[:1])[0])
					}
					ok.Replace(items, version)
				}
			}),
		store("update as delete and add",
			"an Update takes the key out and puts it in again, under two locks",
			"STORE-9 STORE-11 STORE-12 STORE-34", func(s *brokenStore, ok base) {
				s.update = func(key string, obj any) { ok.Delete(key); ok.Update(key, obj) }
			}).real(inFabric8, "7265"),
		store("panic leaves the lock",
			"the lock is given back without defer, so a panicking IndexFunc leaves it", "STORE-27",
			func(s *brokenStore, ok base) {
				var mu sync.Mutex
				s.update = func(key string, obj any) { mu.Lock(); ok.Update(key, obj); mu.Unlock() }
				s.add = s.update
				s.replace = func(items map[string]any, v string) {
					mu.Lock()
					ok.Replace(items, v)
					mu.Unlock()
				}
			}).hangs(),
		store("one lock for all stores",
			"the lock of the package is held while an IndexFunc runs, which asks another store", "STORE-32",
			func(s *brokenStore, ok base) {
				s.update = func(key string, obj any) {
					all.Lock()
					defer all.Unlock()
					ok.Update(key, obj)
				}
				s.add = s.update
			}).hangs(),
		store("deleted objects are remembered",
			"Delete puts the object into a free list, from which nothing takes it", "STORE-53",
			func(s *brokenStore, ok base) {
				var free sync.Map
				s.del = func(key string) {
					if obj, exists := ok.Get(key); exists {
						free.Store(obj, true)
					}
					ok.Delete(key)
				}
			}),
	}
}

// tooLarge is more objects than a content of which all is indexed.
const tooLarge = 12_000

// gated are indexers whose functions return nothing while gate says so.
func gated(ix contract.Indexers, gate func() (shut bool)) contract.Indexers {
	out := contract.Indexers{}
	for name, of := range ix {
		out[name] = func(obj any) ([]string, error) {
			if gate() {
				return nil, nil
			}
			return of(obj)
		}
	}
	return out
}

func wrongIndexers() []Mutant {
	return []Mutant{
		store("large contents are indexed in part",
			"AddIndexers indexes the first parts of a content, and forgets the last one", "STORE-23",
			func(s *brokenStore, ok base) {
				s.addIndexers = func(ix contract.Indexers) error {
					var calls atomic.Int64
					defer calls.Store(-1 << 62)
					return ok.AddIndexers(gated(ix, func() bool { return calls.Add(1) > tooLarge }))
				}
			}),
		store("no back-fill", "AddIndexers indexes what comes later and not what is there", "STORE-23",
			func(s *brokenStore, ok base) {
				s.addIndexers = func(ix contract.Indexers) error {
					var filled atomic.Bool
					defer filled.Store(true)
					return ok.AddIndexers(gated(ix, func() bool { return !filled.Load() }))
				}
			}),
		store("add-indexers adds what it can",
			"AddIndexers has added the free names when it meets the taken one", "STORE-24",
			func(s *brokenStore, ok base) {
				s.addIndexers = func(ix contract.Indexers) (err error) {
					for name, f := range ix {
						err = errors.Join(err, ok.AddIndexers(contract.Indexers{name: f}))
					}
					return err
				}
			}),
		store("a taken name in other words", "AddIndexers refuses a taken name in words of its own",
			"STORE-52", func(s *brokenStore, ok base) {
				s.addIndexers = func(ix contract.Indexers) error {
					if ok.AddIndexers(ix) != nil {
						return errors.New("a name is taken")
					}
					return nil
				}
			}),
		store("get-indexers forgets the later ones", "GetIndexers gives the constructor's indexers",
			"STORE-25", func(s *brokenStore, ok base) {
				first := maps.Clone(ok.GetIndexers())
				s.indexers = func() contract.Indexers { return first }
			}),
		store("replace fills the first indexes only",
			"Replace builds the indexes that the constructor was given and not those that came later",
			"STORE-23", func(s *brokenStore, ok base) {
				var replacing atomic.Bool
				s.addIndexers = func(ix contract.Indexers) error {
					return ok.AddIndexers(gated(ix, replacing.Load))
				}
				s.replace = func(items map[string]any, version string) {
					replacing.Store(true)
					defer replacing.Store(false)
					ok.Replace(items, version)
				}
			}),
		store("values before the lock",
			"an Update computes the values of its object before it waits for the lock", "STORE-48",
			func(s *brokenStore, ok base) {
				s.update = func(key string, obj any) {
					valuesUnder(ok.GetIndexers(), obj)
					ok.Update(key, obj)
				}
				s.add = s.update
			}),
	}
}

// valuesUnder computes obj's values in each of the indexes, in slices of their own: an
// IndexFunc may return the same one each time.
func valuesUnder(ix contract.Indexers, obj any) map[string][]string {
	values := make(map[string][]string, len(ix))
	for name, f := range ix {
		v, err := f(obj)
		if err != nil {
			panic(fmt.Errorf("indexing in %q: %w", name, err))
		}
		values[name] = slices.Clone(v)
	}
	return values
}

// entry is an object under a value in an index.
type entry struct {
	index, value string
	obj          any
}

// entries has ByIndex give what is makes of each object under a value.
func (s *brokenStore) entries(ok base, is func(entry) []any) {
	s.byIndex = func(name, value string) (all []any, err error) {
		list, err := ok.ByIndex(name, value)
		for _, obj := range list {
			all = append(all, is(entry{name, value, obj})...)
		}
		return all, err
	}
}

// updates has Update tell of each index the values of an object before and after it.
func (s *brokenStore) updates(ok base,
	tell func(index string, old, obj any, before, after []string)) {
	s.update = func(key string, obj any) {
		if old, exists := ok.Get(key); exists {
			after := valuesUnder(ok.GetIndexers(), obj)
			for index, before := range valuesUnder(ok.GetIndexers(), old) {
				tell(index, old, obj, before, after[index])
			}
		}
		ok.Update(key, obj)
	}
}

// leaves has ByIndex give, beside what it should, the objects that leave was called with.
func (s *brokenStore) leaves(ok base) (leave func(obj any)) {
	var mu sync.Mutex
	left := map[entry][]any{}
	s.byIndex = func(name, value string) ([]any, error) {
		list, err := ok.ByIndex(name, value)
		mu.Lock()
		defer mu.Unlock()
		return append(list, left[entry{name, value, nil}]...), err
	}
	return func(obj any) {
		mu.Lock()
		defer mu.Unlock()
		for name, values := range valuesUnder(ok.GetIndexers(), obj) {
			for _, v := range values {
				left[entry{name, v, nil}] = append(left[entry{name, v, nil}], obj)
			}
		}
	}
}

func wrongIndexes() []Mutant {
	unbroken := func(*brokenStore, base) {}
	return []Mutant{
		storeOver("one value per index", "of several values of an object the first is indexed",
			"STORE-18", func(_ string, f contract.IndexFunc) contract.IndexFunc {
				return func(obj any) ([]string, error) {
					values, err := f(obj)
					return values[:min(len(values), 1)], err
				}
			}, unbroken),
		storeOver("an IndexFunc's error is skipped",
			"a write whose IndexFunc fails goes on without that index", "STORE-27 STORE-28",
			func(_ string, f contract.IndexFunc) contract.IndexFunc {
				return func(obj any) ([]string, error) {
					values, _ := f(obj)
					return values, nil
				}
			}, unbroken).real(inKubernetes, "43605"),
		store("a value twice is entered twice",
			"an object that has a value twice is put under it twice", "STORE-18",
			func(s *brokenStore, ok base) {
				s.entries(ok, func(e entry) (all []any) {
					for _, v := range valuesUnder(ok.GetIndexers(), e.obj)[e.index] {
						if v == e.value {
							all = append(all, e.obj)
						}
					}
					return all
				})
			}),
		store("delete leaves the indexes", "a deletion takes the object out of no index",
			"STORE-3 STORE-19", func(s *brokenStore, ok base) {
				leave := s.leaves(ok)
				s.del = func(key string) {
					if obj, exists := ok.Get(key); exists {
						leave(obj)
					}
					ok.Delete(key)
				}
			}),
		store("index not cleaned on update",
			"an object that moves is put under its new values and stays under its old ones", "STORE-19",
			func(s *brokenStore, ok base) {
				leave := s.leaves(ok)
				s.update = func(key string, obj any) {
					if old, exists := ok.Get(key); exists {
						leave(old)
					}
					ok.Update(key, obj)
				}
			}),
		store("still-valid value dropped",
			"of an object whose one value becomes several, the old one is taken away and not given again",
			"STORE-19", func(s *brokenStore, ok base) {
				var dropped sync.Map
				s.updates(ok, func(index string, _, obj any, before, after []string) {
					if len(before) == 1 && len(after) > 1 {
						dropped.Store(entry{index, before[0], obj}, true)
					}
				})
				s.entries(ok, func(e entry) []any {
					if _, gone := dropped.Load(e); gone {
						return nil
					}
					return []any{e.obj}
				})
			}).real(inKubernetes, "109115"),
		store("unchanged value keeps the old object",
			"an index in which the value stays the same is skipped, and it holds the object itself",
			"STORE-19", func(s *brokenStore, ok base) {
				var held sync.Map
				s.updates(ok, func(index string, old, obj any, before, after []string) {
					if slices.Equal(before, after) && len(before) == 1 {
						held.Store(entry{index, before[0], obj}, old)
					}
				})
				s.entries(ok, func(e entry) []any {
					if old, skipped := held.Load(e); skipped {
						return []any{old}
					}
					return []any{e.obj}
				})
			}),
		store("empty index sets kept", "a value whose last object is gone keeps its empty set",
			"STORE-16 STORE-22", func(s *brokenStore, ok base) {
				var ever sync.Map
				note := func(obj any) {
					for index, values := range valuesUnder(ok.GetIndexers(), obj) {
						for _, v := range values {
							ever.Store(entry{index, v, nil}, true)
						}
					}
				}
				s.update = func(key string, obj any) { note(obj); ok.Update(key, obj) }
				s.add = s.update
				s.replace = func(items map[string]any, version string) {
					for _, obj := range items {
						note(obj)
					}
					ok.Replace(items, version)
				}
				s.values = func(name string) (values []string) {
					for e := range ever.Range {
						if e := e.(entry); e.index == name {
							values = append(values, e.value)
						}
					}
					return values
				}
			}).real(inKubernetes, "84959"),
		store("each value against each",
			"the values that an object leaves and enters are found by comparing each old one with each "+
				"new one", "STORE-49", func(s *brokenStore, ok base) {
				s.updates(ok, func(_ string, _, _ any, before, after []string) {
					for _, v := range before {
						_ = slices.Contains(after, v)
					}
				})
			}),
	}
}

func wrongBatches() []Mutant {
	type slot struct {
		index string
		obj   any
	}
	var kept sync.Map // what the IndexFuncs returned for the objects of a batch, by slot
	return []Mutant{
		storeOver("batch values as the IndexFunc gave them",
			"a Transaction computes the values of all its writes first, and keeps the slices that the "+
				"IndexFunc returned", "STORE-47", func(name string, f contract.IndexFunc) contract.IndexFunc {
				return func(obj any) ([]string, error) {
					if values, known := kept.Load(slot{name, obj}); known {
						return values.([]string), nil
					}
					return f(obj)
				}
			}, func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) {
					for _, t := range txns {
						for name, f := range ok.GetIndexers() {
							if values, err := f(t.Object); err == nil {
								kept.Store(slot{name, t.Object}, values)
							}
						}
					}
					ok.Transaction(txns...)
				}
			}),
		store("transaction backwards", "the writes are taken from the end", "STORE-37",
			func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) {
					for _, t := range slices.Backward(txns) {
						ok.Transaction(t)
					}
				}
			}),
		store("transaction needs an object", "a write without an object is skipped, also a deletion",
			"STORE-37", func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) {
					ok.Transaction(slices.DeleteFunc(slices.Clone(txns), func(t txn) bool {
						return t.Object == nil
					})...)
				}
			}),
		store("transaction looks at its last write",
			"the last write of a batch is looked at before it is known that there is one", "STORE-37",
			func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) { _ = txns[len(txns)-1]; ok.Transaction(txns...) }
			}),
		store("deleted objects are indexed",
			"a Transaction computes the index values of all its objects, those of deletions too",
			"STORE-50", func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) {
					for _, t := range txns {
						if t.Object != nil {
							valuesUnder(ok.GetIndexers(), t.Object)
						}
					}
					ok.Transaction(txns...)
				}
			}),
		store("transaction one by one", "the lock is taken for each write of a batch", "STORE-38",
			func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) {
					for _, t := range txns {
						ok.Transaction(t)
					}
				}
			}),
	}
}

func wrongVersions() []Mutant {
	return []Mutant{
		store("replace keeps the version", "the version that Replace is given is dropped", "STORE-40",
			func(s *brokenStore, ok base) {
				s.replace = func(items map[string]any, _ string) {
					ok.Replace(items, ok.LastStoreSyncResourceVersion())
				}
			}),
		store("delete with object keeps the version", "DeleteWithObject drops the object", "STORE-41",
			func(s *brokenStore, ok base) { s.deleteWith = func(key string, _ any) { ok.Delete(key) } }),
		store("delete moves the version",
			"Delete takes the version of the object that it takes out, which is an old one", "STORE-41",
			func(s *brokenStore, ok base) {
				s.del = func(key string) {
					obj, _ := ok.Get(key)
					ok.DeleteWithObject(key, obj)
				}
			}),
		store("no metadata clears the version",
			"the version of an object without metadata is taken to be empty", "STORE-42",
			func(s *brokenStore, ok base) {
				s.update = func(key string, obj any) {
					ok.Update(key, obj)
					if _, err := meta.Accessor(obj); err != nil {
						ok.Bookmark("")
					}
				}
			}),
		store("transaction keeps the version", "a batch does not touch the version", "STORE-43",
			func(s *brokenStore, ok base) {
				s.transact = func(txns ...txn) {
					before := ok.LastStoreSyncResourceVersion()
					ok.Transaction(txns...)
					ok.Bookmark(before)
				}
			}),
	}
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
