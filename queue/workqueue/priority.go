package workqueue

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.PriorityQueue[string] = (*PriorityQueue[string])(nil)
	_ contract.Pausable              = (*PriorityQueue[string])(nil)
	_ contract.PriorityQueue[string] = (*PriorityQueueAs[string, contract.AddOptions])(nil)
)

const (
	// defaultTurn is Config.Turn where it is zero.
	defaultTurn = 16
	// ripenAtOnce is how many due items become ready under one hold of the lock.
	ripenAtOnce = 64
)

// PriorityQueue is a rate-limiting queue that hands out items of higher priority
// first, and lets none starve: see Config.Turn.
//
// An item is in the queue once, ready or waiting for its time. One that is added again
// takes the higher of the two priorities and the earlier of the two times: Add of an item
// that waits makes it ready, and it does not come again at its time. (The heap keeps the item
// until its Done, or until its time if the heap is no contract.RemovingDelayHeap.) In
// [RateLimitingQueue], by contrast, an item can wait and be ready at once.
//
// Items of one priority that are due at the same instant come out in the order in which
// they were added (QUEUE-40), over a heap that is contract.ArrivalOrdered.
//
// One lock guards everything. A call holds it for O(log n + log p), with n items waiting for
// their time and p different priorities ready; one AddAfter in 16 adds 16 items to the heap, and
// so may the Done of an item that was added before its time; up to 64 due items become ready under
// one lock. Queued holds it for O(items). AddWithOpts takes the lock once for each item.
type PriorityQueue[T comparable] struct {
	metrics *metrics[T]             // nil counts nothing
	retries workqueue.CounterMetric // nil counts nothing
	limiter contract.RateLimiter[T]
	clock   clock.WithTicker
	epoch   time.Time // when the queue was made
	alarm   alarm
	drops   bool // Config.DropReady

	mu struct {
		lock
		workers
		items  table[T, [3]links]
		levels levels[T] // exactly the nodes that are ready
		// times holds the items whose state has waiting, at their readyAt or before. It may
		// also hold items that wait no more. Nil once the queue is shut down.
		times contract.DelayHeap[T]
		armed time.Time // when the alarm's timer fires; zero: it sleeps until it is woken
	}
}

// NewPriority returns a queue with priorities. Its items wait for their time in the
// heap that newHeap makes, which it calls once. The queue runs a goroutine until it
// is shut down.
func NewPriority[T comparable](limiter contract.RateLimiter[T],
	newHeap func() contract.DelayHeap[T], cfg Config[T]) *PriorityQueue[T] {
	cfg = cfg.withDefaults()
	q := &PriorityQueue[T]{metrics: newMetrics(cfg, true), limiter: limiter, clock: cfg.Clock,
		epoch: cfg.Clock.Now(), drops: cfg.DropReady}
	if cfg.counts() {
		q.retries = cfg.MetricsProvider.NewRetriesMetric(cfg.Name)
	}
	q.mu.workers.init(&q.mu.lock, cfg.DrainReady)
	q.mu.items = newTable[T, [3]links](q.relinkLocked)
	q.mu.levels = newLevels(&q.mu.items, max(0, cfg.Turn))
	q.mu.times = inBatches(newHeap())
	q.metrics.start(guard{&q.mu.lock, &q.mu.workers})
	q.alarm.start(q.clock, cfg.Logger, q.ripen)
	return q
}

// Add is AddWithOpts without options.
func (q *PriorityQueue[T]) Add(item T) { q.add(item, 0, 0) }

// AddAfter is AddWithOpts with a delay.
func (q *PriorityQueue[T]) AddAfter(item T, delay time.Duration) {
	q.AddWithOpts(contract.AddOptions{After: delay}, item)
}

// AddRateLimited is AddWithOpts with the limiter's delay.
func (q *PriorityQueue[T]) AddRateLimited(item T) {
	q.AddWithOpts(contract.AddOptions{RateLimited: true}, item)
}

// AddWithOpts adds each item when its delay has passed, at once if there is none.
// After ShutDown they are ignored. An Add of an item that a worker has makes it
// ready at Done.
func (q *PriorityQueue[T]) AddWithOpts(o contract.AddOptions, items ...T) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	for _, item := range items {
		if q.ShuttingDown() {
			return
		}
		after := o.After
		if o.RateLimited {
			if d := q.limiter.When(item); after == 0 || d < after { // below 0, it is due already
				after = d
			}
		}
		if q.retries != nil && after > 0 {
			q.retries.Inc() // as in controller-runtime, where an item added at once is no retry
		}
		q.add(item, priority, after)
	}
}

func (q *PriorityQueue[T]) add(item T, priority int, after time.Duration) {
	var readyAt time.Time
	if after > 0 {
		readyAt = q.clock.Now().Add(after)
	}
	hash := q.mu.items.hashOf(item)
	q.mu.Lock()
	earliest := q.addLocked(item, hash, priority, readyAt)
	wake := q.mu.needsWakeLocked()
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
	if earliest {
		q.alarm.wake()
	}
}

