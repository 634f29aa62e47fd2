package metamorphic_test

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/metamorphic"
	"github.com/informerbench/informerbench/contract"
)

// forgetful never deletes.
type forgetful struct{ contract.Store }

func (forgetful) Delete(string) {}

func newStore(ix contract.Indexers) contract.Store {
	return cache.NewThreadSafeStore(ix, cache.Indices{})
}

// In a test one line is enough: metamorphic.Run(t, stores, metamorphic.Config{}).
func ExampleCheck() {
	waived := map[string]string{
		"STORE-21": "the nil map is kept", "STORE-26": "the map is the store's",
		"STORE-28": "half a write",
		"STORE-29": "half a Replace", "STORE-30": "half an AddIndexers", "STORE-39": "half a Transaction",
	}
	err := metamorphic.Check([]metamorphic.Store{
		{Name: "clientgo", New: newStore, Waived: waived},
		{Name: "forgetful", New: func(ix contract.Indexers) contract.Store {
			return forgetful{newStore(ix)}
		}, Waived: waived},
	}, metamorphic.Config{Seed: 1, Calls: 2000, Keys: 50})

	var f *metamorphic.Failure
	if errors.As(err, &f) {
		fmt.Printf("%v disagree, %v agree; %d calls became three or fewer: %v\n", f.Stores, f.Agree, f.At,
			len(f.Calls) <= 3)
	}
	// Output:
	// [forgetful] disagree, [clientgo] agree; 16 calls became three or fewer: true
}
