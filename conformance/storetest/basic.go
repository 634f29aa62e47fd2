package storetest

import (
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Objects by key: Get, List and ListKeys after Add, Update and Delete.
var basicCases = []suite.Case[NewStore]{
	on("STORE-1", "odd-keys", "a key is any string: cluster-scoped objects have no slash",
		func(x *trial) {
			x.add(newItem("", 1, ""), newItem("a/b", 2, ""), newItem("\x00", 3, "\x00"),
				newItem("ключ", 4, "x"))
			x.agree("after adding keys of odd bytes")
		}),
	on("STORE-2", "add-replaces", "a watch that begins again sends ADDED for what is known",
		func(x *trial) {
			x.add(newItem("k", 1, "x", "p"), newItem("k", 2, "y", "q"))
			x.agree("after Add of a present key")
		}),
	on("STORE-2", "update-of-absent", "a missed ADDED event is mended by the next MODIFIED",
		func(x *trial) {
			x.update(newItem("k", 1, "x", "p"))
			x.agree("after Update of an absent key")
		}),
	on("STORE-3", "delete", "a deleted object that stays is acted upon for ever", func(x *trial) {
		x.add(newItem("k", 1, "x", "p"), newItem("l", 2, "x", "p"))
		x.delete("k")
		x.agree("after Delete")
		x.must(x.m.checkGet(x.s, "k"))
	}),
	on("STORE-3", "delete-of-absent", "deletions are delivered more than once", func(x *trial) {
		x.delete("k")
		x.add(newItem("l", 2, "x", "p"))
		x.delete("k", "l", "l")
		x.agree("after deleting absent keys")
		x.add(newItem("l", 3, "y"))
		x.agree("after adding the key again")
	}),
	on("STORE-3", "from-many-to-few-and-back",
		"a namespace that is deleted takes most objects with it, and the store gives back their room",
		func(x *trial) {
			const most, compare = 400, 50
			x.add(crowd(most)...)
			for i, n := range x.Rand().Perm(most) {
				x.delete(key(n))
				if left := most - i - 1; left%compare == 0 || left < 8 {
					x.agree(fmt.Sprintf("when %d of %d objects are left", left, most))
				}
			}
			x.add(crowd(most)...)
			x.agree("when all have come back")
		}),
	on("STORE-4", "one-object-under-two-keys", "what is stored twice is there twice: List is per key",
		func(x *trial) {
			i := newItem("k", 1, "x")
			x.s.Add("k", i)
			x.s.Add("l", i)
			x.must(differs("List", names(x.s.List()), []string{i.name, i.name}))
		}),
	onIndexes([]string{one}, "STORE-54", "nil-object",
		"a transform that returns nil would end the process", func(x *trial) {
			indexed := []string{one}
			holds := func(when string) {
				if got, ok := x.s.Get("k"); got != nil || !ok || len(x.s.ListKeys()) != 1 ||
					!slices.Equal(x.s.List(), []any{nil}) {
					x.Fatalf("%s: Get = %v, %v, List = %v, ListKeys = %q; want one nil under k", when, got, ok,
						x.s.List(), x.s.ListKeys())
				}
				for _, index := range indexed {
					x.must(x.m.checkValue(x.s, index, "a", nil))
					x.must(differs(when+": ListIndexFuncValues("+index+")", x.s.ListIndexFuncValues(index), nil))
				}
			}
			x.s.Add("k", nil)
			holds("after Add")
			x.s.Add("k", newItem("k", 1, "a", "a"))
			x.s.Update("k", nil)
			holds("after Update")
			x.must(x.s.AddIndexers(indexers(many)))
			indexed = append(indexed, many)
			holds("after AddIndexers")
			x.s.Replace(map[string]any{"k": nil}, "2")
			holds("after Replace")
			if s, ok := x.s.(contract.Transactor); ok {
				s.Transaction(update(newItem("k", 2, "a", "a")), txn(contract.TransactionTypeUpdate, "k", nil))
				holds("after a Transaction")
			}
			x.s.Delete("k")
			x.agree("after Delete")
		}),
	on("STORE-33", "resync",
		"Resync is the FIFO's affair; a store that fails it ends the reflector's resync loop",
		func(x *trial) {
			x.add(crowd(5)...)
			x.must(x.s.Resync())
			x.agree("after Resync")
		}),
}

// sliceCases try to harm the store through each slice that it returns.
var sliceCases = []suite.Case[NewStore]{
	sliceCase("list", func(s contract.Store) ([]any, error) { return s.List(), nil }),
	sliceCase("list-keys", func(s contract.Store) ([]string, error) { return s.ListKeys(), nil }),
	sliceCase("by-index", func(s contract.Store) ([]any, error) { return s.ByIndex(one, "a") }),
	sliceCase("by-index-many", func(s contract.Store) ([]any, error) { return s.ByIndex(many, "y") }),
	sliceCase("index", func(s contract.Store) ([]any, error) {
		return s.Index(one, newItem("", 0, "a"))
	}),
	sliceCase("index-many", func(s contract.Store) ([]any, error) {
		return s.Index(many, newItem("", 0, "a", "x", "y"))
	}),
	sliceCase("index-keys", func(s contract.Store) ([]string, error) { return s.IndexKeys(one, "a") }),
	sliceCase("list-index-func-values", func(s contract.Store) ([]string, error) {
		return s.ListIndexFuncValues(one), nil
	}),
}

func sliceCase[E comparable](name string,
	read func(contract.Store) ([]E, error)) suite.Case[NewStore] {
	why := "callers sort what they list, and a shared backing array corrupts the cache under everybody"
	return on("STORE-6", name, why, func(x *trial) {
		x.add(crowd(40)...)
		mine, err := read(x.s)
		x.must(err)
		kept := slices.Clone(mine)
		for n := range 40 { // other objects, under the same values
			x.update(at(n, 45))
		}
		_, err = read(x.s)
		x.must(err)
		for n := range 40 {
			x.update(newItem(key(n), 1000+n, "moved", "moved"))
		}
		for n := range 20 {
			x.delete(key(n))
		}
		x.replace("2", crowd(40)...)
		if !slices.Equal(mine, kept) {
			x.Fatalf("later calls changed a slice that was returned before: %v, was %v", mine, kept)
		}
		mine, err = read(x.s)
		x.must(err)
		slices.Reverse(mine)
		x.agree("after the caller reversed the result")
		clear(mine[:cap(mine)]) // append would write there
		x.agree("after the caller overwrote the result and what append reaches")
	})
}

// key returns the n-th key. All keys differ; those of n below 1000 sort in the order of n.
func key(n int) string {
	if n > 999 {
		return fmt.Sprint("k", n)
	}
	return string([]byte{'k', byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)})
}

var manyValues = [][]string{nil, {"x"}, {"x", "y"}, {"y", "y"}, {"z", "x", "y"}}

// at returns the item that write number seq stores under the n-th key. It is a pure
// function, and its items have every shape of index values.
func at(n, seq int) *item { return shaped(key(n), n, seq) }

// shaped is at under any key.
func shaped(key string, n, seq int) *item {
	i := newItem(key, seq, string("abc"[(n+seq/3)%3]), manyValues[(n+2*seq)%len(manyValues)]...)
	if (n+seq)%2 == 0 {
		i.withMaybe(string("pq"[(n+seq)/2%2]))
	}
	return i
}

// crowd returns n items of every shape.
func crowd(n int) []*item {
	items := make([]*item, n)
	for i := range items {
		items[i] = at(i, 0)
	}
	return items
}
