//go:build degraded

package lockfree_test

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/storetest"
)

// The catalog runs the suite over the store as it is built otherwise.
func TestLockFreeKeepsTheClauses(t *testing.T) {
	storetest.Run(t, newLockFree,
		storetest.Waive("STORE-49", "with -tags degraded the tables tell few values apart, so many "+
			"values cost as much as their square"))
}
