package storetest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// checkAppends compares AppendList and AppendByIndex with the model. The slices that it gives
// them hold something already, and have room for nothing more, for some, or for all.
func (m *model) checkAppends(s contract.Store) error {
	a := s.(contract.Appender)
	for _, room := range []int{0, 2, 64} {
		if err := checkAppend("AppendList", room, m.names(m.keys()), a.AppendList); err != nil {
			return err
		}
		for _, index := range m.indexes {
			for _, value := range append(indexValues(m.all(), index), "no such value") {
				var failed error
				err := checkAppend(fmt.Sprintf("AppendByIndex(%s, %q)", index, value), room,
					m.names(m.having(index, value)), func(dst []any) (list []any) {
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
	if got, err := a.AppendByIndex(before, "no such index", ""); err == nil ||
		!slices.Equal(got, before) {
		return fmt.Errorf(
			"AppendByIndex of an index that does not exist returns %v and the error %v; want what it was "+
				"given, and an error", got, err)
	}
	return nil
}

// checkAppend calls one of the methods twice. What the first call returned is the caller's, so
// the second must leave it alone.
func checkAppend(call string, room int, want []string, list func(dst []any) []any) error {
	first := list(append(make([]any, 0, 1+room), "before"))
	clear(list(nil))
	if len(first) == 0 || first[0] != any("before") {
		return fmt.Errorf("%s does not begin with what was there: %v", call, first)
	}
	return differs(call, names(first[1:]), want)
}
