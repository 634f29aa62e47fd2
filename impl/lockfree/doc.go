// Package lockfree is a store whose readers take no lock and wait for nobody, and
// whose writer never waits for readers: the answer of this project to
// kubernetes#130767. Every STORE clause holds, without a waiver.
//
// # Where things are
//
//	Store ── view ─┬─ core ─┬─ committed   the number of the newest finished write
//	(1 pointer)    │        ├─ readers     slots in which open snapshots are announced
//	               │        ├─ keys        hash table: key ──> object and record of the key
//	               │        └─ objects     array of cells: the records of all, densely
//	               └─ indexes ─┬─ buckets  hash table: value ──> bucket, an array of cells
//	                           └─ values   array of cells: the values that objects have
//
// A record is what there is of a key. It leads to the nodes: a node is one version of the
// object, stamped with the number of the write that made it and linked to the version
// before, as in any multiversion store (Reed 1978; Bernstein and Goodman 1983). The table
// and the arrays point to the record, so an update that leaves the object where it is
// makes a node and points the record to it, whatever the number of indexes.
//
//	table    ... key a ───┐                ... key b ──┐
//	all      cells [ 0 ]──┤         [ 1 ]──────────────┤
//	ns = x   cells [ 0 ]──┤                            │   ns = y  cells [ 0 ]──┐
//	                      ▼                            ▼                        │
//	records               a                            b  <─────────────────────┘
//	                      │ newest                     │ newest
//	nodes              write 9                      write 4
//	                      │ prev
//	                   write 5        (kept while a snapshot of 5 to 8 is open)
//
// A reader (1) takes a slot, (2) loads committed: that is its snapshot s, (3) goes
// through the cells and takes of each record the newest node with a number of at most s, (4)
// frees the slot. A write of number w, one at a time under a mutex that no reader takes, (1)
// points records to new nodes and cells to records, (2) stores w in committed, at which
// moment all of it becomes visible, (3) looks at the slots and cuts the versions that no
// open snapshot sees. A reader is in its slot before it loads committed, and a writer looks at the
// slots after it has stored it: so either the writer sees the reader, or the reader sees
// the write (readers.go).
//
// What is taken out of an array is replaced by its last record. Where a cell gets another
// record than it had, it points for a while to a stand-in, which leads to it and is stamped
// with this write and linked to what the cell had before. Both cells change in
// the same write, so no snapshot sees an object twice or misses one. A stand-in gives
// way to the record itself as soon as no snapshot is older, and is used again once all
// slots were seen free after that (standin.go; the quiescent states of Fraser 2004, where
// the writer finds one at once, and the garbage collector where not). A bucket that became
// empty goes when none of its cells is in use any more (index.go). The record
// knows the object's places, and thereby its former index values: IndexFuncs run on new
// objects only, under the writers' mutex: one at a time (STORE-48).
//
// Lists of everything would follow two pointers for each object. So readers keep copies of
// the objects, by blocks of 256 cells, where a list found the same as the one before;
// a write drops the copies of the blocks that it changes (copies.go).
//
// A Get is one look into the table, where the newest committed object stands beside its
// key. It goes on to the node if a write of the key is under way, and where the key was
// deleted, or had an object of another type, since its part of the table was made
// (values.go).
//
// Replace fills another core beside the first and exchanges one pointer. AddIndexers
// publishes a view of the same core with more indexes.
//
// # Linearization points
//
//	Add, Update, Delete, Transaction, Bookmark   core.commit: the store to committed
//	Replace, AddIndexers                         the store to Store.view
//	List, ListKeys, Index, IndexKeys, ByIndex,   readers.acquire: the load of committed, or the
//	ListIndexFuncValues                          writer's, where the writer chose for the reader
//	Get                                          the first look at an entry, settled or free, or the
//	                                             setting of its value after that (values.go); else as
//	LastStoreSyncResourceVersion                 the load of committed after that of the node
//	GetIndexers                                  the load of Store.view
//
// A reader that loaded the view before a Replace and committed after it reads the old
// core as it was when Replace ended it, which lies within its call. The same holds for
// a Get in a part of the table that was replaced.
//
// # Memory
//
// About 205 bytes per object with two indexes of one value each (client-go: about 160),
// and 16 more once everything was listed twice (docs/stores.md). An open snapshot keeps at
// most one old version of each object that it sees, and for each cell that changed hands
// since two stand-ins, however long it is open and however many writes come: what two
// snapshots do not see in between is dropped. Between two looks at the slots the writes
// leave more of them, at most as many as are kept anyway, or 64. A reader stalls in a
// snapshot only where its goroutine is not run: no code of the caller runs inside. A
// reader that is stopped after it announced itself and before it has a snapshot is given
// one by the writer.
//
// # Invariants
//
// Under the race detector and with -tags invariants the writer looks at the whole store
// after its writes, and panics if records and cells do not lead to each other, a count is
// wrong, or something waits that no list knows (invariants_on.go has the rules). Each write
// pays for 32 objects of such a look, so a large store is looked at after many writes. Normal
// builds contain none of it.
//
// # Costs
//
// For n objects and i indexes. Get: O(1), a table lookup. List, ListKeys: O(n). ByIndex:
// O(matches). Update: one node of 32 bytes, and O(i) to see that the index values are what
// they were; where one changes, three short-lived stand-ins; Delete: two for each array. A
// write is O(1) on average. A look at the slots goes over 2*GOMAXPROCS of them, at least 4;
// over more only while more snapshots are open, and once after that. A write's longest
// stops: the first look at the slots after a reader was long inside goes through what waited
// for that; a part of a table is copied, at most 1,024 entries of 48 bytes; a block of 256
// cells, or the directory of the blocks or of the table, of which there is one entry for 256
// or about 500 objects. Replace: O(n*i), beside readers; other writers wait for it. An
// object of many values costs O(values).
package lockfree
