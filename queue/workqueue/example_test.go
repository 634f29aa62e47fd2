package workqueue_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/ratelimit"
	"github.com/informerbench/informerbench/queue/workqueue"
)

func ExampleNewRateLimiting() {
	q := workqueue.NewRateLimiting[string](
		ratelimit.NewItemExponentialFailure[string](5*time.Millisecond, time.Second),
		func() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() },
		workqueue.Config[string]{},
	)
	q.Add("default/web")
	q.Add("default/web") // waits already

	for try := 1; ; try++ {
		key, shutdown := q.Get()
		if shutdown {
			break
		}
		fmt.Println("try", try, key)
		if try < 3 {
			q.AddRateLimited(key) // comes again, later and later
		} else {
			fmt.Println("failures:", q.NumRequeues(key))
			q.Forget(key)
			q.ShutDown()
		}
		q.Done(key)
	}
	// Output:
	// try 1 default/web
	// try 2 default/web
	// try 3 default/web
	// failures: 2
}
