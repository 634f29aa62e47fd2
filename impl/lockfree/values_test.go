package lockfree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/informerbench/informerbench/contract"
)

type apple struct {
	n int
	_ *int // else many would share one allocation
}

type pear struct{ n int }

// Objects of any type, and no object at all, against a map: those of the table's type are
// shown, the others found through their versions.
func TestGetFindsObjectsOfAllTypes(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	for _, first := range []any{&apple{}, apple{}, 7, "text", (*apple)(nil), nil} {
		rnd := rand.New(rand.NewPCG(5, 6))
		s, model := New(nil), map[string]any{}
		s.Add("first", first)
		model["first"] = first
		object := func(i int) any {
			return []any{&apple{n: i}, &apple{n: i}, &pear{i}, pear{i}, i, "text", (*apple)(nil),
				(*pear)(nil), nil}[rnd.IntN(9)]
		}
		for i := range 20000 {
			key, obj := fmt.Sprint(rnd.IntN(300)), object(i)
			switch k := rnd.IntN(100); {
			case k < 60:
				s.Update(key, obj)
				model[key] = obj
			case k < 98:
				s.Delete(key)
				delete(model, key)
			case k < 99:
				other := fmt.Sprint(rnd.IntN(300))
				s.Transaction(
					contract.StoreTransaction{Key: key,
						Transaction: contract.Transaction{Type: contract.TransactionTypeAdd, Object: obj}},
					contract.StoreTransaction{Key: other,
						Transaction: contract.Transaction{Type: contract.TransactionTypeDelete}},
				)
				model[key] = obj
				delete(model, other)
			default:
				items := map[string]any{}
				for range rnd.IntN(50) {
					items[fmt.Sprint(rnd.IntN(300))] = object(i)
				}
				model = items
				s.Replace(maps.Clone(items), "")
			}
			for _, key := range []string{key, "first", fmt.Sprint(rnd.IntN(300))} {
				got, there := s.Get(key)
				if want, wanted := model[key]; got != want || there != wanted {
					t.Fatalf("the first was %T: write %d: Get(%s) is %#v, %v; want %#v, %v", first, i, key, got,
						there, want, wanted)
				}
			}
		}
	}
}

// storeOf has n objects of one type.
func storeOf(n int) *Store {
	s := New(nil)
	for i := range n {
		s.Add(fmt.Sprint(i), &apple{n: i})
	}
	return s
}

// Objects of one type are shown however they came, also under a key that was deleted before.
func TestObjectsAreShown(t *testing.T) {
	t.Parallel()
	const n = 3000
	s := storeOf(n)
	if shown := s.shownObjects(); shown != n {
		t.Errorf("after %d additions %d are shown", n, shown)
	}
	var txns []contract.StoreTransaction
	for i := range 2 * n {
		txns = append(txns, contract.StoreTransaction{Key: fmt.Sprint(i),
			Transaction: contract.Transaction{Type: contract.TransactionTypeUpdate, Object: &apple{n: i}}})
	}
	s.Transaction(txns...)
	if shown := s.shownObjects(); shown != 2*n {
		t.Errorf("after a transaction of %d writes %d are shown", 2*n, shown)
	}
	items := map[string]any{}
	for i := range n {
		items[fmt.Sprint(i)] = &apple{n: i}
	}
	s.Replace(items, "")
	if shown := s.shownObjects(); shown != n {
		t.Errorf("after a Replace by %d objects %d are shown", n, shown)
	}
	for i := range n / 2 {
		s.Delete(fmt.Sprint(i))
		s.Add(fmt.Sprint(i), &apple{n: i})
	}
	if shown := s.shownObjects(); shown != n {
		t.Errorf("after half of %d objects were deleted and added again %d are shown", n, shown)
	}
}

// shownObjects counts the entries whose object a Get takes.
func (s *Store) shownObjects() (n int) {
	seen := map[*part]bool{}
	for _, p := range s.view.Load().keys.dir.Load().parts {
		for i := range p.entries {
			if !seen[p] && atomic.LoadPointer(&p.entries[i].data) != nil {
				n++
			}
		}
		seen[p] = true
	}
	return n
}

// alive returns how many of the objects the garbage collector does not take.
func alive[T any](objects []weak.Pointer[T]) (n int) {
	for range 3 {
		runtime.GC()
	}
	for _, o := range objects {
		if o.Value() != nil {
			n++
		}
	}
	return n
}

// An entry does not keep an object that was deleted or replaced by one of another type.
func TestEntriesForgetObjects(t *testing.T) {
	t.Parallel()
	const n = 100
	s := New(nil)
	var gone []weak.Pointer[apple]
	func() { // whose frame holds the objects no longer
		for i := range n {
			a := &apple{n: i}
			gone = append(gone, weak.Make(a))
			s.Add(fmt.Sprint(i), a)
		}
	}()
	for i := range n {
		if i%2 == 0 {
			s.Delete(fmt.Sprint(i))
		} else {
			s.Update(fmt.Sprint(i), &pear{i})
		}
	}
	s.Add("last", &pear{})
	kept := alive(gone)
	if kept > 1 { // a register or a stack may hold one
		t.Errorf("%d of %d objects are kept", kept, n)
	}
	runtime.KeepAlive(s)
}

// A Transaction that deletes everything rebuilds the parts of the table after the commit, each
// once. Until then it notes each entry that it changes once, and some of the words.
func TestDeletingEverythingAtOnceIsLinear(t *testing.T) {
	inOneGoroutine(t)
	t.Parallel()
	const n = 20000
	s := storeOf(n)
	v := s.view.Load()
	w := v.begin("", false)
	for i := range n {
		key := fmt.Sprint(i)
		v.remove(w, v.keys.word(key), key)
	}
	if noted := len(v.shown.changed) + len(v.sparse); noted > 2*n {
		t.Errorf("%d deletions noted %d entries and words", n, noted)
	}
	v.commit()
	v.shrinkKeys()
	if _, exists := s.Get("7"); exists || len(s.List()) > 0 {
		t.Error("not everything is deleted")
	}
}
