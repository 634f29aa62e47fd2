// Package lockfree is a store whose readers take no lock and wait for nobody, and
// whose writer never waits for readers: the answer of this project to
// kubernetes#130767. Every STORE clause holds, without a waiver.
//
// # Where things are
//
//	Store ── view ─┬─ core ─┬─ committed   the number of the newest finished write
//	(1 pointer)    │        ├─ readers     slots in which open snapshots are announced
//	               │        ├─ nodes       hash table: key ──> node ──> object
//	               │        └─ objects     array: all objects, densely, in chunks
//	               └─ indexes ─┬─ buckets  hash table: value ──> bucket ──> array
//	                           └─ values   array: the values that objects have
//
// An array is a row of cells. A cell points to the newest version of one chunk: up to
// 16 objects side by side, stamped with the number of the write that made it, and
// linked to the version before.
//
//	cells     [ 0 ]        [ 1 ]            [ 2 ]
//	            │            │                │
//	newest   seq 4  full  seq 9  full      seq 7  3 of 16
//	                         │ prev
//	before                seq 5  full      (kept while a snapshot of 5 to 8 is open)
//
// A reader (1) takes a slot, (2) loads committed: that is its snapshot s, (3) copies the
// chunks one after the other, from each cell the newest version with a number of at
// most s, (4) frees the slot. A write of number w, one at a time under a mutex that no reader
// takes, (1) puts new versions of the few chunks it touches in their cells, (2) stores w
// in committed, at which moment all of it becomes visible, (3) looks at the slots and
// cuts the old versions that no open snapshot sees. A reader is in its slot before it
// loads committed, and a writer looks at the slots after it has stored it: so either the
// writer sees the reader, or the reader sees the write (readers.go).
//
// What is taken out of an array is replaced by the last object. Both chunks change in the
// same write, so no snapshot sees an object twice or misses one. Objects of one index value lie side by
// side, so ByIndex is a copy of a few chunks. A record per key knows the object's places,
// and thereby its former index values: IndexFuncs run on new objects only, before
// the mutex is taken.
//
// Replace fills another core beside the first and exchanges one pointer. AddIndexers
// publishes a view of the same core with more indexes.
//
// # Linearization points
//
//	Add, Update, Delete, Transaction, Bookmark   core.commit: the store to committed
//	Replace, AddIndexers                         the store to Store.view
//	List, ListKeys, Index, IndexKeys, ByIndex,   readers.enter: the load of committed, or the
//	ListIndexFuncValues                          writer's, where the writer chose for the reader
//	Get, LastStoreSyncResourceVersion            the load of committed after that of the node
//	GetIndexers                                  the load of Store.view
//
// A reader that loaded the view before a Replace and committed after it reads the old
// core as it was when Replace ended it, which lies within its call. The same holds for
// a Get in a part of the table that was replaced.
//
// # Memory
//
// About 225 bytes per object with two indexes of one value each (client-go: about 185),
// measured in docs/stores.md. An open snapshot keeps at most one old version of each chunk that
// was changed since, of 16 objects each, and the buckets emptied since that it sees
// objects in, however long it is open and however many writes come: what two snapshots
// do not see in between is dropped. Between two looks at the slots a write
// leaves more, at most as much as is kept anyway, or 64 versions. A reader stalls in
// a snapshot only where its goroutine is not run: no code of the caller runs inside.
// A reader that is stopped after it announced itself and before it has a snapshot is
// given one by the writer.
//
// # Costs
//
// For n objects and i indexes. Get: O(1), a table lookup. List, ListKeys: O(n), a copy.
// ByIndex: O(matches), a copy. Update: O(i), one copy of 16 objects for the array of all and for each
// index value, about 320 bytes of garbage each; Add and Delete: the same with the records. A write
// is O(1), with these bounds on its longest stop: a part of a table is copied, at most
// 1,024 entries; the directory of a table or the cells of an array are copied, 8 bytes per 500
// objects or per 16. Replace: O(n*i), beside everything.
package lockfree
