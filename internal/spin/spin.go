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
	"time"
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

// Yielder lets other goroutines run once before a goroutine sleeps, as long as that is short. What
// brings work may be about to run. But a yield puts the goroutine behind all others that can run,
// and a sleeper is woken into the next place: beside goroutines that compute without pause a yield
// takes a thousand times as long as to be woken. After a long yield the next sleeps have none: 64
// of them, twice as many after each further long one, 65,536 at most.
//
// The zero value is ready for use. Its user guards it by the lock that Yield releases.
type Yielder struct{ skip, skips uint32 }

const (
	fewSkips  = 64
	mostSkips = 1 << 16
)

// Yield lets other goroutines run once, with the lock released, or returns false at once. After
// true the caller looks again for what it waits for before it sleeps.
func (y *Yielder) Yield(l sync.Locker) bool {
	if y.skip > 0 {
		y.skip--
		return false
	}
	l.Unlock()
	begun := time.Now()
	runtime.Gosched()
	took := time.Since(begun)
	l.Lock()
	y.note(took)
	return true
}

// note decides by the time of a yield how many sleeps have none.
func (y *Yielder) note(took time.Duration) {
	if took < longYield {
		y.skips = 0
		return
	}
	y.skips = min(max(2*y.skips, fewSkips), mostSkips)
	y.skip = y.skips
}
