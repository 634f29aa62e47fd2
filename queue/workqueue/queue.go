package workqueue

import (
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.Queue[string] = (*Queue[string])(nil)
	_ contract.Pausable      = (*Queue[string])(nil)
)

// Config says how a queue is made. The zero value is a queue on the system's
// clock that hands items out first in, first out and counts nothing.
type Config[T comparable] struct {
	// Name is the queue's name in its metrics; a queue without one has none.
	Name string
	// MetricsProvider makes the metrics, once for each queue; nil means none.
	// client-go's global provider cannot be read from outside: pass it here too. In a
	// controller-runtime program it is ctrlqueue.MetricsProvider. See also
	// PriorityMetricsProvider.
	MetricsProvider workqueue.MetricsProvider
	// Clock is the time of delays and metrics; nil means the system's.
	Clock clock.WithTicker
	// Logger is told of a panic of the order or of a metric for an item that was delayed; nil means
	// klog.Background().
	Logger *klog.Logger
	// Order holds the items that are ready and decides which is next; nil means
	// first in, first out. The queue calls it under its lock, and hands items out as long as
	// its Len is not 0. A queue with priorities has an order of its own and ignores this one.
	Order workqueue.Queue[T]
	// Heaps is the number of heaps over which a delaying queue spreads its waiting items, so
	// that producers seldom meet; 0 means two for each processor and at most 8. A queue with
	// priorities has one heap.
	Heaps int
	// Turn makes a queue with priorities fair: of Turn Gets in a row, at least one returns
	// the item that has been ready longest, whatever its priority. 0 means 16. With a Turn
	// below zero low priorities starve, with one above 64 they wait longer than QUEUE-38 allows,
	// and with 1 to 3 the queue breaks QUEUE-31.
	Turn int
	// DropReady makes Get of a queue with priorities return nothing after ShutDown, as
	// controller-runtime's does, so that its manager stops soon. Without it what is ready is handed
	// out (QUEUE-11), and so it is with it during ShutDownWithDrain.
	DropReady bool
	// DrainReady makes ShutDownWithDrain wait for what is ready too. It then waits for ever if no
	// worker is left. Without it, as in client-go, it waits for what workers have
	// (kubernetes#141079).
	DrainReady bool
}

// state is what a queue knows of an item. An item without a state is not in the queue.
type state uint8

const (
	dirty      state = 1 << iota // it is to be handed out (again)
	processing                   // a worker has it
	waiting                      // it waits for its time; queues with priorities only
	held                         // the heap may have it; queues with priorities only
	stateBits  = iota
)

// Queue hands each item to one worker at a time. An item that is added while it
// is ready is handed out once; one that is added while a worker has it is handed
// out again after Done.
//
// An item's whole state is one node. Ready nodes are linked, so Get needs no look-up unless
// Config.Order is set. Add and Done look up once, with a hash computed before they lock.
//
// The order and the metrics are the caller's code and run under the lock. A panic of theirs
// ends the call, and the queue goes on (see guard). An item whose Get a metric ended so is lost, as
// in client-go's queue, and comes again when it is added again. An item that an order has lost is
// ready for ever, as in client-go's queue, and comes no more. For items that AddAfter delayed, and
// to set the gauges of running work, they run on goroutines of the queue, where a panic ends the
// program; with utilruntime.ReallyCrash off, one for a delayed item ends the delays only, as in
// client-go. The limiter and the heap are not guarded: a heap whose Add
// panics leaves a lock held.
type Queue[T comparable] struct {
	metrics *metrics[T] // nil counts nothing

	mu struct {
		lock
		workers
		items table[T, [1]links]
		// fifo or order holds exactly the items whose state is dirty.
		fifo  list
		order *guarded[T] // nil: fifo
	}
}

// New returns a queue. One with metrics runs a goroutine until it is shut down.
func New[T comparable](cfg Config[T]) *Queue[T] {
	cfg = cfg.withDefaults()
	q := &Queue[T]{metrics: newMetrics(cfg, false)}
	q.mu.workers.init(&q.mu.lock, cfg.DrainReady)
	q.mu.items = newTable[T, [1]links](q.relinkLocked)
	callers := guard{&q.mu.lock, &q.mu.workers}
	if cfg.Order != nil {
		q.mu.order = &guarded[T]{cfg.Order, callers}
		q.mu.ordered = q.mu.order
	}
	q.metrics.start(callers)
	return q
}

func (cfg Config[T]) withDefaults() Config[T] {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Turn == 0 {
		cfg.Turn = defaultTurn
	}
	return cfg
}

// counts reports whether a queue has metrics.
func (cfg Config[T]) counts() bool { return cfg.Name != "" && cfg.MetricsProvider != nil }

// Add makes item ready, unless it is ready already. While a worker has item, it becomes
// ready at Done. After ShutDown it is ignored.
func (q *Queue[T]) Add(item T) {
	hash := q.mu.items.hashOf(item)
	q.mu.Lock()
	q.addLocked(item, hash)
	wake := q.mu.needsWakeLocked()
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
}

