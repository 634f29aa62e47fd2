package workqueue

import (
	"github.com/informerbench/informerbench/core/explore"
	"github.com/informerbench/informerbench/core/internal/spin"
)

// wait is 16 tries, some 200 ns apart.
//
// A queue's lock is held for some tens of nanoseconds. Each try takes the lock's cache line
// from the holder's processor. That costs the holder so much that it does one call where it
// could do ten undisturbed. So a goroutine pauses for the time of several calls between two
// tries. docs/log/queues.md has the numbers.
//
// The price is a call that is late by some hundreds of nanoseconds when two meet. A longer
// pause would bring some more calls a second, and longer waits.
var wait = spin.Wait{Tries: 16, Pause: 500}

// lock is a mutex that spins before it sleeps.
type lock struct{ explore.Mutex }

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
