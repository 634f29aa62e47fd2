package storetest

import (
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// callCases: calls that must work during other calls. A violation shows as a call that does
// not return; the suite's watchdog then fails the case.
var callCases = []suite.Case[NewStore]{
	{Clause: "STORE-32", Name: "index-func-uses-another-store",
		Run: func(t *suite.T, newStore NewStore) {
			other := newStore(indexers())
			kept := fill(other, crowd(9)...)
			useOther := func() {
				other.Get(key(1))
				other.List()
				other.ListKeys()
				other.ListIndexFuncValues(one)
				other.GetIndexers()
				_, _ = other.ByIndex(one, "a")
				_, _ = other.IndexKeys(one, "a")
				_, _ = other.Index(one, at(0, 0))
				other.Update(key(2), kept.items[key(2)])
				other.Delete("absent")
			}
			s := newStore(indexersBefore(useOther, one, many))
			m := fill(s, crowd(5)...)
			must(t, s.AddIndexers(indexersBefore(useOther, maybe)))
			s.Update(key(1), at(1, 1))
			s.Delete(key(1))
			delete(m.items, key(1))
			if b, ok := s.(contract.Transactor); ok {
				b.Transaction(update(at(2, 1)), remove(key(2)), add(m.items[key(2)]))
			}
			agree(t, m, s, "with an IndexFunc that uses another store")
			m = newModel(at(0, 1), at(7, 1))
			s.Replace(m.asMap(), "2")
			agree(t, m, s, "after Replace, with an IndexFunc that uses another store")
			agree(t, kept, other, "the other store")
		}, Why: "pods are indexed by what the store of nodes says"},
	{Clause: "STORE-32", Name: "writes-while-a-result-is-held",
		Run: func(t *suite.T, newStore NewStore) {
			s := newStore(indexers())
			m := fill(s, crowd(9)...)
			byIndex, err := s.ByIndex(one, "a")
			must(t, err)
			for _, o := range append(s.List(), byIndex...) {
				i := o.(*item)
				s.Update(i.key, i)
				s.Delete(i.key)
				s.Add(i.key, i)
				must(t, m.checkObjects(s))
			}
			for _, k := range s.ListKeys() {
				s.Delete(k)
			}
			agree(t, newModel(), s, "after deleting every listed key")
		}, Why: "garbage collectors list and delete as they go"},
	{Clause: "STORE-32", Name: "a-held-result-blocks-nobody",
		Run: func(t *suite.T, newStore NewStore) {
			s := newStore(indexers())
			m := fill(s, crowd(9)...)
			held := s.List()
			t.Together(func() {
				for n := range 50 {
					s.Update(key(n%9), m.items[key(n%9)])
				}
				s.Replace(m.asMap(), "2")
			})
			must(t, differs("the held List", names(held), itemNames(m.all())))
		}, Why: "a handler may hold a list for hours"},
}
