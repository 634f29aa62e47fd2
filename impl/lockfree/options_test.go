//go:build !degraded

package lockfree_test

import "github.com/informerbench/informerbench/conformance/storetest"

// suiteOptions are those of the build.
var suiteOptions []storetest.Option
