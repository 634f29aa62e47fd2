package workqueue

// Code of the caller that runs under the queue's lock, and may panic.

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// guard runs code of the caller under the lock of a queue, and leaves the queue usable if that
// panics or ends its goroutine.
type guard struct {
	lock    sync.Locker
	workers *workers
}

// call calls f. The queue unlocks after the call that needs f, and not by defer, which would
// cost each Add, Get and Done a few nanoseconds. So if f does not return, guard calls failed,
// unless that is nil, and unlocks. It wakes every worker that waits: the call that ends here may
// have been the one that was to wake the next.
func (g guard) call(f, failed func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if failed != nil {
			failed()
		}
		g.workers.wakeAllLocked()
		g.lock.Unlock()
	}()
	f()
	returned = true
}

// guarded is an order of the caller's whose panics leave the queue usable.
type guarded[T comparable] struct {
	order workqueue.Queue[T]
	guard guard
}

// Touch is part of workqueue.Queue.
func (g *guarded[T]) Touch(item T) { g.guard.call(func() { g.order.Touch(item) }, nil) }

// Push is part of workqueue.Queue.
func (g *guarded[T]) Push(item T) { g.guard.call(func() { g.order.Push(item) }, nil) }

// Len is part of workqueue.Queue.
func (g *guarded[T]) Len() (n int) {
	g.guard.call(func() { n = g.order.Len() }, nil)
	return n
}

// Pop is part of workqueue.Queue.
func (g *guarded[T]) Pop() (item T) {
	g.guard.call(func() { item = g.order.Pop() }, nil)
	return item
}
