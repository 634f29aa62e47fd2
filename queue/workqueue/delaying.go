package workqueue

import (
	"runtime"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

var _ contract.DelayingQueue[string] = (*DelayingQueue[string])(nil)

const (
	// maxHeaps is the most heaps that Config.Heaps = 0 makes.
	maxHeaps = 8

	// batch is the most due items that are added to the queue under one hold of its lock.
	batch = 256

	// runLen is the most due items that leave a heap under one hold of its lock. So while a
	// million come due, an AddAfter waits for this many, and for what arm does.
	runLen = 16
)

// DelayingQueue is a Queue to which items can be added later.
//
// Waiting items are spread by hash over several heaps, each with a lock of its own, so that
// producers on several processors work at the same time. AddAfter writes into its item's
// heap itself: there is no channel that could be full. A contract.BatchDelayHeap gets its
// items 16 at a time (see batching). One goroutine moves due items into the queue. It is
// woken only for an item that is due before the time until which it sleeps.
//
// Items that are due at the same instant come out in any order, as in client-go: they may
// lie in different heaps. With Config.Heaps: 1 they come out in the heap's order. The heaps
// of queue/delay keep the order of arrival.
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
		waiting contract.DelayHeap[T] // batching if it can; nil once the queue is shut down
	}
	_   [64]byte // the lock and waiting on cache lines of their own
	due run[T]
	_   [64]byte // the next heap's lock too
}

// NewDelaying returns a delaying queue whose items wait in heaps that newHeap
// makes; see Config.Heaps for how many. The queue runs a goroutine until it is
// shut down.
func NewDelaying[T comparable](newHeap func() contract.DelayHeap[T],
	cfg Config[T]) *DelayingQueue[T] {
	cfg = cfg.withDefaults()
	if cfg.Heaps <= 0 {
		cfg.Heaps = min(2*runtime.GOMAXPROCS(0), maxHeaps)
	}
	q := &DelayingQueue[T]{clock: cfg.Clock, heaps: make([]heap[T], cfg.Heaps)}
	for i := range q.heaps {
		q.heaps[i].mu.waiting = inBatches(newHeap())
	}
	if cfg.counts() {
		q.retries = cfg.MetricsProvider.NewRetriesMetric(cfg.Name)
	}
	q.Queue = New(cfg) // last, for it starts a goroutine, and newHeap and the provider may panic
	buffer := make([]T, 0, batch)
	q.alarm.start(q.clock, cfg.Logger, func(now time.Time) time.Time { return q.moveDue(buffer, now) })
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
	h := &q.heaps[q.mu.items.hashOf(item)%uint32(len(q.heaps))]
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

// moveDue adds due items to the queue, up to a batch, in the order of their times. It returns
// the time of its next call, zero if nothing waits. buffer is for its use only and is reused
// from call to call. One goroutine calls it.
func (q *DelayingQueue[T]) moveDue(buffer []T, now time.Time) (next time.Time) {
	due := q.takeDue(buffer[:0], now)
	q.addAll(due)
	clear(due) // it must not keep items alive while the goroutine sleeps
	if len(due) == batch {
		return now
	}
	return q.arm(now)
}

// takeDue appends due items to due, up to a batch. They come from the runs: those that are
// left stay there for the next call.
func (q *DelayingQueue[T]) takeDue(due []T, now time.Time) []T {
	for i := range q.heaps {
		q.heaps[i].due.dry = false
	}
	for len(due) < batch {
		var first *run[T]
		for i := range q.heaps {
			r := &q.heaps[i].due
			if len(r.left) == 0 && !r.dry {
				q.heaps[i].takeDue(now)
			}
			if len(r.left) > 0 && (first == nil || r.left[0].ReadyAt.Before(first.left[0].ReadyAt)) {
				first = r
			}
		}
		if first == nil {
			break
		}
		due = append(due, first.left[0].Item)
		first.left[0] = contract.Waiting[T]{} // it must not keep the item alive
		first.left = first.left[1:]
	}
	return due
}

// run holds items that were due and left their heap, in the order of their times. The
// goroutine that moves items merges the runs of all heaps, and so holds one heap's lock at a
// time. A run is that goroutine's own. An item in it has left its heap and is not ready yet: if it
// is added once more, it waits once more, and ShutDown drops it.
type run[T comparable] struct {
	left  []contract.Waiting[T] // a part of items
	items [runLen]contract.Waiting[T]
	dry   bool // nothing else was due in the heap
}

// takeDue fills the run of h, which is empty, with items that are due.
func (h *heap[T]) takeDue(now time.Time) {
	r := &h.due
	r.left = r.items[:0]
	wall := onlyWall(now)
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.mu.waiting != nil && len(r.left) < runLen {
		at, waits := h.mu.waiting.Next()
		if !waits || at.After(now) {
			break
		}
		item, ok := h.mu.waiting.PopReady(now)
		if !ok {
			break // by contract this cannot be
		}
		if wall {
			at = at.Round(0)
		}
		r.left = append(r.left, contract.Waiting[T]{Item: item, ReadyAt: at})
	}
	r.dry = len(r.left) < runLen
}

// onlyWall reports whether a time of the queue's clock has no monotonic reading. The times of
// different heaps are then compared without theirs (Round(0)): the heaps of queue/delay count
// from when each was made and give back times with a reading, and two heaps do not agree on the
// readings to the nanosecond.
func onlyWall(t time.Time) bool {
	return t == t.Round(0) //nolint:staticcheck // Equal does not see a monotonic reading
}

// arm notes and returns the earliest time at which something waits, zero if nothing does. It
// flushes all batches, with all locks held.
func (q *DelayingQueue[T]) arm(now time.Time) (next time.Time) {
	wall := onlyWall(now)
	for i := range q.heaps {
		q.heaps[i].mu.Lock()
	}
	for i := range q.heaps {
		if q.heaps[i].mu.waiting == nil {
			continue
		}
		at, waits := q.heaps[i].mu.waiting.Next()
		if wall {
			at = at.Round(0)
		}
		if waits && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	q.armed = next
	for i := range q.heaps {
		q.heaps[i].mu.Unlock()
	}
	return next
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
	for i := range q.heaps {
		h := &q.heaps[i]
		h.mu.Lock() // another ShutDown may be here too
		h.due = run[T]{}
		h.mu.Unlock()
	}
}
