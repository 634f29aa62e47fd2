package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// TestReusedSliceMoves: an Update may move an object although its IndexFunc returns the
// same slice each time. STORE-47 does not ask for this. client-go's store leaves the object
// where it was, because the old values and the new ones are then one slice. This project's
// stores move the object.
func TestReusedSliceMoves(t *testing.T) {
	t.Parallel()
	for _, e := range All() {
		if e.Component != contract.ComponentStore || e.Module != own {
			continue
		}
		buffer := make([]string, 4)
		s := e.NewStore(contract.Indexers{"words": func(obj any) ([]string, error) {
			return buffer[:copy(buffer, strings.Fields(obj.(string)))], nil
		}})
		s.Add("k", "a b")
		s.Update("k", "b c")
		if b, ok := s.(contract.Transactor); ok {
			write := contract.StoreTransaction{Key: "k"}
			write.Type, write.Object = contract.TransactionTypeUpdate, "c d"
			b.Transaction(write, write)
		}
		s.Add("l", "x")
		s.Update("l", "y")
		if got, want := slices.Sorted(slices.Values(s.ListIndexFuncValues("words"))),
			[]string{"c", "d", "y"}; !slices.Equal(got, want) {
			t.Errorf("%s: objects are found under %q; want %q", e.Name, got, want)
		}
	}
}
