package informertest_test

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/informertest"
)

func ExampleCheck() {
	err := informertest.Check(cache.NewSharedIndexInformer,
		informertest.Waive("INFORMER-31", "what a streaming list brings is transformed twice"),
		informertest.Histories(50),
	)
	fmt.Println(err)
	// Output: <nil>
}
