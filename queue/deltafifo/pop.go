package deltafifo

// The consumer's side.

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// ErrRequeue makes Pop put back the Deltas that process was given.
type ErrRequeue = contract.ErrRequeue

// keepSlots is the size up to which the map and the ring are kept when the FIFO
// runs empty. Growing anew after a larger backlog costs each of its events a
// constant share.
const keepSlots = 1024

// Pop waits until something is queued, takes out the Deltas of the key that
// waited longest, and calls process with them under the lock. It returns the
// Deltas, which belong to the caller, and the error of process; if that is an
// [ErrRequeue], the Deltas are put back and the inner error is returned. The
// error is contract.ErrFIFOClosed once the FIFO is closed and empty.
func (f *DeltaFIFO) Pop(process contract.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.mu.order.len() == 0 {
		if f.mu.closed {
			return nil, contract.ErrFIFOClosed
		}
		f.arrived.Wait()
	}
	a := f.takeLocked()
	isInInitialList := !f.mu.initial.over()
	if isInInitialList {
		// Deferred: HasSynced must be false until process has returned, and an item whose
		// process panics counts as processed.
		defer f.mu.initial.popped()
	}
	item := any(a.deltas)
	err := process(item, isInInitialList)
	if err == nil {
		return item, nil
	}
	if requeue, ok := errors.AsType[ErrRequeue](err); ok {
		f.putBackLocked(a.key, a.deltas)
		err = requeue.Err
	}
	return item, err
}

// takeLocked takes out the accumulator that waited longest. There must be one.
func (f *DeltaFIFO) takeLocked() *accumulator {
	a := f.mu.order.pop()
	if f.mu.order.len() == 0 && len(f.mu.order.slots) > keepSlots {
		f.mu.order = ring[*accumulator]{}
		f.mu.waiting = map[string]*accumulator{}
		return a
	}
	delete(f.mu.waiting, a.key)
	return a
}

// putBackLocked queues deltas unless newer ones wait. It copies them: the caller of Pop
// still holds them, and the FIFO may overwrite the last.
func (f *DeltaFIFO) putBackLocked(key string, deltas contract.Deltas) {
	if f.mu.waiting[key] == nil {
		f.pushLocked(&accumulator{key: key, deltas: slices.Clone(deltas)})
	}
}

// HasSynced reports whether the first batch of objects was popped and processed: that of
// the first Replace, or an empty one if Add, Update, Delete or AddIfNotPresent was called
// before. It never blocks. Clauses FIFO-12 to FIFO-17.
func (f *DeltaFIFO) HasSynced() bool { return cache.IsDone(f) }

// HasSyncedChecker gives HasSynced as a channel to wait for.
func (f *DeltaFIFO) HasSyncedChecker() cache.DoneChecker { return f }

// Name is Options.Name; it is part of cache.DoneChecker.
func (f *DeltaFIFO) Name() string { return f.name }

// Done is closed when HasSynced becomes true; it is part of cache.DoneChecker.
func (f *DeltaFIFO) Done() <-chan struct{} { return f.synced }
