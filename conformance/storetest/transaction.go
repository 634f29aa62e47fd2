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
	on("STORE-37", "in-order", "a batch holds the events of a watch in their order; the last one "+
		"counts",
		func(x *trial) {
			x.add(crowd(6)...)
			x.transaction(
				update(at(0, 1)), update(at(0, 2)),
				remove(key(1)), add(at(1, 3)),
				add(at(7, 4)), remove(key(7)),
				remove(key(2)), remove(key(2)), remove("absent"),
				add(at(3, 5)), update(at(8, 6)),
			)
			x.agree("after Transaction")
		}),
	on("STORE-37", "empty", "a batch may be empty once what cannot be keyed is left out",
		func(x *trial) {
			x.add(crowd(3)...)
			x.transaction()
			x.transaction([]contract.StoreTransaction{}...)
			x.agree("after an empty Transaction")
		}),
	// client-go's AddIndexers panics where the store was given nil
	onIndexes(nil, "STORE-37", "without-indexes",
		"an informer without indexers commits its batches too",
		func(x *trial) {
			x.transaction(add(at(0, 1)), add(at(1, 2)), update(at(0, 3)), remove(key(1)))
			x.agree("after Transaction of a store without indexes")
			x.must(x.addIndexers(allIndexes...))
			x.transaction(add(at(1, 4)))
			x.agree("after AddIndexers and another Transaction")
		}),
	on("STORE-37", "long", "informers batch a thousand events and more", func(x *trial) {
		var writes []contract.StoreTransaction
		for n := range 500 {
			i := at(n%70, n)
			writes = append(writes, update(i))
			if n%3 == 0 {
				writes = append(writes, remove(i.key))
			}
		}
		x.transaction(writes...)
		x.agree("after a Transaction of 600 writes")
	}),
	onIndexes([]string{one}, "STORE-38", "two-writers",
		"two batches that mingle leave a state that neither asked for",
		func(x *trial) {
			b := suite.Needs[contract.Transactor](x.T, x.s)
			// Each batch writes its number under both keys, and moves both to its index value.
			write := func(n int) {
				value := string("abc"[n%3])
				b.Transaction(update(newItem("x", n, value)), update(newItem("y", n, value)))
			}
			write(0)
			var stop atomic.Bool
			writer := func(first int) func() {
				return func() {
					for n := first; !stop.Load() && !x.HasStalled(); n += 2 {
						write(n)
					}
				}
			}
			x.Together(writer(1), writer(2), func() {
				defer stop.Store(true)
				for range x.Scale(300) {
					values := x.s.ListIndexFuncValues(one)
					if objects := names(x.s.List()); len(objects) != 2 ||
						objects[0][1:] != objects[1][1:] || len(values) != 1 {
						x.Errorf("List gave %q and ListIndexFuncValues %q: of two batches a part each", objects,
							values)
						return
					}
					x.Progress()
					runtime.Gosched()
				}
			})
		}),
	{Clause: "STORE-50", Name: "transaction", Run: func(t *suite.T, newStore NewStore) {
		for what, obj := range unindexable() {
			x := newTrial(t, newStore, allIndexes...)
			x.add(crowd(6)...)
			if p := panicOf(func() {
				x.transaction(update(at(1, 9)), txn(contract.TransactionTypeDelete, key(4), obj),
					txn(contract.TransactionTypeDelete, "absent", obj))
			}); p != nil {
				t.Fatalf("a Transaction that deletes with %s panics: %v", what, p)
			}
			x.agree("after a Transaction that deletes with " + what)
		}
	}, Why: whyUnindexable},
	{Clause: "STORE-50", Name: "delete-with-object", Run: func(t *suite.T, newStore NewStore) {
		for what, obj := range unindexable() {
			x := newTrial(t, newStore, allIndexes...)
			suite.Needs[contract.ObjectDeleter](t, x.s)
			x.add(crowd(6)...)
			if p := panicOf(func() {
				x.write(txn(contract.TransactionTypeDelete, key(4), obj))
			}); p != nil {
				t.Fatalf("DeleteWithObject of %s panics: %v", what, p)
			}
			x.agree("after DeleteWithObject of " + what)
		}
	}, Why: whyUnindexable},
}

const whyUnindexable = "a watch that was cut ends in a tombstone, and the informer would crash " +
	"on it"

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
