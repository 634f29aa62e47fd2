package mutants

// A dense store: all rows lie in a slice, and those of each indexed value in
// another. It is sound; dense_broken.go breaks it.

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/contract"
)

// place names a slice of rows: that of an index and a value, or place{}, that of
// all rows.
type place struct {
	indexed      bool
	index, value string
}

// row is one object. It knows where it is in each of its slices, so that it can be
// taken out by moving the last row into its place.
type row struct {
	key    string
	obj    any
	values map[string][]string // by index
	at     map[place]int
}

// dense is a store under one RWMutex. Its steps are fields so that a mutant can
// replace one; they run with the lock held. Nothing is written before every value
// is computed, so an IndexFunc that fails leaves all as it was.
type dense struct {
	first contract.Indexers // what the constructor was given

	enter   func(p place, r *row)
	leave   func(p place, r *row)
	move    func(r *row, from, to []place)
	put     func(key string, obj any)
	remove  func(key string)
	replace func(items map[string]any)
	places  func(values map[string][]string) []place

	mu struct {
		sync.RWMutex
		indexers contract.Indexers
		rows     map[string]*row
		slices   map[place][]*row // none is empty
	}
}

func newDense(ix contract.Indexers) *dense {
	d := &dense{first: maps.Clone(ix)}
	d.enter, d.leave, d.move = d.enterLocked, d.leaveLocked, d.moveLocked
	d.put, d.remove, d.replace = d.putLocked, d.removeLocked, d.replaceLocked
	d.places = placesOf
	d.mu.indexers = contract.Indexers{}
	maps.Copy(d.mu.indexers, ix)
	d.mu.rows, d.mu.slices = map[string]*row{}, map[place][]*row{}
	return d
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

// placesOf gives the slices that a row with these values belongs to, each once.
func placesOf(values map[string][]string) []place {
	all, seen := []place{{}}, map[place]bool{}
	for index, vs := range values {
		for _, v := range vs {
			if p := (place{true, index, v}); !seen[p] {
				seen[p] = true
				all = append(all, p)
			}
		}
	}
	return all
}

func (d *dense) enterLocked(p place, r *row) {
	r.at[p] = len(d.mu.slices[p])
	d.mu.slices[p] = append(d.mu.slices[p], r)
}

func (d *dense) leaveLocked(p place, r *row) {
	rows := d.mu.slices[p]
	last := rows[len(rows)-1]
	rows[r.at[p]] = last
	last.at[p] = r.at[p]
	delete(r.at, p)
	d.shorten(p)
}

// shorten drops the last row of a slice, and the slice with its last row.
func (d *dense) shorten(p place) {
	rows := d.mu.slices[p]
	rows[len(rows)-1] = nil
	d.mu.slices[p] = rows[:len(rows)-1]
	if len(rows) == 1 {
		delete(d.mu.slices, p)
	}
}

func (d *dense) moveLocked(r *row, from, to []place) {
	stays := make(map[place]bool, len(from))
	for _, p := range from {
		stays[p] = false
	}
	for _, p := range to {
		if _, in := stays[p]; in {
			stays[p] = true
		}
	}
	for _, p := range from {
		if !stays[p] {
			d.leave(p, r)
		}
	}
	for _, p := range to {
		if !stays[p] {
			d.enter(p, r)
		}
	}
}

func (d *dense) putLocked(key string, obj any) {
	values := valuesUnder(d.mu.indexers, obj)
	r := d.mu.rows[key]
	var from []place
	if r == nil {
		r = &row{key: key, at: map[place]int{}}
		d.mu.rows[key] = r
	} else {
		from = d.places(r.values)
	}
	d.move(r, from, d.places(values))
	r.obj, r.values = obj, values
}

func (d *dense) removeLocked(key string) {
	if r := d.mu.rows[key]; r != nil {
		d.move(r, d.places(r.values), nil)
		delete(d.mu.rows, key)
	}
}

func (d *dense) replaceLocked(items map[string]any) {
	rows := make(map[string]*row, len(items))
	for key, obj := range items {
		rows[key] = &row{key: key, obj: obj, values: valuesUnder(d.mu.indexers, obj), at: map[place]int{}}
	}
	d.mu.rows, d.mu.slices = rows, map[place][]*row{}
	for _, r := range rows {
		d.move(r, nil, d.places(r.values))
	}
}

func (d *dense) Add(key string, obj any) { d.Update(key, obj) }

func (d *dense) Update(key string, obj any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(key, obj)
}

func (d *dense) Delete(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(key)
}

func (d *dense) Replace(items map[string]any, _ string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replace(items)
}

func (d *dense) Get(key string) (any, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if r := d.mu.rows[key]; r != nil {
		return r.obj, true
	}
	return nil, false
}

func (d *dense) objectsAtLocked(p place) []any {
	list := make([]any, 0, len(d.mu.slices[p]))
	for _, r := range d.mu.slices[p] {
		list = append(list, r.obj)
	}
	return list
}

func (d *dense) keysAtLocked(p place) []string {
	keys := make([]string, 0, len(d.mu.slices[p]))
	for _, r := range d.mu.slices[p] {
		keys = append(keys, r.key)
	}
	return keys
}

func (d *dense) List() []any {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.objectsAtLocked(place{})
}

func (d *dense) ListKeys() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.keysAtLocked(place{})
}

