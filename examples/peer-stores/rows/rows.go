// Package rows is a store over a database of rows, as a program writes it that has such a
// database already. The databases are in packages statedb and memdb.
//
//	rows:   key -> row             one table: an object, its key, its index values
//	index:  (index, value) -> row  one index of the table, for all indexes of the store
//
// Databases declare the indexes of a table when they make it, and client-go adds indexes later.
// So the table has one index, and a row has entries in it.
//
// Costs, for n rows and i indexes: what Get, Find and a write cost in the database; List,
// ListKeys and ListIndexFuncValues O(n); Replace and AddIndexers write every row.
package rows

import (
	"encoding/binary"

	"github.com/informerbench/informerbench/impl/indexing"
)

// Row is an object under its key. It never changes once it is in a database.
type Row struct {
	Key     string
	Object  any
	Entries []Entry
}

// Entry is a value that a row has in an index.
type Entry struct {
	Index int
	Value string
}

// Bytes returns the key of e in a database. No key begins with another, whatever a value contains.
func (e Entry) Bytes() []byte {
	b := make([]byte, 0, 2+len(e.Value))
	b = binary.AppendUvarint(b, uint64(e.Index))
	b = binary.AppendUvarint(b, uint64(len(e.Value)))
	return append(b, e.Value...)
}

// Database holds rows. Any number of goroutines may call its methods at once.
type Database interface {
	// Get returns the row under key, or nil.
	Get(key string) *Row
	// Snapshot returns the rows of this instant. One goroutine may use it at a time.
	Snapshot() Snapshot
	// Begin starts to write. It may wait for another writer.
	Begin() Tx
}

// Snapshot is the rows of an instant.
type Snapshot interface {
	// All calls visit with each row.
	All(visit func(*Row))
	// Find calls visit with each row that has the entry.
	Find(e Entry, visit func(*Row))
}

// Tx is writes that readers see all at once, or never. Abort does nothing after Commit.
type Tx interface {
	Put(row *Row)
	Delete(key string)
	Clear()
	Commit()
	Abort()
}

// newRow panics if an IndexFunc fails.
func newRow(set *indexing.Set, key string, obj any) *Row {
	return &Row{key, obj, appendEntries(nil, set, 0, key, obj)}
}

// appendEntries appends those of the indexes from number from on.
func appendEntries(entries []Entry, set *indexing.Set, from int, key string, obj any) []Entry {
	var room indexing.Room
	values := set.AppendValues(room.Values(), from, key, obj)
	if len(entries)+values.Count() == 0 {
		return nil
	}
	all := append(make([]Entry, 0, len(entries)+values.Count()), entries...)
	for i := range values.Len() {
		for _, value := range values.List(i) {
			all = append(all, Entry{from + i, value})
		}
	}
	return all
}
