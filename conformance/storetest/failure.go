package storetest

import (
	"errors"
	"fmt"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// failingWrite is a write whose IndexFunc fails.
type failingWrite struct {
	name  string
	batch bool // whether it needs a contract.Transactor
	write func(s contract.Store, bad *item)
}

// open makes a store, or skips the case if the store lacks the optional interface.
func (w failingWrite) open(t *suite.T, newStore NewStore) contract.Store {
	s := newStore(indexers())
	if w.batch {
		transactor(t, s)
	}
	return s
}

var (
	failingAdd = failingWrite{"add", false, func(s contract.Store, bad *item) {
		s.Add(bad.key, bad)
	}}
	failingUpdate = failingWrite{"update", false, func(s contract.Store, bad *item) {
		s.Update(bad.key, bad)
	}}

	failingReplace = failingWrite{"replace", false, func(s contract.Store, bad *item) {
		m := newModel(at(0, 5), at(3, 5), at(50, 5), bad)
		s.Replace(m.asMap(), "5")
	}}
	failingAddIndexers = failingWrite{"add-indexers", false, func(s contract.Store, bad *item) {
		fails := func(obj any) ([]string, error) {
			if itemOf(obj).key != key(4) {
				return []string{"v"}, nil
			}
			if bad.panics {
				panic(errPoison{bad.name})
			}
			return nil, errPoison{bad.name}
		}
		_ = s.AddIndexers(
			contract.Indexers{"bad": fails, "good": indexFunc(one, nil), "good2": indexFunc(many, nil)})
	}}
	// The batch has writes of every kind before the failing one and after it, on keys that
	// are there, absent, and written twice.
	failingTransaction = failingWrite{"transaction", true, func(s contract.Store, bad *item) {
		s.(contract.Transactor).Transaction(
			update(at(0, 5)), update(at(0, 6)), remove(key(1)), add(at(1, 7)), remove(key(2)),
			add(at(51, 7)), remove(key(51)), add(at(52, 7)),
			add(bad), update(newItem(bad.key, 10, "a")), update(at(3, 5)), remove(key(5)))
	}}
)

func add(i *item) contract.StoreTransaction {
	return txn(contract.TransactionTypeAdd, i.key, i.stored())
}

func update(i *item) contract.StoreTransaction {
	return txn(contract.TransactionTypeUpdate, i.key, i.stored())
}

// remove passes no object, like a caller that knows only the key.
func remove(key string) contract.StoreTransaction {
	return txn(contract.TransactionTypeDelete, key, nil)
}

func txn(kind contract.TransactionType, key string, obj any) contract.StoreTransaction {
	return contract.StoreTransaction{Key: key,
		Transaction: contract.Transaction{Type: kind, Object: obj}}
}

// failures calls f for each item that fails, in each index and in each way.
func failures(f func(how string, bad *item)) {
	for _, n := range []int{4, 99} { // a key that is there, and one that is not
		for _, index := range allIndexes {
			for how, panics := range map[string]bool{"an error": false, "a panic": true} {
				bad := newItem(key(n), 9, "bad", "bad", "x").withMaybe("bad").poisoned(index, panics)
				f(fmt.Sprintf("%s from index %s for key %s", how, index, key(n)), bad)
			}
		}
	}
}

// failureCases: the state after a failing IndexFunc.
var failureCases = []suite.Case[NewStore]{
	usableCase(failingAdd),
	usableCase(failingUpdate),
	usableCase(failingReplace),
	usableCase(failingAddIndexers),
	usableCase(failingTransaction),
	unwrittenCase("STORE-28", failingAdd),
	unwrittenCase("STORE-28", failingUpdate),
	unwrittenCase("STORE-29", failingReplace),
	unwrittenCase("STORE-30", failingAddIndexers),
	unwrittenCase("STORE-39", failingTransaction),
	{Clause: "STORE-31", Name: "index-of-a-failing-object", Run: func(t *suite.T, newStore NewStore) {
		failures(func(how string, bad *item) {
			s := newStore(indexers())
			m := fill(s, crowd(9)...)
			var err error
			p := panicOf(func() { _, err = s.Index(bad.poison, bad) })
			switch {
			case bad.panics && p != errPoison{bad.name}:
				t.Fatalf("Index with %s: panic %v; want the IndexFunc's own", how, p)
			case !bad.panics && p != nil:
				t.Fatalf("Index with %s panics: %v", how, p)
			case !bad.panics && !errors.Is(err, errPoison{bad.name}):
				t.Fatalf("Index with %s gave error %v; want the IndexFunc's", how, err)
			}
			agree(t, m, s, "after Index with "+how)
			m.items[key(0)] = at(0, 1)
			s.Update(key(0), m.items[key(0)])
			agree(t, m, s, "writing after Index with "+how)
		})
	}, Why: "Index is asked with objects of callers, which may be anything"},
}

// usableCase: the write panics, and every method still answers.
func usableCase(w failingWrite) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: "STORE-27", Name: w.name,
		Run: func(t *suite.T, newStore NewStore) {
			failures(func(how string, bad *item) {
				s := w.open(t, newStore)
				fill(s, crowd(9)...)
				switch p := panicOf(func() { w.write(s, bad) }); {
				case p == nil:
					t.Fatalf("%s with %s does not panic", w.name, how)
				case bad.panics && p != errPoison{bad.name}:
					t.Fatalf("%s with %s: panic %v; want the IndexFunc's own", w.name, how, p)
				}
				// The content is open now, but each method must return, and a Replace must
				// restore order. A lock left held hangs here.
				s.Get(key(4))
				s.List()
				s.ListKeys()
				s.ListIndexFuncValues(one)
				s.GetIndexers()
				_, err := s.ByIndex(one, "a")
				must(t, err)
				_, err = s.IndexKeys(one, "a")
				must(t, err)
				_, err = s.Index(one, at(0, 0))
				must(t, err)
				m := newModel(at(0, 1), at(1, 1))
				s.Replace(m.asMap(), "6")
				agree(t, m, s, "Replace after "+w.name+" with "+how)
				m.items[key(0)] = at(0, 2)
				s.Update(key(0), m.items[key(0)])
				s.Delete(key(1))
				delete(m.items, key(1))
				must(t, s.AddIndexers(contract.Indexers{"later": indexFunc(one, nil)}))
				agree(t, m, s, "writing after "+w.name+" with "+how)
			})
		}, Why: "informers recover from panics in handlers; a lock left held stops the process for " +
			"good and silently"}
}

