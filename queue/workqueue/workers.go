package workqueue

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/explore"
)

// workers is what a queue knows of those that take items: who waits for one, who
// has one, and whether it is over. What is not atomic is under the queue's lock.
//
// Waking is throttled. Waking a goroutine costs more than an Add, so at most one
// is on its way at any time; it takes an item and, if more is ready and others
// wait, wakes the next (tookLocked). None is forgotten: an item that becomes ready
// while a goroutine is on its way is found by that goroutine, or was taken before
// it came.
type workers struct {
	over atomic.Bool // the queue is shut down; written under the lock

	nonEmpty   explore.Cond // something is ready, or it is over
	idle       explore.Cond // processing is 0, or draining is false
	ready      int          // items to hand out
	waiting    int          // goroutines in nonEmpty.Wait
	waking     int          // those of them that were woken and have not come yet
	processing int          // items that workers have
	draining   bool         // a shutdown may wait for processing to be 0
}

// init must come before everything else.
func (w *workers) init(l sync.Locker) {
	w.nonEmpty.L = l
	w.idle.L = l
}

// needsWakeLocked reports whether the caller must call nonEmpty.Signal, with the
// lock held or after it let go of it: something is ready, somebody waits for it
// and nobody is on the way.
func (w *workers) needsWakeLocked() bool {
	if w.ready == 0 || w.waiting == 0 || w.waking > 0 {
		return false
	}
	w.waking++
	return true
}

// awaitLocked waits until something is ready; false when it is over and nothing is.
// Before it sleeps it lets others run once, who may bring something: under load they
// do, and that is cheaper than to be put to sleep and woken.
func (w *workers) awaitLocked() bool {
	if w.ready == 0 && !w.over.Load() {
		w.nonEmpty.L.Unlock()
		runtime.Gosched()
		w.nonEmpty.L.Lock()
	}
	for w.ready == 0 {
		if w.over.Load() {
			return false
		}
		w.waiting++
		w.nonEmpty.Wait()
		w.waiting--
		w.waking--
	}
	return true
}

// tookLocked counts an item that a worker takes, and reports what needsWakeLocked
// does of the rest.
func (w *workers) tookLocked() bool {
	w.ready--
	w.processing++
	return w.needsWakeLocked()
}

// doneLocked counts an item that a worker has no more.
func (w *workers) doneLocked() {
	w.processing--
	if w.processing == 0 && w.draining {
		w.idle.Broadcast()
	}
}

// shutDownLocked ends it, and waits for what is processed if drain says so, until
// another shutdown without drain.
func (w *workers) shutDownLocked(drain bool) {
	explore.Point("shutDown.over")
	w.over.Store(true)
	w.draining = drain
	w.waking = w.waiting
	w.nonEmpty.Broadcast()
	w.idle.Broadcast()
	for w.draining && w.processing > 0 {
		w.idle.Wait()
	}
}