// addLocked adds item at readyAt, at once if that is zero. It reports whether the alarm
// must be woken because it would sleep beyond readyAt.
func (q *PriorityQueue[T]) addLocked(item T, hash uint32, priority int,
	readyAt time.Time) (earliest bool) {
	if q.mu.times == nil { // shutDown makes it nil before it sets over
		return false
	}
	at, n := q.mu.items.find(item, hash)
	k := *at
	switch {
	case n == nil || n.state()&^held == processing:
		// the priority that it was handed out with counts no more
	case n.state()&dirty != 0:
		q.raiseLocked(k, n, priority)
		return false
	default:
		priority = max(priority, priorityOf(n))
	}
	if readyAt.IsZero() {
		q.metrics.added(item, priority) // before anything is noted: it may panic
	}
	if n == nil {
		k, n = q.mu.items.insert(at, item, hash)
	}
	setPriority(n, priority)
	if readyAt.IsZero() {
		q.readyLocked(k, n)
		return false
	}
	after := readyAt.Sub(q.epoch)
	if n.state()&waiting != 0 && after >= timeOf(n) {
		return false
	}
	n.setState(n.state() | waiting | held)
	setTime(n, after)
	q.mu.times.Add(item, readyAt)
	return q.mu.armed.IsZero() || readyAt.Before(q.mu.armed)
}

// raiseLocked gives a node that is ready, or will be at its Done, a higher priority.
func (q *PriorityQueue[T]) raiseLocked(k number, n *ranked[T], priority int) {
	if priority <= priorityOf(n) {
		return
	}
	q.metrics.raised(priorityOf(n), priority)
	if n.ready() {
		q.mu.levels.raise(k, n, priority)
	} else {
		setPriority(n, priority)
	}
}

// readyLocked makes a node ready, at its Done if a worker has it. It must not be ready yet, and
// be counted as added.
func (q *PriorityQueue[T]) readyLocked(k number, n *ranked[T]) {
	n.setState(n.state()&^waiting | dirty)
	q.pushLocked(k, n)
}

// pushLocked lets a node be handed out, if it is ready.
func (q *PriorityQueue[T]) pushLocked(k number, n *ranked[T]) {
	if n.ready() {
		q.mu.levels.push(k, n)
		q.mu.ready++
	}
}

// relinkLocked has the levels know a node under its new number.
func (q *PriorityQueue[T]) relinkLocked(from, to number) {
	if q.mu.items.node(to).ready() {
		q.mu.levels.relink(from, to)
	}
}

// ripen makes items ready that are due, up to ripenAtOnce, and returns the time of its next
// call.
func (q *PriorityQueue[T]) ripen(now time.Time) (next time.Time) {
	q.mu.Lock()
	if q.mu.times != nil {
		for range ripenAtOnce {
			item, ok := q.mu.times.PopReady(now)
			if !ok {
				break
			}
			q.ripenLocked(item, now)
		}
		next, _ = q.mu.times.Next()
	}
	q.mu.armed = next
	wake := q.mu.needsWakeLocked()
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
	return next
}

// ripenLocked handles an item that times gave out. If it was added at once meanwhile, it
// waits no more, or waits again, perhaps for a later time than the one in times.
func (q *PriorityQueue[T]) ripenLocked(item T, now time.Time) {
	at, n := q.mu.items.find(item, q.mu.items.hashOf(item))
	if n == nil {
		if !equalsItself(item) {
			// As client-go hands it out. Its priority is lost with its node.
			q.addLocked(item, q.mu.items.hashOf(item), 0, time.Time{})
		}
		return
	}
	switch readyAt := q.epoch.Add(timeOf(n)); {
	case n.state()&waiting == 0:
		n.setState(n.state() &^ held)
	case readyAt.After(now):
		q.mu.times.Add(item, readyAt)
	default:
		n.setState(n.state() &^ held)
		q.metrics.added(item, priorityOf(n))
		q.readyLocked(*at, n)
	}
}

// equalsItself is false for a NaN: no table finds it again, so its node is lost.
func equalsItself[T comparable](item T) bool {
	same := item
	return item == same
}

// Len returns how many items are ready.
func (q *PriorityQueue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.ready
}

// QueuedItem is an item that waits in a PriorityQueue.
type QueuedItem[T comparable] struct {
	Item     T   `json:"key"`
	Priority int `json:"priority"`
	// when its delay is over; zero: it is ready, or is so at Done
	ReadyAt time.Time `json:"readyAt,omitzero"`
}

// Queued returns what waits to be handed out, in no order, for logs and for people who debug.
// It takes O(n) in the items of the queue, under the lock.
func (q *PriorityQueue[T]) Queued() []QueuedItem[T] {
	now := q.clock.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	items := make([]QueuedItem[T], 0, q.mu.items.len)
	for n := range q.mu.items.all() {
		switch {
		case n.state()&dirty != 0:
			items = append(items, QueuedItem[T]{Item: n.item, Priority: priorityOf(n)})
		case n.state()&waiting != 0 && q.mu.times != nil:
			items = append(items, QueuedItem[T]{Item: n.item, Priority: priorityOf(n),
				ReadyAt: now.Add(timeOf(n) - now.Sub(q.epoch))})
		}
	}
	return items
}

