// Package statedb is a store over github.com/cilium/statedb: immutable radix trees, with a
// revision and watch channels that a store does not need and pays for.
package statedb

import (
	cilium "github.com/cilium/statedb"
	"github.com/cilium/statedb/index"

	"example.com/peer-stores/rows"

	"github.com/informerbench/informerbench/contract"
)

// Quadratic is why the store does not keep STORE-49.
const Quadratic = "statedb compares each old key of an object in an index with each new one"

// New returns an empty store. It does not start the database: the goroutine that a start brings
// serves iterators of changes only.
func New(indexers contract.Indexers) *rows.Store {
	db := cilium.New()
	table, err := cilium.NewTableAny(db, "rows", func() []string { return []string{"Key"} },
		func(r *rows.Row) []string { return []string{r.Key} }, byKey, byEntry)
	if err != nil {
		panic(err) // the declaration below is wrong
	}
	return rows.NewStore(&database{db, table}, indexers)
}

var byKey = cilium.Index[*rows.Row, string]{
	Name:       "key",
	FromObject: func(r *rows.Row) index.KeySet { return index.NewKeySet(index.String(r.Key)) },
	FromKey:    index.String,
	Unique:     true,
}

var byEntry = cilium.Index[*rows.Row, rows.Entry]{
	Name: "entry",
	FromObject: func(r *rows.Row) index.KeySet {
		if len(r.Entries) == 0 {
			return index.EmptyKeySet
		}
		keys := make([]index.Key, len(r.Entries))
		for i, e := range r.Entries {
			keys[i] = e.Bytes()
		}
		return index.NewKeySet(keys[0], keys[1:]...)
	},
	FromKey: func(e rows.Entry) index.Key { return e.Bytes() },
}

type database struct {
	db    *cilium.DB
	table cilium.RWTable[*rows.Row]
}

func (d *database) Get(key string) *rows.Row {
	r, _, _ := d.table.Get(d.db.ReadTxn(), byKey.Query(key))
	return r
}

func (d *database) Snapshot() rows.Snapshot { return &snapshot{d.table, d.db.ReadTxn()} }

func (d *database) Begin() rows.Tx { return &tx{d.table, d.db.WriteTxn(d.table)} }

type snapshot struct {
	table cilium.Table[*rows.Row]
	read  cilium.ReadTxn
}

func (s *snapshot) All(visit func(*rows.Row)) {
	for r := range s.table.All(s.read) {
		visit(r)
	}
}

func (s *snapshot) Find(e rows.Entry, visit func(*rows.Row)) {
	for r := range s.table.List(s.read, byEntry.Query(e)) {
		visit(r)
	}
}

type tx struct {
	table cilium.RWTable[*rows.Row]
	write cilium.WriteTxn
}

func (t *tx) Put(r *rows.Row) {
	if _, _, err := t.table.Insert(t.write, r); err != nil {
		panic(err) // the transaction is closed
	}
}

func (t *tx) Delete(key string) {
	if _, _, err := t.table.Delete(t.write, &rows.Row{Key: key}); err != nil {
		panic(err) // the transaction is closed
	}
}

func (t *tx) Clear() {
	if err := t.table.DeleteAll(t.write); err != nil {
		panic(err) // the transaction is closed
	}
}

func (t *tx) Commit() { t.write.Commit() }

func (t *tx) Abort() { t.write.Abort() }
