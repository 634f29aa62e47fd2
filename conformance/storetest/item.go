package storetest

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

// The indexes of the cases, named by the number of values that an object has in them. An
// index of any other name has the values of maybe.
const (
	one    = "one"   // exactly one
	many   = "many"  // none, several, or one twice
	maybe  = "maybe" // one or none
	own    = "own"   // one that no other object has; some writes of the object change it
	ownToo = "own, too"
)

var allIndexes = []string{one, many, maybe}

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
	bare   *bare  // what stores get of an item without metadata
}

// bare is an item without metadata.
type bare struct{ item *item }

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

func (i *item) withoutMeta() *item {
	i.bare = &bare{i}
	i.name += "-bare"
	return i
}

func (i *item) String() string { return i.name }

func (b *bare) String() string { return b.item.name }

// stored is the value that stores get.
func (i *item) stored() any {
	if i.bare != nil {
		return i.bare
	}
	return i
}

// itemOf returns the item that a store was given as obj; nil if it is none.
func itemOf(obj any) *item {
	switch o := obj.(type) {
	case *item:
		return o
	case *bare:
		if o != nil {
			return o.item
		}
	}
	return nil
}

// valuesIn returns the right result of the index's function.
func (i *item) valuesIn(index string) []string {
	switch {
	case index == one:
		return []string{i.one}
	case index == many:
		return i.many
	case index == own, index == ownToo:
		return []string{i.key + i.one}
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
		i := itemOf(obj)
		switch {
		case i == nil:
			return nil, fmt.Errorf("the IndexFunc was given what nobody stored: %v", obj)
		case i.poison == index && i.panics:
			panic(errPoison{i.name})
		case i.poison == index:
			return nil, errPoison{i.name}
		}
		return i.valuesIn(index), nil
	}
}

// indexers returns a new map of the named indexers, or of all if none is named.
func indexers(names ...string) contract.Indexers {
	if len(names) == 0 {
		names = allIndexes
	}
	return indexersBefore(nil, names...)
}

func indexersBefore(before func(), names ...string) contract.Indexers {
	m := contract.Indexers{}
	for _, n := range names {
		m[n] = indexFunc(n, before)
	}
	return m
}