// Get is GetWithPriority without the priority.
func (q *PriorityQueue[T]) Get() (item T, shutdown bool) {
	item, _, shutdown = q.GetWithPriority()
	return item, shutdown
}

// GetWithPriority waits until an item is ready and hands it to the caller, who must
// call Done with it. Once the queue is shut down and nothing is ready, it returns
// the zero item with shutdown = true.
func (q *PriorityQueue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	q.mu.Lock()
	if !q.mu.awaitLocked() || q.drops && q.mu.shutDowns > 0 {
		q.mu.Unlock()
		return item, 0, true
	}
	n := q.mu.levels.pop()
	n.setState(n.state()&held | processing)
	item, priority = n.item, priorityOf(n)
	wake := q.mu.tookLocked()
	q.metrics.got(item, priority, q.loseLocked)
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
	return item, priority, false
}

// Done says that the caller has processed item. If item was added meanwhile it goes
// to the end of its priority. Done of an item that no worker has is ignored.
func (q *PriorityQueue[T]) Done(item T) {
	hash := q.mu.items.hashOf(item)
	q.mu.Lock()
	wake := q.doneLocked(item, hash)
	q.mu.Unlock()
	if wake {
		q.mu.nonEmpty.Signal()
	}
}

func (q *PriorityQueue[T]) doneLocked(item T, hash uint32) (wake bool) {
	at, n := q.mu.items.find(item, hash)
	if n == nil || n.state()&processing == 0 {
		return false
	}
	q.metrics.done(item, q.loseLocked)
	q.releaseLocked(at, n)
	return q.mu.needsWakeLocked()
}

// loseLocked ends the processing of an item that no worker has any more, because a metric panicked
// in its Get or its Done.
func (q *PriorityQueue[T]) loseLocked(item T) {
	// nil where it does not equal itself
	if at, n := q.mu.items.find(item, q.mu.items.hashOf(item)); n != nil {
		q.releaseLocked(at, n)
	}
}

// releaseLocked takes an item off its worker.
func (q *PriorityQueue[T]) releaseLocked(at *number, n *ranked[T]) {
	s := n.state() &^ processing
	if q.mu.times == nil {
		s &^= waiting // dropped by ShutDown
	}
	n.setState(s)
	switch s &^ held {
	case dirty:
		q.pushLocked(*at, n)
	case 0:
		if times, removes := q.mu.times.(contract.RemovingDelayHeap[T]); removes && s == held {
			times.Remove(n.item) // it was added before its time
		}
		q.mu.items.remove(at, n)
	}
	q.mu.workers.doneLocked()
}

// Forget makes the limiter forget item's failures. Done is still due.
func (q *PriorityQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues returns how many failures of item the limiter counts.
func (q *PriorityQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

// Pause is [Queue.Pause]. What comes due meanwhile becomes ready.
func (q *PriorityQueue[T]) Pause() { q.mu.setPaused(true) }

// Resume ends Pause.
func (q *PriorityQueue[T]) Resume() { q.mu.setPaused(false) }

// ShutDown makes the queue ignore what is added from now on, and drops what waits for its time.
// Workers get what is ready, unless Config.DropReady is set, and then learn that the queue is shut
// down. The memory of the dropped items is freed with the queue's, or at Done of an item that a
// worker has. It may be called again.
func (q *PriorityQueue[T]) ShutDown() { q.shutDown(false) }

// ShutDownWithDrain is ShutDown, and returns once no worker has an item. A ShutDown
// ends the waiting.
func (q *PriorityQueue[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *PriorityQueue[T]) shutDown(drain bool) {
	q.mu.Lock()
	q.mu.times = nil
	q.mu.Unlock()
	q.alarm.stop()
	q.mu.Lock()
	q.mu.shutDownLocked(drain)
	q.mu.Unlock()
	q.metrics.stop()
}

// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
func (q *PriorityQueue[T]) ShuttingDown() bool {
	return q.mu.over.Load()
}

// AddOptions is any type that is contract.AddOptions under another name, such as
// controller-runtime's priorityqueue.AddOpts.
type AddOptions interface {
	~struct {
		After       time.Duration
		RateLimited bool
		Priority    *int
	}
}

// PriorityQueueAs is a PriorityQueue whose AddWithOpts takes options of type O.
type PriorityQueueAs[T comparable, O AddOptions] struct{ *PriorityQueue[T] }

// As gives q the options of another package:
//
//	workqueue.As[priorityqueue.AddOpts](q)
//
// is a controller-runtime priorityqueue.PriorityQueue, which its event handlers and
// controllers look for, and costs nothing.
func As[O AddOptions, T comparable](q *PriorityQueue[T]) *PriorityQueueAs[T, O] {
	return &PriorityQueueAs[T, O]{q}
}

// AddWithOpts is PriorityQueue's AddWithOpts.
func (q *PriorityQueueAs[T, O]) AddWithOpts(o O, items ...T) {
	q.PriorityQueue.AddWithOpts(contract.AddOptions(o), items...)
}
