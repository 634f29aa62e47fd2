package workqueue_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/ratelimit"
	"github.com/informerbench/informerbench/queue/workqueue"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // they wait for times
	goleak.VerifyTestMain(m)
}

// newHeap makes heaps that take one item at a time.
func newHeap() contract.DelayHeap[string] { return unbatched{delay.NewQuadHeap[string]()} }

type unbatched struct {
	contract.RemovingDelayHeap[string]
}

func (unbatched) InArrivalOrder() {}

func newRateLimiting(cfg workqueue.Config[string]) *workqueue.RateLimitingQueue[string] {
	return workqueue.NewRateLimiting[string](ratelimit.DefaultController[string](), newHeap, cfg)
}

func newPriority(cfg workqueue.Config[string]) *workqueue.PriorityQueue[string] {
	return workqueue.NewPriority[string](ratelimit.DefaultController[string](), newHeap, cfg)
}
