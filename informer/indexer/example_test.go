package indexer_test

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer/indexer"
)

// Code that takes a cache.Indexer, such as a lister, works over any store.
func ExampleNew() {
	store := mutexmap.New(contract.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	var x cache.Indexer = indexer.New(nil, store, indexer.Options{})

	fmt.Println(x.Add(pod("web-0", "node-1", "41")))
	fmt.Println(x.IndexKeys(cache.NamespaceIndex, "ns"))
	fmt.Println(x.LastStoreSyncResourceVersion())
	fmt.Println("no key:", x.Add("not an object") != nil)
	// Output:
	// <nil>
	// [ns/web-0] <nil>
	// 41
	// no key: true
}
