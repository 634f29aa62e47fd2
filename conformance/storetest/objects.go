package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// The indexes of the cases, named by the number of values that an object has in them.
const (
	one   = "one"   // exactly one
	many  = "many"  // none, several, or one twice
	maybe = "maybe" // one or none
)

// item is the object that cases store. It carries its own index values, so that the content
// of every index can be read off the objects.
type item struct {
	name   string // key#seq and the values: no two different items share it
	key    string
	seq    int // its resource version
	one    string
	many   []string
	maybe  string // "" is no value
	poison string // the index whose function fails on this item
	panics bool   // whether it fails by a panic and not by an error
}

func newItem(key string, seq int, oneValue string, manyValues ...string) *item {
	return &item{
		name: key + "#" + strconv.Itoa(seq) + "(" + oneValue + " " + strings.Join(manyValues, ",") + ")",
		key:  key, seq: seq, one: oneValue, many: manyValues,
	}
}

// GetObjectMeta gives items metadata, so that their writes move the store's resource version.
func (i *item) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Name: i.key, ResourceVersion: strconv.Itoa(i.seq)}
}

func (i *item) withMaybe(value string) *item {
	i.maybe = value
	i.name += "?" + value
	return i
}

// poisoned makes the function of one index fail on the item.
func (i *item) poisoned(index string, panics bool) *item {
	i.poison, i.panics = index, panics
	i.name += "!" + index
	return i
}

func (i *item) String() string { return i.name }

// valuesIn returns the right result of the index's function.
func (i *item) valuesIn(index string) []string {
	switch {
	case index == one:
		return []string{i.one}
	case index == many:
		return i.many
	case i.maybe != "":
		return []string{i.maybe}
	}
	return nil
}

// errPoison is the value with which an IndexFunc fails, as an error or as a panic.
type errPoison struct{ item string }

func (e errPoison) Error() string { return "poisoned item " + e.item }

// indexFunc returns the function of the named index. before, if not nil, runs at the start
// of each call.
func indexFunc(index string, before func()) contract.IndexFunc {
	return func(obj any) ([]string, error) {
		if before != nil {
			before()
		}
		i := obj.(*item)
		if i.poison == index {
			if i.panics {
				panic(errPoison{i.name})
			}
			return nil, errPoison{i.name}
		}
		return i.valuesIn(index), nil
	}
}

var allIndexes = []string{one, many, maybe}

// indexers returns a new map of the named indexers, or of all if none is named.
func indexers(names ...string) contract.Indexers { return indexersBefore(nil, names...) }

func indexersBefore(before func(), names ...string) contract.Indexers {
	if len(names) == 0 {
		names = allIndexes
	}
	m := contract.Indexers{}
	for _, n := range names {
		m[n] = indexFunc(n, before)
	}
	return m
}

// model is the oracle: a map of the items, and every question is answered by looking at all
// of them.
type model struct {
	items    map[string]*item
	indexes  []string
	progress func() // called between the steps of a check, which take a while if there are many items
}

func newModel(items ...*item) *model {
	m := &model{items: map[string]*item{}, indexes: slices.Clone(allIndexes), progress: func() {}}
	for _, i := range items {
		m.items[i.key] = i
	}
	return m
}

func (m *model) all() []*item { return slices.Collect(maps.Values(m.items)) }

// asMap returns the content as the argument of Replace, in a new map.
func (m *model) asMap() map[string]any {
	out := make(map[string]any, len(m.items))
	for k, i := range m.items {
		out[k] = i
	}
	return out
}

// checkObjects compares the results of List, ListKeys and Get with the model.
func (m *model) checkObjects(s contract.Store) error {
	if err := differs("List", names(s.List()), itemNames(m.all())); err != nil {
		return err
	}
	if err := differs("ListKeys", s.ListKeys(), itemKeys(m.all())); err != nil {
		return err
	}
	for key, want := range m.items {
		if got, ok := s.Get(key); !ok || got != any(want) {
			return fmt.Errorf("Get(%q) = %v, %v; want %v", key, got, ok, want)
		}
	}
	return nil
}

