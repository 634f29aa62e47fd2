package storetest

import (
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Objects by key: Get, List and ListKeys after Add, Update and Delete.
var basicCases = []suite.Case[NewStore]{
	{Clause: "STORE-1", Name: "the-very-object", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		a, b := newItem("k", 1, "x"), newItem("k", 1, "x")
		s.Add("k", a)
		if got, ok := s.Get("k"); !ok || got != any(a) {
			t.Fatalf("Get gave %v, %v; want the object that was added", got, ok)
		}
		s.Update("k", b)
		if got, ok := s.Get("k"); !ok || got != any(b) {
			t.Fatalf("Get gave %v, %v: an equal object took the place of the first, and Get must give "+
				"the newer one itself", got, ok)
		}
	}, Why: "handlers compare old and new by pointer, and informers share objects rather than copy " +
		"them"},
	{Clause: "STORE-1", Name: "absent", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		fill(s, newItem("k", 1, "x"))
		for _, key := range []string{"", "K", "k/"} {
			if got, ok := s.Get(key); ok || got != nil {
				t.Errorf("Get(%q) gave %v, %v; want nil, false", key, got, ok)
			}
		}
	}, Why: "a controller takes exists for the word of the cache and deletes or creates by it"},
	{Clause: "STORE-1", Name: "odd-keys", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		agree(t, fill(s, newItem("", 1, ""), newItem("a/b", 2, ""), newItem("\x00", 3, "\x00"),
			newItem("ключ", 4, "x")), s, "after adding keys of odd bytes")
	}, Why: "a key is any string: cluster-scoped objects have no slash"},
	{Clause: "STORE-2", Name: "add-replaces", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		fill(s, newItem("k", 1, "x", "p"))
		agree(t, fill(s, newItem("k", 2, "y", "q")), s, "after Add of a present key")
	}, Why: "a watch that begins again sends ADDED for what is known"},
	{Clause: "STORE-2", Name: "update-of-absent", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		i := newItem("k", 1, "x", "p")
		s.Update("k", i)
		agree(t, newModel(i), s, "after Update of an absent key")
	}, Why: "a missed ADDED event is mended by the next MODIFIED"},
	{Clause: "STORE-3", Name: "delete", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s, newItem("k", 1, "x", "p"), newItem("l", 2, "x", "p"))
		s.Delete("k")
		delete(m.items, "k")
		agree(t, m, s, "after Delete")
		if got, ok := s.Get("k"); ok {
			t.Errorf("Get of the deleted key gave %v", got)
		}
	}, Why: "a deleted object that stays is acted upon for ever"},
	{Clause: "STORE-3", Name: "delete-of-absent", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		s.Delete("k")
		m := fill(s, newItem("l", 2, "x", "p"))
		s.Delete("k")
		s.Delete("l")
		s.Delete("l")
		delete(m.items, "l")
		agree(t, m, s, "after deleting absent keys")
		agree(t, fill(s, newItem("l", 3, "y")), s, "after adding the key again")
	}, Why: "deletions are delivered more than once"},
	{Clause: "STORE-3", Name: "from-many-to-few-and-back", Run: func(t *suite.T, newStore NewStore) {
		const most, compare = 400, 50
		s := newStore(indexers())
		m := fill(s, crowd(most)...)
		for i, n := range t.Rand().Perm(most) {
			s.Delete(key(n))
			delete(m.items, key(n))
			if left := most - i - 1; left%compare == 0 || left < 8 {
				agree(t, m, s, fmt.Sprintf("when %d of %d objects are left", left, most))
			}
		}
		agree(t, fill(s, crowd(most)...), s, "when all have come back")
	}, Why: "a namespace that is deleted takes most objects with it, and the store gives back " +
		"their room"},
	{Clause: "STORE-4", Name: "list", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		if got := s.List(); len(got) != 0 {
			t.Errorf("List of an empty store gave %v", got)
		}
		m := fill(s, crowd(300)...)
		must(t, differs("List", names(s.List()), itemNames(m.all())))
	}, Why: "a resync that misses an object never reconciles it"},
	{Clause: "STORE-4", Name: "one-object-under-two-keys", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		i := newItem("k", 1, "x")
		s.Add("k", i)
		s.Add("l", i)
		must(t, differs("List", names(s.List()), []string{i.name, i.name}))
	}, Why: "what is stored twice is there twice: List is per key"},
	{Clause: "STORE-5", Name: "list-keys", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		if got := s.ListKeys(); len(got) != 0 {
			t.Errorf("ListKeys of an empty store gave %v", got)
		}
		m := fill(s, crowd(300)...)
		must(t, differs("ListKeys", s.ListKeys(), itemKeys(m.all())))
	}, Why: "DeltaFIFO finds what a relist deleted among the keys"},
	{Clause: "STORE-33", Name: "resync", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		m := fill(s, crowd(5)...)
		if err := s.Resync(); err != nil {
			t.Errorf("Resync: %v", err)
		}
		agree(t, m, s, "after Resync")
	}, Why: "Resync is the FIFO's affair; a store that fails it ends the reflector's resync loop"},
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
	return suite.Case[NewStore]{Clause: "STORE-6", Name: name,
		Run: func(t *suite.T, newStore NewStore) {
			s := newStore(indexers())
			m := fill(s, crowd(40)...)
			mine, err := read(s)
			must(t, err)
			kept := slices.Clone(mine)
			for n := range 40 { // other objects, under the same values
				s.Update(key(n), at(n, 45))
			}
			_, err = read(s)
			must(t, err)
			for n := range 40 {
				s.Update(key(n), newItem(key(n), 1000+n, "moved", "moved"))
			}
			for n := range 20 {
				s.Delete(key(n))
			}
			s.Replace(m.asMap(), "2")
			if !slices.Equal(mine, kept) {
				t.Fatalf("later calls changed a slice that was returned before: %v, was %v", mine, kept)
			}
			mine, err = read(s)
			must(t, err)
			var zero E
			slices.Reverse(mine)
			agree(t, m, s, "after the caller reversed the result")
			room := mine[:cap(mine)] // append would write here
			for n := range room {
				room[n] = zero
			}
			agree(t, m, s, "after the caller overwrote the result and what append reaches")
		}, Why: "callers sort what they list, and a shared backing array corrupts the cache under " +
			"everybody"}
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
