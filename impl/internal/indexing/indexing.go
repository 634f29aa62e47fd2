// Package indexing holds what every store of this house does around an
// IndexFunc, so that they agree in what fails how: computing the values of an
// object, each once, before anything is touched; the errors that a caller sees;
// the resource version of an object. How index entries are kept is each store's
// own affair.
//
// ValuesOf, the errors and VersionOf serve a store that keeps its indexes in a
// way of its own. Set numbers them, so that a store can compute values without
// its lock; its moves and plans are for stores that do not remember the values
// that an object had. Places are what the others remember, where an object stands in
// a bucket for each of its values.
//
// Cost: that of the IndexFunc. An object of at most one value in an index costs
// nothing more, one of several is searched for repetitions, in O(values).
package indexing

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informerbench/informerbench/contract"
)

// ValuesOf computes the values of an object in the named index, each once. A nil
// object has none, as in client-go. It panics if the IndexFunc fails, so it must
// run before anything is touched; a panic of the IndexFunc passes through. The
// slice may be the object's own: do not change it.
func ValuesOf(name string, compute contract.IndexFunc, key string, obj any) []string {
	if obj == nil {
		return nil
	}
	values, err := compute(obj)
	if err != nil {
		panic(fmt.Errorf("indexing %q in %q: %w", key, name, err))
	}
	return Distinct(values)
}

// few is how many values are compared each with each, which allocates nothing.
const few = 16

// Distinct returns the values without repetitions, in their order. It leaves the
// given slice as it is, and returns that very slice where it can.
func Distinct(values []string) []string {
	if len(values) <= few && !repeats(values) {
		return values
	}
	seen := make(map[string]struct{}, len(values))
	out := make([]string, 0, len(values))
	for _, value := range values {
		if _, again := seen[value]; !again {
			seen[value] = struct{}{}
			out = append(out, value)
		}
	}
	return out
}

func repeats(values []string) bool {
	for i, value := range values {
		if slices.Contains(values[:i], value) {
			return true
		}
	}
	return false
}

// ErrUnknown is the error of a read that names an index which the store lacks.
func ErrUnknown(name string) error {
	return fmt.Errorf("the store has no index %q: give it to the constructor or to AddIndexers", name)
}

// ErrTaken is the error of AddIndexers for a name that the store has.
func ErrTaken(name string) error {
	return fmt.Errorf("adding indexers: the store has an index %q already: choose another name", name)
}

// VersionOf returns the resource version of an object that has metadata.
func VersionOf(obj any) (version string, known bool) {
	if obj == nil {
		return "", false
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return "", false
	}
	return m.GetResourceVersion(), true
}