// addAll adds up to a batch of items and locks once.
func (q *Queue[T]) addAll(items []T) {
	if len(items) == 0 {
		return
	}
	var hashes [batch]uint32
	for i, item := range items {
		hashes[i] = q.mu.items.hashOf(item)
	}
	q.mu.Lock()
	for i, item := range items {
		if i%fetchLen == 0 {
			q.mu.items.fetch(hashes[i:min(i+fetchLen, len(items))])
		}
		q.addLocked(item, hashes[i])
	}
	wake := q.mu.needsWakeLocked()
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
}

func (q *Queue[T]) addLocked(item T, hash uint32) {
	if q.mu.over.Load() {
		return
	}
	switch at, n := q.mu.items.find(item, hash); {
	case n == nil:
		q.metrics.added(item, 0)
		k, n := q.mu.items.insert(at, item, hash)
		n.setState(dirty)
		q.pushLocked(k, n)
	case n.state() == processing:
		q.metrics.added(item, 0)
		n.setState(processing | dirty)
	case n.state() == dirty && q.mu.order != nil:
		q.mu.order.Touch(item)
		q.mu.countLocked()
	}
}

func (q *Queue[T]) pushLocked(k number, n *plain[T]) {
	if q.mu.order != nil {
		q.mu.order.Push(n.item)
		q.mu.countLocked()
		return
	}
	q.mu.items.push(&q.mu.fifo, k, n)
	q.mu.ready++
}

// relinkLocked has the fifo know a node under its new number.
func (q *Queue[T]) relinkLocked(from, to number) {
	if q.mu.order == nil && q.mu.items.node(to).ready() {
		q.mu.items.relink(&q.mu.fifo, from, to)
	}
}

// Len returns how many items are ready.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	q.mu.countLocked()
	n := q.mu.ready
	q.mu.Unlock()
	return n
}

// Get waits until an item is ready and hands it to the caller, who must call
// Done with it. Once the queue is shut down and nothing is ready, it returns the
// zero item with shutdown = true.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	if !q.mu.awaitLocked() {
		q.mu.Unlock()
		return item, true
	}
	n := q.popLocked()
	n.setState(processing)
	item = n.item
	wake := q.mu.tookLocked()
	q.metrics.got(item, 0, q.loseLocked)
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
	return item, false
}

// popLocked takes out the next item. An order may give one that it was never given; client-go's
// queue hands that out too.
func (q *Queue[T]) popLocked() *plain[T] {
	if q.mu.order == nil {
		k := q.mu.fifo.first
		n := q.mu.items.node(k)
		q.mu.items.unlink(&q.mu.fifo, k, n)
		return n
	}
	item := q.mu.order.Pop()
	var hash uint32
	// the order may give what cannot be hashed
	q.mu.order.guard.call(func() { hash = q.mu.items.hashOf(item) }, nil)
	at, n := q.mu.items.find(item, hash)
	switch {
	case n == nil:
		_, n = q.mu.items.insert(at, item, hash)
	case n.state()&processing != 0:
		q.mu.processing-- // given twice, it counts once: the first Done ends both
	}
	return n
}

// loseLocked ends the processing of an item that no worker has any more, because a metric panicked
// in its Get or its Done.
func (q *Queue[T]) loseLocked(item T) {
	// nil where it does not equal itself
	if at, n := q.mu.items.find(item, q.mu.items.hashOf(item)); n != nil {
		q.releaseLocked(at, n)
	}
}

// Done says that the caller has processed item. If item was added meanwhile it
// goes to the end of the queue. Done of an item that no worker has is ignored.
func (q *Queue[T]) Done(item T) {
	hash := q.mu.items.hashOf(item)
	q.mu.Lock()
	wake := q.doneLocked(item, hash)
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
}

func (q *Queue[T]) doneLocked(item T, hash uint32) (wake bool) {
	at, n := q.mu.items.find(item, hash)
	if n == nil || n.state()&processing == 0 {
		return false
	}
	q.metrics.done(item, q.loseLocked)
	q.releaseLocked(at, n)
	return q.mu.needsWakeLocked()
}

// releaseLocked takes an item off its worker.
func (q *Queue[T]) releaseLocked(at *number, n *plain[T]) {
	q.mu.workers.doneLocked() // first, for a Push may panic
	if n.state()&dirty == 0 {
		q.mu.items.remove(at, n)
		return
	}
	n.setState(dirty)
	q.pushLocked(*at, n)
}

// Pause makes Get wait, whatever is ready, until Resume or a shutdown: everything else goes on. A
// paused queue that is shut down hands out nothing more. Pausing twice is pausing once.
func (q *Queue[T]) Pause() { q.mu.setPaused(true) }

// Resume ends Pause.
func (q *Queue[T]) Resume() { q.mu.setPaused(false) }

// ShutDown makes the queue ignore what is added from now on. Workers get what is
// ready and then learn that the queue is shut down. It may be called again.
func (q *Queue[T]) ShutDown() { q.shutDown(false) }

// ShutDownWithDrain is ShutDown, and returns once no worker has an item. Like client-go's
// it does not wait for ready items that no worker has taken, unless Config.DrainReady is set. A
// later ShutDown ends the waiting.
func (q *Queue[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *Queue[T]) shutDown(drain bool) {
	q.mu.Lock()
	q.mu.shutDownLocked(drain)
	q.mu.Unlock()
	q.metrics.stop()
}

// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
func (q *Queue[T]) ShuttingDown() bool {
	return q.mu.over.Load()
}
