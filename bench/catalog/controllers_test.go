package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// It compiles: this project's priority queue implements controller-runtime's interface as
// it is.
var _ priorityqueue.PriorityQueue[reconcile.Request] = (*workqueue.PriorityQueueAs[reconcile.Request, priorityqueue.AddOpts])(nil)

type requestQueue = clientgo.TypedRateLimitingInterface[reconcile.Request]

// controllerQueues are the queues that a controller's NewQueue can return.
var controllerQueues = map[string]func(name string,
	limiter clientgo.TypedRateLimiter[reconcile.Request]) requestQueue{
	"workqueue": func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) requestQueue {
		return workqueue.NewRateLimiting(limiter, requestHeap,
			workqueue.Config[reconcile.Request]{Name: name})
	},
	"priority": func(name string, limiter clientgo.TypedRateLimiter[reconcile.Request]) requestQueue {
		return workqueue.As[priorityqueue.AddOpts](
			workqueue.NewPriority(limiter, requestHeap, workqueue.Config[reconcile.Request]{Name: name}))
	},
	"controllerruntime": func(name string,
		limiter clientgo.TypedRateLimiter[reconcile.Request]) requestQueue {
		return priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) {
			o.RateLimiter = limiter
		})
	},
}

func requestHeap() contract.DelayHeap[reconcile.Request] {
	return delay.NewQuadHeap[reconcile.Request]()
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}
}

// tries is a reconciler. It fails an object first, then requeues it after a delay, then
// succeeds.
type tries struct {
	mu    sync.Mutex
	of    map[string]int
	first []string // the objects in the order in which each came first
	done  chan struct{}
	want  int // objects that succeed before done is closed
}

func (r *tries) Reconcile(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[req.Name]++
	switch r.of[req.Name] {
	case 1:
		r.first = append(r.first, req.Name)
		return reconcile.Result{}, errors.New("at first it fails")
	case 2:
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	case 3:
		if r.want--; r.want == 0 {
			close(r.done)
		}
	}
	return reconcile.Result{}, nil
}

// A manager runs a controller on each queue: objects come from a source, fail, come again
// later, succeed. Then the manager stops, with its workers. There is no API server, because
// this manager needs none.
func TestAManagersControllerRunsOnEachQueue(t *testing.T) {
	ctrllog.SetLogger(logr.Discard())
	for name, newQueue := range controllerQueues {
		t.Run(name, func(t *testing.T) {
			const low, high = 10, 5
			reconciler := &tries{of: map[string]int{}, done: make(chan struct{}), want: low + high}
			mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
				Logger:                 logr.Discard(),
				Metrics:                metricsserver.Options{BindAddress: "0"},
				HealthProbeBindAddress: "0",
				PprofBindAddress:       "0",
			})
			if err != nil {
				t.Fatal(err)
			}
			c, err := controller.New("queue-"+name, mgr, controller.Options{
				Reconciler: reconciler, NewQueue: newQueue, SkipNameValidation: new(true),
				MaxConcurrentReconciles: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			// Sources start before the workers do, so all of this is ready then.
			isPriority := name != "workqueue"
			err = c.Watch(source.Func(func(_ context.Context, q requestQueue) error {
				pq, ok := q.(priorityqueue.PriorityQueue[reconcile.Request])
				if !ok {
					return fmt.Errorf("the controller gave the source a %T", q)
				}
				for i := range low {
					pq.AddWithOpts(priorityqueue.AddOpts{Priority: new(-100)}, request(fmt.Sprint("low", i)))
				}
				for i := range high {
					q.Add(request(fmt.Sprint("high", i)))
				}
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			stopped := make(chan error)
			go func() { stopped <- mgr.Start(ctx) }()
			select {
			case <-reconciler.done:
			case err := <-stopped:
				t.Fatalf("the manager ended by itself: %v", err)
			}
			cancel()
			if err := <-stopped; err != nil {
				t.Errorf("the manager's end: %v", err)
			}
			if len(reconciler.first) != low+high {
				t.Errorf("%d objects came, want %d", len(reconciler.first), low+high)
			}
			early := slices.Sorted(slices.Values(reconciler.first[:high]))
			if isPriority && early[high-1] != fmt.Sprint("high", high-1) {
				t.Errorf("objects came in the order %q", reconciler.first)
			}
		})
	}
}
