package storetest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const whyHistories = "the order of events is the cluster's to choose"

// historyCases are short histories: after every step the store agrees with the model.
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
	historyCase("STORE-51", "appended-lists", allIndexes, (*model).checkAppends, doAdd, doUpdate,
		doDelete, doReplace),
}

func historyCase(clause, name string, indexes []string, check func(*model, contract.Store) error,
	deeds ...deed) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: "random-history-of-" + name,
		Run: func(t *suite.T, newStore NewStore) {
			needs(t, newStore, clause)
			t.Random(func(rt *rapid.T) {
				h := &history{T: rt, subject: subjectOf(newStore, indexes...), keys: fewKeys}
				h.repeat(func() { h.must(check(h.m, h.s)) }, deeds...)
			})
		}, Why: whyHistories}
}

// needs skips the case if the store lacks the optional interface of the clause.
func needs(t *suite.T, newStore NewStore, clause string) {
	s := newStore(indexers())
	c, err := contract.LookupClause(clause)
	must(t, err)
	switch c.Capability {
	case contract.CapTransaction:
		suite.Needs[contract.Transactor](t, s)
	case contract.CapResourceVersion:
		suite.Needs[contract.ResourceVersioner](t, s)
	case contract.CapAppend:
		suite.Needs[contract.Appender](t, s)
	}
}

// repeat does deeds in random order, and after each one what then does.
func (h *history) repeat(then func(), deeds ...deed) {
	actions := map[string]func(*rapid.T){"": func(*rapid.T) { then() }}
	for _, d := range deeds {
		actions[d.name] = func(*rapid.T) { d.do(h) }
	}
	h.Repeat(actions)
}

// A long history has thousands of calls on up to longKeys objects. It goes through some of
// the periods: the store grows, is updated, is relisted, and shrinks to nothing. It is
// compared whole now and then, and at the end of each period.
const (
	longKeys      = 2000
	longHistories = 3 // of each case, at effort 1
)

var periods = [][]deed{
	{doWriteMany, doAdd, doTransaction, doAddIndexers},
	{doUpdate, doAgain, doDelete, doDeleteMany, doWriteMany, doTransaction, doBookmark},
	{doReplace, doUpdate, doWriteMany, doDelete, doAddIndexers},
	{doDeleteMany, doDelete, doTransaction},
}

// longHistory is a kind of long history: some deeds beside those of the periods.
type longHistory struct {
	clause, name string
	deeds        []deed
}

var longKinds = []longHistory{
	{"STORE-6", "held-and-overwritten-results", []deed{doHold, doSpoil}},
	{"STORE-19", "writes", nil},
	{"STORE-21", "emptied-stores", []deed{doReplaceNil}},
	{"STORE-26", "changed-indexers", []deed{doSpoilIndexers}},
	{"STORE-28", "failing-writes", []deed{failWrite}},
	{"STORE-29", "failing-replaces", []deed{failReplace}},
	{"STORE-30", "failing-indexers", []deed{failAddIndexers}},
	{"STORE-31", "failing-reads", []deed{failIndex}},
	{"STORE-39", "failing-transactions", []deed{failTransaction}},
	{"STORE-40", "versions", []deed{doAskVersion}},
}

// LongHistories returns those of the cases that play long random histories. They repay an
// effort far above 1.
func LongHistories() (cases []suite.Case[NewStore]) {
	for _, kind := range longKinds {
		cases = append(cases, suite.Case[NewStore]{
			Clause: kind.clause, Name: "long-random-history-of-" + kind.name,
			Run: func(t *suite.T, newStore NewStore) {
				needs(t, newStore, kind.clause)
				t.RandomFew(longHistories, playLong(newStore, t.Progress, func(clause string) bool {
					return t.Config().Waived[clause] != ""
				}, kind.deeds))
			}, Why: whyHistories})
	}
	return cases
}

// History returns a long history of every kind of call, for rapid.Check and rapid.MakeFuzz.
// The store is spared the calls that the waived clauses are about.
func History(newStore NewStore, waived ...string) func(*rapid.T) {
	var deeds []deed
	for _, kind := range longKinds {
		deeds = append(deeds, kind.deeds...)
	}
	return playLong(newStore, func() {}, func(clause string) bool {
		return slices.Contains(waived, clause)
	}, deeds)
}

func playLong(newStore NewStore, progress func(), waived func(clause string) bool,
	deeds []deed) func(*rapid.T) {
	return func(rt *rapid.T) {
		keys := make([]string, rapid.SampledFrom([]int{20, 20, 200, longKeys}).Draw(rt, "keys"))
		for n := range keys {
			keys[n] = key(n)
		}
		h := &history{T: rt, subject: subjectOf(newStore, one, own), keys: keys}
		h.m.progress = progress
		for range rapid.IntRange(1, 4).Draw(rt, "periods") {
			of := periods[h.number("period", len(periods)-1)]
			h.repeat(progress, slices.DeleteFunc(slices.Concat(of, deeds, []deed{doAsk, doCompare}),
				func(d deed) bool { return slices.ContainsFunc(d.clauses, waived) })...)
			doCompare.do(h)
		}
	}
}
