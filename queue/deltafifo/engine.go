package deltafifo

// The consumer's side of Coalescing and InOrder.

import (
	"errors"
	"sync"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/spin"
)

// engine is the common part of [Coalescing] and [InOrder]. Producers append to the intake
// and return. A consumer first takes in the events that have arrived ("folds" them), in the
// order of arrival, and then takes something out. So the calls of producers take effect one
// after the other, as in client-go, but on the consumer's time.
//
// Some events need KnownObjects or depend on what a running process leaves behind: a
// Replace, a Resync, the Delete of a key that does not wait. They are folded only while no
// process runs, and the events that arrived behind them wait with them. The outcome is that
// of client-go, whose producers wait for the lock until process has returned; here they
// have returned long before. An item in flight thus never counts as absent.
//
// A consumer that keeps up finds each Add and Update alone. It then takes it straight from the
// intake and needs the intake's lock only (loneRun).
//
// Lock order: mu, then in.mu. Neither is held while process runs.
type engine struct {
	name        string
	keys        keyer
	known       contract.KeyListerGetter // nil: nothing is known
	transformer contract.TransformFunc
	maxBatch    int
	synced      signal
	// atomicLists means that a list is one event. No event then depends on a process.
	atomicLists bool
	// coalesces means that events are folded before anything is taken, because they may join
	// what waits, and that an ErrRequeue is obeyed. Without it only the order matters, and
	// events need not be folded as long as enough waits.
	coalesces bool

	transforming sync.Mutex
	// hashing asks producers for the hashes of keys: they have the keys in their caches, and
	// there are many producers.
	hashing atomic.Bool
	in      intake

	// unsettled means that pending waits for a process to return. It is written under mu, and
	// read without it by calls of process that end. ended is how many have.
	//
	// A fold that must wait sets unsettled and then looks at ended once more; a process that
	// ends counts in ended and then looks at unsettled. So one of the two sees the other, and
	// what is pending is folded.
	unsettled atomic.Bool
	ended     atomic.Uint64

	arrived sync.Cond // L is mu; a Pop waits for something to take
	quiet   sync.Cond // L is mu; broadcast when no process runs and unsettled was set
	// mu is unlocked by defer where events are folded: KnownObjects may panic.
	mu struct {
		sync.Mutex
		backlog  backlog
		pending  events // taken out of the intake and not folded, because a process runs
		emptied  spares // segments on their way back to the intake
		begun    uint64 // calls of process so far, but for those that loneRun began
		lone     uint64 // those that loneRun had begun when the intake was last emptied
		sleepers int    // Pops that wait for arrived
		yielder  spin.Yielder
		untaken  int // items of the initial list that were not popped yet
		left     int // items of the initial list that were not processed yet
	}
}

// idleLocked reports whether no process runs. It is asked when something is pending. As long
// as the lock is then held, none begins: loneRun begins none from the swap that took out what
// is pending until all of it was taken.
func (e *engine) idleLocked() bool {
	return e.ended.Load() == e.mu.begun+e.mu.lone
}

// backlog holds what waits, in the order in which it is handed out. The engine's lock
// guards it.
type backlog interface {
	// len is how many Pops would empty it.
	len() int
	// adopt makes c, which has no list in it, the content of an empty backlog. It returns false
	// if something must be done with each event: then accept gets them.
	adopt(c events) bool
	// accept folds one event; alone says that no process runs. It returns false, and has
	// done nothing, if the event must wait until no process runs.
	accept(ev *event, alone bool) bool
	// take takes out what waited longest: its key and its Deltas.
	take() (objectKey, any)
	// takeBatch takes out at most limit of what waited longest: one Deltas, or several
	// deltas of different keys.
	takeBatch(limit int) (one any, several []contract.Delta)
	// putBack queues what was taken, before all that came since.
	putBack(key objectKey, deltas contract.Deltas)
}

