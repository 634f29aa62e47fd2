// Package cowtree is a store of copy-on-write B-trees: one of the objects by key,
// and one for each index of (value, key). A writer changes trees of its own, under
// a mutex, and publishes clones of them; a reader loads one pointer and has the
// whole store as it was at that instant, for as long as it likes.
//
//	writer's own     objects ────────────┐ Clone    after every write; O(1), but from
//	(mutex)          index 0 ────────┐   │          then on every node is shared
//	                                 v   v
//	published        state{ indexes, objects, set, version }
//	                   ^
//	current ───────────┘ one atomic pointer         Store is the instant of the write,
//	                                                Load that of every read
//
// It is the design of the public proposal for the starvation by readers
// (kubernetes#133241), measured here beside the others: readers never wait and
// never make a writer wait, every read is one instant, and the price is the
// copying. A write copies the path from the root to what it changes, in each tree
// that it changes, because the clone that readers may hold shares every node.
//
// The tree is google/btree's, in the fork that Kubernetes keeps since google's own
// is deprecated (k8s.io/utils). Its degree is 16, that of the API server's watch
// cache.
//
// It keeps every STORE clause. A write is planned, with every call of an IndexFunc,
// before the writer's trees are touched, and after that nothing can fail.
//
// Costs, for n objects and i indexes. Get is O(log n): about 15 string comparisons
// for 100,000, where a map has one. Update copies a path of the object tree, three
// nodes of up to 1 KB, and for each index whose values change the same twice; an
// index whose values stay is not touched, because it names keys and not objects.
// Transaction publishes once, so paths that its writes share are copied once. List
// and ListKeys are O(n), in the order of the keys. ByIndex is O(matches log n): a
// look-up in the object tree for each match. IndexKeys need not sort.
// ListIndexFuncValues is O(values log n). Replace and AddIndexers build trees
// aside, O(n log n) with only other writers waiting. Memory: about 200 bytes for
// each of 100,000 objects in two indexes, where the baseline has 160, but garbage
// with every write, and a reader that stops keeps all nodes of its instant, in the
// end a second copy of everything.
package cowtree