// unwrittenCase: after the write nothing has changed.
func unwrittenCase(clause string, w failingWrite) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: w.name,
		Run: func(t *suite.T, newStore NewStore) {
			failures(func(how string, bad *item) {
				s := w.open(t, newStore)
				m := fill(s, crowd(9)...)
				version := func() string {
					if v, ok := s.(contract.ResourceVersioner); ok {
						return v.LastStoreSyncResourceVersion()
					}
					return ""
				}
				before := version()
				if p := panicOf(func() { w.write(s, bad) }); p == nil {
					t.Fatalf("%s with %s does not panic", w.name, how)
				}
				agree(t, m, s, "after "+w.name+" with "+how)
				if after := version(); after != before {
					t.Fatalf("%s with %s moved the resource version from %q to %q", w.name, how, before, after)
				}
				for _, added := range []string{"bad", "good", "good2"} {
					if _, err := s.ByIndex(added, "v"); err == nil {
						t.Fatalf("%s with %s left the index %q behind", w.name, how, added)
					}
				}
				for n := range 12 { // each write must find the object's old places in the indexes
					m.items[key(n)] = at(n, 8)
					s.Update(key(n), m.items[key(n)])
					agree(t, m, s, "writing after "+w.name+" with "+how)
				}
			})
		}, Why: "half a write is an object that its index denies, or an index that finds another " +
			"object, until the next relist"}
}
