// Package memdb is a store over github.com/hashicorp/go-memdb: immutable radix trees, with watch
// channels that a store does not need and pays for.
package memdb

import (
	"errors"

	hashicorp "github.com/hashicorp/go-memdb"

	"example.com/peer-stores/rows"

	"github.com/informerbench/informerbench/contract"
)

const (
	table   = "rows"
	byKey   = "id" // go-memdb wants this name
	byEntry = "entry"
)

// New returns an empty store.
func New(indexers contract.Indexers) *rows.Store {
	db, err := hashicorp.NewMemDB(&hashicorp.DBSchema{Tables: map[string]*hashicorp.TableSchema{
		table: {Name: table, Indexes: map[string]*hashicorp.IndexSchema{
			byKey:   {Name: byKey, Unique: true, Indexer: keyIndexer{}},
			byEntry: {Name: byEntry, AllowMissing: true, Indexer: entryIndexer{}},
		}},
	}})
	if err != nil {
		panic(err) // the schema is wrong
	}
	return rows.NewStore(&database{db}, indexers)
}

type keyIndexer struct{}

func (keyIndexer) FromObject(raw any) (bool, []byte, error) {
	return true, []byte(raw.(*rows.Row).Key), nil
}

func (keyIndexer) FromArgs(args ...any) ([]byte, error) { return []byte(args[0].(string)), nil }

type entryIndexer struct{}

func (entryIndexer) FromObject(raw any) (bool, [][]byte, error) {
	entries := raw.(*rows.Row).Entries
	keys := make([][]byte, len(entries))
	for i, e := range entries {
		keys[i] = e.Bytes()
	}
	return len(keys) > 0, keys, nil
}

func (entryIndexer) FromArgs(args ...any) ([]byte, error) {
	return args[0].(rows.Entry).Bytes(), nil
}

type database struct{ db *hashicorp.MemDB }

func (d *database) Get(key string) *rows.Row {
	r, err := d.db.Txn(false).First(table, byKey, key)
	must(err)
	if r == nil {
		return nil
	}
	return r.(*rows.Row)
}

func (d *database) Snapshot() rows.Snapshot { return (*snapshot)(d.db.Txn(false)) }

func (d *database) Begin() rows.Tx { return &tx{d.db.Txn(true)} }

type snapshot hashicorp.Txn

func (s *snapshot) All(visit func(*rows.Row)) { s.each(visit, byKey) }

func (s *snapshot) Find(e rows.Entry, visit func(*rows.Row)) { s.each(visit, byEntry, e) }

func (s *snapshot) each(visit func(*rows.Row), index string, args ...any) {
	found, err := (*hashicorp.Txn)(s).Get(table, index, args...)
	must(err)
	for r := found.Next(); r != nil; r = found.Next() {
		visit(r.(*rows.Row))
	}
}

type tx struct{ *hashicorp.Txn } // with Commit and Abort

func (t *tx) Put(r *rows.Row) { must(t.Insert(table, r)) }

func (t *tx) Delete(key string) {
	err := t.Txn.Delete(table, &rows.Row{Key: key})
	if !errors.Is(err, hashicorp.ErrNotFound) {
		must(err)
	}
}

func (t *tx) Clear() {
	_, err := t.DeleteAll(table, byKey)
	must(err)
}

// must panics for an error that only a wrong schema or name brings.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
