package mutants

import (
	"slices"
	"sync"

	"github.com/informerbench/informerbench/contract"
)

// denseStores are the mistakes of who keeps rows in slices.
func denseStores() []Mutant {
	on := func(name, mistake, clauses string, change func(*dense)) Mutant {
		m := mutant(contract.ComponentStore, name, mistake, clauses)
		m.NewStore = func(ix contract.Indexers) contract.Store {
			d := newDense(ix)
			change(d)
			return d
		}
		return m
	}
	return []Mutant{
		on("swap with last forgets the moved row",
			"the last row moves into the gap of a deleted one and is not told its new place",
			"STORE-2 STORE-19", func(d *dense) {
				d.leave = func(p place, r *row) {
					rows := d.mu.slices[p]
					rows[r.at[p]] = rows[len(rows)-1]
					delete(r.at, p)
					d.shorten(p)
				}
			}),
		on("delete leaves one index", "a deletion takes the row out of every index but the last one",
			"STORE-3 STORE-19", func(d *dense) {
				d.remove = func(key string) {
					r := d.mu.rows[key]
					if r == nil {
						return
					}
					places := d.places(r.values)
					if len(places) > 1 {
						places = places[:len(places)-1]
					}
					d.move(r, places, nil)
					delete(d.mu.rows, key)
				}
			}),
		on("delete does not look first",
			"the row of a deleted key is used without asking whether there is one", "STORE-3",
			func(d *dense) {
				d.remove = func(key string) {
					r := d.mu.rows[key]
					d.move(r, d.places(r.values), nil)
					delete(d.mu.rows, key)
				}
			}),
		on("index not cleaned on update",
			"an object that moves is put under its new values and stays under its old ones", "STORE-19",
			func(d *dense) {
				d.move = func(r *row, from, to []place) {
					if to == nil { // a deletion
						d.moveLocked(r, from, to)
					}
					for _, p := range to {
						if _, in := r.at[p]; !in {
							d.enter(p, r)
						}
					}
				}
			}),
		on("still-valid value dropped",
			"of an object whose one value becomes several, the old one is taken away and not given again",
			"STORE-19", func(d *dense) {
				d.move = func(r *row, from, to []place) {
					for index := range d.mu.indexers {
						before, after := under(index, from), under(index, to)
						for _, p := range before {
							if _, in := r.at[p]; in && (len(after) != 1 || after[0] != p) {
								d.leave(p, r)
							}
						}
						for _, p := range after {
							if _, in := r.at[p]; !in && (len(before) != 1 || before[0] != p) {
								d.enter(p, r)
							}
						}
					}
					d.moveLocked(r, only(from), only(to))
				}
			}).real(inKubernetes, "109115"),
		on("unchanged value keeps the old object",
			"an index in which the value stays the same is skipped, and it holds the object itself",
			"STORE-19", func(d *dense) {
				d.put = func(key string, obj any) {
					old := d.mu.rows[key]
					if old == nil {
						d.putLocked(key, obj)
						return
					}
					values := valuesUnder(d.mu.indexers, obj)
					fresh := &row{key: key, obj: obj, values: values, at: map[place]int{}}
					for p, i := range old.at {
						fresh.at[p] = i
					}
					d.mu.rows[key], d.mu.slices[place{}][old.at[place{}]] = fresh, fresh
					d.move(fresh, d.places(old.values), d.places(values))
				}
			}),
		on("stale entries after Replace",
			"Replace puts in what is new and leaves in the indexes what was there", "STORE-22",
			func(d *dense) {
				d.replace = func(items map[string]any) {
					before := d.mu.slices
					d.replaceLocked(items)
					for p, rows := range before {
						if p.indexed && d.mu.slices[p] == nil {
							d.mu.slices[p] = rows
						}
					}
				}
			}),
		on("a value twice is entered twice", "an object that has a value twice is put under it twice",
			"STORE-18", entersRepeats(0)),
		on("a value twice among many is entered twice",
			"an object of more than 16 values that has one twice is put under it twice", "STORE-18",
			entersRepeats(16)),
		on("empty index sets kept", "a value whose last object is gone keeps its empty set", "STORE-16",
			func(d *dense) {
				d.leave = func(p place, r *row) {
					d.leaveLocked(p, r)
					if d.mu.slices[p] == nil {
						d.mu.slices[p] = []*row{}
					}
				}
			}).real(inKubernetes, "84959"),
		on("an IndexFunc's error is skipped", "a write whose IndexFunc fails goes on without that index",
			"STORE-27 STORE-28", func(d *dense) {
				d.put = func(key string, obj any) {
					d.remove(key)
					r := &row{key: key, obj: obj, values: map[string][]string{}, at: map[place]int{}}
					for name, f := range d.mu.indexers {
						if values, err := f(obj); err == nil {
							r.values[name] = values
						}
					}
					d.mu.rows[key] = r
					d.move(r, nil, d.places(r.values))
				}
			}).real(inKubernetes, "43605"),
		on("replace fills the first indexes only",
			"Replace builds the indexes that the constructor was given and not those that came later",
			"STORE-23", func(d *dense) {
				d.replace = func(items map[string]any) {
					all := d.mu.indexers
					d.mu.indexers = d.first
					d.replaceLocked(items)
					d.mu.indexers = all
				}
			}),
	}
}

