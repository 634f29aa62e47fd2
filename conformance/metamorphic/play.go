package metamorphic

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// subject is a store that a history is played on.
type subject struct {
	Store
	store contract.Store
	// The optional interfaces, nil if the store lacks them.
	batch   contract.Transactor
	deleter contract.ObjectDeleter
	version contract.ResourceVersioner
	held    held
}

// held are slices that the store returned at the last comparison, with copies. Later writes
// must not change a slice that a caller holds.
type held struct {
	objects, objectsWere [][]any
	keys, keysWere       []string
}

func newSubject(s Store) *subject {
	numbers := make([]int, atFirst)
	for n := range numbers {
		numbers[n] = n
	}
	out := &subject{Store: s, store: s.New(indexers(numbers...))}
	out.batch, _ = out.store.(contract.Transactor)
	out.deleter, _ = out.store.(contract.ObjectDeleter)
	out.version, _ = out.store.(contract.ResourceVersioner)
	if s.waives("STORE-37") {
		out.batch = nil
	}
	if s.waives("STORE-40", "STORE-41", "STORE-42", "STORE-43") {
		out.version = nil
	}
	return out
}

// dissent is a call that some stores answered differently from the model.
type dissent struct {
	at       int // number of the call
	names    []string
	problems []*problem // one for each name
	hung     bool
}

// play makes the calls on new stores, each call on every store in turn. It stops at the
// first call that a store answers differently from the model, and returns nil if all agree.
// A call that does not return is a wrong answer too, see suite.Guard; its goroutine is left
// behind.
func play(h history, stores []Store, patience time.Duration) *dissent {
	var at atomic.Int64
	done := make(chan *dissent, 1)
	stall := suite.Guard(patience, 0, func(w *suite.Watch) {
		done <- perform(h, stores, &at, w.Progress)
	})
	if stall == nil || stall.Returned {
		return <-done
	}
	k := int(at.Load())
	if k < 0 {
		return &dissent{0, []string{stores[-k-1].Name},
			[]*problem{problemf(notReturning, "the constructor hangs: %s", stall)}, true}
	}
	call, store := (k-1)/len(stores), (k-1)%len(stores)
	clause := methods[h.operations[call].kind].clause
	return &dissent{call, []string{stores[store].Name},
		[]*problem{problemf(clause, "does not return: %s", stall)}, true}
}

// notReturning is the clause of a constructor that hangs or panics.
const notReturning = "STORE-32"

// perform plays the history and keeps its position in at. -1 is the construction of the
// first store, -2 of the second, and so on. 1 is the first call on the first store, 2 that
// call on the second store, and so on.
func perform(h history, stores []Store, at *atomic.Int64, progress func()) *dissent {
	m, s := newModel(), newScales(h)
	subjects := make([]*subject, len(stores))
	for i := range stores {
		at.Store(int64(-i - 1))
		if panicked, value := caught(func() { subjects[i] = newSubject(stores[i]) }); panicked {
			return &dissent{names: []string{stores[i].Name},
				problems: []*problem{problemf(notReturning, "the constructor panics: %v", value)}}
		}
	}
	for i, op := range h.operations {
		want := m.apply(op)
		if want.how == anyway {
			continue
		}
		var d *dissent
		for k, x := range subjects {
			at.Store(int64(i*len(subjects) + k + 1))
			progress()
			if p := x.call(op, want, s); p != nil {
				if d == nil {
					d = &dissent{at: i}
				}
				d.names, d.problems = append(d.names, x.Name), append(d.problems, p)
			}
		}
		if d != nil {
			return d
		}
	}
	return nil
}

// call makes one call and judges it.
func (x *subject) call(op *operation, want answer, s *scales) *problem {
	if op.kind.changes() {
		return x.write(op, want)
	}
	if op.kind != opCompare {
		return x.read(op, want, s)
	}
	var p *problem
	if panicked, value := caught(func() { p = x.compare(want, s) }); panicked {
		return problemf(methods[opCompare].clause, "a read panics: %v", value)
	}
	return p
}

// write makes a call that changes the store. A write that must fail changes nothing. So a
// store that waives the clause on what such a write leaves behind is spared the call.
func (x *subject) write(op *operation, want answer) *problem {
	if want.how == panics || want.how == passesOn {
		if x.waives("STORE-27", onFailure[op.kind]) || op.kind == opTransaction && x.batch == nil {
			return nil
		}
	}
	var err error
	panicked, value := caught(func() { err = x.change(op, want) })
	return ended(op, want.how, panicked, value, err)
}

// onFailure are the clauses on the state after a write whose IndexFunc fails.
var onFailure = [kinds]string{
	opAdd: "STORE-28", opUpdate: "STORE-28", opReplace: "STORE-29", opAddIndexers: "STORE-30",
	opTransaction: "STORE-39",
}

