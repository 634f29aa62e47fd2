// Package indexer puts a KeyFunc over any contract.Store, and is then what
// client-go's informers and listers work with: a cache.Indexer, with
// cache.TransactionStore. Behind it the store can be exchanged without a change
// to the code that uses it.
//
// It behaves as client-go's cache.NewIndexer does, and gives every store the
// powers that client-go's has: what the store lacks (batches, deletion with the
// object, resource versions) is made up here; see [New] for what that costs.
//
// Every method may be called by any number of goroutines at once. Each costs one
// call of the KeyFunc and one of the store, O(1) beside them; Replace and
// Transaction cost that per object.
package indexer
