package workqueue

import "github.com/informerbench/informerbench/internal/explore"

const (
	// spins is how often a lock that is taken is tried again before the goroutine
	// goes to sleep.
	spins = 16
	// pause is how many turns of an empty loop lie between two tries: some 200 ns.
	pause = 500
)

// lock is a mutex that is tried before it is waited for.
//
// A queue's lock is held for some tens of nanoseconds, so whoever has it is done
// before a goroutine could be put to sleep, and sleeping costs more than that.
// sync.Mutex spins too, but not while other goroutines wait for the processor, which
// is always so when there are more workers than processors. Between two tries the
// lock is left alone for the time of several calls: each look at it takes the cache
// line from the processor that works, which would do one call at that price where it
// can do ten in peace. docs/queues.md has the numbers.
//
// The price is a call that is late by some hundreds of nanoseconds, where two meet;
// a longer pause would bring some more calls a second, and longer waits.
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
