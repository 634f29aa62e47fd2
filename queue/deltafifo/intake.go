package deltafifo

// The producers' side of Coalescing and InOrder.

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/spin"
)

// crowded is the number of events in the intake above which producers let other goroutines
// run. A goroutine that never blocks keeps its processor for Go's time slice of 10 ms. With
// 100 such producers and one consumer, the consumer would get a hundredth of the machine,
// and the backlog would grow without bound.
const crowded = 1024

// intake is where producers leave their events for the consumer, in the order in which
// their calls took effect. Its lock is held for the copying of one event, for the change of a
// few pointers, or while a lone event is made Deltas. It is never held while a key is computed,
// an object is transformed, a store is asked or a handler works.
type intake struct {
	// caughtUp means that nothing waits but what is here, so that a lone event may be handed
	// out straight from here. It is written under the engine's lock. Before something comes to
	// wait elsewhere it is set to false under the intake's lock too, so it stays true while that
	// is held.
	caughtUp atomic.Bool

	mu struct {
		sync.Mutex
		waiting events
		lists   int    // how many of waiting are relisted or resynced
		first   int    // events up to a replacedAll that HasSynced waits for, 0 if there is none
		spare   spares // for waiting
		asleep  bool   // a Pop sleeps, since nothing waited: the next put wakes it
		begun   bool   // it is decided what HasSynced waits for
		closed  bool
		lone    uint64  // calls of process that loneRun began
		out     boxPool // for them
	}
}

// wait is how long a goroutine tries the intake's lock before it sleeps. The lock is held
// for some 20 ns; to sleep and be woken costs fifty times that.
var wait = spin.Wait{Tries: 100}

func (in *intake) lock() {
	if !in.mu.TryLock() {
		in.lockTaken()
	}
}

// lockTaken is apart so that lock is inlined.
func (in *intake) lockTaken() {
	if !wait.For(in.mu.TryLock) {
		in.mu.Lock()
	}
}

// swap takes out all events that wait, and takes in the segments that the consumer has
// emptied. It sets lone to how many calls of process loneRun has begun.
func (in *intake) swap(emptied *spares, lone *uint64) (c events, lists, first int) {
	in.lock()
	defer in.mu.Unlock()
	*lone = in.mu.lone
	in.mu.spare.Refill(emptied)
	if in.mu.waiting.Len() == 0 {
		return events{}, 0, 0
	}
	in.caughtUp.Store(false)
	c, lists, first = in.mu.waiting, in.mu.lists, in.mu.first
	in.mu.waiting, in.mu.lists, in.mu.first = events{}, 0, 0
	return c, lists, first
}

// signal is HasSynced: false until finish, then true for ever.
type signal struct {
	done chan struct{}
	over atomic.Bool // set before done is closed
}

// finish must be called once at most.
func (s *signal) finish() {
	s.over.Store(true)
	close(s.done)
}

// put leaves an event for the consumer, and wakes a Pop that sleeps.
func (e *engine) put(ev event) {
	in := &e.in
	in.lock()
	if !in.mu.begun {
		e.beginIntakeLocked(&ev)
	}
	if ev.kind == relisted || ev.kind == resynced {
		in.mu.lists++
	}
	in.mu.waiting.Push(ev, &in.mu.spare)
	n, wake := in.mu.waiting.Len(), in.mu.asleep
	in.mu.asleep = false
	in.mu.Unlock()
	if wake {
		e.mu.Lock()
		e.arrived.Signal()
		e.mu.Unlock()
	}
	if n > crowded {
		runtime.Gosched()
	}
}

// beginIntakeLocked decides what HasSynced waits for: all that waits by then if the first
// call is a Replace, else nothing. Resync and Bookmark do not count as a first call. It
// needs the intake's lock.
func (e *engine) beginIntakeLocked(ev *event) {
	switch ev.kind {
	case resynced, syncAll, bookmarked:
		return
	case relisted:
		ev.obj.(*relist).first = true
	case replacedAll:
		e.in.mu.first = e.in.mu.waiting.Len() + 1
	default:
		e.synced.finish()
	}
	e.in.mu.begun = true
}

// Add queues an Added delta. The error is a KeyError or the transformer's, and
// then nothing is queued. It never waits for process, as no producing method does.
func (e *engine) Add(obj any) error { return e.produce(added, obj) }

// Update queues an Updated delta; errors as for Add.
func (e *engine) Update(obj any) error { return e.produce(updated, obj) }

// Delete queues a Deleted delta for an object or a tombstone; errors as for Add. In class
// coalescing a Delete of a key that neither waits nor is known is ignored. If a process runs
// at the time of the call, this is decided when it has returned.
func (e *engine) Delete(obj any) error { return e.produce(deleted, obj) }

func (e *engine) produce(k kind, obj any) error {
	key, err := e.keys.of(obj)
	if err == nil && e.transformer != nil {
		obj, err = e.transform(obj)
	}
	if err != nil {
		return err
	}
	ev := event{key: key, obj: obj, kind: k}
	if e.hashing.Load() {
		ev.hash = key.hash()
	}
	e.put(ev)
	return nil
}

// transform runs the transformer, one call at a time: it need not be safe for more.
func (e *engine) transform(obj any) (any, error) {
	if _, isTombstone := obj.(contract.DeletedFinalStateUnknown); isTombstone {
		return obj, nil
	}
	e.transforming.Lock()
	defer e.transforming.Unlock()
	return e.transformer(obj)
}

// transformList returns list itself if there is no transformer.
func (e *engine) transformList(list []any) ([]any, error) {
	if e.transformer == nil {
		return list, nil
	}
	objs := make([]any, len(list))
	for i, obj := range list {
		var err error
		if objs[i], err = e.transform(obj); err != nil {
			return nil, fmt.Errorf("transforming object %d of a list of %d: %w", i, len(list), err)
		}
	}
	return objs, nil
}

// Replace queues the deltas that the list implies. It owns the list from then on, as
// client-go's ReflectorStore says, and does not change it. The error is a KeyError
// or wraps the transformer's, and then nothing is queued.
func (e *engine) Replace(list []any, resourceVersion string) error {
	var keys []objectKey
	var err error
	if !e.atomicLists {
		if keys, err = e.keys.all(list); err != nil {
			return err
		}
	}
	objs, err := e.transformList(list)
	if err != nil {
		return err
	}
	if e.atomicLists {
		e.put(event{obj: contract.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: objs},
			kind: replacedAll})
		return nil
	}
	e.put(event{obj: &relist{keys: keys, objs: objs}, kind: relisted})
	e.settle()
	return nil
}

// Resync queues a Sync delta for each known object whose key does not wait; with atomic
// lists it queues one SyncAll. The error is always nil.
func (e *engine) Resync() error {
	switch {
	case e.atomicLists:
		e.put(event{obj: contract.SyncAllInfo{}, kind: syncAll})
	case e.known != nil:
		e.put(event{kind: resynced})
		e.settle()
	}
	return nil
}

// Close makes Pop return ErrFIFOClosed once nothing waits. What is added later is
// still queued, as in client-go.
func (e *engine) Close() {
	e.in.mu.Lock()
	e.in.mu.closed = true
	e.in.mu.Unlock()
	e.mu.Lock()
	e.arrived.Broadcast()
	e.mu.Unlock()
}

// IsClosed reports whether Close was called.
func (e *engine) IsClosed() bool {
	e.in.mu.Lock()
	defer e.in.mu.Unlock()
	return e.in.mu.closed
}
