package linear

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

// maxKeys is the most keys in a history.
const maxKeys = 4

// The indexes, by the number of values that an object has in them.
const (
	one   = iota // exactly one
	many         // none, several, or one twice
	maybe        // one or none
	maxIndexes
)

var (
	keyNames   = [maxKeys]string{"a", "b", "c", "d"}
	indexNames = [maxIndexes]string{"one", "many", "maybe"}
	valueNames = [...]string{"x", "y", "z"} // in each index
	manyValues = [...][]string{nil, {"x"}, {"x", "y"}, {"y", "y"}, {"z", "x", "y"}}
)

// bits is a set of keys, of values or of indexes, by their places in the arrays.
type bits uint8

func bit(n int) bits { return 1 << n }

const (
	allKeys    bits = 1<<maxKeys - 1
	allIndexes bits = 1<<maxIndexes - 1
)

func (b bits) has(n int) bool { return b&bit(n) != 0 }

func (b bits) text(names []string) string {
	var in []string
	for n, name := range names {
		if b.has(n) {
			in = append(in, name)
		}
	}
	return "{" + strings.Join(in, ", ") + "}"
}

// object is the object that calls store. No two writes of a history store the same one, so
// a read that returns an object shows which write it saw.
type object struct {
	number int // unique in its history; also its resource version
	key    int
	lists  [maxIndexes][]string // the results of the IndexFuncs
	values [maxIndexes]bits     // the same as sets
	// the value that stores get: the object itself, or a withMeta around it
	stored any
	// yields is the number of times that the goroutine yields when a store asks for the
	// object's index values or its version. It changes only while no client runs.
	yields int
}

// withMeta is an object that has a resource version; a bare *object has none.
type withMeta struct {
	metav1.ObjectMeta
	of *object
}

// GetResourceVersion yields, so that other clients can run between the write and the
// version in a store that separates the two.
func (m *withMeta) GetResourceVersion() string {
	m.of.makeWay()
	return m.ObjectMeta.ResourceVersion
}

func newObject(number, key int, meta bool, lists [maxIndexes][]string) *object {
	o := &object{number: number, key: key, lists: lists}
	for i, list := range lists {
		for _, value := range list {
			o.values[i] |= bit(slices.Index(valueNames[:], value))
		}
	}
	o.stored = o
	if meta {
		m := &withMeta{of: o}
		m.Name, m.ResourceVersion = keyNames[key], strconv.Itoa(number)
		o.stored = m
	}
	return o
}

// version returns the resource version that a store has after it stored o; 0 leaves the
// version unchanged.
func (o *object) version() int {
	if o == nil || o.stored == any(o) {
		return 0
	}
	return o.number
}

func (o *object) makeWay() {
	for range o.yields {
		runtime.Gosched()
	}
}

// item returns o as stores get it, nil if there is none.
func (o *object) item() any {
	if o == nil {
		return nil
	}
	return o.stored
}

// objectOf returns the object that a store returned as item; nil if no call stored item.
func objectOf(item any) *object {
	var o *object
	switch t := item.(type) {
	case *object:
		o = t
	case *withMeta:
		if t != nil {
			o = t.of
		}
	}
	if o == nil || o.stored != item {
		return nil
	}
	return o
}

// String names the object by its key and number.
func (o *object) String() string { return fmt.Sprintf("%s#%d", keyNames[o.key], o.number) }

// long returns the object's name with its index values and version.
func (o *object) long() string {
	var of []string
	for i, list := range o.lists {
		if len(list) > 0 {
			of = append(of, indexNames[i]+"="+strings.Join(list, ","))
		}
	}
	if o.version() != 0 {
		of = append(of, "version="+strconv.Itoa(o.version()))
	}
	return o.String() + "[" + strings.Join(of, " ") + "]"
}

// indexers returns the indexers of the given indexes, in a fresh map.
func indexers(of bits) contract.Indexers {
	m := contract.Indexers{}
	for i, name := range indexNames {
		if !of.has(i) {
			continue
		}
		m[name] = func(item any) ([]string, error) {
			o := objectOf(item)
			if o == nil {
				return nil, fmt.Errorf("the IndexFunc of %q was given %T(%v), which nobody stored", name, item,
					item)
			}
			o.makeWay()
			return o.lists[i], nil
		}
	}
	return m
}
