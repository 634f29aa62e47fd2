// Package upstream holds the peers as they are: client-go's store, DeltaFIFO,
// RealFIFO and workqueues, and controller-runtime's priority queue, each made
// by a constructor of the shape that the catalog and the suites use.
//
// Nothing here wraps a method that is measured: the constructors return
// upstream's own values. The exceptions are the two heaps in heap.go, which
// give upstream's exported or published structures the methods of
// contract.DelayHeap, because upstream exports no such type, and PriorityQueue,
// whose options have a type of their own upstream.
//
// The versions are those of go.mod; see [ClientGoModule] and
// [ControllerRuntimeModule].
package upstream

import (
	"maps"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Module paths under which a build lists the peers' versions.
const (
	ClientGoModule          = "k8s.io/client-go"
	ControllerRuntimeModule = "sigs.k8s.io/controller-runtime"
)

// NewStore returns client-go's thread-safe indexed store. It copies the map of
// indexers, which client-go would go on to write to.
func NewStore(indexers contract.Indexers) contract.Store {
	own := maps.Clone(indexers)
	if own == nil {
		own = contract.Indexers{}
	}
	return cache.NewThreadSafeStore(own, cache.Indices{})
}
