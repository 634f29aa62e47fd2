package informertest_test

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/informertest"
)

func ExampleCheck() {
	err := informertest.Check(cache.NewSharedIndexInformer,
		informertest.Waive("INFORMER-31", "what a streaming list brings is transformed twice"),
		informertest.Waive("INFORMER-33",
			"a relist in pages asks for exactly the version that the watch refused"),
		informertest.Waive("INFORMER-36",
			"a registration may say amid its initial list that it has synced"),
		informertest.Histories(50),
	)
	fmt.Println(err)
	// Output: <nil>
}
