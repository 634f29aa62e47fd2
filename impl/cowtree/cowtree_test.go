package cowtree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/cowtree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An IndexFunc or a handler that reads its own store is against the contract, and
// does no harm here: no reader ever waits.
func TestAnIndexFuncMayRead(t *testing.T) {
	t.Parallel()
	var s *cowtree.Store
	s = cowtree.New(contract.Indexers{"beside": func(any) ([]string, error) {
		return []string{fmt.Sprint(len(s.List()))}, nil
	}})
	s.Add("a", 1)
	s.Add("b", 2)
	if got := s.ListIndexFuncValues("beside"); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("values %q; want those of the store before each write", got)
	}
}

// Values that begin with each other, or contain the least byte, are all found.
func TestValuesThatAreNeighbours(t *testing.T) {
	t.Parallel()
	s := cowtree.New(contract.Indexers{"own": func(obj any) ([]string, error) {
		return []string{obj.(string)}, nil
	}})
	want := []string{"", "\x00", "\x00\x00", "a", "a\x00", "a\x00b", "ab", "b"}
	for i, value := range want {
		s.Add(fmt.Sprint(i), value)
		s.Add(fmt.Sprint(i, "again"), value)
	}
	if got := s.ListIndexFuncValues("own"); !slices.Equal(got, want) {
		t.Errorf("values %q; want %q", got, want)
	}
	for _, value := range want {
		if got, err := s.ByIndex("own", value); err != nil || !slices.Equal(got, []any{value, value}) {
			t.Errorf("ByIndex(%q) gave %q, %v", value, got, err)
		}
	}
}

// Get allocates nothing; an Update pays for its paths. The numbers are for the
// reader of this test: an Update of a map allocates once or not at all.
func TestWhatAllocates(t *testing.T) {
	s := cowtree.New(contract.Indexers{"words": words})
	for i := range 10000 {
		s.Add(fmt.Sprint(i), fmt.Sprint("w", i%100))
	}
	if got := testing.AllocsPerRun(100, func() { s.Get("7") }); got != 0 {
		t.Errorf("Get allocates %v times", got)
	}
	update := testing.AllocsPerRun(100, func() { s.Update("7", "w7") })
	if update < 6 || update > 40 {
		t.Errorf("Update allocates %v times; the package comment says a path of the object tree", update)
	}
	moves := false
	if moving := testing.AllocsPerRun(100, func() {
		moves = !moves
		s.Update("7", fmt.Sprint("w", moves))
	}); moving <= update {
		t.Errorf("an Update that moves allocates %v times and one that does not %v: an index whose "+
			"values stay must not be touched", moving, update)
	}
}

func words(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }
