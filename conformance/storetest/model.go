package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// model is the oracle of all cases: a map of the items, and every question is answered by
// looking at all of them.
type model struct {
	items    map[string]*item
	indexes  []string
	progress func() // called between the steps of a check, which take a while if there are many items

	version string
	// versionOpen says that the contract leaves open which version a store has.
	versionOpen bool
}

func newModel(items ...*item) *model {
	m := &model{items: map[string]*item{}, indexes: slices.Clone(allIndexes), progress: func() {}}
	for _, i := range items {
		m.items[i.key] = i
	}
	return m
}

// apply makes the writes of one call. A Transaction takes the version of its last object
// (STORE-43); if that has none and one before it has, the contract leaves the version open.
func (m *model) apply(writes ...contract.StoreTransaction) {
	for n, w := range writes {
		i := itemOf(w.Object)
		if w.Type == contract.TransactionTypeDelete {
			delete(m.items, w.Key)
		} else {
			m.items[w.Key] = i
		}
		if i != nil && i.bare == nil {
			m.version, m.versionOpen = strconv.Itoa(i.seq), n < len(writes)-1
		}
	}
}

// replace makes the content and the version those of a Replace.
func (m *model) replace(items map[string]*item, version string) {
	m.items, m.version, m.versionOpen = items, version, false
}

// keys returns the keys in order.
func (m *model) keys() []string { return slices.Sorted(maps.Keys(m.items)) }

// all returns the items in the order of their keys.
func (m *model) all() []*item {
	all := make([]*item, 0, len(m.items))
	for _, key := range m.keys() {
		all = append(all, m.items[key])
	}
	return all
}

// asMap returns the content as the argument of Replace, in a new map.
func (m *model) asMap() map[string]any {
	out := make(map[string]any, len(m.items))
	for k, i := range m.items {
		out[k] = i.stored()
	}
	return out
}

