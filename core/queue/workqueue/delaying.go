package workqueue

import (
	"runtime"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/core/contract"
)

var _ contract.DelayingQueue[string] = (*DelayingQueue[string])(nil)

const (
	// maxHeaps is the most heaps that Config.Heaps = 0 makes.
	maxHeaps = 8

	// batch is the most due items that leave the heaps under one hold of their locks. So
	// AddAfter waits for at most this many while a million come due.
	batch = 256
)

// DelayingQueue is a Queue to which items can be added later.
//
// Waiting items are spread by hash over several heaps, each with a lock of its own, so that
// producers on several processors work at the same time. AddAfter writes into its item's
// heap itself: there is no channel that could be full. A contract.BatchDelayHeap gets its
// items 16 at a time (see intake). One goroutine moves due items into the queue. It is
// woken only for an item that is due before the time until which it sleeps.
//
// Items that are due at the same instant come out in any order, as in client-go: they may
// lie in different heaps. With Config.Heaps: 1 they come out in the heap's order. The heaps
// of core/queue/delay keep the order of arrival.
type DelayingQueue[T comparable] struct {
	*Queue[T]
	clock   clock.WithTicker
	retries workqueue.CounterMetric // nil counts nothing
	alarm   alarm
	heaps   []heap[T]

	// armed is the time until which the moving goroutine sleeps, zero if it sleeps until it
	// is woken. It is written with all heaps' locks held and read with any of them. So the
	// goroutine sees an item that was added before it looked into that heap. A later AddAfter
	// sees the new armed.
	armed time.Time
}

// heap holds some of the waiting items.
type heap[T comparable] struct {
	mu struct {
		lock
		waiting contract.DelayHeap[T] // with an intake; nil once the queue is shut down
	}
	// A heap's lock on a cache line of its own.
	_ [64]byte
}

// NewDelaying returns a delaying queue whose items wait in heaps that newHeap
// makes; see Config.Heaps for how many. The queue runs a goroutine until it is
// shut down.
func NewDelaying[T comparable](newHeap func() contract.DelayHeap[T], cfg Config[T]) *DelayingQueue[T] {
	cfg = cfg.withDefaults()
	if cfg.Heaps <= 0 {
		cfg.Heaps = min(2*runtime.GOMAXPROCS(0), maxHeaps)
	}
	q := &DelayingQueue[T]{
		Queue: New(cfg),
		clock: cfg.Clock,
		heaps: make([]heap[T], cfg.Heaps),
	}
	if q.metrics != nil {
		q.retries = cfg.MetricsProvider.NewRetriesMetric(cfg.Name)
	}
	for i := range q.heaps {
		q.heaps[i].mu.waiting = withIntake(newHeap())
	}
	buffer := make([]T, 0, batch)
	q.alarm.start(q.clock, func(now time.Time) time.Time { return q.moveDue(buffer, now) })
	return q
}

// AddAfter adds item when delay has passed, at once if that is zero or less. An item that
// waits already keeps the earlier time. Waiting for its time is independent of being ready:
// Add of an item that waits hands it out now, and again at its time. After ShutDown it is
// ignored.
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
	h := &q.heaps[q.mu.items.hashOf(item)%uint64(len(q.heaps))]
	h.mu.Lock()
	wake := false
	if h.mu.waiting != nil {
		h.mu.waiting.Add(item, readyAt)
		wake = q.armed.IsZero() || readyAt.Before(q.armed)
	}
	h.mu.Unlock()
	if wake {
		q.alarm.wake()
	}
}

// moveDue adds due items to the queue, up to a batch, and returns the time of its next
// call. buffer is for its use only and is reused from call to call.
func (q *DelayingQueue[T]) moveDue(buffer []T, now time.Time) (next time.Time) {
	for i := range q.heaps {
		q.heaps[i].mu.Lock()
	}
	due, next := q.popDueLocked(buffer[:0], now)
	q.armed = next
	for i := range q.heaps {
		q.heaps[i].mu.Unlock()
	}
	q.addAll(due)
	clear(due) // it must not keep items alive while the goroutine sleeps
	return next
}

// popDueLocked takes out due items, up to a batch, in the order of their times. It returns
// the earliest time left, zero if nothing waits.
func (q *DelayingQueue[T]) popDueLocked(due []T, now time.Time) (_ []T, next time.Time) {
	if q.heaps[0].mu.waiting == nil {
		return due, next
	}
	for {
		first, at, second := q.earliestLocked()
		if first == nil || at.After(now) || len(due) == batch {
			return due, at
		}
		// From the first heap until another has an earlier time.
		for len(due) < batch {
			item, ok := first.PopReady(now)
			if !ok {
				return due, at // by contract this cannot be
			}
			due = append(due, item)
			next, more := first.Next()
			if !more || next.After(now) || !second.IsZero() && second.Before(next) {
				break
			}
		}
	}
}

// earliestLocked returns the heap with the earliest time, that time, and the
// earliest time of the other heaps; nil and zero times where nothing waits.
func (q *DelayingQueue[T]) earliestLocked() (first contract.DelayHeap[T], at, second time.Time) {
	for i := range q.heaps {
		next, waits := q.heaps[i].mu.waiting.Next()
		switch {
		case !waits:
		case first == nil || next.Before(at):
			first, at, second = q.heaps[i].mu.waiting, next, at
		case second.IsZero() || next.Before(second):
			second = next
		}
	}
	return first, at, second
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
	for i := range q.heaps {
		h := &q.heaps[i]
		h.mu.Lock()
		h.mu.waiting = nil
		h.mu.Unlock()
	}
	q.alarm.stop()
}