func (d *dense) knownLocked(index string) error {
	if d.mu.indexers[index] == nil {
		return fmt.Errorf("reading: Index with name %s does not exist", index)
	}
	return nil
}

func (d *dense) Index(index string, obj any) ([]any, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if err := d.knownLocked(index); err != nil {
		return nil, err
	}
	values, err := d.mu.indexers[index](obj)
	if err != nil {
		return nil, err
	}
	seen, list := map[*row]bool{}, []any{}
	for _, v := range values {
		for _, r := range d.mu.slices[place{true, index, v}] {
			if !seen[r] {
				seen[r] = true
				list = append(list, r.obj)
			}
		}
	}
	return list, nil
}

func (d *dense) ByIndex(index, value string) ([]any, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.objectsAtLocked(place{true, index, value}), d.knownLocked(index)
}

func (d *dense) IndexKeys(index, value string) ([]string, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Sorted(slices.Values(d.keysAtLocked(place{true, index, value}))),
		d.knownLocked(index)
}

func (d *dense) ListIndexFuncValues(index string) []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	values := []string{}
	for p := range d.mu.slices {
		if p.indexed && p.index == index {
			values = append(values, p.value)
		}
	}
	return values
}

func (d *dense) GetIndexers() contract.Indexers {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return maps.Clone(d.mu.indexers)
}

func (d *dense) AddIndexers(ix contract.Indexers) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range ix {
		if d.knownLocked(name) == nil {
			return fmt.Errorf("adding: indexer conflict over %q", name)
		}
	}
	added := map[*row]map[string][]string{}
	for _, r := range d.mu.rows {
		added[r] = valuesUnder(ix, r.obj)
	}
	maps.Copy(d.mu.indexers, ix)
	for r, values := range added {
		from := d.places(r.values)
		maps.Copy(r.values, values)
		d.move(r, from, d.places(r.values))
	}
	return nil
}

func (d *dense) Resync() error { return nil }

func (d *dense) Transaction(txns ...contract.StoreTransaction) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, txn := range txns { // whatever may fail does so before anything is written
		if txn.Type != contract.TransactionTypeDelete {
			valuesUnder(d.mu.indexers, txn.Object)
		}
	}
	for _, txn := range txns {
		if txn.Type == contract.TransactionTypeDelete {
			d.remove(txn.Key)
		} else {
			d.put(txn.Key, txn.Object)
		}
	}
}
