package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// readCases: each read by itself. They come first, because the others read too: what fails here
// explains what fails there.
var readCases = []suite.Case[NewStore]{
	on("STORE-1", "the-very-object",
		"handlers compare old and new by pointer, and informers share objects rather than copy them",
		func(x *trial) {
			x.add(newItem("k", 1, "x"))
			x.must(x.m.checkGet(x.s, "k"))
			x.update(newItem("k", 1, "x")) // an equal object, and Get must give the newer one itself
			x.must(x.m.checkGet(x.s, "k"))
		}),
	on("STORE-1", "absent",
		"a controller takes exists for the word of the cache and deletes or creates by it",
		func(x *trial) {
			x.add(newItem("k", 1, "x"))
			for _, key := range []string{"", "K", "k/"} {
				x.must(x.m.checkGet(x.s, key))
			}
		}),
	on("STORE-4", "list", "a resync that misses an object never reconciles it", func(x *trial) {
		x.must(differs("List of an empty store", names(x.s.List()), nil))
		x.add(crowd(300)...)
		x.must(differs("List", names(x.s.List()), itemNames(x.m.all())))
	}),
	on("STORE-5", "list-keys", "DeltaFIFO finds what a relist deleted among the keys",
		func(x *trial) {
			x.must(differs("ListKeys of an empty store", x.s.ListKeys(), nil))
			x.add(crowd(300)...)
			x.must(differs("ListKeys", x.s.ListKeys(), x.m.keys()))
		}),
	on("STORE-13", "by-index", "owners find their pods by index; a wrong one is adopted or deleted",
		func(x *trial) {
			x.add(crowd(60)...)
			for _, v := range []string{"a", "b", "c", "", "absent"} {
				got, err := x.s.ByIndex(one, v)
				x.must(answered(err, "ByIndex(one, "+v+")", names(got), x.m.names(x.m.having(one, v))))
			}
		}),
	on("STORE-13", "empty-store", "an index is asked before the first object comes",
		func(x *trial) {
			got, err := x.s.ByIndex(one, "a")
			x.must(answered(err, "ByIndex", names(got), nil))
		}),
	on("STORE-14", "index-keys-sorted", "callers rely on client-go's sorted keys for stable output",
		func(x *trial) {
			x.add(crowd(60)...)
			for _, v := range []string{"a", "b", "c", "", "absent"} {
				got, err := x.s.IndexKeys(one, v)
				x.must(answered(err, "IndexKeys(one, "+v+")", got, x.m.having(one, v)))
				if !slices.IsSorted(got) {
					x.Errorf("IndexKeys(one, %s) is not sorted: %q", v, got)
				}
			}
		}),
	on("STORE-15", "shared-values-once", "an object that shares two values would be reconciled twice",
		func(x *trial) {
			x.add(crowd(60)...)
			for _, probe := range []*item{
				newItem("absent", 1, "a", "x", "y"),
				newItem("absent", 2, "b", "y", "x", "y", "absent"),
				newItem("absent", 3, "absent"),
				newItem("absent", 4, "c", "z", "z").withMaybe("p"),
				x.m.items[key(7)],
			} {
				for _, index := range allIndexes {
					x.must(x.m.checkIndex(x.s, index, probe))
				}
			}
		}),
	on("STORE-16", "values", "it is how callers walk an index", func(x *trial) {
		x.must(differs("ListIndexFuncValues of an empty store", x.s.ListIndexFuncValues(many), nil))
		x.add(crowd(60)...)
		for _, index := range allIndexes {
			x.must(differs("ListIndexFuncValues("+index+")", x.s.ListIndexFuncValues(index),
				indexValues(x.m.all(), index)))
		}
	}),
}