func (e *engine) init(cfg contract.FIFOConfig, opts Options, name string, l backlog) {
	e.name, e.keys, e.known, e.transformer = opts.Name, newKeyer(cfg.KeyFunc), cfg.KnownObjects,
		opts.Transformer
	if e.name == "" {
		e.name = name
	}
	e.maxBatch = opts.MaxBatch
	if e.maxBatch < 1 {
		e.maxBatch = DefaultMaxBatch
	}
	e.synced.done = make(chan struct{})
	e.arrived.L, e.quiet.L = &e.mu, &e.mu
	e.mu.backlog = l
	e.in.caughtUp.Store(true)
}

// foldLocked folds the events that have arrived. It reports whether one must wait for a
// process to return; the events behind it wait too.
func (e *engine) foldLocked() (blocked bool) {
	if e.drainLocked() {
		return true
	}
	c, lists, first := e.in.swap(&e.mu.emptied, &e.mu.lone)
	if first > 0 {
		e.initialListLocked(e.mu.backlog.len() + first)
	}
	if lists == 0 && c.Len() > 0 && e.mu.backlog.len() == 0 && e.mu.backlog.adopt(c) {
		return false
	}
	e.mu.pending = c
	return e.drainLocked()
}

// drainLocked folds what is pending. It reports whether a process must return first.
func (e *engine) drainLocked() (blocked bool) {
	p := &e.mu.pending
	for ; p.Len() > 0; p.Drop(&e.mu.emptied) {
		ev := p.Front()
		if !e.mu.backlog.accept(ev, e.idleLocked()) {
			e.unsettled.Store(true)
			if !e.idleLocked() {
				return true
			}
			e.mu.backlog.accept(ev, true) // it ended meanwhile
		}
		if ev.kind == relisted && ev.obj.(*relist).first {
			e.initialListLocked(e.mu.backlog.len())
		}
	}
	if e.unsettled.Load() {
		e.unsettled.Store(false)
		e.quiet.Broadcast()
	}
	return false
}

// initialListLocked makes HasSynced wait for the first n of what waits.
func (e *engine) initialListLocked(n int) {
	e.mu.untaken, e.mu.left = n, n
	if n == 0 {
		e.synced.finish()
	}
}

// settle folds a list at once if no process runs: HasSynced may depend on it, and
// KnownObjects may be changed by others than process. Otherwise the list is folded when
// process ends. settle wakes no Pop: put has woken one if any slept, and a Pop that takes
// something passes the wake-up on (beginLocked).
func (e *engine) settle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.foldLocked()
}

// awaitLocked waits until something can be taken, and folds the events that have arrived if
// less than enough waits. The error is ErrFIFOClosed.
func (e *engine) awaitLocked(enough int) error {
	for yielded := false; ; {
		if !e.coalesces && e.mu.backlog.len() >= enough && !e.unsettled.Load() {
			return nil
		}
		switch {
		case e.foldLocked():
			// Nothing more is taken until the processes have returned. Otherwise, with several
			// consumers, there might never be a time at which no process runs.
			e.quiet.Wait()
		case e.mu.backlog.len() > 0:
			return nil
		default:
			// A producer that is about to run saves both sides a wake-up.
			if !yielded && e.mu.yielder.Yield(&e.mu) {
				yielded = true
				continue
			}
			sleep, err := e.in.sleep()
			if err != nil {
				return err
			}
			if sleep {
				e.mu.sleepers++
				e.arrived.Wait()
				e.mu.sleepers--
			}
		}
	}
}

// sleep announces that a Pop goes to sleep; it returns false if something came meanwhile.
// The error is ErrFIFOClosed. The caller holds the engine's lock. A producer needs that
// lock to wake the Pop, so no wake-up comes too early.
func (in *intake) sleep() (bool, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.mu.waiting.Len() > 0:
		return false, nil
	case in.mu.closed:
		return false, contract.ErrFIFOClosed
	}
	in.mu.asleep = true
	return true, nil
}

// run is one call of process.
type run struct {
	isInitial bool
	counted   int // how many of its items are of the initial list
	key       objectKey
	back      contract.Deltas // to be put back; nil: nothing
}