// having returns the keys of the items that have one of the values in the index, in order.
func (m *model) having(index string, values ...string) (keys []string) {
	for key, i := range m.items {
		if slices.ContainsFunc(i.valuesIn(index), func(v string) bool {
			return slices.Contains(values, v)
		}) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// names returns the names of the items under the keys.
func (m *model) names(keys []string) []string {
	out := make([]string, len(keys))
	for n, key := range keys {
		out[n] = m.items[key].name
	}
	return out
}

// checkObjects compares the results of List, ListKeys and Get with the model.
func (m *model) checkObjects(s contract.Store) error {
	keys := m.keys()
	if err := differs("List (STORE-4)", names(s.List()), m.names(keys)); err != nil {
		return err
	}
	if err := differs("ListKeys (STORE-5)", s.ListKeys(), keys); err != nil {
		return err
	}
	for _, key := range keys {
		if err := m.checkGet(s, key); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) checkGet(s contract.Store, key string) error {
	var want any
	i, there := m.items[key]
	if there {
		want = i.stored()
	}
	if got, ok := s.Get(key); ok != there || got != want {
		return fmt.Errorf("Get(%q) (STORE-1) = %v, %v; want %v, %v", key, got, ok, want, there)
	}
	return nil
}

// mostAsked is the most values of an index for which check asks, and the most objects for which it
// calls Index; a value that is lost shows in ListIndexFuncValues. A call of Index is compared with
// a walk over all objects: mostLooks bounds the product.
const (
	mostAsked = 64
	mostLooks = 6_000
)

// checkIndexes compares every read of every index with the model: for each value that an
// object has, for one that none has, and for Index with some of the objects.
func (m *model) checkIndexes(s contract.Store) error {
	keys := m.keys()
	probes := min(mostAsked, max(1, mostLooks/max(1, len(keys))))
	for _, index := range m.indexes {
		holders := map[string][]string{} // the keys, by value
		for _, key := range keys {
			for _, v := range m.items[key].valuesIn(index) {
				if has := holders[v]; len(has) == 0 || has[len(has)-1] != key {
					holders[v] = append(has, key)
				}
			}
		}
		values := slices.Sorted(maps.Keys(holders))
		if err := differs("ListIndexFuncValues("+index+") (STORE-16)", s.ListIndexFuncValues(index),
			values); err != nil {
			return err
		}
		if err := m.checkValue(s, index, "no such value", nil); err != nil {
			return err
		}
		for n := 0; n < len(values); n += 1 + len(values)/mostAsked {
			if err := m.checkValue(s, index, values[n], holders[values[n]]); err != nil {
				return err
			}
			m.progress()
		}
		for n := 0; n < len(keys); n += 1 + len(keys)/probes {
			if err := m.checkIndex(s, index, m.items[keys[n]]); err != nil {
				return err
			}
			m.progress()
		}
	}
	return nil
}

// checkValue compares ByIndex and IndexKeys of a value that the items of these keys have.
func (m *model) checkValue(s contract.Store, index, value string, keys []string) error {
	objects, err := s.ByIndex(index, value)
	if err := answered(err, fmt.Sprintf("ByIndex(%s, %q) (STORE-13)", index, value), names(objects),
		m.names(keys)); err != nil {
		return err
	}
	got, err := s.IndexKeys(index, value)
	if err := answered(err, fmt.Sprintf("IndexKeys(%s, %q) (STORE-14)", index, value), got, keys); err != nil {
		return err
	}
	if !slices.IsSorted(got) {
		return fmt.Errorf("IndexKeys(%s, %q) (STORE-14) is not sorted: %q", index, value, got)
	}
	return nil
}

// checkIndex compares Index of an item, stored or not.
func (m *model) checkIndex(s contract.Store, index string, probe *item) error {
	objects, err := s.Index(index, probe.stored())
	return answered(err, fmt.Sprintf("Index(%s, %v) (STORE-15)", index, probe), names(objects),
		m.names(m.having(index, probe.valuesIn(index)...)))
}

// checkVersion compares the resource version with the model, if the store keeps one.
func (m *model) checkVersion(s contract.Store) error {
	v, ok := s.(contract.ResourceVersioner)
	if !ok || m.versionOpen {
		return nil
	}
	if got := v.LastStoreSyncResourceVersion(); got != m.version {
		return fmt.Errorf("LastStoreSyncResourceVersion is %q; want %q", got, m.version)
	}
	return nil
}

// check compares everything but the version.
func (m *model) check(s contract.Store) error {
	if err := m.checkObjects(s); err != nil {
		return err
	}
	m.progress()
	return m.checkIndexes(s)
}

// agree ends the case unless store and model agree.
func agree(t *suite.T, m *model, s contract.Store, when string) {
	m.progress = t.Progress
	(&trial{t, subject{s, m}}).agree(when)
}

func having(items []*item, index string, values ...string) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(i *item) bool {
		return !slices.ContainsFunc(i.valuesIn(index), func(v string) bool {
			return slices.Contains(values, v)
		})
	})
}

// indexValues returns the values that items have in the index, each once.
func indexValues(items []*item, index string) []string {
	var values []string
	for _, i := range items {
		values = append(values, i.valuesIn(index)...)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func itemNames(items []*item) []string {
	out := make([]string, len(items))
	for n, i := range items {
		out[n] = i.name
	}
	return out
}

func itemKeys(items []*item) []string {
	out := make([]string, len(items))
	for n, i := range items {
		out[n] = i.key
	}
	return out
}

// names returns the names of the objects that a store returned. Any other value is printed
// with its type.
func names(objects []any) []string {
	out := make([]string, len(objects))
	for n, o := range objects {
		if i := itemOf(o); i != nil && i.stored() == o {
			out[n] = i.name
		} else {
			out[n] = fmt.Sprintf("%T(%v)", o, o)
		}
	}
	return out
}

// differs compares without regard to order, counting duplicates.
func differs(what string, got, want []string) error {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if slices.Equal(got, want) {
		return nil
	}
	if len(got)+len(want) <= mostShown {
		return fmt.Errorf("%s gave %q; want %q", what, got, want)
	}
	return fmt.Errorf("%s gave %d, and %d are right; among those that it lacks are %q, among those "+
		"that are wrong %q", what, len(got), len(want), some(without(want, got)),
		some(without(got, want)))
}

// mostShown is how many names an error has at most.
const mostShown = 200

// without are the elements of a that b lacks; both are sorted.
func without(a, b []string) (out []string) {
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == x {
			b = b[1:]
			continue
		}
		out = append(out, x)
	}
	return out
}

func some(names []string) []string { return names[:min(len(names), 5)] }

func answered(err error, what string, got, want []string) error {
	if err != nil {
		return fmt.Errorf("%s: unexpected error: %w", what, err)
	}
	return differs(what, got, want)
}

// must ends the case on an error.
func must(t *suite.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// panicOf runs f and returns the value it panicked with, nil if it did not panic.
func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// subject is a store and the model of what it must hold. Its methods change both.
type subject struct {
	s contract.Store
	m *model
}

// subjectOf makes a store with these indexes.
func subjectOf(newStore NewStore, indexes ...string) subject {
	return subject{newStore(indexersBefore(nil, indexes...)), &model{items: map[string]*item{},
		indexes: indexes, progress: func() {}}}
}

// write makes one write after the other.
func (x *subject) write(all ...contract.StoreTransaction) {
	d, deletes := x.s.(contract.ObjectDeleter)
	for _, w := range all {
		switch {
		case w.Type == contract.TransactionTypeAdd:
			x.s.Add(w.Key, w.Object)
		case w.Type == contract.TransactionTypeUpdate:
			x.s.Update(w.Key, w.Object)
		case deletes && w.Object != nil:
			d.DeleteWithObject(w.Key, w.Object)
		default:
			w.Object = nil
			x.s.Delete(w.Key)
		}
		x.m.apply(w)
	}
}

func (x *subject) add(items ...*item) {
	for _, i := range items {
		x.write(add(i))
	}
}

func (x *subject) update(items ...*item) {
	for _, i := range items {
		x.write(update(i))
	}
}

func (x *subject) delete(keys ...string) {
	for _, key := range keys {
		x.write(remove(key))
	}
}

// replace gives the items in a new map, which is the store's from then on.
func (x *subject) replace(version string, items ...*item) {
	content := newModel(items...)
	x.m.replace(content.items, version)
	x.s.Replace(content.asMap(), version)
}

// addIndexers adds indexes that the store does not have.
func (x *subject) addIndexers(names ...string) error {
	x.m.indexes = append(x.m.indexes[:len(x.m.indexes):len(x.m.indexes)], names...)
	return x.s.AddIndexers(indexersBefore(nil, names...))
}

func add(i *item) contract.StoreTransaction {
	return txn(contract.TransactionTypeAdd, i.key, i.stored())
}

func update(i *item) contract.StoreTransaction {
	return txn(contract.TransactionTypeUpdate, i.key, i.stored())
}

// remove passes no object, like a caller that knows only the key.
func remove(key string) contract.StoreTransaction {
	return txn(contract.TransactionTypeDelete, key, nil)
}

func txn(kind contract.TransactionType, key string, obj any) contract.StoreTransaction {
	return contract.StoreTransaction{Key: key,
		Transaction: contract.Transaction{Type: kind, Object: obj}}
}

// trial is the run of a case on one subject.
type trial struct {
	*suite.T
	subject
}

func newTrial(t *suite.T, newStore NewStore, indexes ...string) *trial {
	x := &trial{t, subjectOf(newStore, indexes...)}
	x.m.progress = t.Progress
	return x
}

// on is a case that needs one empty store with all indexes.
func on(clause, name, why string, run func(x *trial)) suite.Case[NewStore] {
	return onIndexes(allIndexes, clause, name, why, run)
}

// onIndexes is on with other indexes.
func onIndexes(indexes []string, clause, name, why string,
	run func(x *trial)) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: name, Why: why,
		Run: func(t *suite.T, newStore NewStore) { run(newTrial(t, newStore, indexes...)) }}
}

// agree ends the case unless store and model agree.
func (x *trial) agree(when string) {
	err := x.m.check(x.s)
	if err != nil {
		x.Fatalf("%s: %v", when, err)
	}
	x.Progress()
}

func (x *trial) must(err error) { must(x.T, err) }

// transaction makes the writes at once. It skips the case if the store has no Transaction.
func (x *trial) transaction(writes ...contract.StoreTransaction) {
	suite.Needs[contract.Transactor](x.T, x.s).Transaction(writes...)
	x.m.apply(writes...)
}

// batched makes the writes at once, if the store has a Transaction.
func (x *trial) batched(writes ...contract.StoreTransaction) {
	if _, ok := x.s.(contract.Transactor); ok {
		x.transaction(writes...)
	}
}