// Objects by index, on one goroutine.
var indexCases = []suite.Case[NewStore]{
	on("STORE-16", "empty-sets-dropped",
		"jobs and events have values of their own: the empty sets of those that are gone grow "+
			"without bound (kubernetes#84959)",
		func(x *trial) {
			values := func(want ...string) {
				x.must(differs("ListIndexFuncValues(one)", x.s.ListIndexFuncValues(one), want))
			}
			x.add(newItem("k", 1, "v1", "m"), newItem("l", 2, "v1", "m"))
			x.update(newItem("k", 3, "v2"))
			values("v1", "v2")
			x.update(newItem("l", 4, "v2"))
			values("v2")
			x.delete("k")
			values("v2")
			x.delete("l")
			values()
			for n := range 1000 {
				x.add(newItem("k", n, key(n), key(n)))
				x.delete("k")
			}
			values()
			x.must(differs("ListIndexFuncValues(many)", x.s.ListIndexFuncValues(many), nil))
		}),
	{Clause: "STORE-17", Name: "unknown-index", Run: func(t *suite.T, newStore NewStore) {
		for _, x := range []*trial{newTrial(t, newStore, allIndexes...), newTrial(t, newStore)} {
			i := newItem("k", 1, "a")
			x.add(i)
			_, index := x.s.Index("nowhere", i)
			_, keys := x.s.IndexKeys("nowhere", "a")
			_, by := x.s.ByIndex("nowhere", "a")
			for call, err := range map[string]error{"Index": index, "IndexKeys": keys, "ByIndex": by} {
				if err == nil {
					x.Errorf("%s of an unknown index gave no error", call)
				}
			}
			x.must(differs("ListIndexFuncValues of an unknown index",
				x.s.ListIndexFuncValues("nowhere"), nil))
			x.must(x.m.checkObjects(x.s))
		}
	}, Why: "a misspelt index that answers nothing looks like an empty cluster"},
	on("STORE-18", "several-none-twice", "labels, volumes and owners give many values or none",
		func(x *trial) {
			x.add(newItem("none", 1, "a"), newItem("several", 2, "a", "x", "y", "z"),
				newItem("twice", 3, "a", "x", "x"), newItem("empty-value", 4, "", "", "x"))
			x.agree("with no value, several, and one twice")
			x.delete("twice", "empty-value")
			x.agree("after deleting those with one twice")
		}),
	onIndexes([]string{one, maybe}, "STORE-18", "many-twice",
		"an object that has a value twice among many leaves one of them behind when it goes",
		func(x *trial) {
			const most = 40 // stores often look through few values, and keep a set of many
			values := make([]string, most)
			for i := range values {
				values[i] = fmt.Sprint("v-", i)
			}
			seq := 0
			// k has the values from one number up to another, the first half of them twice.
			k := func(from, to int) *item {
				seq++
				return newItem("k", seq, "a", slices.Concat(values[from:to], values[from:(from+to)/2])...)
			}
			other := newItem("other", 0, "a", "v-7")
			x.add(other, k(0, 30))
			x.must(x.addIndexers(many))
			x.agree("after AddIndexers")
			for _, of := range [][2]int{{0, 30}, {10, most}, {0, 10}, {0, most}} {
				x.update(k(of[0], of[1]))
				x.agree("after writing " + x.m.items["k"].name)
			}
			x.batched(update(k(20, most)), update(k(0, 25)), remove("k"), add(k(10, most)))
			x.agree("after a Transaction with four writes of k")
			x.replace("1", other, k(0, 20))
			x.agree("after Replace")
			x.delete("k")
			x.agree("after Delete")
		}),
	on("STORE-19", "update-moves",
		"a pod that is scheduled moves from no node to a node; under both it is counted twice",
		func(x *trial) {
			x.add(newItem("other", 0, "a", "x", "y", "z").withMaybe("p"))
			for seq, i := range []*item{
				newItem("k", 1, "a", "x"),
				newItem("k", 2, "a", "x"), // nothing moves
				newItem("k", 3, "b", "x"), // one index of three
				newItem("k", 4, "b", "x", "y"),
				newItem("k", 5, "b", "y", "x"), // the same values in another order
				newItem("k", 6, "b", "y", "z"), // some stay
				newItem("k", 7, "b", "z", "z"),
				newItem("k", 8, "b", "z"), // one value, before it the same one twice
				newItem("k", 9, "b"),
				newItem("k", 10, "b").withMaybe("p"),
				newItem("k", 11, "b").withMaybe("q"),
				newItem("k", 12, "b"),
				newItem("k", 13, "a", "x", "y", "z").withMaybe("q"),
			} {
				if seq%2 == 0 {
					x.update(i)
				} else {
					x.add(i)
				}
				x.agree("after writing " + i.name)
			}
			x.delete("k")
			x.agree("after Delete")
		}),
	on("STORE-19", "the-newer-object-under-an-unchanged-value",
		"a store that skips an index whose value is the same must still serve the newer object from it",
		func(x *trial) {
			x.add(newItem("k", 1, "a", "x").withMaybe("p"), newItem("k", 2, "a", "x").withMaybe("p"))
			x.agree("after a write that moves nothing")
		}),
}