// loneRun begins a call of process with an Add or an Update that waits alone, and returns its
// Deltas. It needs the intake's lock only. It returns nil, and has done nothing, if anything else
// waits.
//
// It skips three steps of a Pop that takes the engine's lock. The event joins no other, because
// none waits. It is not of the initial list, which would be in the backlog, or be an event of
// another kind. No wake-up is passed on: if a Pop slept, put woke one for this event, and that
// Pop looks again before it sleeps again.
func (e *engine) loneRun(r *run) (item any) {
	in := &e.in
	if !in.caughtUp.Load() {
		return nil
	}
	in.lock()
	if in.mu.waiting.Len() != 1 || in.mu.waiting.Front().kind > updated || !in.caughtUp.Load() {
		in.mu.Unlock()
		return nil
	}
	ev := in.mu.waiting.TakeLone()
	item = in.mu.out.one(ev.delta())
	in.mu.lone++
	in.mu.Unlock()
	r.isInitial, r.key = !e.synced.over.Load(), ev.key
	return item
}

// beginLocked is called when n things were taken, before the call of process.
func (e *engine) beginLocked(n int) run {
	r := run{isInitial: !e.synced.over.Load(), counted: min(n, e.mu.untaken)}
	e.mu.untaken -= r.counted
	e.mu.begun++
	if e.mu.backlog.len() == 0 && e.mu.pending.Len() == 0 {
		e.in.caughtUp.Store(true)
	}
	if e.mu.sleepers > 0 {
		// Each wake-up is for one Pop; this one passes it on if more is to be taken.
		if more, err := e.in.sleep(); e.mu.backlog.len() > 0 || !more && err == nil {
			e.arrived.Signal()
		}
	}
	return r
}

// end is called when process has returned or panicked.
func (e *engine) end(r *run) {
	if r.counted > 0 || r.back != nil {
		e.mu.Lock()
		e.accountLocked(r)
		e.mu.Unlock()
	}
	if e.atomicLists { // nothing depends on whether a process runs
		return
	}
	e.ended.Add(1)
	if e.unsettled.Load() {
		e.settleRest()
	}
}

// settleRest folds what waited for a process that has ended, if it was the last one.
func (e *engine) settleRest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unsettled.Load() && e.idleLocked() {
		e.foldLocked()
	}
	e.passOnLocked()
}

// accountLocked puts back what is to be put back, and counts the items of the initial list.
func (e *engine) accountLocked(r *run) {
	if r.back != nil {
		e.in.lock()
		e.in.caughtUp.Store(false)
		e.in.mu.Unlock()
		e.mu.backlog.putBack(r.key, r.back)
	}
	if r.counted > 0 {
		if e.mu.left -= r.counted; e.mu.left == 0 {
			e.synced.finish()
		}
	}
	e.passOnLocked()
}

// passOnLocked wakes a Pop if one sleeps and something can be taken.
func (e *engine) passOnLocked() {
	if e.mu.sleepers > 0 && e.mu.backlog.len() > 0 {
		e.arrived.Signal()
	}
}

// Len is how much waits: things to be handed out, and the events that producers have left
// since the consumer last looked. A list among these events counts as one. Len does not wait
// for process, which may call it. O(1).
func (e *engine) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.in.lock()
	defer e.in.mu.Unlock()
	return e.mu.backlog.len() + e.mu.pending.Len() + e.in.mu.waiting.Len()
}

// read folds all events that have arrived and calls do, which reads the backlog. If one of the
// events depends on a running process, such as a Replace, it waits for the process. It wakes no
// Pop, for the reason that settle gives.
func (e *engine) read(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.foldLocked() {
		e.quiet.Wait()
	}
	do()
}

