package limittest_test

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/conformance/limittest"
	"github.com/informerbench/informerbench/contract"
)

func ExampleCheck() {
	err := limittest.Check(func() contract.RateLimiter[string] {
		return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Second, 5)
	})
	fmt.Println(err)
	// Output: <nil>
}
