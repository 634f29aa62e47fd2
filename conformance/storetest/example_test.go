package storetest_test

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// In a test one line is enough: storetest.Run(t, newStore). Check is the same for programs.
// This example runs two clauses, one of them waived.
func ExampleCheck() {
	newStore := func(ix contract.Indexers) contract.Store {
		return cache.NewThreadSafeStore(ix, cache.Indices{})
	}
	err := storetest.Check(newStore,
		suite.Only("STORE-3", "STORE-21"),
		storetest.Waive("STORE-21", "client-go keeps the nil map"),
		suite.WithObserver(func(r suite.Result) {
			if r.Outcome != suite.Skip {
				fmt.Println(r.Clause.ID, r.Case, r.Outcome)
			}
		}),
	)
	fmt.Println("error:", err)
	// Output:
	// STORE-3 delete pass
	// STORE-3 delete-of-absent pass
	// STORE-3 from-many-to-few-and-back pass
	// STORE-21 nil waived
	// STORE-21 long-random-history-of-emptied-stores waived
	// error: <nil>
}
