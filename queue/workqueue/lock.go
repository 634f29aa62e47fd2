package workqueue

import (
	"sync"

	"github.com/informerbench/informerbench/internal/spin"
)

// wait is 8 tries, some 1.5 us apart.
//
// A queue's lock is held for some tens of nanoseconds. What two processors pay when they take
// turns is, most likely, not the wait for it but the cache lines of the queue, which move from one
// to the other. So a goroutine that finds the
// lock taken leaves it alone for the time of many calls, which the other does undisturbed.
// docs/log/queues.md has the numbers.
//
// The price is a call that is late by 1.5 us when two meet. After fewer tries the goroutine
// would sleep, and be late by a millisecond.
var wait = spin.Wait{Tries: 8, Pause: 4000}

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