// replaceCases: Replace.
var replaceCases = []suite.Case[NewStore]{
	on("STORE-20", "the-whole-content", "a relist that leaves what is gone keeps ghosts for ever",
		func(x *trial) {
			x.add(crowd(30)...)
			x.replace("2", at(5, 1), at(6, 1), at(40, 1))
			x.agree("after Replace")
			x.must(x.m.checkGet(x.s, key(1)))
		}),
	on("STORE-20", "from-many-to-few-and-back",
		"a relist after most objects were deleted keeps one of them for ever",
		func(x *trial) {
			for seq, n := range []int{700, 60, 9000, 5, 300} { // beyond 4,096 a store may split the work
				x.Progress()
				items := make([]*item, n)
				for i := range items {
					items[i] = at(i+n/2, seq) // some keys are new, some are not
				}
				x.replace(fmt.Sprint(seq), items...)
				x.agree(fmt.Sprintf("after Replace number %d, with %d objects", seq+1, n))
			}
		}),
	on("STORE-20", "writes-after", "the watch goes on where the list ended", func(x *trial) {
		x.replace("1", crowd(5)...)
		for n := range 10 {
			x.update(at(n, n+1))
			x.delete(key(n / 2))
			x.agree("writing on after Replace")
		}
	}),
	on("STORE-20", "empty", "the last object of a kind does go away", func(x *trial) {
		x.replace("1")
		x.agree("after an empty Replace of an empty store")
		x.add(crowd(9)...)
		x.replace("2")
		x.agree("after an empty Replace")
		x.add(crowd(9)...)
		x.agree("after adding again")
	}),
	on("STORE-21", "nil", "a nil map is Go's empty map to read, and panics on the first write",
		func(x *trial) {
			x.add(crowd(9)...)
			x.s.Replace(nil, "2")
			clear(x.m.items)
			x.agree("after Replace(nil)")
			if p := panicOf(func() { x.add(crowd(9)...) }); p != nil {
				x.Fatalf("Add after Replace(nil) panics: %v", p)
			}
			x.agree("after adding again")
		}),
	on("STORE-22", "old-values-gone",
		"stale values of a dropped object give nil or deleted objects to whoever asks the index",
		func(x *trial) {
			x.add(newItem("k", 1, "old", "old", "kept").withMaybe("old"), newItem("l", 2, "old", "old"))
			x.replace("2", newItem("k", 3, "new", "kept", "new"))
			x.agree("after Replace")
			for _, index := range allIndexes {
				x.must(x.m.checkValue(x.s, index, "old", nil))
			}
		}),
}

