// Package spin is what a goroutine does before it sleeps: it tries a taken lock some times
// more, and it lets others run once before it waits for them to bring work. Both save the
// cost of being put to sleep and woken, about a microsecond, where the wait is shorter.
//
// sync.Mutex spins too, but not while goroutines wait for a processor, which is always so
// with more workers than processors.
package spin

import (
	"runtime"
	"sync"
)

// Wait is how long a goroutine tries a taken lock. How long is right depends on how long the
// lock is held; each user measured its own.
type Wait struct {
	Tries int
	// Pause is the number of iterations of an empty loop before each try: 4,000 are
	// some 1.5 us. Each try takes the lock's cache line from the holder's processor.
	Pause int
}

// For tries until try succeeds, which it returns, or the wait is over. Call it after a first
// try without it, which is quicker.
func (w Wait) For(try func() bool) bool {
	for range w.Tries {
		for range w.Pause {
		}
		if try() {
			return true
		}
	}
	return false
}

// Yield lets other goroutines run once, with the lock released. The caller looks again for
// what it waits for before it sleeps.
func Yield(l sync.Locker) {
	l.Unlock()
	runtime.Gosched()
	l.Lock()
}
