package linear_test

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// In a test one line is enough: linear.Run(t, newStore). Check is the same for
// programs; with a greater effort and more time for each case it goes on for
// minutes.
func ExampleCheck() {
	newStore := func(ix contract.Indexers) contract.Store {
		return cache.NewThreadSafeStore(ix, cache.Indices{})
	}
	err := linear.Check(newStore,
		linear.Waive("STORE-26", "client-go returns the map that AddIndexers writes to"),
		suite.WithEffort(0.05),
		suite.WithObserver(func(r suite.Result) { fmt.Println(r.Clause.ID, r.Case, r.Outcome) }),
	)
	fmt.Println("error:", err)
	// Output:
	// STORE-34 by-key pass
	// STORE-35 objects pass
	// STORE-35 indexes pass
	// STORE-35 indexers pass
	// STORE-35 transactions pass
	// STORE-35 versions pass
	// STORE-35 everything pass
	// error: <nil>
}
