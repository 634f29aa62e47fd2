package cache

import (
	"cmp"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// RealFIFO is a queue of objects' changes that hands out every change, in the order in which
// they came. It has client-go's methods over a deltafifo.InOrder, in which no producer waits
// for Pop's process: see the comment of package queue/deltafifo.
//
// All methods may be called by any number of goroutines at once. Make one with
// NewRealFIFOWithOptions.
type RealFIFO struct {
	fifo    *deltafifo.InOrder
	meter   *meter      // nil: no metrics
	popping sync.Locker // held by Pop and PopBatch
}

var (
	_ QueueWithBatch         = (*RealFIFO)(nil)
	_ TransformingStore      = (*RealFIFO)(nil)
	_ ReflectorBookmarkStore = (*RealFIFO)(nil)
	_ DoneChecker            = (*RealFIFO)(nil)
)

// NewRealFIFO is NewRealFIFOWithOptions for three of its options. knownObjects must not be
// nil.
//
// Deprecated: use NewRealFIFOWithOptions.
func NewRealFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter,
	transformer TransformFunc) *RealFIFO {
	return NewRealFIFOWithOptions(
		RealFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects, Transformer: transformer})
}

// NewRealFIFOWithOptions returns an empty FIFO. It starts no goroutine. It panics if the
// options contradict each other.
//
//   - KeyFunction: nil means MetaNamespaceKeyFunc.
//   - AtomicEvents: Replace is one ReplacedAll delta, and Resync one SyncAll delta.
//   - KnownObjects: needed without AtomicEvents, and must be nil with it.
//   - UnlockWhileProcessing: needs AtomicEvents. Several Pops may call process at once; without
//     it, one at a time does. No producer waits for process, with it or without.
//   - EmitDeltaTypeBookmark: needs AtomicEvents. Bookmark queues a Bookmark delta, and does
//     nothing without it.
//   - Transformer: changes each object before anything else sees it, one call at a time. It
//     does not get tombstones and resynced objects.
//   - Identifier and MetricsProvider: the length of the FIFO and the seconds that each call of
//     process takes are published. A nil provider is that of SetInformerMetricsProvider. An
//     identifier that is not reserved means no metrics, and no cost.
//   - Name: what HasSyncedChecker calls the FIFO, if the identifier has no name; "" means
//     RealFIFO.
//   - Logger: nil means klog.Background(). It is told of known objects whose look-up fails.
func NewRealFIFOWithOptions(opts RealFIFOOptions) *RealFIFO {
	switch {
	case opts.AtomicEvents && opts.KnownObjects != nil:
		panic("cache.NewRealFIFOWithOptions: KnownObjects must be nil with AtomicEvents, which needs " +
			"none")
	case !opts.AtomicEvents && opts.KnownObjects == nil:
		panic("cache.NewRealFIFOWithOptions: KnownObjects is missing, which is needed without " +
			"AtomicEvents")
	case !opts.AtomicEvents && opts.UnlockWhileProcessing:
		panic("cache.NewRealFIFOWithOptions: UnlockWhileProcessing needs AtomicEvents")
	case !opts.AtomicEvents && opts.EmitDeltaTypeBookmark:
		panic("cache.NewRealFIFOWithOptions: EmitDeltaTypeBookmark needs AtomicEvents")
	}
	name := cmp.Or(opts.Identifier.Name(), opts.Name, "RealFIFO")
	f := &RealFIFO{fifo: deltafifo.NewInOrder(
		contract.FIFOConfig{KeyFunc: opts.KeyFunction, KnownObjects: opts.KnownObjects},
		deltafifo.Options{
			Name: name, Transformer: opts.Transformer, Logger: named(opts.Logger, name),
			Atomic: opts.AtomicEvents, Bookmarks: opts.EmitDeltaTypeBookmark,
		})}
	f.popping = &sync.Mutex{}
	if opts.UnlockWhileProcessing {
		f.popping = unlocked{}
	}
	f.meter = newMeter(opts.Identifier, informer.MetricsProviderOr(opts.MetricsProvider), f.fifo.Len)
	return f
}

