package mutants

// Stores that write wrongly: single objects, transactions, and versions.

import (
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informerbench/informerbench/contract"
)

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
