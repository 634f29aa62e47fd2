package workqueue_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/ratelimit"
	"github.com/informerbench/informerbench/queue/workqueue"
)

func ExampleNewPriority() {
	q := workqueue.NewPriority[string](
		ratelimit.NewItemExponentialFailure[string](5*time.Millisecond, time.Second),
		func() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() },
		workqueue.Config[string]{},
	)
	defer q.ShutDown()
	q.AddWithOpts(contract.AddOptions{Priority: new(-100)}, "resync/a", "resync/b")
	q.Add("changed/c")
	q.AddWithOpts(contract.AddOptions{Priority: new(10)}, "resync/b") // raised

	for range 3 {
		key, priority, _ := q.GetWithPriority()
		fmt.Println(priority, key)
		q.Done(key)
	}
	// Output:
	// 10 resync/b
	// 0 changed/c
	// -100 resync/a
}
