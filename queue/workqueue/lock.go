package workqueue

import (
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/spin"
)

// wait is 3 tries, some 1.5 us apart.
//
// A queue's lock is held for some tens of nanoseconds. Two processors that take turns pay, most
// likely, for the queue's cache lines, which move between them. So a goroutine that finds the lock
// taken leaves it alone for the time of many calls. It is then late by 1.5 us; if it slept, by a
// millisecond.
//
// With one try less, eight producers beside eight workers wait ten times as long or more (p99).
// With one more, an Add beside a thousand workers waits two or three times as long. With shorter
// pauses, the Adds of eight goroutines take twice as long.
var wait = spin.Wait{Tries: 3, Pause: 4000}

// crowd is how many goroutines sleep for the lock where another one sleeps at once. The lock then
// goes from sleeper to sleeper, and tries take the processor from the one that has it: a thousand
// workers that try hand out a tenth fewer items than over client-go's queue, those that sleep a
// fifth to a third more. With a crowd of 8, eight producers beside eight workers sleep too often.
const crowd = 16

// lock is a mutex that spins before it sleeps, unless many sleep already.
type lock struct {
	sync.Mutex
	asleep atomic.Int32 // goroutines that sleep for it, or are about to
}

// Lock takes the lock.
func (l *lock) Lock() {
	if !l.TryLock() {
		l.lockTaken()
	}
}

// lockTaken is apart so that Lock is inlined.
func (l *lock) lockTaken() {
	if l.asleep.Load() < crowd && wait.For(l.TryLock) {
		return
	}
	l.asleep.Add(1)
	l.Mutex.Lock()
	l.asleep.Add(-1)
}
