package metamorphic

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/contract"
)

// kind is the method that an operation calls.
type kind int

const (
	opAdd kind = iota
	opUpdate
	opDelete
	opDeleteWithObject
	opReplace
	opTransaction
	opAddIndexers
	opBookmark

	opGet
	opList
	opListKeys
	opByIndex
	opIndexKeys
	opIndex
	opListIndexFuncValues
	opGetIndexers
	opVersion
	opResync
	opCompare // no method: asks the store everything
	kinds
)

// methods holds the name of each call and the clause that a wrong answer breaks.
var methods = [kinds]struct{ name, clause string }{
	opAdd:                 {"Add", "STORE-2"},
	opUpdate:              {"Update", "STORE-2"},
	opDelete:              {"Delete", "STORE-3"},
	opDeleteWithObject:    {"DeleteWithObject", "STORE-3"},
	opReplace:             {"Replace", "STORE-20"},
	opTransaction:         {"Transaction", "STORE-37"},
	opAddIndexers:         {"AddIndexers", "STORE-24"},
	opBookmark:            {"Bookmark", "STORE-40"},
	opGet:                 {"Get", "STORE-1"},
	opList:                {"List", "STORE-4"},
	opListKeys:            {"ListKeys", "STORE-5"},
	opByIndex:             {"ByIndex", "STORE-13"},
	opIndexKeys:           {"IndexKeys", "STORE-14"},
	opIndex:               {"Index", "STORE-15"},
	opListIndexFuncValues: {"ListIndexFuncValues", "STORE-16"},
	opGetIndexers:         {"GetIndexers", "STORE-25"},
	opVersion:             {"LastStoreSyncResourceVersion", "STORE-40"},
	opResync:              {"Resync", "STORE-33"},
	opCompare:             {"(compare everything)", "STORE-19"},
}

// changes reports whether the call changes the store.
func (k kind) changes() bool { return k <= opBookmark }

// operation is one call with its arguments. It is data, so that any part of a history can
// be played by itself. The model computes the right answer when the call is played.
type operation struct {
	kind    kind
	key     string
	object  *object // written, or the argument of Index; may be nil for DeleteWithObject
	index   string
	value   string
	version string  // of Replace and Bookmark
	writes  []write // of Replace, each of another key, and of Transaction
	none    bool    // Replace is given nil
	adds    []int   // the indexes of AddIndexers
}

// write is one entry of a Replace or a Transaction.
type write struct {
	kind   contract.TransactionType // of a Transaction
	key    string
	object *object // nil for a deletion by key alone
}

// String returns the call in Go's notation, except for the objects.
func (op *operation) String() string {
	switch op.kind {
	case opAdd, opUpdate, opDeleteWithObject:
		return op.call("%q, %v", op.key, op.object)
	case opDelete, opGet:
		return op.call("%q", op.key)
	case opReplace:
		if op.none {
			return op.call("nil, %q", op.version)
		}
		return op.call("{%s}, %q", list(op.writes, func(w write) string {
			return fmt.Sprintf("%q: %v", w.key, w.object)
		}), op.version)
	case opTransaction:
		return op.call("%s", list(op.writes, func(w write) string {
			return fmt.Sprintf("%s %q %v", w.kind, w.key, w.object)
		}))
	case opAddIndexers:
		return op.call("{%s}", list(op.adds, func(n int) string {
			return fmt.Sprintf("%q", indexNames[n])
		}))
	case opBookmark:
		return op.call("%q", op.version)
	case opByIndex, opIndexKeys:
		return op.call("%q, %q", op.index, op.value)
	case opIndex:
		return op.call("%q, %v", op.index, op.object)
	case opListIndexFuncValues:
		return op.call("%q", op.index)
	case opCompare:
		return methods[opCompare].name
	}
	return op.call("")
}

func (op *operation) call(format string, args ...any) string {
	return methods[op.kind].name + "(" + fmt.Sprintf(format, args...) + ")"
}

func list[T any](of []T, text func(T) string) string { return strings.Join(texts(of, text), ", ") }
