package workqueue

// Code of the caller that runs under the queue's lock, and may panic.

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// guard calls f, which is code of the caller, under lock. The queue unlocks after the call, and
// not by defer, which would cost each Add, Get and Done a few nanoseconds. So if f panics, or
// ends its goroutine, guard unlocks.
func guard(lock sync.Locker, f func()) {
	returned := false
	defer func() {
		if !returned {
			lock.Unlock()
		}
	}()
	f()
	returned = true
}

// guarded is an order of the caller's whose panics leave the queue unlocked.
type guarded[T comparable] struct {
	order workqueue.Queue[T]
	lock  sync.Locker
}

// Touch is part of workqueue.Queue.
func (g guarded[T]) Touch(item T) { guard(g.lock, func() { g.order.Touch(item) }) }

// Push is part of workqueue.Queue.
func (g guarded[T]) Push(item T) { guard(g.lock, func() { g.order.Push(item) }) }

// Len is part of workqueue.Queue.
func (g guarded[T]) Len() (n int) {
	guard(g.lock, func() { n = g.order.Len() })
	return n
}

// Pop is part of workqueue.Queue.
func (g guarded[T]) Pop() (item T) {
	guard(g.lock, func() { item = g.order.Pop() })
	return item
}
