package storetest

import (
	"runtime"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// versioned is an object with metadata.
func versioned(name, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

// versionCase gives the body a store without indexes and a check of its version.
// It is skipped if the store keeps none.
func versionCase(clause, name, why string,
	body func(t *suite.T, s contract.Store, is func(want, when string))) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: name, Why: why,
		Run: func(t *suite.T, newStore NewStore) {
			s := newStore(contract.Indexers{})
			v := suite.Needs[contract.ResourceVersioner](t, s)
			body(t, s, func(want, when string) {
				got := v.LastStoreSyncResourceVersion()
				if got != want {
					t.Fatalf("LastStoreSyncResourceVersion after %s is %q; want %q", when, got, want)
				}
			})
		}}
}

// versionCases: the store's resource version.
var versionCases = []suite.Case[NewStore]{
	versionCase("STORE-40", "bookmark-replace-and-writes",
		"an informer tells its handlers how far the cache is; a version too new hides that it is behind",
		func(_ *suite.T, s contract.Store, is func(want, when string)) {
			is("", "nothing")
			s.Add("a", versioned("a", "10"))
			is("10", "Add")
			s.Update("a", versioned("a", "11"))
			is("11", "Update")
			s.(contract.ResourceVersioner).Bookmark("15")
			is("15", "Bookmark")
			s.Replace(map[string]any{"a": versioned("a", "16"), "b": versioned("b", "12")}, "20")
			is("20", "Replace")
			s.Replace(map[string]any{}, "21")
			is("21", "an empty Replace")
			s.Update("b", versioned("b", "22"))
			is("22", "Update after Replace")
			s.Get("b")
			s.List()
			is("22", "reads")
		}),
	versionCase("STORE-41", "delete",
		"the deletion is the newest event of its object, and its version is that of the cache",
		func(t *suite.T, s contract.Store, is func(want, when string)) {
			d := suite.Needs[contract.ObjectDeleter](t, s)
			for _, k := range []string{"a", "b", "c"} {
				s.Add(k, versioned(k, "10"))
			}
			d.DeleteWithObject("a", versioned("a", "30"))
			is("30", "DeleteWithObject")
			s.Delete("b")
			is("30", "Delete")
			d.DeleteWithObject("c", nil)
			is("30", "DeleteWithObject(nil)")
			d.DeleteWithObject("absent", versioned("absent", "31"))
			is("31", "DeleteWithObject of an absent key")
			got := s.ListKeys()
			if len(got) != 0 {
				t.Fatalf("keys %q remain after deleting all", got)
			}
		}),
	versionCase("STORE-42", "no-metadata",
		"a tombstone of a missed deletion has no version; taking \"\" from it forgets how far the "+
			"cache was",
		func(_ *suite.T, s contract.Store, is func(want, when string)) {
			s.Add("a", versioned("a", "10"))
			s.Add("b", "no metadata")
			is("10", "Add of an object without metadata")
			s.Update("b", struct{}{})
			is("10", "Update with an object without metadata")
			if d, ok := s.(contract.ObjectDeleter); ok {
				d.DeleteWithObject("a", contract.DeletedFinalStateUnknown{Key: "a", Obj: versioned("a", "40")})
				is("10", "DeleteWithObject of a tombstone")
			}
			if b, ok := s.(contract.Transactor); ok {
				b.Transaction(txn(contract.TransactionTypeAdd, "c", "no metadata"))
				is("10", "a Transaction of an object without metadata")
			}
		}),
	versionCase("STORE-42", "what-left-the-store",
		"whoever uses a removed object again would move the cache's version",
		func(_ *suite.T, s contract.Store, is func(want, when string)) {
			leaves := func(how string, remove func()) {
				obj := versioned("a", "10")
				s.Add("a", obj)
				remove()
				obj.ResourceVersion = "99"
				is("10", "a change of an object that left by "+how)
			}
			leaves("Delete", func() { s.Delete("a") })
			leaves("Update", func() { s.Update("a", "no metadata") })
			if d, ok := s.(contract.ObjectDeleter); ok {
				leaves("DeleteWithObject of nil", func() { d.DeleteWithObject("a", nil) })
			}
			if b, ok := s.(contract.Transactor); ok {
				leaves("Transaction", func() {
					b.Transaction(txn(contract.TransactionTypeUpdate, "a", "no metadata"))
				})
			}
		}),
	versionCase("STORE-43", "transaction", "a batch is as new as its last event",
		func(t *suite.T, s contract.Store, is func(want, when string)) {
			b := suite.Needs[contract.Transactor](t, s)
			b.Transaction(
				txn(contract.TransactionTypeAdd, "a", versioned("a", "10")),
				txn(contract.TransactionTypeUpdate, "a", versioned("a", "11")),
				txn(contract.TransactionTypeAdd, "b", versioned("b", "12")))
			is("12", "Transaction")
			b.Transaction(
				txn(contract.TransactionTypeUpdate, "a", versioned("a", "13")),
				txn(contract.TransactionTypeDelete, "b", versioned("b", "14")))
			is("14", "a Transaction that ends with a deletion")
			b.Transaction()
			is("14", "an empty Transaction")
		}),
}
