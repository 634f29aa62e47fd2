// Package priorityqueue is controller-runtime's pkg/controller/priorityqueue over this
// project's queue: a program changes the import
//
//	import "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
//	import "github.com/informerbench/informerbench/dropin/priorityqueue"
//
// and nothing else. Every exported name of controller-runtime v0.25.2's package is here, with
// the same type; a test compares the two. All but New are aliases. So controller-runtime's
// controllers and event handlers recognise the queue, and give their items priorities.
//
// # What differs
//
// The queue is a workqueue.PriorityQueue, whose comment has its guarantees and costs. Delayed
// items wait in a delay.QuadHeap. Compared with controller-runtime's:
//
//   - No item starves. Of sixteen Gets in a row, at least one returns the item that has been
//     ready longest, whatever its priority.
//   - An item that is added while a worker has it goes to the end of its priority at Done, and Len
//     counts it from then on: Len is how many items Get would return now.
//   - ShutDownWithDrain waits until no worker has an item.
//   - ShutDown may be called again.
//   - AddWithOpts has taken effect when it returns.
//
// docs/queues.md in the repository gives the reasons. With ctrlqueue.New and workqueue.NewPriority
// a program chooses more, such as strict priorities.
package priorityqueue

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	clientgo "k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/dropin/ctrlqueue"
	"github.com/informerbench/informerbench/internal/inuse"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

type (
	// AddOpts says when and with which priority items are added.
	AddOpts = ctrl.AddOpts
	// PriorityQueue is a queue of a controller that hands out items of higher priority first.
	PriorityQueue[T comparable] = ctrl.PriorityQueue[T]
	// Opts are the options of New.
	Opts[T comparable] = ctrl.Opts[T]
	// Opt sets options.
	Opt[T comparable] = ctrl.Opt[T]
)

// logPeriod is how often a queue logs what waits, as in controller-runtime.
const logPeriod = 10 * time.Second

// New returns an empty queue. It runs a goroutine until it is shut down, one more with metrics,
// and one more with a Log.
//
//   - RateLimiter: nil means exponential delays for each item, from 5 ms to 1,000 s.
//   - MetricProvider: nil means controller-runtime's metrics. They have the queue's name; a queue
//     without a name has none. A workqueue.PriorityMetricsProvider is told of priorities.
//   - Log: at verbosity 5, every ten seconds, it gets the items that wait (workqueue_items). That
//     costs O(n log n) in them.
func New[T comparable](name string, o ...Opt[T]) PriorityQueue[T] {
	inuse.Log(ctrllog.Log.WithName("priorityqueue"), "priority queue")
	var opts Opts[T]
	for _, set := range o {
		set(&opts)
	}
	if opts.RateLimiter == nil {
		opts.RateLimiter = clientgo.NewTypedItemExponentialFailureRateLimiter[T](5*time.Millisecond,
			1000*time.Second)
	}
	if opts.MetricProvider == nil && name != "" {
		provider, err := ctrlqueue.MetricsProvider()
		if err != nil {
			opts.Log.Error(err, "The queue runs without metrics", "queue", name)
		} else {
			opts.MetricProvider = provider
		}
	}
	newHeap := func() contract.DelayHeap[T] { return delay.NewQuadHeap[T]() }
	q := workqueue.As[AddOpts](
		workqueue.NewPriority(opts.RateLimiter, newHeap,
			workqueue.Config[T]{Name: name, MetricsProvider: opts.MetricProvider, DropReady: true}))
	if opts.Log.IsZero() {
		return q
	}
	l := &logged[T]{PriorityQueueAs: q, stopped: make(chan struct{})}
	go l.run(opts.Log)
	return l
}

// logged is a queue that logs what waits.
type logged[T comparable] struct {
	*workqueue.PriorityQueueAs[T, AddOpts]
	once    sync.Once
	stopped chan struct{}
}

func (q *logged[T]) run(log logr.Logger) {
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-q.stopped:
			return
		case <-ticker.C:
		}
		if v5 := log.V(5); v5.Enabled() { // the verbosity may change at any time
			items := q.Queued()
			slices.SortFunc(items, func(a, b workqueue.QueuedItem[T]) int {
				return cmp.Or(a.ReadyAt.Compare(b.ReadyAt), cmp.Compare(b.Priority, a.Priority))
			})
			v5.Info("workqueue_items", "items", items)
		}
	}
}

func (q *logged[T]) ShutDown() {
	q.once.Do(func() { close(q.stopped) })
	q.PriorityQueueAs.ShutDown()
}

func (q *logged[T]) ShutDownWithDrain() {
	q.once.Do(func() { close(q.stopped) })
	q.PriorityQueueAs.ShutDownWithDrain()
}