// Pop waits until something is queued, takes out the Deltas that waited longest, and calls
// process with them. No lock is held meanwhile, so that process may call the FIFO, except
// Pop, PopBatch and the methods that read what waits. It returns the Deltas, which belong to
// the caller, and the error of process. The error is contract.ErrFIFOClosed once the FIFO is
// closed and empty.
//
// Several Pops run their process functions at once.
func (e *engine) Pop(process contract.PopProcessFunc) (any, error) {
	var r run
	item := e.loneRun(&r)
	if item == nil {
		var err error
		if r, item, err = e.waitedRun(); err != nil {
			return nil, err
		}
	}
	defer e.end(&r)
	err := process(item, r.isInitial)
	if err == nil || !e.coalesces {
		return item, err
	}
	if requeue, ok := errors.AsType[ErrRequeue](err); ok {
		r.back, err = item.(contract.Deltas), requeue.Err
	}
	return item, err
}

// waitedRun waits until something can be taken, takes it out and begins a call of process with
// it. The error is ErrFIFOClosed.
func (e *engine) waitedRun() (r run, item any, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.awaitLocked(1); err != nil {
		return run{}, nil, err
	}
	key, item := e.mu.backlog.take()
	r = e.beginLocked(1)
	r.key = key
	return r, item, nil
}

// PopBatch waits as Pop does, and takes out at most Options.MaxBatch deltas of as many keys
// in one go. It hands them to processBatch, to which the slice belongs. A delta that comes
// alone, or several of one key, it hands to processSingle as Deltas. The initial list is not
// mixed with what came later. PopBatch calls one of the two functions, once, and returns
// its error; nothing is put back.
func (e *engine) PopBatch(processBatch contract.ProcessBatchFunc,
	processSingle contract.PopProcessFunc) error {
	var r run
	var several []contract.Delta
	one := e.loneRun(&r)
	if one == nil {
		var err error
		if one, several, err = e.waitedBatch(&r); err != nil {
			return err
		}
	}
	defer e.end(&r)
	if one != nil {
		return processSingle(one, r.isInitial)
	}
	return processBatch(several, r.isInitial)
}

// waitedBatch is waitedRun for PopBatch: what it takes out is one Deltas or several deltas.
func (e *engine) waitedBatch(r *run) (one any, several []contract.Delta, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.awaitLocked(e.maxBatch); err != nil {
		return nil, nil, err
	}
	limit := e.maxBatch
	if e.mu.untaken > 0 {
		limit = min(limit, e.mu.untaken)
	}
	one, several = e.mu.backlog.takeBatch(limit)
	*r = e.beginLocked(max(1, len(several)))
	return one, several, nil
}

// HasSynced reports whether the first batch of objects was popped and processed: that of
// the first Replace, or an empty one if Add, Update, Delete or AddIfNotPresent was called
// before. It never blocks.
func (e *engine) HasSynced() bool {
	return e.synced.over.Load()
}

// HasSyncedChecker gives HasSynced as a channel to wait for.
func (e *engine) HasSyncedChecker() cache.DoneChecker { return e }

// Name is Options.Name; it is part of cache.DoneChecker.
func (e *engine) Name() string { return e.name }

// Done is closed when HasSynced becomes true; it is part of cache.DoneChecker.
func (e *engine) Done() <-chan struct{} { return e.synced.done }

// Transformer returns Options.Transformer.
func (e *engine) Transformer() contract.TransformFunc { return e.transformer }

// deletion is the delta of an object whose deletion was missed. A tombstone that
// waited is unwrapped: the consumer looks for the object inside.
func deletion(key string, obj any) contract.Delta {
	if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	return contract.Delta{Type: contract.Deleted,
		Object: contract.DeletedFinalStateUnknown{Key: key, Obj: obj}}
}

// reportLookup hands a failed look-up to apimachinery's handlers, because a
// Reflector could do nothing with the error. A key that is merely gone is no error:
// the store may have been changed from elsewhere.
func reportLookup(logger klog.Logger, key string, err error) {
	if err != nil {
		utilruntime.HandleErrorWithLogger(logger, err, "Looking up a known object", "key", key)
	}
}
