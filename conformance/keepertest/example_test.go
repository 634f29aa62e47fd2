package keepertest_test

import (
	"fmt"

	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// asTheyAre is the simplest keeper.
type asTheyAre struct{}

func (asTheyAre) Keep(obj any) any    { return obj }
func (asTheyAre) Object(kept any) any { return kept }

func ExampleCheck() {
	err := keepertest.Check(func() contract.ObjectKeeper { return asTheyAre{} },
		suite.WithEffort(0.1))
	fmt.Println(err)
	// Output: <nil>
}
