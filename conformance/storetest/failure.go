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

// each calls f for each item that fails, with a new store that the write has panicked on.
func (w failingWrite) each(t *suite.T, newStore NewStore, f func(x *trial, how string)) {
	failures(func(how string, bad *item) {
		x := newTrial(t, newStore, allIndexes...)
		if w.batch {
			suite.Needs[contract.Transactor](t, x.s)
		}
		x.add(crowd(9)...)
		how = w.name + " with " + how
		switch p := panicOf(func() { w.write(x.s, bad) }); {
		case p == nil:
			t.Fatalf("%s does not panic", how)
		case bad.panics && p != any(errPoison{bad.name}):
			t.Fatalf("%s: panic %v; want the IndexFunc's own", how, p)
		}
		f(x, how)
	})
}

var (
	failingAdd    = failingWrite{"add", false, func(s contract.Store, bad *item) { s.Add(bad.key, bad) }}
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
	// are there, absent, and written twice. The failing one is the last of its key.
	failingTransaction = failingWrite{"transaction", true, func(s contract.Store, bad *item) {
		s.(contract.Transactor).Transaction(
			update(at(0, 5)), update(at(0, 6)), remove(key(1)), add(at(1, 7)), remove(key(2)),
			add(at(51, 7)), remove(key(51)), add(at(52, 7)),
			update(newItem(bad.key, 10, "a")), add(bad), update(at(3, 5)), remove(key(5)))
	}}
)

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
			x := newTrial(t, newStore, allIndexes...)
			x.add(crowd(9)...)
			x.must(askFailing(x.s, bad))
			x.agree("after Index with " + how)
			x.update(at(0, 1))
			x.agree("writing after Index with " + how)
		})
	}, Why: "Index is asked with objects of callers, which may be anything"},
}

// askFailing calls Index with an item on which its IndexFunc fails.
func askFailing(s contract.Store, bad *item) error {
	var err error
	p := panicOf(func() { _, err = s.Index(bad.poison, bad.stored()) })
	own := errPoison{bad.name}
	switch {
	case bad.panics && p != any(own):
		return fmt.Errorf("calling Index of %v: panic %v; want the IndexFunc's own", bad, p)
	case !bad.panics && (p != nil || !errors.Is(err, own)):
		return fmt.Errorf("calling Index of %v gave the error %v and panics with %v; want the IndexFunc's error",
			bad, err, p)
	}
	return nil
}

// usableCase: the write panics, and every method still answers.
func usableCase(w failingWrite) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: "STORE-27", Name: w.name,
		Run: func(t *suite.T, newStore NewStore) {
			w.each(t, newStore, func(x *trial, how string) {
				// The content is open now, but each method must return, and a Replace must
				// restore order. A lock left held hangs here.
				x.ask()
				x.replace("6", at(0, 1), at(1, 1))
				x.agree("Replace after " + how)
				x.update(at(0, 2))
				x.delete(key(1))
				x.must(x.s.AddIndexers(contract.Indexers{"later": indexFunc(one, nil)}))
				x.agree("writing after " + how)
			})
		}, Why: "informers recover from panics in handlers; a lock left held stops the process for " +
			"good and silently"}
}

// unwrittenCase: after the write nothing has changed.
func unwrittenCase(clause string, w failingWrite) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: w.name,
		Run: func(t *suite.T, newStore NewStore) {
			w.each(t, newStore, func(x *trial, how string) {
				x.agree("after " + how)
				x.must(x.m.checkVersion(x.s))
				for _, added := range []string{"bad", "good", "good2"} {
					_, err := x.s.ByIndex(added, "v")
					if err == nil {
						t.Fatalf("%s left the index %q behind", how, added)
					}
				}
				for n := range 12 { // each write must find the object's old places in the indexes
					x.update(at(n, 8))
					x.agree("writing after " + how)
				}
			})
		}, Why: "half a write is an object that its index denies, or an index that finds another " +
			"object, until the next relist"}
}
