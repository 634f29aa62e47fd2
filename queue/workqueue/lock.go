package workqueue

import (
	"sync"

	"github.com/informerbench/informerbench/internal/spin"
)

// wait is 2 tries, some 1.5 us apart.
//
// A queue's lock is held for some tens of nanoseconds. Two processors that take turns pay, most
// likely, for the queue's cache lines, which move between them. So a goroutine that finds the lock
// taken leaves it alone for the time of many calls. It is then late by 1.5 us; if it slept, by a
// millisecond.
//
// More tries take processors from a thousand workers: with 8 they hand out a fifth to a half fewer
// items than over client-go's queue beside an Add without pause, and its p99 is 6 times as long.
// With one try after twice the pause, eight producers beside eight workers have a p99 of 1.6 times
// client-go's. With shorter pauses, the Adds of eight goroutines take twice as long.
var wait = spin.Wait{Tries: 2, Pause: 4000}

// lock is a mutex that spins before it sleeps.
type lock struct{ sync.Mutex }

// Lock takes the lock.
func (l *lock) Lock() {
	if !l.TryLock() {
		l.lockTaken()
	}
}

// lockTaken is apart so that Lock is inlined.
func (l *lock) lockTaken() {
	if !wait.For(l.TryLock) {
		l.Mutex.Lock()
	}
}
