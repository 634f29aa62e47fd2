// Package clientgo holds the peers as they are: client-go's store, DeltaFIFO,
// RealFIFO and workqueues, each made by a constructor of the shape that the
// catalog and the suites use.
//
// Nothing here wraps a method that is measured: the constructors return
// upstream's own values. The exceptions are the two heaps in heap.go, which
// give upstream's exported or published structures the methods of
// contract.DelayHeap, because upstream exports no such type.
//
// The version is that of go.mod; see [ClientGoModule].
package clientgo

import (
	"maps"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// ClientGoModule is the path under which a build lists the version of client-go.
const ClientGoModule = "k8s.io/client-go"

// NewStore returns client-go's thread-safe indexed store. It copies the map of
// indexers, which client-go would go on to write to.
func NewStore(indexers contract.Indexers) contract.Store {
	own := maps.Clone(indexers)
	if own == nil {
		own = contract.Indexers{}
	}
	return cache.NewThreadSafeStore(own, cache.Indices{})
}
