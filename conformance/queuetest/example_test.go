package queuetest_test

import (
	"fmt"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/contract"
)

func ExampleCheck() {
	err := queuetest.Check(func(c clock.WithTicker) contract.DelayingQueue[string] {
		return workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Clock: c})
	},
		queuetest.Waive("QUEUE-9", "Done queues a ready item a second time"),
		queuetest.Waive("QUEUE-18", "Done wakes one of several ShutDownWithDrain"),
		queuetest.Waive("QUEUE-20", "ShutDownWithDrain leaves the waiting goroutine for up to 10 s"),
		queuetest.Waive("QUEUE-39", "the heap of waiting items keeps the slots of entries that left it"),
	)
	fmt.Println(err)
	// Output: <nil>
}
