//go:build degraded

package lockfree_test

import "github.com/informerbench/informerbench/conformance/storetest"

// suiteOptions are those of the build.
var suiteOptions = []storetest.Option{
	storetest.Waive("STORE-49", "with -tags degraded the tables tell few values apart, so many values cost as much as their square"),
}