// indexerCases: indexers that AddIndexers adds.
var indexerCases = []suite.Case[NewStore]{
	onIndexes([]string{one}, "STORE-23", "back-fill",
		"controllers add their indexers to an informer that another one has started",
		func(x *trial) {
			x.add(crowd(30)...)
			x.must(x.addIndexers(many, maybe))
			x.agree("after AddIndexers on a filled store")
			for n := range 10 {
				x.update(at(n, n+1))
			}
			x.delete(key(11))
			x.agree("after writing on")
			x.replace("2", crowd(3)...)
			x.agree("after Replace")
		}),
	onIndexes([]string{one}, "STORE-23", "back-fill-of-many",
		"a second controller adds its index to an informer of a whole cluster, and finds a part of "+
			"the objects",
		func(x *trial) { x.backFillMany(many, maybe) }),
	onIndexes([]string{own}, "STORE-23", "back-fill-of-own-values",
		"an index by UID has a value for each object, and one that is lost is an object that nobody "+
			"finds",
		func(x *trial) { x.backFillMany(ownToo) }),
	onIndexes(nil, "STORE-23", "nothing-to-add",
		"an informer is made without indexers more often than not",
		func(x *trial) {
			x.must(x.addIndexers())
			x.must(x.s.AddIndexers(nil))
			x.must(x.addIndexers(allIndexes...))
			x.add(crowd(9)...)
			x.agree("after AddIndexers to a store that had none")
		}),
	onIndexes([]string{one}, "STORE-24", "name-taken",
		"two controllers that both add \"by-node\" must hear of it and not read each other's index",
		func(x *trial) {
			x.add(crowd(9)...)
			other := func(any) ([]string, error) { return []string{"other"}, nil }
			for range 20 { // the order in which a map is walked must not matter
				err := x.s.AddIndexers(contract.Indexers{many: other, one: other, maybe: other})
				if err == nil {
					x.Fatalf("AddIndexers took a name that the store has")
				}
				for _, index := range []string{many, maybe} {
					if _, err := x.s.ByIndex(index, "other"); err == nil {
						x.Fatalf("AddIndexers was refused and yet added %q", index)
					}
				}
			}
			x.agree("after AddIndexers was refused")
			x.must(x.addIndexers(many, maybe))
			x.agree("after the names were added")
		}),
	onIndexes([]string{one}, "STORE-52", "words",
		"a controller that adds an index which another one may have added takes \"indexer conflict\" "+
			"for success",
		func(x *trial) {
			x.add(crowd(3)...)
			words := func(call string, err error, want string) {
				if err == nil || !strings.Contains(err.Error(), want) {
					x.Errorf("the error of %s is %q; want one with %q", call, fmt.Sprint(err), want)
				}
			}
			words("AddIndexers", x.s.AddIndexers(indexers(one)), "indexer conflict")
			unknown := "Index with name " + many + " does not exist"
			_, err := x.s.Index(many, newItem("k", 1, "a", "x"))
			words("Index", err, unknown)
			_, err = x.s.IndexKeys(many, "x")
			words("IndexKeys", err, unknown)
			_, err = x.s.ByIndex(many, "x")
			words("ByIndex", err, unknown)
		}),
	onIndexes([]string{one}, "STORE-25", "get-indexers",
		"callers look whether an index is there before they add it",
		func(x *trial) {
			x.must(x.addIndexers(many, maybe))
			probe := newItem("k", 1, "a", "x", "y").withMaybe("p")
			got := x.s.GetIndexers()
			x.must(differs("GetIndexers", slices.Collect(maps.Keys(got)), allIndexes))
			for index, f := range got {
				if f == nil {
					x.Fatalf("GetIndexers has no function of %q", index)
				}
				values, err := f(probe)
				x.must(answered(err, index, values, probe.valuesIn(index)))
			}
		}),
	onIndexes([]string{one}, "STORE-26", "a-map-of-its-own",
		"a map that is read by one goroutine and written by another ends the process",
		func(x *trial) {
			before := x.s.GetIndexers()
			x.must(x.addIndexers(many))
			if len(before) != 1 {
				x.Fatalf("AddIndexers wrote to the map that GetIndexers had returned: who walks it " +
					"meanwhile crashes")
			}
			mine := x.s.GetIndexers()
			delete(mine, one)
			mine[maybe] = indexFunc(maybe, nil)
			x.add(crowd(9)...)
			x.agree("after the caller changed the map")
			if got := x.s.GetIndexers(); len(got) != 2 || got[one] == nil || got[maybe] != nil {
				x.Errorf("the caller's change of the map is seen by GetIndexers: %d indexers", len(got))
			}
			// Only a store that passed so far can be tested for this: Go ends the process when
			// one map is written while another goroutine iterates over it.
			x.Together(func() {
				for n := range 50 {
					err := x.s.AddIndexers(contract.Indexers{key(n): indexFunc(one, nil)})
					if err != nil {
						x.Errorf("AddIndexers: %v", err)
					}
				}
			}, func() {
				for range 50 {
					for name := range x.s.GetIndexers() {
						_ = name
					}
				}
			})
		}),
}

// backFillMany adds indexes to a store of many objects.
func (x *trial) backFillMany(names ...string) {
	x.replace("1", crowd(manyItems)...)
	x.Progress()
	x.must(x.addIndexers(names...))
	x.Progress()
	x.agree("after AddIndexers on a large store")
}
