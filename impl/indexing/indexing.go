// Package indexing is shared by this project's stores: everything around an IndexFunc, so
// that all stores fail in the same way. It computes the values of an object before
// anything is touched, makes the errors that a caller sees, and reads the resource version
// of an object. Each store keeps its index entries in its own way.
//
// Values keeps index values. Values, the errors and VersionOf serve every store. Set
// numbers indexes, so that a store can compute values without its lock. Its moves and plans
// are for stores that do not remember an object's former values. Places is for stores that
// do: it remembers where an object stands in the bucket of each of its values.
//
// Nothing here holds a lock. A store calls the IndexFuncs of its writes under one lock, so
// that they are called one at a time (STORE-48).
//
// Cost: that of the IndexFunc, and O(values), however many values one object has. A linear
// search of up to Few values allocates nothing.
package indexing

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informerbench/informerbench/contract"
)

// ValuesOf returns the IndexFunc's own slice: a value may be in it twice, and the next call
// of the IndexFunc may overwrite it. A store that keeps values beyond that call uses
// [Values] instead. A nil object has no values. ValuesOf panics as Values.Append does. The
// slice may be the object's own: do not change it.
func ValuesOf(name string, compute contract.IndexFunc, key string, obj any) []string {
	if obj == nil {
		return nil
	}
	values, err := compute(obj)
	if err != nil {
		panic(fmt.Errorf("indexing %q in %q: %w", key, name, err))
	}
	return values
}

// ErrUnknown is the error of a read from an index that the store does not have. It contains
// client-go's words (STORE-52).
func ErrUnknown(name string) error {
	return fmt.Errorf("reading from the store: Index with name %s does not exist: give it to the "+
		"constructor or to AddIndexers", name)
}

// ErrTaken is the error of AddIndexers for an index name that the store has already. It contains
// client-go's words (STORE-52): programs look for them, to add an index that may be there.
func ErrTaken(name string) error {
	return fmt.Errorf("adding indexers: indexer conflict: the store has an index %q already: "+
		"choose another name", name)
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
