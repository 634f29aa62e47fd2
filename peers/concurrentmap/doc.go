// Package concurrentmap is a store that keeps its objects in a concurrent map,
// which Get, List and ListKeys read without a lock, and its indexes in Go maps
// under an RWMutex. One store, two maps: sync.Map of the standard library (NewSync)
// and Map of github.com/puzpuzpuz/xsync (NewXSync).
//
//	content   ──> objects: concurrent map      Get, List, ListKeys: no lock
//	(atomic)                 ^
//	                         | written first
//	RWMutex   ──> postings: value -> key -> object, per index
//	                         ByIndex, Index, IndexKeys, ListIndexFuncValues: read lock
//
// It shows how far a concurrent map alone helps. Get, List and ListKeys make no writer
// wait. Reads of an index do, as in the baseline. And a concurrent map gives no snapshot: a
// List beside writers may have a later write and lack an earlier one, because it walks the
// map while they go on.
//
// It does not keep STORE-7 and STORE-8 (List and ListKeys see one instant), hence
// not STORE-35 (all calls together are linearizable), nor STORE-38 (Transaction is
// one instant to List and to several Gets). It keeps all others. Calls on one key are
// linearizable. Reads of an index see one instant, because a write changes all indexes
// under the lock. Replace exchanges the map at one instant, for List too. Nothing is ever
// half written, because values are computed before anything is touched.
//
// Costs, for n objects and i indexes. Get is a look-up without a lock, O(1), no
// allocation. Add, Update and Delete are O(i) under the lock, and compute the
// values of the old object again; sync.Map makes a node of key and value as
// interfaces for each, xsync's map an entry. List and ListKeys are O(n), walks and
// not copies. xsync's walk locks one bucket of a few entries at a time, so a writer may
// wait for a reader that is descheduled just then. ByIndex is O(matches) under the read
// lock. The index holds the objects, so a match needs no look-up, but every Update writes
// its object there. Replace builds new maps, O(n*i), for which writers wait and readers do
// not. Memory: for each of 100,000 objects in two indexes about 270 bytes with sync.Map,
// which is a tree, and 200 with xsync's, where the baseline has 160.
package concurrentmap
