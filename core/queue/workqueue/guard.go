package workqueue

// Code of the caller that runs under the queue's lock, and may panic.

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// unlockUnless is deferred around a call of the caller's code under lock. The queue unlocks
// after the call, and not by defer, which would cost each Add, Get and Done a few nanoseconds. So
// if the call panics, or ends its goroutine, nobody else would unlock.
func unlockUnless(returned *bool, lock sync.Locker) {
	if !*returned {
		lock.Unlock()
	}
}

// guarded is an order of the caller's whose panics leave the queue unlocked.
type guarded[T comparable] struct {
	order workqueue.Queue[T]
	lock  sync.Locker
}

// Touch is part of workqueue.Queue.
func (g guarded[T]) Touch(item T) {
	returned := false
	defer unlockUnless(&returned, g.lock)
	g.order.Touch(item)
	returned = true
}

// Push is part of workqueue.Queue.
func (g guarded[T]) Push(item T) {
	returned := false
	defer unlockUnless(&returned, g.lock)
	g.order.Push(item)
	returned = true
}

// Len is part of workqueue.Queue.
func (g guarded[T]) Len() (n int) {
	returned := false
	defer unlockUnless(&returned, g.lock)
	n = g.order.Len()
	returned = true
	return n
}

// Pop is part of workqueue.Queue.
func (g guarded[T]) Pop() (item T) {
	returned := false
	defer unlockUnless(&returned, g.lock)
	item = g.order.Pop()
	returned = true
	return item
}
