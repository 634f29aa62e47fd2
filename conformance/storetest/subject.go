package storetest

import (
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// subject is a store and the model of what it must hold. Its methods change both.
type subject struct {
	s contract.Store
	m *model
}

// subjectOf makes a store with these indexes.
func subjectOf(newStore NewStore, indexes ...string) subject {
	return subject{newStore(indexersBefore(nil, indexes...)), &model{items: map[string]*item{},
		indexes: indexes, progress: func() {}}}
}

// write makes one write after the other.
func (x *subject) write(all ...contract.StoreTransaction) {
	d, deletes := x.s.(contract.ObjectDeleter)
	for _, w := range all {
		switch {
		case w.Type == contract.TransactionTypeAdd:
			x.s.Add(w.Key, w.Object)
		case w.Type == contract.TransactionTypeUpdate:
			x.s.Update(w.Key, w.Object)
		case deletes && w.Object != nil:
			d.DeleteWithObject(w.Key, w.Object)
		default:
			w.Object = nil
			x.s.Delete(w.Key)
		}
		x.m.apply(w)
	}
}

func (x *subject) add(items ...*item) {
	for _, i := range items {
		x.write(add(i))
	}
}

func (x *subject) update(items ...*item) {
	for _, i := range items {
		x.write(update(i))
	}
}

func (x *subject) delete(keys ...string) {
	for _, key := range keys {
		x.write(remove(key))
	}
}

// replace gives the items in a new map, which is the store's from then on.
func (x *subject) replace(version string, items ...*item) {
	content := newModel(items...)
	x.m.replace(content.items, version)
	x.s.Replace(content.asMap(), version)
}

// addIndexers adds indexes that the store does not have.
func (x *subject) addIndexers(names ...string) error {
	x.m.indexes = append(x.m.indexes[:len(x.m.indexes):len(x.m.indexes)], names...)
	return x.s.AddIndexers(indexersBefore(nil, names...))
}

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

// trial is the run of a case on one subject.
type trial struct {
	*suite.T
	subject
}

func newTrial(t *suite.T, newStore NewStore, indexes ...string) *trial {
	x := &trial{t, subjectOf(newStore, indexes...)}
	x.m.progress = t.Progress
	return x
}

// on is a case that needs one empty store with all indexes.
func on(clause, name, why string, run func(x *trial)) suite.Case[NewStore] {
	return onIndexes(allIndexes, clause, name, why, run)
}

// onIndexes is on with other indexes.
func onIndexes(indexes []string, clause, name, why string,
	run func(x *trial)) suite.Case[NewStore] {
	return suite.Case[NewStore]{Clause: clause, Name: name, Why: why,
		Run: func(t *suite.T, newStore NewStore) { run(newTrial(t, newStore, indexes...)) }}
}

// agree ends the case unless store and model agree.
func (x *trial) agree(when string) {
	err := x.m.check(x.s)
	x.FatalIf(err != nil, "%s: %v", when, err)
	x.Progress()
}

func (x *trial) must(err error) { must(x.T, err) }

// transaction makes the writes at once. It skips the case if the store has no Transaction.
func (x *trial) transaction(writes ...contract.StoreTransaction) {
	suite.Needs[contract.Transactor](x.T, x.s).Transaction(writes...)
	x.m.apply(writes...)
}

// batched makes the writes at once, if the store has a Transaction.
func (x *trial) batched(writes ...contract.StoreTransaction) {
	if _, ok := x.s.(contract.Transactor); ok {
		x.transaction(writes...)
	}
}
