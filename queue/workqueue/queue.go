package workqueue

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

var _ contract.Queue[string] = (*Queue[string])(nil)

// Config says how a queue is made. The zero value is a queue on the system's
// clock that hands items out first in, first out and counts nothing.
type Config[T comparable] struct {
	// Name is the queue's name in its metrics; a queue without one has none.
	Name string
	// MetricsProvider makes the metrics, once for each queue; nil means none.
	// client-go's global provider cannot be read from outside: pass it here too.
	MetricsProvider workqueue.MetricsProvider
	// Clock is the time of delays and metrics; nil means the system's.
	Clock clock.WithTicker
	// Order holds the items that are ready and decides which is next; nil means
	// first in, first out. The queue calls it under its lock.
	Order workqueue.Queue[T]
}

// state is what a queue knows of an item; an item in neither state is not held.
type state uint8

const (
	dirty      state = 1 << iota // it is to be handed out (again)
	processing                   // a worker has it
)

// Queue hands each item to one worker at a time. An item that is added while it
// is ready is handed out once; one that is added while a worker has it is handed
// out again after Done.
type Queue[T comparable] struct {
	metrics *metrics[T] // nil counts nothing

	mu struct {
		sync.Mutex
		order workqueue.Queue[T] // the items whose state is dirty and no more
		items map[T]state
		// processing is the number of items with that bit.
		processing   int
		shuttingDown bool
		draining     bool
	}
	ready *sync.Cond // on mu: something is ready, or the queue shuts down
	idle  *sync.Cond // on mu: nothing is processed, or nobody may wait for that
}

// New returns a queue. One with metrics runs a goroutine until it is shut down.
func New[T comparable](cfg Config[T]) *Queue[T] {
	cfg = cfg.withDefaults()
	q := &Queue[T]{metrics: newMetrics(cfg)}
	q.mu.order = cfg.Order
	q.mu.items = map[T]state{}
	q.ready = sync.NewCond(&q.mu.Mutex)
	q.idle = sync.NewCond(&q.mu.Mutex)
	q.metrics.start(&q.mu.Mutex)
	return q
}

func (cfg Config[T]) withDefaults() Config[T] {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Order == nil {
		cfg.Order = &ring[T]{}
	}
	return cfg
}

// Add makes item ready, unless it is. While a worker has item, it becomes ready
// at Done. After ShutDown it is ignored.
func (q *Queue[T]) Add(item T) {
	q.mu.Lock()
	q.addLocked(item)
	q.mu.Unlock()
}

// addAll adds many items and locks once.
func (q *Queue[T]) addAll(items []T) {
	q.mu.Lock()
	for _, item := range items {
		q.addLocked(item)
	}
	q.mu.Unlock()
}

func (q *Queue[T]) addLocked(item T) {
	if q.mu.shuttingDown {
		return
	}
	s := q.mu.items[item]
	if s&dirty != 0 {
		if s == dirty {
			q.mu.order.Touch(item)
		}
		return
	}
	q.metrics.added(item)
	q.mu.items[item] = s | dirty
	if s == 0 {
		q.mu.order.Push(item)
		q.ready.Signal()
	}
}

// Len returns how many items are ready.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.order.Len()
}

// Get waits until an item is ready and hands it to the caller, who must call
// Done with it. Once the queue is shut down and nothing is ready, it answers the
// zero item with shutdown = true.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.mu.order.Len() == 0 {
		if q.mu.shuttingDown {
			return item, true
		}
		q.ready.Wait()
	}
	item = q.mu.order.Pop()
	q.mu.items[item] = processing
	q.mu.processing++
	q.metrics.got(item)
	return item, false
}

// Done says that the caller has processed item. If item was added meanwhile it
// goes to the end of the queue. Done of an item that no worker has is ignored.
func (q *Queue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.mu.items[item]
	if s&processing == 0 {
		return
	}
	q.metrics.done(item)
	q.mu.processing--
	if s&dirty != 0 {
		q.mu.items[item] = dirty
		q.mu.order.Push(item)
		q.ready.Signal()
	} else {
		delete(q.mu.items, item)
	}
	if q.mu.processing == 0 {
		q.idle.Broadcast()
	}
}

// ShutDown makes the queue ignore what is added from now on. Workers get what is
// ready and then learn that the queue is shut down. It may be called again.
func (q *Queue[T]) ShutDown() { q.shutDown(false) }

// ShutDownWithDrain is ShutDown, and returns once no worker has an item, as
// client-go's does: it does not wait for ready items that no worker has taken.
// A ShutDown ends the waiting.
func (q *Queue[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *Queue[T]) shutDown(drain bool) {
	q.mu.Lock()
	q.mu.shuttingDown = true
	q.mu.draining = drain
	q.ready.Broadcast()
	q.idle.Broadcast()
	for q.mu.draining && q.mu.processing > 0 {
		q.idle.Wait()
	}
	q.mu.Unlock()
	q.metrics.stop()
}

// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
func (q *Queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.shuttingDown
}
