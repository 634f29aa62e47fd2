package workqueue

import (
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/spin"
)

// workers counts the goroutines that wait for an item and the items that workers have, and
// knows whether the queue is shut down. Fields that are not atomic are under the queue's
// lock.
//
// Waking is throttled. Waking a goroutine costs more than an Add, so at most one woken
// goroutine is on its way at any time. It takes an item and, if more are ready and others
// wait, wakes the next (tookLocked). No item is forgotten: if one becomes ready while a
// goroutine is on its way, that goroutine finds it, or another took it before.
type workers struct {
	over atomic.Bool // the queue is shut down; written under the lock

	nonEmpty   sync.Cond // an item is ready, or the queue is shut down
	idle       sync.Cond // processing is 0, or shutDowns has grown
	ready      int       // items to hand out
	ordered    counted   // the caller's order, which holds them; nil if there is none
	waiting    int       // goroutines in nonEmpty.Wait
	waking     int       // those of them that were woken and do not run yet
	paused     bool      // Get hands out nothing
	processing int       // items that workers have
	draining   bool      // a shutdown may wait for processing to be 0
	drainReady bool      // and for ready
	shutDowns  int       // shutdowns without drain: each ends the waiting of the drains before it
	yielder    spin.Yielder
}

// counted is an order of the caller's. Its Len is asked for anew where it matters: a Push may join
// two items, and a call that panics may have changed it before.
type counted interface{ Len() int }

// countLocked counts the ready items anew if there is an order.
func (w *workers) countLocked() {
	if w.ordered != nil {
		w.ready = w.ordered.Len()
	}
}

// init must come before everything else.
func (w *workers) init(l sync.Locker, drainReady bool) {
	w.nonEmpty.L = l
	w.idle.L = l
	w.drainReady = drainReady
}

// needsWakeLocked reports whether the caller must call nonEmpty.Signal, with the lock held
// or after unlocking it: an item is ready, a goroutine waits and none is on its way.
func (w *workers) needsWakeLocked() bool {
	if w.ready == 0 || w.waiting == 0 || w.waking > 0 || w.paused {
		return false
	}
	w.waking++
	return true
}

// wakeAllLocked wakes every goroutine that waits for an item. Those that find none wait again.
func (w *workers) wakeAllLocked() {
	w.waking = w.waiting
	w.nonEmpty.Broadcast()
}

// setPaused takes the lock.
func (w *workers) setPaused(paused bool) {
	w.nonEmpty.L.Lock()
	defer w.nonEmpty.L.Unlock()
	w.paused = paused
	w.wakeAllLocked()
	w.idle.Broadcast() // a drain waits for no item that Get does not hand out
}

// offersLocked reports whether Get may hand out an item.
func (w *workers) offersLocked() bool { return w.ready > 0 && !w.paused }

// awaitLocked waits until Get may hand out an item. It returns false if the queue is shut down
// and Get may not. Before it sleeps it lets other goroutines run once, unless that took
// long lately: they may bring an item, which is cheaper than to be put to sleep and woken.
func (w *workers) awaitLocked() bool {
	w.countLocked()
	if !w.offersLocked() && !w.over.Load() && w.yielder.Yield(w.nonEmpty.L) {
		w.countLocked()
	}
	for ; !w.offersLocked(); w.countLocked() {
		if w.over.Load() {
			return false
		}
		w.waiting++
		w.nonEmpty.Wait()
		w.waiting--
		w.waking = max(0, w.waking-1) // a Signal may come after a wakeAllLocked that has counted it
	}
	return true
}

// tookLocked counts an item that a worker takes, and returns needsWakeLocked for the rest.
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

// shutDownLocked shuts the queue down. With drain it waits until no item is processed (nor ready,
// if drainReady), or until a later shutdown without drain.
func (w *workers) shutDownLocked(drain bool) {
	w.over.Store(true)
	if drain {
		w.draining = true
	} else {
		w.shutDowns++
	}
	w.wakeAllLocked()
	w.idle.Broadcast()
	for before := w.shutDowns; drain && w.shutDowns == before && w.busyLocked(); {
		w.idle.Wait()
	}
}

func (w *workers) busyLocked() bool {
	if w.drainReady {
		w.countLocked()
	}
	return w.processing > 0 || w.drainReady && w.offersLocked()
}
