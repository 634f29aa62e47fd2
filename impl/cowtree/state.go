package cowtree

import (
	"slices"

	"k8s.io/utils/third_party/forked/golang/btree"

	"github.com/informerbench/informerbench/impl/indexing"
)

// degree is the degree of the B-trees: a node other than the root has 15 to 31 items.
const degree = 16

// object is an item of the tree of objects.
type object struct {
	key   string
	value any
}

// posting is an item of an index: the key has the value.
type posting struct{ value, key string }

type (
	objectTree = btree.BTree[object]
	indexTree  = btree.BTree[posting]
)

func newObjects() *objectTree {
	return btree.New(degree, func(a, b object) bool { return a.key < b.key })
}

func newIndex() *indexTree {
	return btree.New(degree, func(a, b posting) bool {
		if a.value != b.value {
			return a.value < b.value
		}
		return a.key < b.key
	})
}

// state is the whole store at one instant. It never changes.
type state struct {
	objects *objectTree
	indexes []*indexTree // by the number of the index
	set     *indexing.Set
	version string
}

func (st *state) get(key string) (item any, exists bool) {
	o, exists := st.objects.Get(object{key: key})
	return o.value, exists
}

// keysOf calls visit with the keys that have the value, in ascending order.
func (st *state) keysOf(number int, value string, visit func(key string)) {
	st.indexes[number].AscendGreaterOrEqual(posting{value: value}, func(p posting) bool {
		if p.value != value {
			return false
		}
		visit(p.key)
		return true
	})
}

// valuesOf returns the values of an index: it looks for the first posting after
// each value in turn.
func (st *state) valuesOf(number int) []string {
	values := []string{}
	from, more := posting{}, true
	for more {
		more = false
		st.indexes[number].AscendGreaterOrEqual(from, func(p posting) bool {
			values = append(values, p.value)
			from, more = posting{value: p.value + "\x00"}, true // the least string that is greater
			return false
		})
	}
	return values
}

// trees are the writer's own trees.
type trees struct {
	objects *objectTree
	indexes []*indexTree
}

// apply carries out planned writes and returns which indexes they changed.
func (t *trees) apply(changes []indexing.Change) (changed []bool) {
	changed = make([]bool, len(t.indexes))
	for _, c := range changes {
		if c.Delete {
			t.objects.Delete(object{key: c.Key})
		} else {
			t.objects.ReplaceOrInsert(object{c.Key, c.Object})
		}
		for number, index := range t.indexes {
			m := c.Moves.Move(number)
			if m.Stays() {
				continue
			}
			changed[number] = true
			m.Diff(
				func(value string) { index.Delete(posting{value, c.Key}) },
				func(value string) { index.ReplaceOrInsert(posting{value, c.Key}) })
		}
	}
	return changed
}

// grown returns indexes and, after them, the further indexes of set, filled from objects.
// It panics, with nothing touched, if an IndexFunc fails.
func grown(indexes []*indexTree, objects *objectTree, set *indexing.Set) []*indexTree {
	known := len(indexes)
	indexes = slices.Clone(indexes)
	for range set.Len() - known {
		indexes = append(indexes, newIndex())
	}
	if len(indexes) == known {
		return indexes
	}
	var values indexing.Values
	objects.Ascend(func(o object) bool {
		values = set.AppendValues(values.Emptied(), known, o.key, o.value)
		for i := range values.Len() {
			for _, value := range values.List(i) {
				indexes[known+i].ReplaceOrInsert(posting{value, o.key})
			}
		}
		return true
	})
	return indexes
}