// checkIndexes compares every read of every index with the model: for each value that an
// object has, for one that none has, and for Index with each of probes.
func (m *model) checkIndexes(s contract.Store, probes ...*item) error {
	all := m.all()
	for _, index := range m.indexes {
		values := indexValues(all, index)
		holders := map[string][]*item{} // by value
		for _, i := range all {
			for _, value := range slices.Compact(slices.Sorted(slices.Values(i.valuesIn(index)))) {
				holders[value] = append(holders[value], i)
			}
		}
		if err := differs("ListIndexFuncValues("+index+")", s.ListIndexFuncValues(index),
			values); err != nil {
			return err
		}
		for _, value := range append(values, "no such value") {
			want := holders[value]
			objects, err := s.ByIndex(index, value)
			if err := answered(err, fmt.Sprintf("ByIndex(%s, %q)", index, value), names(objects),
				itemNames(want)); err != nil {
				return err
			}
			keys, err := s.IndexKeys(index, value)
			if err := answered(err, fmt.Sprintf("IndexKeys(%s, %q)", index, value), keys,
				itemKeys(want)); err != nil {
				return err
			}
			if !slices.IsSorted(keys) {
				return fmt.Errorf("IndexKeys(%s, %q) is not sorted: %q", index, value, keys)
			}
			m.progress()
		}
		for _, p := range probes {
			objects, err := s.Index(index, p)
			want := itemNames(sharing(all, index, p))
			if err := answered(err, fmt.Sprintf("Index(%s, %v)", index, p), names(objects),
				want); err != nil {
				return err
			}
			m.progress()
		}
	}
	return nil
}

// ownLater is a second index by a value of each object's own.
const ownLater = "own, later"

// checkOwnValues compares an index by a value of each object's own with the model: all values, and
// what some of them have.
func (m *model) checkOwnValues(s contract.Store, index string) error {
	all := m.all() // in random order
	values := make([]string, len(all))
	for n, i := range all {
		values[n] = ownValue(i)
	}
	if err := differs("ListIndexFuncValues("+index+")", s.ListIndexFuncValues(index),
		values); err != nil {
		return err
	}
	for _, i := range all[:min(len(all), mostProbes)] {
		objects, err := s.ByIndex(index, ownValue(i))
		if err := answered(err, fmt.Sprintf("ByIndex(%s, %s)", index, ownValue(i)), names(objects),
			[]string{i.name}); err != nil {
			return err
		}
		keys, err := s.IndexKeys(index, ownValue(i))
		if err := answered(err, fmt.Sprintf("IndexKeys(%s, %s)", index, ownValue(i)), keys,
			[]string{i.key}); err != nil {
			return err
		}
		m.progress()
	}
	return nil
}

// mostProbes is the most objects for which check calls Index. Each such call is compared with a
// walk over all objects, so there are fewer if these are many: mostLooks bounds the product.
const (
	mostProbes = 64
	mostLooks  = 20_000
)

// check compares everything.
func (m *model) check(s contract.Store) error {
	if err := m.checkObjects(s); err != nil {
		return err
	}
	m.progress()
	probes := m.all() // in random order
	most := min(len(probes), mostProbes, max(1, mostLooks/max(1, len(probes))))
	return m.checkIndexes(s, probes[:most]...)
}

// agree ends the case unless store and model agree.
func agree(t *suite.T, m *model, s contract.Store, when string) {
	m.progress = t.Progress
	if err := m.check(s); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	t.Progress()
}

func having(items []*item, index, value string) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(i *item) bool {
		return !slices.Contains(i.valuesIn(index), value)
	})
}

func sharing(items []*item, index string, probe *item) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(i *item) bool {
		return !slices.ContainsFunc(i.valuesIn(index), func(v string) bool {
			return slices.Contains(probe.valuesIn(index), v)
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
		if i, ok := o.(*item); ok && i != nil {
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

// fill adds the items one by one and returns the model of them.
func fill(s contract.Store, items ...*item) *model {
	for _, i := range items {
		s.Add(i.key, i)
	}
	return newModel(items...)
}
