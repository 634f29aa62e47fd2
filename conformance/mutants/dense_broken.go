package mutants

import (
	"slices"

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
	batch := mutant(contract.ComponentStore, "batch values as the IndexFunc gave them",
		"a Transaction computes the values of all its writes first, and keeps the slices that the "+
			"IndexFunc returned", "STORE-47")
	batch.NewStore = func(ix contract.Indexers) contract.Store { return keepsSlices{newDense(ix)} }
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
		on("index not cleaned on update",
			"an object that moves is put under its new values and stays under its old ones", "STORE-19",
			func(d *dense) {
				d.move = func(r *row, from, to []place) {
					if to == nil { // a deletion
						d.moveLocked(r, from, to)
					}
					for _, p := range to {
						if _, in := r.at[p]; !in {
							d.enterLocked(p, r)
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
								d.enterLocked(p, r)
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
			"STORE-18", func(d *dense) {
				d.places = func(values map[string][]string) []place {
					all := []place{{}}
					for index, listed := range values {
						for _, v := range listed {
							all = append(all, place{true, index, v})
						}
					}
					return all
				}
			}),
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
					known := map[string][]string{}
					for name, f := range d.mu.indexers {
						if values, err := f(obj); err == nil {
							known[name] = values
						}
					}
					d.insertLocked(key, obj, known)
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
		on("each value against each",
			"the values that an object leaves and enters are found by comparing each old one with each "+
				"new one", "STORE-49", func(d *dense) {
				d.move = func(r *row, from, to []place) {
					d.moveLocked(r, without(from, to), without(to, from))
				}
			}),
		batch,
	}
}

// keepsSlices puts what a batch brings in one by one, with values that it has computed.
type keepsSlices struct{ *dense }

func (s keepsSlices) Transaction(txns ...txn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	computed := make([]map[string][]string, len(txns))
	for i, t := range txns {
		computed[i] = map[string][]string{}
		for name, f := range s.mu.indexers {
			if t.Type != contract.TransactionTypeDelete {
				computed[i][name], _ = f(t.Object)
			}
		}
	}
	for i, t := range txns {
		s.remove(t.Key)
		if t.Type == contract.TransactionTypeDelete {
			continue
		}
		for name, values := range computed[i] {
			computed[i][name] = slices.Clone(values)
		}
		s.insertLocked(t.Key, t.Object, computed[i])
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
