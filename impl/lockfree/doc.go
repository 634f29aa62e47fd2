// Package lockfree is a store whose readers take no lock and never wait for the writer, and
// whose writer never waits for readers. It is this project's answer to kubernetes#130767. It
// keeps every STORE clause, without a waiver. Long lists let each other run first (readers.go).
//
// # Where things are
//
//	Store ── view ─┬─ core ─┬─ committed   the number of the newest finished write
//	(1 pointer)    │        ├─ readers     the snapshot slots: open snapshots are announced here
//	               │        ├─ keys        hash table: key ──> object and record of the key
//	               │        └─ objects     array of cells: the records of all objects, densely
//	               └─ indexes ─── buckets  hash table: value ──> bucket, an array of cells
//
// Each key has one record with its object. The table and the arrays point to the record. A write
// makes a version of the object, stamped with the write's number and linked to the version
// before, as in any multiversion store (Reed 1978; Bernstein and Goodman 1983). The record
// keeps the object from before the oldest version. When all open snapshots see the newest
// version, that version's object replaces it, and no version is left: the record is settled. (An
// object of another type than the store's first one stays in its version: values.go.) So an
// update that leaves the object where it is touches the record only, whatever the number of
// indexes.
//
//	table    ... key a ───┐                ... key b ──┐
//	all      cells [ 0 ]──┤         [ 1 ]──────────────┤
//	ns = x   cells [ 0 ]──┤                            │   ns = y  cells [ 0 ]──┐
//	                      ▼                            ▼                        │
//	records               a: object                    b: object  <─────────────┘
//	                      │ newest                     (settled)
//	versions           write 9
//	                      │ prev
//	                   write 5        (kept while a snapshot of 5 to 8 is open; snapshots
//	                                   before 5 see the object in the record)
//
// A reader (1) takes a snapshot slot, (2) loads committed, which is its snapshot s, (3) goes
// through the cells and reads each record's newest version with a number of at most s, or
// the object in the record if there is none, (4) frees the slot.
//
// Writes are one at a time, under a mutex that no reader takes. Write w (1) points records
// to new versions and cells to records, (2) stores w in committed, which makes all of it
// visible at once, (3) looks at the slots, and settles the records if none is taken; else it
// reclaims the versions that no open snapshot sees. A reader takes its slot before it loads
// committed, and a writer looks at the slots after it has stored committed. So either the
// writer sees the reader, or the reader sees the write (readers.go).
//
// Removal swaps the array's last record into the hole. A cell that gets another record
// points to a stand-in for a while. The stand-in leads to that record, is stamped with this
// write, and is linked to what the cell pointed to before. Both cells change in the same
// write, so no snapshot sees an object twice or misses one. The record itself takes the
// stand-in's place when the retire list is next gone through and no open snapshot is older.
// The stand-in is used again once all slots were seen free after that, and so are versions
// (standin.go). That is a quiescent state (Fraser 2004); if the writer does not find one at
// once, it leaves stand-in and version to the garbage collector.
//
// A bucket has a time: from the write that gives its value the first object to the write that
// takes the last one away. A value that comes back gets a new bucket, which leads to the one
// before, as versions do. So a write that makes a bucket, or ends one, changes no cell that a
// reader may look at, and needs no stand-in. A bucket that is over is dropped when no open
// snapshot lies within its time (index.go), and is then used again as stand-ins are.
//
// A record knows the object's places, and thereby its former index values. So a write runs
// the IndexFuncs on new objects only, and AddIndexers on all; both run them one at a time,
// under the writers' mutex (STORE-48). Index runs one on the reader's own object, at any time.
//
// While no snapshot is open, an Update that keeps the index values makes no version. It replaces
// the object in the record (inplace.go).
//
// A List would follow a pointer for each object. So readers keep copies of the objects,
// in blocks of 256 cells, where a list found a block unchanged since the list before. A
// write drops the copies of the blocks that it changes (copies.go).
//
// A Get is one look into the table, where the newest committed object stands beside its
// key. Get opens a snapshot and goes on to the record if a write of the key is under way, or if
// the object is nil or of another type than the first one that the table held (values.go).
//
// Replace fills another core beside the first and exchanges one pointer. AddIndexers
// publishes a view of the same core with more indexes.
//
// # The life of an Update
//
//  1. writers.go: Update reads the object's resource version and locks Store.writer.
//  2. write.go: begin numbers the write, one above committed.
//  3. writers.go: addValues runs the IndexFuncs. If one fails, Update panics here, with
//     nothing touched.
//  4. write.go, table.go: the key is hashed, and put searches the table for its entry. For
//     the writes of a Transaction fetch.go has brought into the cache what they read.
//  5. A new key: array.go pushes a new record, index.go adds it to its buckets, and table.go
//     inserts the entry. Go on with step 8.
//  6. A known key: index.go compares the values with those of the record's buckets. If all stay
//     and no snapshot is open, inplace.go does the rest. Otherwise values.go hides the
//     object in the entry, record.go makes a version the newest, and copies.go drops the
//     copy of the block. If the key was deleted, array.go pushes its record again.
//  7. index.go: if a value changed, reindex removes the record from the buckets of values
//     that it lost and adds it to those of new values; of more than 16 values it adds first,
//     and fetch.go brings their entries into the cache. The cells get stand-ins (array.go,
//     standin.go).
//  8. resourceversion.go: note takes the object's resource version, if it has one.
//  9. write.go: commit stores the number in committed. The write is visible from here on.
//  10. values.go: show puts the objects into the entries for Get.
//  11. write.go: what the write replaced goes to the retire list. If readers.go finds no
//     open snapshot, or the reclaim threshold is passed, reclaim goes through that list
//     (record.go, standin.go, index.go; fetch.go for buckets).
//
// A Delete leaves a tombstone. Last of all it rebuilds the parts of the table in which most keys
// are deleted (table.go).
//
// # Linearization points
//
//	Add, Update, Delete, Transaction, Bookmark   core.commit: the store to committed; in place, the
//	                                             store to the record (inplace.go)
//	Replace, AddIndexers                         the store to Store.view
//	List, ListKeys, Index, IndexKeys, ByIndex,   readers.acquire: the load of committed or, where
//	ListIndexFuncValues                          the writer chose for the reader, the writer's
//	                                             exchange of the slot; beside a write in place as
//	                                             inplace.go says
//	Get                                          the load of an entry's object (values.go), or of a
//	                                             free entry's word; else as List (core.look)
//	LastStoreSyncResourceVersion                 see resourceVersion.last
//	GetIndexers                                  the load of Store.view
//
// A reader that loaded the view before a Replace and committed after it reads the old
// core as it was when Replace ended it, which lies within its call. The same holds for
// a Get in a part of the table that was replaced.
//
// # Memory
//
// About 130 bytes per object with two indexes of one value each (client-go: 160 to 185), and 16
// more once everything was listed twice. A further index takes 8 (client-go: some 45). An object
// of another type than the store's first one takes 32 more. An open snapshot keeps at
// most one old version of each object that it sees, two stand-ins for each cell that
// changed hands since, the record of each object that was deleted since, and the bucket and the
// table entry of each index value that no object has any more. That holds however long it is open
// and however many writes come: versions between two snapshots that neither sees are dropped.
// Between two looks at the slots, writes add more versions and stand-ins: at most as many as
// are kept anyway, or 64.
//
// The first write that finds no snapshot open drops all that snapshots kept. While each write
// finds one open, what a closed one kept goes at the next look at the slots. If n things are
// kept, that comes after as many versions and stand-ins more, or after 1,024+n/16 of them if that
// is less. A write counts as one at least. Without a write everything stays.
//
// A reader stalls in a snapshot only where its goroutine is not run: no code of the caller
// runs inside. A reader may be stopped after it announced itself and before it has a
// snapshot. The writer then gives it one.
//
// The record of a deleted key, a version of 32 bytes and the key stay until its part of the table
// is rebuilt: when it is full, or when less than an eighth of its keys are left. A table keeps
// its directory when its keys go, until a Replace. For each of the directory's slots it then
// has up to 160 entries of 32 bytes, and up to 128 records of deleted keys. After a million keys
// there are 2,048 slots, whose entries take 11 MB. The list of buckets and that of their free
// numbers keep their room too, 12 bytes for each of the most values that there were at once.
//
// # Invariants
//
// In this package's tests, under the race detector and with -tags invariants, the writer checks the
// whole store after its writes. It panics if records and cells do not lead to each other, a count is
// wrong, or something with a past is missing from the retire list (invariants_audit_test.go has the
// rules). Each write pays for checking 32 objects, so a large store is checked once in many writes.
//
// # Costs
//
// For n objects and i indexes.
//
//   - Get: O(1), a table lookup. List, ListKeys: O(n). ByIndex: O(matches). ListIndexFuncValues:
//     O(values), and at most an entry for each three values that there once were. A List of 4,096
//     objects or more lets others run before it begins, up to n/16 times, while as many such
//     lists are under way as there are processors (readers.go).
//   - Beside an older snapshot List and ByIndex are O(cells in use). Cells that an array has lost
//     stay in use while that snapshot sees an object there, and until the look at the slots
//     after it. Of each object they pass over the versions that were made after their own snapshot
//     and since the last look at the slots.
//   - Update: O(i) to compare the index values with the former ones. While no snapshot is open it
//     allocates nothing, otherwise a version of 32 bytes. A value that changes costs up to three
//     short-lived stand-ins, and none where the old bucket ends and the new one begins. Delete:
//     two for each array. A write is O(1) on average. An object of many values costs O(values).
//   - A key that comes or goes pays on average for copies of up to 16 slots of the table's
//     directory, of 32 bytes each. In a table of over a million keys it pays for a slot in 128. So
//     does an index value.
//   - A look at the slots: 2*GOMAXPROCS of them, rounded up to a power of two, at least 4.
//     It covers more only while more snapshots are open, and once after that.
//   - Replace: O(n*i), beside readers; other writers wait for it.
//
// A write's longest stops:
//
//   - the first look at the slots after a long snapshot goes through all that waited for it;
//   - a full part of a table is copied: at most 1,024 entries of 32 bytes, or 2,048 in an
//     index whose values come and go;
//   - a block of 256 cells is made or copied;
//   - a list grows and is copied: that of the buckets, with 8 bytes for each value of an index,
//     or under an open snapshot the retire list, with 16 for each entry;
//   - a directory is copied: of the blocks, with one entry for 256 objects, or of the table,
//     with one for about 500 of the most keys that there were.
package lockfree
