package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Objects by index, on one goroutine.
var indexCases = []suite.Case[NewStore]{
	{Clause: "STORE-13", Name: "by-index", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s, crowd(60)...)
		for _, v := range []string{"a", "b", "c", "", "absent"} {
			got, err := s.ByIndex(one, v)
			must(t, answered(err, "ByIndex(one, "+v+")", names(got), itemNames(having(m.all(), one, v))))
		}
	}, Why: "owners find their pods by index; a wrong one is adopted or deleted"},
	{Clause: "STORE-13", Name: "empty-store", Run: func(t *suite.T, newStore NewStore) {
		got, err := newStore(indexers()).ByIndex(one, "a")
		must(t, answered(err, "ByIndex", names(got), nil))
	}, Why: "an index is asked before the first object comes"},
	{Clause: "STORE-14", Name: "index-keys-sorted", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s, crowd(60)...)
		for _, v := range []string{"a", "b", "c", "", "absent"} {
			got, err := s.IndexKeys(one, v)
			must(t, answered(err, "IndexKeys(one, "+v+")", got, itemKeys(having(m.all(), one, v))))
			if !slices.IsSorted(got) {
				t.Errorf("IndexKeys(one, %s) is not sorted: %q", v, got)
			}
		}
	}, Why: "callers rely on client-go's sorted keys for stable output"},
	{Clause: "STORE-15", Name: "shared-values-once", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s, crowd(60)...)
		for _, probe := range []*item{
			newItem("absent", 1, "a", "x", "y"),
			newItem("absent", 2, "b", "y", "x", "y", "absent"),
			newItem("absent", 3, "absent"),
			newItem("absent", 4, "c", "z", "z").withMaybe("p"),
			m.items[key(7)],
		} {
			for _, index := range allIndexes {
				got, err := s.Index(index, probe)
				must(t, answered(err, "Index("+index+", "+probe.name+")", names(got),
					m.names(m.having(index, probe.valuesIn(index)...))))
			}
		}
	}, Why: "an object that shares two values would be reconciled twice"},
	{Clause: "STORE-16", Name: "values", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		if got := s.ListIndexFuncValues(many); len(got) != 0 {
			t.Errorf("ListIndexFuncValues of an empty store gave %q", got)
		}
		m := fill(s, crowd(60)...)
		for _, index := range allIndexes {
			must(t, differs("ListIndexFuncValues("+index+")", s.ListIndexFuncValues(index),
				indexValues(m.all(), index)))
		}
	}, Why: "it is how callers walk an index"},
	{Clause: "STORE-16", Name: "empty-sets-dropped", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		values := func(want ...string) {
			must(t, differs("ListIndexFuncValues(one)", s.ListIndexFuncValues(one), want))
		}
		s.Add("k", newItem("k", 1, "v1", "m"))
		s.Add("l", newItem("l", 2, "v1", "m"))
		s.Update("k", newItem("k", 3, "v2"))
		values("v1", "v2")
		s.Update("l", newItem("l", 4, "v2"))
		values("v2")
		s.Delete("k")
		values("v2")
		s.Delete("l")
		values()
		for n := range 1000 {
			s.Add("k", newItem("k", n, key(n), key(n)))
			s.Delete("k")
		}
		values()
		must(t, differs("ListIndexFuncValues(many)", s.ListIndexFuncValues(many), nil))
	}, Why: "jobs and events have values of their own: the empty sets of those that are gone grow " +
		"without bound (kubernetes#84959)"},
	{Clause: "STORE-17", Name: "unknown-index", Run: func(t *suite.T, newStore NewStore) {
		for _, s := range []contract.Store{newStore(indexers()), newStore(contract.Indexers{})} {
			i := newItem("k", 1, "a")
			m := fill(s, i)
			if got, err := s.Index("nowhere", i); err == nil {
				t.Errorf("Index of an unknown index gave %v and no error", got)
			}
			if got, err := s.IndexKeys("nowhere", "a"); err == nil {
				t.Errorf("IndexKeys of an unknown index gave %v and no error", got)
			}
			if got, err := s.ByIndex("nowhere", "a"); err == nil {
				t.Errorf("ByIndex of an unknown index gave %v and no error", got)
			}
			if got := s.ListIndexFuncValues("nowhere"); len(got) != 0 {
				t.Errorf("ListIndexFuncValues of an unknown index gave %v", got)
			}
			must(t, m.checkObjects(s))
		}
	}, Why: "a misspelt index that answers nothing looks like an empty cluster"},
	{Clause: "STORE-18", Name: "several-none-twice", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s,
			newItem("none", 1, "a"),
			newItem("several", 2, "a", "x", "y", "z"),
			newItem("twice", 3, "a", "x", "x"),
			newItem("empty-value", 4, "", "", "x"),
		)
		agree(t, m, s, "with no value, several, and one twice")
		s.Delete("twice")
		s.Delete("empty-value")
		delete(m.items, "twice")
		delete(m.items, "empty-value")
		agree(t, m, s, "after deleting those with one twice")
	}, Why: "labels, volumes and owners give many values or none"},
	{Clause: "STORE-18", Name: "many-twice", Run: func(t *suite.T, newStore NewStore) {
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
		s := newStore(indexers(one, maybe))
		m := fill(s, newItem("other", 0, "a", "v-7"), k(0, 30))
		must(t, s.AddIndexers(indexers(many)))
		agree(t, m, s, "after AddIndexers")
		for _, of := range [][2]int{{0, 30}, {10, most}, {0, 10}, {0, most}} {
			m.items["k"] = k(of[0], of[1])
			s.Update("k", m.items["k"])
			agree(t, m, s, "after writing "+m.items["k"].name)
		}
		if b, is := s.(contract.Transactor); is {
			m.items["k"] = k(10, most)
			b.Transaction(update(k(20, most)), update(k(0, 25)), remove("k"), add(m.items["k"]))
			agree(t, m, s, "after a Transaction with four writes of k")
		}
		m.items["k"] = k(0, 20)
		s.Replace(m.asMap(), "1")
		agree(t, m, s, "after Replace")
		s.Delete("k")
		delete(m.items, "k")
		agree(t, m, s, "after Delete")
	}, Why: "an object that has a value twice among many leaves one of them behind when it goes"},
	{Clause: "STORE-19", Name: "update-moves", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s, newItem("other", 0, "a", "x", "y", "z").withMaybe("p"))
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
				s.Update("k", i)
			} else {
				s.Add("k", i)
			}
			m.items["k"] = i
			agree(t, m, s, "after writing "+i.name)
		}
		s.Delete("k")
		delete(m.items, "k")
		agree(t, m, s, "after Delete")
	}, Why: "a pod that is scheduled moves from no node to a node; under both it is counted twice"},
	{Clause: "STORE-19", Name: "the-newer-object-under-an-unchanged-value",
		Run: func(t *suite.T, newStore NewStore) {
			s := newStore(indexers())
			fill(s, newItem("k", 1, "a", "x").withMaybe("p"))
			agree(t, fill(s, newItem("k", 2, "a", "x").withMaybe("p")), s,
				"after an Update that moves nothing")
		}, Why: "a store that skips an index whose value is the same must still serve the newer object " +
			"from it"},
}

