package storetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// appendCases: lists in memory of the caller's.
var appendCases = []suite.Case[NewStore]{{
	Clause: "STORE-51", Name: "random-history-of-appended-lists",
	Why: "a lister takes the same memory for every list",
	Run: func(t *suite.T, newStore NewStore) {
		if _, ok := newStore(contract.Indexers{}).(contract.Appender); !ok {
			t.Skipf("no AppendList")
		}
		t.Random(randomHistory(newStore, allIndexes, (*model).checkAppends, doAdd, doUpdate, doDelete,
			doReplace))
	},
}}

// checkAppends compares AppendList and AppendByIndex with the model. The slices that it gives
// them hold something already, and have room for nothing more, for some, or for all.
func (m *model) checkAppends(s contract.Store) error {
	a := s.(contract.Appender)
	for _, room := range []int{0, 2, 64} {
		if err := m.checkAppend("AppendList", room, m.all(), a.AppendList); err != nil {
			return err
		}
		for _, index := range m.indexes {
			for _, value := range append(indexValues(m.all(), index), "no such value") {
				var failed error
				err := m.checkAppend(fmt.Sprintf("AppendByIndex(%s, %q)", index, value), room,
					holding(m.all(), index, value), func(dst []any) (list []any) {
						list, failed = a.AppendByIndex(dst, index, value)
						return list
					})
				if err := errors.Join(err, failed); err != nil {
					return err
				}
			}
		}
	}
	before := []any{"before"}
	if got, err := a.AppendByIndex(before, "no such index", ""); err == nil || len(got) != 1 ||
		got[0] != before[0] {
		return fmt.Errorf(
			"AppendByIndex of an index that does not exist returns %v and the error %v; want what it was "+
				"given, and an error", got, err)
	}
	return nil
}

// checkAppend calls one of the methods twice. What the first call returned is the caller's, so
// the second must leave it alone.
func (m *model) checkAppend(call string, room int, want []*item, list func(dst []any) []any) error {
	first := list(append(make([]any, 0, 1+room), "before"))
	clear(list(nil))
	if len(first) == 0 || first[0] != any("before") {
		return fmt.Errorf("%s does not begin with what was there: %v", call, first)
	}
	for _, obj := range first[1:] {
		if _, is := obj.(*item); !is {
			return fmt.Errorf("%s returned %v, or changed it later", call, obj)
		}
	}
	return differs(call, names(first[1:]), itemNames(want))
}

// holding are the items that have the value in the index.
func holding(all []*item, index, value string) (held []*item) {
	for _, i := range all {
		if slices.Contains(i.valuesIn(index), value) {
			held = append(held, i)
		}
	}
	return held
}
