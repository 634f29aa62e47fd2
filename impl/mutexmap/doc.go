// Package mutexmap is the baseline store: one RWMutex, one map of objects, and
// per index a map from value to the set of keys. It is the algorithm that
// client-go's thread-safe store has had since v0.17, written anew, so that
// whatever another store gains or loses is measured against code of this house
// and not only against upstream's.
//
// It keeps every STORE clause, also those that client-go breaks: a write whose
// IndexFunc fails leaves nothing half written (STORE-28, 29, 30, 39), because
// index values are computed before anything is touched; GetIndexers returns a
// copy (STORE-26); Replace takes a nil map (STORE-21). It differs in one more
// way: Replace builds its indexes before it takes the lock, under a mutex that only
// writers take. So readers wait for a swap of pointers and not for the building, and
// IndexFuncs are still called one at a time (STORE-48).
//
// Costs, for n objects and i indexes. Get is one map lookup, O(1). Add, Update
// and Delete are O(i) under the write lock, and allocate only where an index
// grows. List and ListKeys are O(n) under the read lock, and a writer waits for
// every reader that came before it: that is the starvation of
// kubernetes#130767, which this store has by design. ByIndex is O(matches),
// IndexKeys O(matches log matches), Replace O(n*i), for which writers wait.
// Memory is the map, plus one set entry per object, index and value.
package mutexmap
