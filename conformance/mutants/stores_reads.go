package mutants

// Stores that read wrongly.

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

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
