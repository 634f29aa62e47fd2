// Package mutexmap is the baseline store: one RWMutex, one map of objects, and
// per index a map from value to the set of keys. It is the algorithm of client-go's
// thread-safe store since v0.17, written anew. So every other store is measured against
// code of this project, and not only against upstream's.
//
// It keeps every STORE clause, also those that client-go breaks. A write whose
// IndexFunc fails leaves nothing half written (STORE-28, 29, 30, 39), because index
// values are computed before anything is touched, and a Transaction takes its writes
// back. GetIndexers returns a copy (STORE-26). Replace takes a nil map (STORE-21).
//
// It differs in one more way: Replace builds its indexes before it takes the lock, under a
// mutex that only writers take. So readers wait only for a swap of pointers, and
// IndexFuncs are still called one at a time (STORE-48).
//
// Costs, for n objects and i indexes. Get is one map lookup, O(1). Add, Update
// and Delete are O(i) under the write lock, and allocate only where an index
// grows. List and ListKeys are O(n) under the read lock, and a writer waits for
// every reader that came before it. That is the starvation of kubernetes#130767,
// which this store has by design. ByIndex is O(matches),
// IndexKeys O(matches log matches), Replace O(n*i), for which writers wait.
// Memory is the map, plus one set entry per object, index and value.
package mutexmap
