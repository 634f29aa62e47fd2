package workqueue

import "github.com/informerbench/informerbench/internal/explore"

const (
	// spins is how often a goroutine tries a taken lock before it goes to sleep.
	spins = 16
	// pause is the number of iterations of an empty loop between two tries: some 200 ns.
	pause = 500
)

// lock is a mutex that spins before it sleeps.
//
// A queue's lock is held for some tens of nanoseconds. So its holder is done before another
// goroutine could be put to sleep, and sleeping costs more than that. sync.Mutex spins too,
// but not while goroutines wait for a processor, which is always so with more workers than
// processors. Each try takes the lock's cache line from the holder's processor. That costs
// the holder so much that it does one call where it could do ten undisturbed. So a
// goroutine pauses for the time of several calls between two tries. docs/queues.md has the
// numbers.
//
// The price is a call that is late by some hundreds of nanoseconds when two meet. A longer
// pause would bring some more calls a second, and longer waits.
type lock struct{ explore.Mutex }

// Lock takes the lock.
func (l *lock) Lock() {
	if l.TryLock() {
		return
	}
	for range spins {
		for range pause {
		}
		if l.TryLock() {
			return
		}
	}
	l.Mutex.Lock()
}
