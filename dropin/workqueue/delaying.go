package workqueue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	ours "github.com/informerbench/informerbench/queue/workqueue"
)

type (
	// DelayingInterface is a queue, of items of any type, that can add items later.
	//
	// Deprecated: use TypedDelayingInterface.
	//lint:ignore SA1019 programs that still use the name are to find it
	DelayingInterface = workqueue.DelayingInterface //nolint:staticcheck // as above
	// TypedDelayingInterface is a queue that can add items later.
	TypedDelayingInterface[T comparable] = workqueue.TypedDelayingInterface[T]
	// DelayingQueueConfig is the configuration of a DelayingInterface.
	//
	// Deprecated: use TypedDelayingQueueConfig.
	DelayingQueueConfig = workqueue.TypedDelayingQueueConfig[any]
	// TypedDelayingQueueConfig is the configuration of a delaying queue.
	TypedDelayingQueueConfig[T comparable] = workqueue.TypedDelayingQueueConfig[T]
)

// NewDelayingQueue returns a delaying queue without a name, hence without metrics.
//
// Deprecated: use NewTypedDelayingQueue.
func NewDelayingQueue() DelayingInterface { return NewTypedDelayingQueue[any]() }

// NewTypedDelayingQueue returns a delaying queue without a name, hence without metrics.
func NewTypedDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[T]{})
}

// TypedNewDelayingQueue is NewTypedDelayingQueue.
//
// Deprecated: use NewTypedDelayingQueue.
func TypedNewDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueue[T]()
}

// NewDelayingQueueWithConfig returns a delaying queue.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithConfig(config DelayingQueueConfig) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(config)
}

// NewTypedDelayingQueueWithConfig returns a delaying queue. It runs one goroutine until it is
// shut down, and one more with metrics. Over the caller's Queue it runs three. They end at
// ShutDown, or within 10 s after the caller shut down Queue; the one that hands items to the
// caller's
// Queue may do so a moment longer, with items that were due.
func NewTypedDelayingQueueWithConfig[T comparable](
	config TypedDelayingQueueConfig[T]) TypedDelayingInterface[T] {
	cfg := ours.Config[T]{Name: config.Name,
		MetricsProvider: providerOr(config.MetricsProvider, config.Name),
		Clock:           config.Clock, Logger: config.Logger}
	if config.Queue != nil {
		q := newOver(config.Queue, cfg)
		if p, ok := config.Queue.(Pausable); ok {
			return struct {
				*over[T]
				Pausable
			}{q, p}
		}
		return q
	}
	return ours.NewDelaying(newHeap[T], cfg)
}

// NewDelayingQueueWithCustomQueue returns a delaying queue over q.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithCustomQueue(q Interface, name string) DelayingInterface {
	return NewDelayingQueueWithConfig(DelayingQueueConfig{Name: name, Queue: q})
}

// NewNamedDelayingQueue returns a delaying queue whose metrics have this name.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewNamedDelayingQueue(name string) DelayingInterface {
	return NewDelayingQueueWithConfig(DelayingQueueConfig{Name: name})
}

// NewDelayingQueueWithCustomClock returns a delaying queue that takes its time from clock.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithCustomClock(clock clock.WithTicker, name string) DelayingInterface {
	return NewDelayingQueueWithConfig(DelayingQueueConfig{Name: name, Clock: clock})
}

func newHeap[T comparable]() contract.DelayHeap[T] { return delay.NewQuadHeap[T]() }

// over delays the items of a queue that the caller made. They wait in a delaying queue of
// ours; a goroutine is that queue's worker and adds them to the caller's.
type over[T comparable] struct {
	TypedInterface[T]
	waiting *ours.DelayingQueue[T]
	retries workqueue.CounterMetric // nil without metrics

	once    sync.Once // ShutDown runs once
	stop    func()    // shuts waiting down and closes stopped; further calls do nothing
	stopped chan struct{}
}

// lookEvery is how often watch checks whether the caller has shut its queue down itself. It is
// client-go's interval.
const lookEvery = 10 * time.Second

// newOver takes over q, which has metrics of its own.
func newOver[T comparable](q TypedInterface[T], cfg ours.Config[T]) *over[T] {
	o := &over[T]{TypedInterface: q, stopped: make(chan struct{})}
	if cfg.Name != "" && cfg.MetricsProvider != nil {
		o.retries = cfg.MetricsProvider.NewRetriesMetric(cfg.Name)
	}
	cfg.Name = "" // what waits is no queue of the program's
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	o.waiting = ours.NewDelaying(newHeap[T], cfg)
	o.stop = sync.OnceFunc(func() {
		o.waiting.ShutDown()
		close(o.stopped)
	})
	go o.pass()
	go o.watch(cfg.Clock.NewTicker(lookEvery))
	return o
}

// pass adds due items to the caller's queue until what waits is shut down.
func (o *over[T]) pass() {
	for {
		item, shutdown := o.waiting.Get()
		if shutdown {
			return
		}
		o.TypedInterface.Add(item)
		o.waiting.Done(item)
	}
}

// watch ends the waiting when the caller has shut its queue down itself.
func (o *over[T]) watch(look clock.Ticker) {
	defer look.Stop()
	for {
		select {
		case <-o.stopped:
			return
		case <-look.C():
			if o.ShuttingDown() {
				o.stop()
			}
		}
	}
}

// AddAfter adds item when duration has passed, at once if that is zero or less. After ShutDown
// it is ignored.
func (o *over[T]) AddAfter(item T, duration time.Duration) {
	if o.ShuttingDown() {
		return
	}
	if o.retries != nil {
		o.retries.Inc()
	}
	if duration <= 0 {
		o.Add(item)
		return
	}
	o.waiting.AddAfter(item, duration)
}

// ShutDown drops what waits, and shuts the caller's queue down. Called again it does nothing.
func (o *over[T]) ShutDown() {
	o.once.Do(func() {
		o.stop()
		o.TypedInterface.ShutDown()
	})
}

// ShutDownWithDrain drops what waits, and drains the caller's queue.
func (o *over[T]) ShutDownWithDrain() {
	o.stop()
	o.TypedInterface.ShutDownWithDrain()
}
