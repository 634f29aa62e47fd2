package storetest

import (
	"runtime"
	"sync/atomic"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// transactionCases: a batch of writes. The scenes test that single reads see it as one
// instant.
var transactionCases = []suite.Case[NewStore]{
	{Clause: "STORE-37", Name: "in-order", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		b := transactor(t, s)
		m := fill(s, crowd(6)...)
		last := []*item{at(0, 2), at(1, 3), at(3, 5), at(8, 6)}
		b.Transaction(
			update(at(0, 1)), update(last[0]),
			remove(key(1)), add(last[1]),
			add(at(7, 4)), remove(key(7)),
			remove(key(2)), remove(key(2)), remove("absent"),
			add(last[2]), update(last[3]),
		)
		delete(m.items, key(2))
		for _, i := range last {
			m.items[i.key] = i
		}
		agree(t, m, s, "after Transaction")
	}, Why: "a batch holds the events of a watch in their order; the last one counts"},
	{Clause: "STORE-37", Name: "empty", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		b := transactor(t, s)
		m := fill(s, crowd(3)...)
		b.Transaction()
		b.Transaction([]contract.StoreTransaction{}...)
		agree(t, m, s, "after an empty Transaction")
	}, Why: "a batch may be empty once what cannot be keyed is left out"},
	{Clause: "STORE-37", Name: "without-indexes", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(contract.Indexers{}) // client-go's AddIndexers panics where the store was given nil
		b := transactor(t, s)
		last, later := at(0, 3), at(1, 4)
		m := newModel(last)
		m.indexes = nil
		b.Transaction(add(at(0, 1)), add(at(1, 2)), update(last), remove(key(1)))
		agree(t, m, s, "after Transaction of a store without indexes")
		must(t, s.AddIndexers(indexers()))
		b.Transaction(add(later))
		agree(t, newModel(last, later), s, "after AddIndexers and another Transaction")
	}, Why: "an informer without indexers commits its batches too"},
	{Clause: "STORE-37", Name: "long", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		b := transactor(t, s)
		m := newModel()
		var writes []contract.StoreTransaction
		for n := range 500 {
			i := at(n%70, n)
			m.items[i.key] = i
			writes = append(writes, update(i))
			if n%3 == 0 {
				writes = append(writes, remove(i.key))
				delete(m.items, i.key)
			}
		}
		b.Transaction(writes...)
		agree(t, m, s, "after a Transaction of 600 writes")
	}, Why: "informers batch a thousand events and more"},
	{Clause: "STORE-38", Name: "two-writers", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		b := transactor(t, s)
		// Each batch writes its number under both keys, and moves both to its index value.
		write := func(n int) {
			value := string("abc"[n%3])
			b.Transaction(update(newItem("x", n, value)), update(newItem("y", n, value)))
		}
		write(0)
		var stop atomic.Bool
		writer := func(first int) func() {
			return func() {
				for n := first; !stop.Load() && !t.HasStalled(); n += 2 {
					write(n)
				}
			}
		}
		t.Together(writer(1), writer(2), func() {
			defer stop.Store(true)
			for range t.Scale(300) {
				values := s.ListIndexFuncValues(one)
				if objects := names(s.List()); len(objects) != 2 || objects[0][1:] != objects[1][1:] ||
					len(values) != 1 {
					t.Errorf("List gave %q and ListIndexFuncValues %q: of two batches a part each", objects,
						values)
					return
				}
				t.Progress()
				runtime.Gosched()
			}
		})
	}, Why: "two batches that mingle leave a state that neither asked for"},
	{Clause: "STORE-50", Name: "transaction", Run: func(t *suite.T, newStore NewStore) {
		for what, obj := range unindexable() {
			s := newStore(indexers())
			b := transactor(t, s)
			m := fill(s, crowd(6)...)
			m.items[key(1)] = at(1, 9)
			if p := panicOf(func() {
				b.Transaction(update(m.items[key(1)]), txn(contract.TransactionTypeDelete, key(4), obj),
					txn(contract.TransactionTypeDelete, "absent", obj))
			}); p != nil {
				t.Fatalf("a Transaction that deletes with %s panics: %v", what, p)
			}
			delete(m.items, key(4))
			agree(t, m, s, "after a Transaction that deletes with "+what)
		}
	}, Why: "a watch that was cut ends in a tombstone, and the informer would crash on it"},
	{Clause: "STORE-50", Name: "delete-with-object", Run: func(t *suite.T, newStore NewStore) {
		for what, obj := range unindexable() {
			s := newStore(indexers())
			d, ok := s.(contract.ObjectDeleter)
			if !ok {
				t.Skipf("no DeleteWithObject")
			}
			m := fill(s, crowd(6)...)
			if p := panicOf(func() { d.DeleteWithObject(key(4), obj) }); p != nil {
				t.Fatalf("DeleteWithObject of %s panics: %v", what, p)
			}
			delete(m.items, key(4))
			agree(t, m, s, "after DeleteWithObject of "+what)
		}
	}, Why: "a watch that was cut ends in a tombstone, and the informer would crash on it"},
}

// unindexable returns objects on which an IndexFunc fails, by their descriptions.
func unindexable() map[string]any {
	bad := newItem(key(4), 9, "bad", "bad")
	return map[string]any{
		"an object whose IndexFunc gives an error": bad.poisoned(one, false),
		"an object whose IndexFunc panics":         newItem(key(4), 9, "bad", "bad").poisoned(one, true),
		"a tombstone": contract.DeletedFinalStateUnknown{Key: key(4),
			Obj: bad},
		"a string": "gone",
	}
}

// transactor skips the case if the store has no Transaction.
func transactor(t *suite.T, s contract.Store) contract.Transactor {
	b, ok := s.(contract.Transactor)
	if !ok {
		t.Skipf("no Transaction")
	}
	return b
}
