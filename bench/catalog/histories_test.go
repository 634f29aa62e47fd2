package catalog

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var historiesEffort = flag.Float64("histories.effort", 0,
	"how many times the usual number of long random histories each store goes through; 0 skips them")

// allStores are all stores of the catalog.
func allStores(t testing.TB) []Entry {
	t.Helper()
	entries, err := Select([]string{string(contract.ComponentStore)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// Every store passes long random histories of all calls that it does not waive. Each run
// plays others, and a failure prints the seed that repeats it.
func TestLongHistories(t *testing.T) {
	if *historiesEffort == 0 {
		t.Skip("its own test runs each store's suite, with few of them; give -histories.effort")
	}
	for _, e := range allStores(t) {
		t.Run(e.Name, func(t *testing.T) {
			suite.Run(t, storetest.LongHistories(), e.NewStore,
				append(e.options(), suite.WithEffort(*historiesEffort))...)
		})
	}
}

// FuzzHistories plays histories on each store for as long as it is asked to (make fuzz). go
// test -run=FuzzHistories/NAME, which the fuzzer prints, repeats a failure.
func FuzzHistories(f *testing.F) {
	entries := allStores(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range entries {
			var waived []string
			for _, w := range e.Waivers {
				waived = append(waived, w.Clause)
			}
			rapid.MakeFuzz(storetest.History(e.NewStore, waived...))(t, data)
		}
	})
}
