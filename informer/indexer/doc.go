// Package indexer makes a cache.Indexer, with cache.TransactionStore, of a KeyFunc and any
// contract.Store: the interface that client-go's informers and listers work with. The store
// can be exchanged without a change to the code that uses it.
//
// It behaves as client-go's cache.NewIndexer does. Client-go's store has batches, deletion
// with the object and resource versions. For a store that lacks one of these the package
// supplies it; see [New] for what that costs.
//
// Every method may be called by any number of goroutines at once. Each costs at most one
// call of the KeyFunc and one of the store, and O(1) beside them; Replace and Transaction
// cost that per object.
package indexer
