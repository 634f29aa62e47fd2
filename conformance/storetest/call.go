package storetest

import (
	"github.com/informerbench/informerbench/conformance/suite"
)

// callCases: calls that must work during other calls. A violation shows as a call that does
// not return; the suite's watchdog then fails the case.
var callCases = []suite.Case[NewStore]{
	{Clause: "STORE-32", Name: "index-func-uses-another-store",
		Run: func(t *suite.T, newStore NewStore) {
			other := newTrial(t, newStore, allIndexes...)
			other.add(crowd(9)...)
			useOther := func() {
				other.ask()
				other.s.Update(key(2), other.m.items[key(2)])
				other.s.Delete("absent")
			}
			x := newTrial(t, newStore)
			x.s = newStore(indexersBefore(useOther, one, many))
			x.add(crowd(5)...)
			must(t, x.s.AddIndexers(indexersBefore(useOther, maybe)))
			x.m.indexes = allIndexes
			x.update(at(1, 1))
			x.delete(key(1))
			x.batched(update(at(2, 1)), remove(key(2)), add(at(2, 0)))
			x.agree("with an IndexFunc that uses another store")
			x.replace("2", at(0, 1), at(7, 1))
			x.agree("after Replace, with an IndexFunc that uses another store")
			other.agree("the other store")
		}, Why: "pods are indexed by what the store of nodes says"},
	on("STORE-32", "writes-while-a-result-is-held", "garbage collectors list and delete as they go",
		func(x *trial) {
			x.add(crowd(9)...)
			byIndex, err := x.s.ByIndex(one, "a")
			x.must(err)
			for _, o := range append(x.s.List(), byIndex...) {
				i := o.(*item)
				x.update(i)
				x.delete(i.key)
				x.add(i)
				x.must(x.m.checkObjects(x.s))
			}
			x.delete(x.s.ListKeys()...)
			x.agree("after deleting every listed key")
		}),
	on("STORE-32", "a-held-result-blocks-nobody", "a handler may hold a list for hours",
		func(x *trial) {
			x.add(crowd(9)...)
			held := x.s.List()
			x.Together(func() {
				for n := range 50 {
					x.update(at(n%9, 0))
				}
				x.replace("2", crowd(9)...)
			})
			x.must(differs("the held List", names(held), itemNames(crowd(9))))
		}),
}

// ask makes each call that reads, whatever it answers.
func (x *trial) ask() {
	x.s.Get(key(4))
	x.s.List()
	x.s.ListKeys()
	x.s.ListIndexFuncValues(one)
	x.s.GetIndexers()
	_, err := x.s.ByIndex(one, "a")
	x.must(err)
	_, err = x.s.IndexKeys(one, "a")
	x.must(err)
	_, err = x.s.Index(one, at(0, 0))
	x.must(err)
}
