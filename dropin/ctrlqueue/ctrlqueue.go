package ctrlqueue

import (
	clientgo "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/inuse"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// New makes the queue of a controller: it has the signature of
// controller.TypedOptions.NewQueue. The queue is a priorityqueue.PriorityQueue, so
// controller-runtime's event handlers give their items priorities, and it has
// controller-runtime's metrics under the controller's name. For other parts or options
// use workqueue.NewPriority, workqueue.As and [MetricsProvider].
//
// The queue runs two goroutines until it is shut down, which the controller does.
func New[request comparable](name string,
	limiter clientgo.TypedRateLimiter[request]) clientgo.TypedRateLimitingInterface[request] {
	log := ctrllog.Log.WithName("ctrlqueue")
	inuse.Log(log, "queue of a controller")
	cfg := workqueue.Config[request]{Name: name, DropReady: true}
	if provider, err := MetricsProvider(); err != nil {
		log.Error(err, "The queue runs without metrics", "controller", name)
	} else {
		cfg.MetricsProvider = provider
	}
	newHeap := func() contract.DelayHeap[request] { return delay.NewQuadHeap[request]() }
	return workqueue.As[priorityqueue.AddOpts](workqueue.NewPriority(limiter, newHeap, cfg))
}
