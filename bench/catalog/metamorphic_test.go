package catalog

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/metamorphic"
	"github.com/informerbench/informerbench/contract"
)

// metamorphicStores are all stores of the catalog, with their waivers.
func metamorphicStores(t testing.TB) []metamorphic.Store {
	t.Helper()
	entries, err := Select([]string{string(contract.ComponentStore)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stores []metamorphic.Store
	for _, e := range entries {
		s := metamorphic.Store{Name: e.Name, New: e.NewStore, Waived: map[string]string{}}
		for _, w := range e.Waivers {
			s.Waived[w.Clause] = w.Reason
		}
		stores = append(stores, s)
	}
	return stores
}

// One long history on every store at once. The seed is new each time, and a failure prints
// it.
func TestStoresAgree(t *testing.T) {
	t.Parallel()
	metamorphic.Run(t, metamorphicStores(t), metamorphic.Config{})
}

// FuzzMetamorphic plays histories of any seed and size, for as long as it is asked to (make
// fuzz). The fuzzer ends a process that takes 10 s over one history, so histories are short
// and their reduction is bounded. go test -run=FuzzMetamorphic/NAME, which the fuzzer
// prints, repeats a failure.
func FuzzMetamorphic(f *testing.F) {
	for seed, size := range []uint16{1, 5, 40, 300} {
		f.Add(uint64(seed+1), 3*size, size)
	}
	stores := metamorphicStores(f)
	f.Fuzz(func(t *testing.T, seed uint64, calls, keys uint16) {
		metamorphic.Run(t, stores, metamorphic.Config{
			Seed: max(1, seed), Calls: 1 + int(calls)%4000, Keys: 1 + int(keys)%1000,
			Patience: time.Second, Replays: 200_000, Logf: func(string, ...any) {},
		})
	})
}