// unlocked is no lock.
type unlocked struct{}

func (unlocked) Lock()   {}
func (unlocked) Unlock() {}

// Add queues an Added delta. The error is a KeyError or the transformer's, and then nothing is
// queued.
func (f *RealFIFO) Add(obj any) error {
	defer f.meter.changed()
	return f.fifo.Add(obj)
}

// Update queues an Updated delta; errors as for Add.
func (f *RealFIFO) Update(obj any) error {
	defer f.meter.changed()
	return f.fifo.Update(obj)
}

// Delete queues a Deleted delta, for an object or a tombstone; errors as for Add.
func (f *RealFIFO) Delete(obj any) error {
	defer f.meter.changed()
	return f.fifo.Delete(obj)
}

// Replace queues a Deleted delta with a tombstone for each object that waits or is known and
// is not listed, and then a Replaced delta for each object of newItems. With AtomicEvents it
// queues one ReplacedAll delta with newItems. Errors as for Add.
func (f *RealFIFO) Replace(newItems []any, resourceVersion string) error {
	defer f.meter.changed()
	return f.fifo.Replace(slices.Clone(newItems), resourceVersion)
}

// Resync queues a Sync delta for each known object that does not wait or, with AtomicEvents,
// one SyncAll delta. The error is always nil.
func (f *RealFIFO) Resync() error {
	defer f.meter.changed()
	return f.fifo.Resync()
}

// Bookmark queues a Bookmark delta, if EmitDeltaTypeBookmark is set. The error is always nil.
func (f *RealFIFO) Bookmark(resourceVersion string) error {
	defer f.meter.changed()
	return f.fifo.Bookmark(resourceVersion)
}

// Pop waits until something is queued, takes out the oldest delta and calls process with it,
// as Deltas of one. It returns these, and the error of process. The error is ErrFIFOClosed
// once the FIFO is closed and empty.
//
// One Pop or PopBatch at a time runs, unless UnlockWhileProcessing is set. process must not call
// them, but may call every other method.
func (f *RealFIFO) Pop(process PopProcessFunc) (any, error) {
	f.popping.Lock()
	defer f.popping.Unlock()
	return f.fifo.Pop(f.measured(process))
}

// PopBatch is Pop for up to 1,000 deltas of as many objects at once, which it hands to
// processBatch. A delta that comes alone, such as a ReplacedAll, goes to processSingle. It
// returns the error of the function that it called, or ErrFIFOClosed.
func (f *RealFIFO) PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error {
	f.popping.Lock()
	defer f.popping.Unlock()
	return f.fifo.PopBatch(func(deltas []Delta, isInInitialList bool) error {
		return f.meter.measure(func() error { return processBatch(deltas, isInInitialList) })
	}, f.measured(processSingle))
}

func (f *RealFIFO) measured(process PopProcessFunc) PopProcessFunc {
	if f.meter == nil {
		return process
	}
	return func(obj any, isInInitialList bool) error {
		return f.meter.measure(func() error { return process(obj, isInInitialList) })
	}
}

// HasSynced reports whether the objects of the first Replace were popped and processed, or
// whether Add, Update or Delete was called before any Replace. It never blocks.
func (f *RealFIFO) HasSynced() bool { return f.fifo.HasSynced() }

// HasSyncedChecker gives HasSynced as a channel to wait for.
func (f *RealFIFO) HasSyncedChecker() DoneChecker { return f }

// Name returns the name that NewRealFIFOWithOptions chose.
func (f *RealFIFO) Name() string { return f.fifo.Name() }

// Done is closed when HasSynced becomes true.
func (f *RealFIFO) Done() <-chan struct{} { return f.fifo.Done() }

// Transformer returns RealFIFOOptions.Transformer.
func (f *RealFIFO) Transformer() TransformFunc { return f.fifo.Transformer() }

// Close makes Pop and PopBatch return ErrFIFOClosed once nothing waits.
func (f *RealFIFO) Close() { f.fifo.Close() }

// IsClosed reports whether Close was called.
func (f *RealFIFO) IsClosed() bool { return f.fifo.IsClosed() }
