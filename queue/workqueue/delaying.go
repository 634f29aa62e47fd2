package workqueue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

var _ contract.DelayingQueue[string] = (*DelayingQueue[string])(nil)

const (
	// maxSleep bounds how long the waiting goroutine trusts its timer. A fake
	// clock that is stepped between the reading of the time and the setting of
	// the timer makes the timer late; client-go has the same bound.
	maxSleep = 10 * time.Second

	// batch is how many due items leave the heap under one hold of its lock, so
	// that AddAfter waits for at most this many while a million come due.
	batch = 256
)

// DelayingQueue is a Queue to which items can be added later.
//
// One goroutine moves what is due into the queue. AddAfter writes into the heap
// itself, and wakes that goroutine only if its item is now the earliest.
type DelayingQueue[T comparable] struct {
	*Queue[T]
	clock   clock.WithTicker
	retries workqueue.CounterMetric // nil counts nothing

	wake     chan struct{} // holds one token: the earliest time may have changed
	stopOnce sync.Once
	stopCh   chan struct{}
	loop     sync.WaitGroup

	mu struct {
		sync.Mutex
		waiting contract.DelayHeap[T] // nil once the queue is shut down
	}
}

// NewDelaying returns a delaying queue whose items wait in the heap that newHeap
// makes, which it calls once. The queue runs a goroutine until it is shut down.
func NewDelaying[T comparable](newHeap func() contract.DelayHeap[T], cfg Config[T]) *DelayingQueue[T] {
	cfg = cfg.withDefaults()
	q := &DelayingQueue[T]{
		Queue:  New(cfg),
		clock:  cfg.Clock,
		wake:   make(chan struct{}, 1),
		stopCh: make(chan struct{}),
	}
	if q.metrics != nil {
		q.retries = cfg.MetricsProvider.NewRetriesMetric(cfg.Name)
	}
	q.mu.waiting = newHeap()
	q.loop.Go(q.moveDue)
	return q
}

// AddAfter adds item when delay has passed, at once if that is zero or less. An
// item that waits already keeps the earlier time. Waiting for its time is apart
// from being ready: Add of an item that waits hands it out now, and again at its
// time. After ShutDown it is ignored.
func (q *DelayingQueue[T]) AddAfter(item T, delay time.Duration) {
	if q.ShuttingDown() {
		return
	}
	if q.retries != nil {
		q.retries.Inc()
	}
	if delay <= 0 {
		q.Add(item)
		return
	}
	readyAt := q.clock.Now().Add(delay)
	if q.addWaiting(item, readyAt) {
		select {
		case q.wake <- struct{}{}:
		default: // a token is there: the goroutine has yet to look
		}
	}
}

// addWaiting puts item into the heap and reports whether it is the earliest.
func (q *DelayingQueue[T]) addWaiting(item T, readyAt time.Time) (earliest bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.waiting == nil {
		return false
	}
	next, any := q.mu.waiting.Next()
	q.mu.waiting.Add(item, readyAt)
	return !any || readyAt.Before(next)
}

// moveDue adds each item to the queue when its time has come.
func (q *DelayingQueue[T]) moveDue() {
	alarm := timer{clock: q.clock}
	defer alarm.stop()
	due := make([]T, 0, batch)
	for {
		now := q.clock.Now()
		var next time.Time
		var waits bool
		due, next, waits = q.popDue(due[:0], now)
		q.addAll(due)
		clear(due) // it must not keep items alive while the goroutine sleeps
		if len(due) == batch {
			continue
		}
		var fires <-chan time.Time
		if waits {
			fires = alarm.set(min(next.Sub(now), maxSleep))
		}
		select {
		case <-q.stopCh:
			return
		case <-q.wake:
		case <-fires:
		}
	}
}

// popDue takes out up to a batch of what is due and tells the earliest time left.
func (q *DelayingQueue[T]) popDue(due []T, now time.Time) (_ []T, next time.Time, waits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.waiting == nil {
		return due, next, false
	}
	for len(due) < batch {
		item, ok := q.mu.waiting.PopReady(now)
		if !ok {
			break
		}
		due = append(due, item)
	}
	next, waits = q.mu.waiting.Next()
	return due, next, waits
}

// ShutDown is Queue's ShutDown. Items that wait for their time are dropped.
func (q *DelayingQueue[T]) ShutDown() {
	q.stopWaiting()
	q.Queue.ShutDown()
}

// ShutDownWithDrain is Queue's ShutDownWithDrain. Items that wait for their time
// are dropped before it begins to wait.
func (q *DelayingQueue[T]) ShutDownWithDrain() {
	q.stopWaiting()
	q.Queue.ShutDownWithDrain()
}

func (q *DelayingQueue[T]) stopWaiting() {
	q.mu.Lock()
	q.mu.waiting = nil
	q.mu.Unlock()
	q.stopOnce.Do(func() { close(q.stopCh) })
	q.loop.Wait()
}

// timer is a clock's timer that is made when first set and set again and again.
type timer struct {
	clock clock.Clock
	timer clock.Timer
}

// set makes the returned channel deliver once, after d, and no earlier setting.
func (t *timer) set(d time.Duration) <-chan time.Time {
	if t.timer == nil {
		t.timer = t.clock.NewTimer(d)
		return t.timer.C()
	}
	t.stop()
	t.timer.Reset(d)
	return t.timer.C()
}

// stop also takes out a delivery that nobody received: a fake clock's channel
// keeps it, and blocks the clock at the next one.
func (t *timer) stop() {
	if t.timer == nil {
		return
	}
	if !t.timer.Stop() {
		select {
		case <-t.timer.C():
		default:
		}
	}
}
