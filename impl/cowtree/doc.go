// Package cowtree is a store of copy-on-write B-trees: one of the objects by key,
// and one of (value, key) for each index. A writer changes the writer's own trees, under
// a mutex, and publishes clones of them. A reader loads one pointer and has the whole store
// as it was at that instant, for as long as it likes.
//
//	writer's own     objects ────────────┐ Clone    after every write; O(1), but from
//	(mutex)          index 0 ────────┐   │          then on every node is shared
//	                                 v   v
//	published        state{ indexes, objects, set, version }
//	                   ^
//	current ───────────┘ one atomic pointer         Store is the instant of the write,
//	                                                Load that of every read
//
// It is the design of the public proposal against starvation by readers
// (kubernetes#133241), measured here beside the others. Readers never wait and never make
// a writer wait, and every read sees one instant. The price is copying. In each tree that it
// changes, a write copies the path from the root to the changed item, because the clone
// that readers may hold shares every node.
//
// The tree is google/btree's, in the fork that Kubernetes keeps since google's own
// is deprecated (k8s.io/utils). Its degree is 16, that of the API server's watch
// cache.
//
// It keeps every STORE clause. A write is planned, with every call of an IndexFunc,
// before the writer's trees are touched. After that nothing can fail.
//
// Costs, for n objects and i indexes. Get is O(log n): about 15 string comparisons
// for 100,000 objects, where a map has one. Update copies a path of the object tree, three
// nodes of up to 1 KB. For each index whose values change it copies two such paths. An
// index whose values stay is not touched, because it holds keys and not objects.
// Transaction publishes once, so paths that its writes share are copied once. List
// and ListKeys are O(n), in the order of the keys. ByIndex is O(matches log n): a
// look-up in the object tree for each match. IndexKeys need not sort.
// ListIndexFuncValues is O(values log n). Replace and AddIndexers build new trees,
// O(n log n), while only other writers wait. Memory: about 200 bytes for each of 100,000
// objects in two indexes, where the baseline has 160. But every write makes garbage, and
// a stalled reader keeps all nodes of its instant, in the end a second copy of everything.
package cowtree
