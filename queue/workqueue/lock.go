package workqueue

import "sync"

// spins is how often a lock that is taken is tried before the goroutine goes to
// sleep. A queue's lock is held for some tens of nanoseconds, so a few hundred
// outlast most holders; putting a goroutine to sleep and waking it costs more,
// and its processor goes to another goroutine meanwhile.
const spins = 60

// lock is a mutex that is tried before it is waited for. sync.Mutex spins too, but
// not while other goroutines wait for the processor, which is always so when there
// are more workers than processors.
type lock struct{ sync.Mutex }

// Lock takes the lock.
func (l *lock) Lock() {
	for range spins {
		if l.TryLock() {
			return
		}
	}
	l.Mutex.Lock()
}
