package mutants

// Stores with wrong indexes.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

// tooLarge is how many objects the broken back-fill of an index reads: those beyond it are missing.
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
// IndexFunc may return the same one each time. Nil has none.
func valuesUnder(ix contract.Indexers, obj any) map[string][]string {
	values := make(map[string][]string, len(ix))
	if obj == nil {
		return values
	}
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