// change makes the call. Each store is given maps and slices of its own.
func (x *subject) change(op *operation, want answer) error {
	switch op.kind {
	case opAdd:
		x.store.Add(op.key, op.object.stored)
	case opUpdate:
		x.store.Update(op.key, op.object.stored)
	case opDelete:
		x.store.Delete(op.key)
	case opDeleteWithObject:
		if x.deleter != nil {
			x.deleter.DeleteWithObject(op.key, given(op.object))
			break
		}
		x.store.Delete(op.key)
		x.bookmark(want.version)
	case opReplace:
		var items map[string]any
		if !op.none || x.waives("STORE-21") {
			items = make(map[string]any, len(op.writes))
		}
		for _, w := range op.writes {
			items[w.key] = w.object.stored
		}
		x.store.Replace(items, op.version)
	case opTransaction:
		x.transaction(op.writes, want)
	case opAddIndexers:
		return x.store.AddIndexers(indexers(op.adds...))
	case opBookmark:
		x.bookmark(op.version)
	}
	return nil
}

// transaction gives the writes one by one to a store that has no Transaction.
func (x *subject) transaction(writes []write, want answer) {
	if x.batch != nil {
		var txns []contract.StoreTransaction
		for _, w := range writes {
			txns = append(txns, contract.StoreTransaction{Key: w.key,
				Transaction: contract.Transaction{Type: w.kind, Object: given(w.object)}})
		}
		x.batch.Transaction(txns...)
		return
	}
	for _, w := range writes {
		switch w.kind {
		case contract.TransactionTypeAdd:
			x.store.Add(w.key, w.object.stored)
		case contract.TransactionTypeUpdate:
			x.store.Update(w.key, w.object.stored)
		case contract.TransactionTypeDelete:
			x.store.Delete(w.key)
		}
	}
	x.bookmark(want.version)
}

// bookmark sets the version of a store whose last write did not carry it, because the store
// lacks another optional interface.
func (x *subject) bookmark(version string) {
	if x.version != nil {
		x.version.Bookmark(version)
	}
}

// given returns the value that a store gets for an object, nil for none.
func given(o *object) any {
	if o == nil {
		return nil
	}
	return o.stored
}

// read makes a call that changes nothing and compares its result. It overwrites a returned
// slice afterwards: the slice belongs to the caller (STORE-6).
func (x *subject) read(op *operation, want answer, s *scales) *problem {
	m := methods[op.kind]
	var objects []any
	var strs []string
	var err error
	wrong := ""
	panicked, value := caught(func() {
		switch op.kind {
		case opGet:
			wrong = x.get(op.key, want.object)
		case opList:
			objects = x.store.List()
		case opListKeys:
			strs = x.store.ListKeys()
		case opByIndex:
			objects, err = x.store.ByIndex(op.index, op.value)
		case opIndexKeys:
			strs, err = x.store.IndexKeys(op.index, op.value)
		case opIndex:
			objects, err = x.store.Index(op.index, op.object.stored)
		case opListIndexFuncValues:
			strs = x.store.ListIndexFuncValues(op.index)
		case opGetIndexers:
			wrong = x.getIndexers(want.values)
		case opVersion:
			wrong = x.lastVersion(want)
		case opResync:
			if !x.waives(m.clause) {
				err = x.store.Resync()
			}
		}
	})
	if op.kind == opIndex && x.waives("STORE-31") && (want.how == errsOn || want.how == passesOn) {
		return nil
	}
	if p := endedAsk(op, want.how, panicked, value, err); p != nil || want.how != returns {
		return p
	}
	switch op.kind {
	case opList, opByIndex, opIndex:
		wrong = s.weighObjects(objects, want.objects)
	case opListKeys:
		wrong = s.weighKeys(strs, want.keys)
	case opIndexKeys:
		wrong = x.inOrder(strs, want.keys, s)
	case opListIndexFuncValues:
		wrong = sameSet(strs, want.values)
	}
	if wrong != "" {
		return &problem{m.clause, m.name + " " + wrong}
	}
	if !x.waives("STORE-6") {
		overwrite(objects)
		overwrite(strs)
	}
	return nil
}

func (x *subject) get(key string, want *object) string {
	got, ok := x.store.Get(key)
	if ok == (want != nil) && got == given(want) {
		return ""
	}
	return fmt.Sprintf("gave %s, %v; right is %s, %v", nameOf(got), ok, nameOf(given(want)),
		want != nil)
}

// inOrder compares sorted keys, or keys in any order if the store waives STORE-14.
func (x *subject) inOrder(got, want []string, s *scales) string {
	if x.waives("STORE-14") {
		return s.weighKeys(got, want)
	}
	if slices.Equal(got, want) {
		return ""
	}
	return difference(got, want)
}

// getIndexers compares the names of the indexes. It spoils the returned map, which belongs
// to the caller (STORE-26).
func (x *subject) getIndexers(want []string) string {
	got := x.store.GetIndexers()
	var has []string
	for name, f := range got {
		if f == nil {
			name += " (nil)"
		}
		has = append(has, name)
	}
	wrong := sameSet(has, want)
	if wrong == "" && got != nil && !x.waives("STORE-26") {
		clear(got)
		got[unknownIndex] = nil
	}
	return wrong
}

func (x *subject) lastVersion(want answer) string {
	if x.version == nil || want.versionOpen {
		return ""
	}
	if got := x.version.LastStoreSyncResourceVersion(); got != want.version {
		return fmt.Sprintf("gave %q; right is %q", got, want.version)
	}
	return ""
}