// manyValuesStores are the mistakes in what a store asks of an IndexFunc, and in what
// many values of one object cost it.
func manyValuesStores() []Mutant {
	on := func(name, mistake, clauses string, wrap func(*dense) contract.Store) Mutant {
		m := mutant(contract.ComponentStore, name, mistake, clauses)
		m.NewStore = func(ix contract.Indexers) contract.Store { return wrap(newDense(ix)) }
		return m
	}
	return []Mutant{
		on("batch values as the IndexFunc gave them",
			"a Transaction computes the values of all its writes first, and keeps the slices that the "+
				"IndexFunc returned", "STORE-47",
			func(d *dense) contract.Store { return keepsSlices{d} }),
		on("values before the lock",
			"an Update computes the values of its object before it waits for the lock", "STORE-48",
			func(d *dense) contract.Store { return computesFirst{d} }),
		on("replace in shares", "Replace computes the values of two halves of the list at once",
			"STORE-48",
			func(d *dense) contract.Store { return replacesInShares{d} }),
		on("each value against each",
			"the values that an object leaves and enters are found by comparing each old one with each "+
				"new one", "STORE-49", func(d *dense) contract.Store {
				d.move = func(r *row, from, to []place) {
					d.moveLocked(r, without(from, to), without(to, from))
				}
				return d
			}),
	}
}

// appendingStores are the mistakes in lists that lie in memory of the caller's.
func appendingStores() []Mutant {
	on := func(name, mistake string, join func() func(dst, objects []any) []any) Mutant {
		m := mutant(contract.ComponentStore, name, mistake, "STORE-51")
		m.NewStore = func(ix contract.Indexers) contract.Store {
			return appends{newDense(ix), join()}
		}
		return m
	}
	return []Mutant{
		on("appended over what was there", "AppendList takes all of the slice that it is given as room",
			func() func(dst, objects []any) []any {
				return func(dst, objects []any) []any { return append(dst[:0], objects...) }
			}),
		on("appended to the same room",
			"AppendList makes room for a slice without room once, and uses it for the next such slice too",
			func() func(dst, objects []any) []any {
				var mu sync.Mutex
				var room []any
				return func(dst, objects []any) []any {
					if cap(dst)-len(dst) >= len(objects) {
						return append(dst, objects...)
					}
					mu.Lock()
					defer mu.Unlock()
					room = append(append(room[:0], dst...), objects...)
					return room
				}
			}),
	}
}

// appends is a store whose lists can be appended.
type appends struct {
	*dense
	join func(dst, objects []any) []any
}

func (s appends) AppendList(dst []any) []any { return s.join(dst, s.List()) }

func (s appends) AppendByIndex(dst []any, index, value string) ([]any, error) {
	list, err := s.ByIndex(index, value)
	if err != nil {
		return dst, err
	}
	return s.join(dst, list), nil
}

// keepsSlices puts what a batch brings in one by one, with values that it has computed.
type keepsSlices struct{ *dense }

func (s keepsSlices) Transaction(txns ...contract.StoreTransaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	computed := make([]map[string][]string, len(txns))
	for i, txn := range txns {
		if txn.Type == contract.TransactionTypeDelete {
			continue
		}
		computed[i] = map[string][]string{}
		for name, f := range s.mu.indexers {
			values, err := f(txn.Object)
			if err != nil {
				panic(err)
			}
			computed[i][name] = values
		}
	}
	for i, txn := range txns {
		s.remove(txn.Key)
		if computed[i] == nil {
			continue
		}
		r := &row{key: txn.Key, obj: txn.Object, values: map[string][]string{}, at: map[place]int{}}
		for name, values := range computed[i] {
			r.values[name] = slices.Clone(values)
		}
		s.mu.rows[txn.Key] = r
		s.move(r, nil, s.places(r.values))
	}
}

// computesFirst calls IndexFuncs without the lock.
type computesFirst struct{ *dense }

func (s computesFirst) Add(key string, obj any) { s.Update(key, obj) }

func (s computesFirst) Update(key string, obj any) {
	valuesUnder(s.GetIndexers(), obj)
	s.dense.Update(key, obj)
}

// replacesInShares calls IndexFuncs on two goroutines. Those that fail do so again
// on the caller's.
type replacesInShares struct{ *dense }

func (s replacesInShares) Replace(items map[string]any, resourceVersion string) {
	indexers := s.GetIndexers()
	var objects []any
	for _, obj := range items {
		objects = append(objects, obj)
	}
	var halves sync.WaitGroup
	for _, half := range [][]any{objects[:len(objects)/2], objects[len(objects)/2:]} {
		halves.Go(func() {
			defer func() { _ = recover() }()
			for _, obj := range half {
				valuesUnder(indexers, obj)
			}
		})
	}
	halves.Wait()
	s.dense.Replace(items, resourceVersion)
}

// entersRepeats puts an object with more than this many values in an index under each of them
// as often as it is listed.
func entersRepeats(moreThan int) func(d *dense) {
	return func(d *dense) {
		d.places = func(values map[string][]string) []place {
			all := placesOf(values)
			for index, listed := range values {
				if len(listed) > moreThan {
					all = slices.DeleteFunc(all, func(p place) bool { return p.indexed && p.index == index })
					for _, v := range listed {
						all = append(all, place{true, index, v})
					}
				}
			}
			return all
		}
	}
}

// without gives the places that are not among others.
func without(places, others []place) []place {
	return slices.DeleteFunc(slices.Clone(places), func(p place) bool {
		return slices.Contains(others, p)
	})
}

// under gives the places of one index.
func under(index string, places []place) []place {
	return slices.DeleteFunc(slices.Clone(places), func(p place) bool {
		return !p.indexed || p.index != index
	})
}

// only gives place{}, if it is among the places.
func only(places []place) []place {
	return slices.DeleteFunc(slices.Clone(places), func(p place) bool { return p.indexed })
}
