package storetest

import (
	"runtime"
	"slices"
	"strconv"
	"weak"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const whyGrows = "a controller that runs for months would fill the memory"

// memoryCases: a store keeps what it holds, and nothing that has left it.
var memoryCases = []suite.Case[NewStore]{
	{Clause: "STORE-53", Name: "former-objects", Run: func(t *suite.T, newStore NewStore) {
		s := newStore(indexers())
		former := passObjects(s)
		seq := 0
		t.Eventually(func() bool {
			// A store may let go in a later write, or at a later read.
			seq++
			s.Add("stays", newItem("stays", seq, "a", "x", "y"))
			s.List()
			_, _ = s.ByIndex(one, "a")
			_, _ = s.ByIndex(many, "x")
			runtime.GC()
			return !slices.ContainsFunc(former, func(ref weak.Pointer[item]) bool {
				return ref.Value() != nil
			})
		}, nil, "the garbage collector has freed all objects that were updated, deleted or replaced")
		runtime.KeepAlive(s)
	}, Why: whyGrows},
	{Clause: "STORE-53", Name: "former-keys-and-values", Run: func(t *suite.T, newStore NewStore) {
		const limit = 256 << 10 // bytes: some 26 for each of 10,000 objects
		suite.KeepsLess(t, limit, 100, 10_000,
			"%d objects came and went, each with a key and index values of its own",
			func(n int) contract.Store {
				s := newStore(indexers())
				for i := range n {
					k := "key-" + strconv.Itoa(i)
					s.Add(k, newItem(k, 2*i, "first-"+k, "many-"+k))
					s.Update(k, newItem(k, 2*i+1, "second-"+k))
					s.Delete(k)
					if i%1000 == 0 {
						t.Progress()
					}
				}
				s.Add("stays", newItem("stays", 2*n, "a"))
				return s
			}, nil)
	}, Why: whyGrows},
}

// passObjects stores objects and takes them out again, by each kind of write. It returns a weak
// pointer to each.
func passObjects(s contract.Store) (former []weak.Pointer[item]) {
	traced := func(i *item) *item {
		former = append(former, weak.Make(i))
		return i
	}
	const objects = 40
	content := map[string]any{}
	for n := range objects {
		k := "former-" + strconv.Itoa(n)
		s.Add(k, traced(newItem(k, 10*n+1, "a", "x", "y")))
		s.Update(k, traced(newItem(k, 10*n+2, "a", "x", "y")))
		s.Update(k, traced(newItem(k, 10*n+3, "b", "y")))
		if batches, ok := s.(contract.Transactor); ok {
			batches.Transaction(update(traced(newItem(k, 10*n+4, "c"))),
				update(traced(newItem(k, 10*n+5, "c", "x"))))
		}
		s.List()
		switch n % 4 {
		case 0:
			s.Delete(k)
		case 1:
			if deleter, ok := s.(contract.ObjectDeleter); ok {
				deleter.DeleteWithObject(k, traced(newItem(k, 10*n+6, "c")))
			}
		case 2:
			content[k] = traced(newItem(k, 10*n+6, "a", "x"))
		}
	}
	s.Replace(content, "1000")
	s.List()
	s.Replace(map[string]any{"stays": newItem("stays", 0, "b")}, "1001")
	return former
}
