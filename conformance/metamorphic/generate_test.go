package metamorphic

import (
	"fmt"
	"slices"
	"testing"
)

// A history that does not do what it promises would prove nothing. So every call must come,
// succeed and fail, and stores must fill, empty and get every index.
func TestHistoriesAreRich(t *testing.T) {
	t.Parallel()
	for _, keys := range []int{100, DefaultKeys} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			t.Parallel()
			h := generate(11, DefaultCalls, keys)
			if n := len(h.operations); n < DefaultCalls {
				t.Errorf("%d calls, want %d and the comparisons", n, DefaultCalls)
			}
			m := newModel()
			count := map[string]int{}
			most, emptied, late := 0, 0, 0
			for i, op := range h.operations {
				before, indexes := len(m.items), len(m.indexNames())
				want := m.apply(op)
				how := [...]string{returns: "", errs: " errs", errsOn: " errs on it", panics: " panics",
					passesOn: " passes on a panic", anyway: " is left out"}[want.how]
				count[methods[op.kind].name+how]++
				most = max(most, len(m.items))
				if before > 0 && len(m.items) == 0 {
					emptied++
				}
				if len(m.indexNames()) > indexes && i > len(h.operations)/2 {
					late++
				}
			}
			t.Log(count, most, emptied)
			for k := range kinds {
				if least := 20; count[methods[k].name] < least {
					t.Errorf("%s comes %d times, want %d or more", methods[k].name, count[methods[k].name], least)
				}
			}
			for _, failing := range []string{
				"Add panics", "Add passes on a panic", "Update panics", "Update passes on a panic",
				"Replace panics", "Replace passes on a panic",
				"Transaction panics", "Transaction passes on a panic", "AddIndexers errs", "AddIndexers panics",
				"Index errs", "Index errs on it", "Index passes on a panic", "ByIndex errs", "IndexKeys errs",
			} {
				if count[failing] == 0 {
					t.Errorf("%s never comes", failing)
				}
			}
			if most < keys*3/4 || emptied < 3 {
				t.Errorf("%d objects at most and emptied %d times, want most of %d and several times", most,
					emptied, keys)
			}
			if late == 0 || len(m.indexNames()) != indexCount {
				t.Errorf("%d indexes came in the second half, and there are %v in the end", late,
					m.indexNames())
			}
		})
	}
}

func TestTheSeedRepeats(t *testing.T) {
	t.Parallel()
	calls := func(seed uint64) []string {
		return texts(generate(seed, 2000, 50).operations, (*operation).String)
	}
	if !slices.Equal(calls(1), calls(1)) {
		t.Error("the same seed gave two histories")
	}
	if slices.Equal(calls(1), calls(2)) {
		t.Error("two seeds gave the same history")
	}
}

func TestShrink(t *testing.T) {
	t.Parallel()
	list := make([]int, 1000)
	for i := range list {
		list[i] = i
	}
	for _, needed := range [][]int{{}, {0}, {999}, {17, 500, 501, 999}, {0, 1, 2, 3, 4, 5}} {
		tries := 0
		got := shrink(list, func(l []int) bool {
			tries++
			return !slices.ContainsFunc(needed, func(n int) bool { return !slices.Contains(l, n) })
		})
		if !slices.Equal(got, needed) || tries > 200 {
			t.Errorf("got %v after %d tries, want %v", got, tries, needed)
		}
	}
	// Elements that are needed in pairs only, such as an Add and its Delete.
	odd := shrink(list, func(l []int) bool { return len(l)%2 == 0 && slices.Contains(l, 3) })
	if len(odd) != 2 {
		t.Errorf("got %v, want two", odd)
	}
	if got := shrink(list, func([]int) bool { return false }); len(got) != len(list) {
		t.Errorf("%d remain of a list that needs all", len(got))
	}
}