// replaceCases: Replace.
var replaceCases = []suite.Case[NewStore]{
	{Clause: "STORE-20", Name: "the-whole-content", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		fill(s, crowd(30)...)
		m := newModel(at(5, 1), at(6, 1), at(40, 1))
		s.Replace(m.asMap(), "2")
		agree(t, m, s, "after Replace")
		if got, ok := s.Get(key(1)); ok {
			t.Errorf("Get of a key that Replace dropped gave %v", got)
		}
	}, Why: "a relist that leaves what is gone keeps ghosts for ever"},
	{Clause: "STORE-20", Name: "from-many-to-few-and-back", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		for seq, n := range []int{700, 60, 9000, 5, 300} { // beyond 4,096 a store may split the work
			t.Progress()
			m := newModel()
			for i := range n {
				object := at(i+n/2, seq) // some keys are new, some are not
				m.items[object.key] = object
			}
			s.Replace(m.asMap(), fmt.Sprint(seq))
			agree(t, m, s, fmt.Sprintf("after Replace number %d, with %d objects", seq+1, n))
		}
	}, Why: "a relist after most objects were deleted keeps one of them for ever"},
	{Clause: "STORE-20", Name: "writes-after", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := newModel(crowd(5)...)
		s.Replace(m.asMap(), "1")
		for n := range 10 {
			m.items[key(n)] = at(n, n+1)
			s.Update(key(n), m.items[key(n)])
			s.Delete(key(n / 2))
			delete(m.items, key(n/2))
			agree(t, m, s, "writing on after Replace")
		}
	}, Why: "the watch goes on where the list ended"},
	{Clause: "STORE-20", Name: "empty", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		s.Replace(map[string]any{}, "1")
		agree(t, newModel(), s, "after an empty Replace of an empty store")
		fill(s, crowd(9)...)
		s.Replace(map[string]any{}, "2")
		agree(t, newModel(), s, "after an empty Replace")
		agree(t, fill(s, crowd(9)...), s, "after adding again")
	}, Why: "the last object of a kind does go away"},
	{Clause: "STORE-21", Name: "nil", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		fill(s, crowd(9)...)
		s.Replace(nil, "2")
		agree(t, newModel(), s, "after Replace(nil)")
		var m *model
		if p := panicOf(func() { m = fill(s, crowd(9)...) }); p != nil {
			t.Fatalf("Add after Replace(nil) panics: %v", p)
		}
		agree(t, m, s, "after adding again")
	}, Why: "a nil map is Go's empty map to read, and panics on the first write"},
	{Clause: "STORE-22", Name: "old-values-gone", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		fill(s, newItem("k", 1, "old", "old", "kept").withMaybe("old"), newItem("l", 2, "old", "old"))
		m := newModel(newItem("k", 3, "new", "kept", "new"))
		s.Replace(m.asMap(), "2")
		agree(t, m, s, "after Replace")
		for _, index := range allIndexes {
			if got, err := s.ByIndex(index, "old"); err != nil || len(got) != 0 {
				t.Errorf("ByIndex(%s, old) gave %v, %v after Replace dropped the last object with the value",
					index, got, err)
			}
		}
	}, Why: "stale values of a dropped object give nil or deleted objects to whoever asks the index"},
}

