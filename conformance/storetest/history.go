package storetest

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// history is a random sequence of writes on a store and on the model.
type history struct {
	s   contract.Store
	m   *model
	seq int
}

// deed is one kind of random write.
type deed struct {
	name string
	do   func(h *history, rt *rapid.T)
}

var (
	randomKeys = rapid.SampledFrom([]string{"", "a", "b", "c", "d", "ns/e"})
	randomOne  = rapid.SampledFrom([]string{"a", "b", "c"})
	randomMany = rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3)
	randomSome = rapid.SampledFrom([]string{"", "", "p", "q"})
	randomHow  = rapid.SampledFrom(allIndexes)
)

func (h *history) draw(rt *rapid.T) *item {
	h.seq++
	i := newItem(randomKeys.Draw(rt, "key"), h.seq, randomOne.Draw(rt, "one"),
		randomMany.Draw(rt, "many")...)
	return i.withMaybe(randomSome.Draw(rt, "maybe"))
}

func (h *history) drawPoisoned(rt *rapid.T) *item {
	return h.draw(rt).poisoned(randomHow.Draw(rt, "index that fails"),
		rapid.Bool().Draw(rt, "by a panic"))
}

// drawContent returns a content for Replace, of up to five items.
func (h *history) drawContent(rt *rapid.T) *model {
	items := make([]*item, rapid.IntRange(0, 5).Draw(rt, "items"))
	for n := range items {
		items[n] = h.draw(rt)
	}
	m := newModel(items...)
	m.indexes = h.m.indexes
	return m
}

// drawBatch returns writes for Transaction, and applies them to the given items.
func (h *history) drawBatch(rt *rapid.T, items map[string]*item) []contract.StoreTransaction {
	writes := make([]contract.StoreTransaction, rapid.IntRange(0, 6).Draw(rt, "writes"))
	for n := range writes {
		switch i := h.draw(rt); rapid.IntRange(0, 2).Draw(rt, "kind") {
		case 0:
			writes[n] = add(i)
			items[i.key] = i
		case 1:
			writes[n] = update(i)
			items[i.key] = i
		case 2:
			writes[n] = remove(i.key)
			delete(items, i.key)
		}
	}
	return writes
}

// mustFail fails the history unless the write panics.
func mustFail(rt *rapid.T, write func()) {
	if panicOf(write) == nil {
		rt.Fatalf("a write whose IndexFunc fails does not panic")
	}
}

var (
	doAdd = deed{"add", func(h *history, rt *rapid.T) {
		i := h.draw(rt)
		h.m.items[i.key] = i
		h.s.Add(i.key, i)
	}}
	doUpdate = deed{"update", func(h *history, rt *rapid.T) {
		i := h.draw(rt)
		h.m.items[i.key] = i
		h.s.Update(i.key, i)
	}}
	doDelete = deed{"delete", func(h *history, rt *rapid.T) {
		k := randomKeys.Draw(rt, "key")
		delete(h.m.items, k)
		h.s.Delete(k)
	}}
	doReplace = deed{"replace", func(h *history, rt *rapid.T) {
		h.m = h.drawContent(rt)
		h.s.Replace(h.m.asMap(), "1")
	}}
	doTransaction = deed{"transaction", func(h *history, rt *rapid.T) {
		h.s.(contract.Transactor).Transaction(h.drawBatch(rt, h.m.items)...)
	}}
	doAddIndexers = deed{"add-indexers", func(h *history, rt *rapid.T) {
		index := randomHow.Draw(rt, "index")
		taken := slices.Contains(h.m.indexes, index)
		if err := h.s.AddIndexers(indexers(index)); (err != nil) != taken {
			rt.Fatalf("AddIndexers(%s) gave error %v where the store had %v", index, err, h.m.indexes)
		}
		if !taken {
			h.m.indexes = append(h.m.indexes, index)
		}
	}}

	failWrite = deed{"failing-write", func(h *history, rt *rapid.T) {
		i := h.drawPoisoned(rt)
		mustFail(rt, func() { h.s.Update(i.key, i) })
	}}
	failReplace = deed{"failing-replace", func(h *history, rt *rapid.T) {
		m, i := h.drawContent(rt), h.drawPoisoned(rt)
		m.items[i.key] = i
		mustFail(rt, func() { h.s.Replace(m.asMap(), "2") })
	}}
	failTransaction = deed{"failing-transaction", func(h *history, rt *rapid.T) {
		scratch := maps.Clone(h.m.items)
		writes := append(h.drawBatch(rt, scratch), update(h.drawPoisoned(rt)))
		writes = append(writes, h.drawBatch(rt, scratch)...)
		mustFail(rt, func() { h.s.(contract.Transactor).Transaction(writes...) })
	}}
)

// historyCases: after every step the store agrees with the model.
var historyCases = []suite.Case[NewStore]{
	historyCase("STORE-2", "objects", allIndexes, (*model).checkObjects, doAdd, doUpdate, doDelete,
		doReplace),
	historyCase("STORE-19", "indexes", allIndexes, (*model).check, doAdd, doUpdate, doDelete,
		doReplace),
	historyCase("STORE-23", "indexers-added", []string{one}, (*model).check, doUpdate, doDelete,
		doReplace, doAddIndexers),
	historyCase("STORE-28", "failing-writes", allIndexes, (*model).check, doUpdate, doDelete,
		failWrite),
	historyCase("STORE-29", "failing-replaces", allIndexes, (*model).check, doUpdate, doDelete,
		doReplace, failReplace),
	historyCase("STORE-37", "transactions", allIndexes, (*model).check, doTransaction, doUpdate,
		doDelete),
	historyCase("STORE-39", "failing-transactions", allIndexes, (*model).check, doTransaction,
		doUpdate, failTransaction),
}

func historyCase(clause, name string, indexes []string, check func(*model, contract.Store) error,
	deeds ...deed) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: "random-history-of-" + name,
		Run: func(t *suite.T, newStore NewStore) {
			if slices.ContainsFunc(deeds, func(d deed) bool { return d.name == doTransaction.name }) {
				transactor(t, newStore(indexers()))
			}
			t.Random(randomHistory(newStore, indexes, check, deeds...))
		}, Why: "the order of events is the cluster's to choose"}
}

// randomHistory does the deeds in random order. After each it checks the store.
func randomHistory(newStore NewStore, indexes []string, check func(*model, contract.Store) error,
	deeds ...deed) func(*rapid.T) {
	return func(rt *rapid.T) {
		h := &history{s: newStore(indexers(indexes...)), m: newModel()}
		h.m.indexes = slices.Clone(indexes)
		actions := map[string]func(*rapid.T){"": func(rt *rapid.T) {
			if err := check(h.m, h.s); err != nil {
				rt.Fatal(err)
			}
		}}
		for _, d := range deeds {
			actions[d.name] = func(rt *rapid.T) { d.do(h, rt) }
		}
		rt.Repeat(actions)
	}
}
