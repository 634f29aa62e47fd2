// Package dropin holds nothing but tests: they compare the drop-ins with the packages that they
// stand in for, and run those packages' own tests on them.
package dropin_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const module = "github.com/informerbench/informerbench"