// indexerCases: indexers that AddIndexers adds.
var indexerCases = []suite.Case[NewStore]{
	{Clause: "STORE-23", Name: "back-fill", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		m := fill(s, crowd(30)...)
		must(t, s.AddIndexers(indexers(many, maybe)))
		agree(t, m, s, "after AddIndexers on a filled store")
		for n := range 10 {
			m.items[key(n)] = at(n, n+1)
			s.Update(key(n), m.items[key(n)])
		}
		s.Delete(key(11))
		delete(m.items, key(11))
		agree(t, m, s, "after writing on")
		m = newModel(crowd(3)...)
		s.Replace(m.asMap(), "2")
		agree(t, m, s, "after Replace")
	}, Why: "controllers add their indexers to an informer that another one has started"},
	{Clause: "STORE-23", Name: "back-fill-of-many", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		m := newModel(crowd(manyItems)...)
		s.Replace(m.asMap(), "1")
		t.Progress()
		must(t, s.AddIndexers(indexers(many, maybe)))
		t.Progress()
		agree(t, m, s, "after AddIndexers on a large store")
	}, Why: "a second controller adds its index to an informer of a whole cluster, and finds a " +
		"part of the objects"},
	{Clause: "STORE-23", Name: "back-fill-of-own-values", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(own))
		m := newModel(crowd(manyItems)...)
		s.Replace(m.asMap(), "1")
		t.Progress()
		m.indexes = []string{own}
		agree(t, m, s, "after Replace of a large store")
		must(t, s.AddIndexers(indexers(ownToo)))
		t.Progress()
		m.indexes = []string{own, ownToo}
		agree(t, m, s, "after AddIndexers on a large store")
	}, Why: "an index by UID has a value for each object, and one that is lost is an object that " +
		"nobody finds"},
	{Clause: "STORE-23", Name: "nothing-to-add", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(contract.Indexers{})
		must(t, s.AddIndexers(contract.Indexers{}))
		must(t, s.AddIndexers(nil))
		must(t, s.AddIndexers(indexers()))
		agree(t, fill(s, crowd(9)...), s, "after AddIndexers to a store that had none")
	}, Why: "an informer is made without indexers more often than not"},
	{Clause: "STORE-24", Name: "name-taken", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		m := fill(s, crowd(9)...)
		m.indexes = []string{one}
		other := func(any) ([]string, error) { return []string{"other"}, nil }
		for range 20 { // the order in which a map is walked must not matter
			if err := s.AddIndexers(contract.Indexers{many: other, one: other, maybe: other}); err == nil {
				t.Fatalf("AddIndexers took a name that the store has")
			}
			for _, index := range []string{many, maybe} {
				if _, err := s.ByIndex(index, "other"); err == nil {
					t.Fatalf("AddIndexers was refused and yet added %q", index)
				}
			}
		}
		agree(t, m, s, "after AddIndexers was refused")
		must(t, s.AddIndexers(indexers(many, maybe)))
		agree(t, newModel(m.all()...), s, "after the names were added")
	}, Why: "two controllers that both add \"by-node\" must hear of it and not read each other's " +
		"index"},
	{Clause: "STORE-52", Name: "words", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		fill(s, crowd(3)...)
		words := func(call string, err error, want string) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error of %s is %q; want one with %q", call, fmt.Sprint(err), want)
			}
		}
		words("AddIndexers", s.AddIndexers(indexers(one)), "indexer conflict")
		unknown := "Index with name " + many + " does not exist"
		_, err := s.Index(many, newItem("k", 1, "a", "x"))
		words("Index", err, unknown)
		_, err = s.IndexKeys(many, "x")
		words("IndexKeys", err, unknown)
		_, err = s.ByIndex(many, "x")
		words("ByIndex", err, unknown)
	}, Why: "a controller that adds an index which another one may have added takes \"indexer " +
		"conflict\" for success"},
	{Clause: "STORE-25", Name: "get-indexers", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		must(t, s.AddIndexers(indexers(many, maybe)))
		probe := newItem("k", 1, "a", "x", "y").withMaybe("p")
		got := s.GetIndexers()
		if len(got) != len(allIndexes) {
			t.Errorf("GetIndexers gave %d indexers; want %v", len(got), allIndexes)
		}
		for _, index := range allIndexes {
			f := got[index]
			if f == nil {
				t.Fatalf("GetIndexers has no %q", index)
			}
			values, err := f(probe)
			must(t, answered(err, index, values, probe.valuesIn(index)))
		}
	}, Why: "callers look whether an index is there before they add it"},
	{Clause: "STORE-26", Name: "a-map-of-its-own", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers(one))
		before := s.GetIndexers()
		must(t, s.AddIndexers(indexers(many)))
		if len(before) != 1 {
			t.Fatalf("AddIndexers wrote to the map that GetIndexers had returned: who walks it meanwhile " +
				"crashes")
		}
		mine := s.GetIndexers()
		delete(mine, one)
		mine[maybe] = indexFunc(maybe, nil)
		m := fill(s, crowd(9)...)
		m.indexes = []string{one, many}
		agree(t, m, s, "after the caller changed the map")
		if got := s.GetIndexers(); len(got) != 2 || got[one] == nil || got[maybe] != nil {
			t.Errorf("the caller's change of the map is seen by GetIndexers: %d indexers", len(got))
		}
		// Only a store that passed so far can be tested for this: Go ends the process when
		// one map is written while another goroutine iterates over it.
		t.Together(func() {
			for n := range 50 {
				if err := s.AddIndexers(contract.Indexers{key(n): indexFunc(one, nil)}); err != nil {
					t.Errorf("AddIndexers: %v", err)
				}
			}
		}, func() {
			for range 50 {
				for name := range s.GetIndexers() {
					_ = name
				}
			}
		})
	}, Why: "a map that is read by one goroutine and written by another ends the process"},
}
