package cache

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// DeltaFIFO is a queue of objects' changes. Pop hands out all changes of one object at once,
// as Deltas. It has client-go's methods over a deltafifo.Coalescing, in which no producer
// waits for Pop's process: see the comment of package queue/deltafifo.
//
// All methods may be called by any number of goroutines at once. Make one with
// NewDeltaFIFOWithOptions.
type DeltaFIFO struct {
	fifo    *deltafifo.Coalescing
	keyFunc KeyFunc
	popping sync.Mutex // held by Pop, so that process runs one call at a time
}

var (
	_ Queue             = (*DeltaFIFO)(nil)
	_ TransformingStore = (*DeltaFIFO)(nil)
	_ DoneChecker       = (*DeltaFIFO)(nil)
)

// NewDeltaFIFO is NewDeltaFIFOWithOptions without EmitDeltaTypeReplaced: Replace emits Sync.
//
// Deprecated: use NewDeltaFIFOWithOptions.
func NewDeltaFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects})
}

// NewDeltaFIFOWithOptions returns an empty FIFO. It starts no goroutine.
//
//   - KeyFunction: nil means MetaNamespaceKeyFunc.
//   - KnownObjects: nil means that nothing is known, so that Delete drops what does not wait.
//   - EmitDeltaTypeReplaced: Replace emits Replaced deltas, and without it Sync.
//   - Transformer: changes each object before anything else sees it, one call at a time. It
//     does not get tombstones and resynced objects.
//   - Name: "" means DeltaFIFO.
//   - Logger: nil means klog.Background(). It is told of known objects whose look-up fails.
func NewDeltaFIFOWithOptions(opts DeltaFIFOOptions) *DeltaFIFO {
	if opts.KeyFunction == nil {
		opts.KeyFunction = MetaNamespaceKeyFunc
	}
	name := opts.Name
	if name == "" {
		name = "DeltaFIFO"
	}
	return &DeltaFIFO{
		keyFunc: opts.KeyFunction,
		fifo: deltafifo.NewCoalescing(
			contract.FIFOConfig{KeyFunc: opts.KeyFunction, KnownObjects: opts.KnownObjects},
			deltafifo.Options{
				Name: name, Transformer: opts.Transformer, SyncOnReplace: !opts.EmitDeltaTypeReplaced,
				Logger: named(opts.Logger, name),
			}),
	}
}

// named returns a logger with a FIFO's name.
func named(logger *klog.Logger, name string) *klog.Logger {
	if logger == nil {
		return new(klog.LoggerWithName(klog.Background(), name))
	}
	return new(klog.LoggerWithName(*logger, name))
}

// Add queues an Added delta. The error is a KeyError or the transformer's, and then nothing is
// queued.
func (f *DeltaFIFO) Add(obj any) error { return f.fifo.Add(obj) }

// Update queues an Updated delta; errors as for Add.
func (f *DeltaFIFO) Update(obj any) error { return f.fifo.Update(obj) }

// Delete queues a Deleted delta, unless the object neither waits nor is known; errors as for
// Add. obj may be a tombstone.
func (f *DeltaFIFO) Delete(obj any) error { return f.fifo.Delete(obj) }

// Replace queues a delta for each object of list, and a Deleted delta with a tombstone for
// each object that waits or is known and is not listed; errors as for Add.
func (f *DeltaFIFO) Replace(list []any, resourceVersion string) error {
	return f.fifo.Replace(slices.Clone(list), resourceVersion)
}

// Resync queues a Sync delta for each known object that does not wait. The error is always
// nil.
func (f *DeltaFIFO) Resync() error { return f.fifo.Resync() }

// Pop waits until something is queued, takes out the Deltas that waited longest and calls
// process with them. It returns the Deltas, and the error of process. The error is
// ErrFIFOClosed once the FIFO is closed and empty.
//
// One Pop at a time runs: process must not call Pop, but may call every other method.
func (f *DeltaFIFO) Pop(process PopProcessFunc) (any, error) {
	f.popping.Lock()
	defer f.popping.Unlock()
	var failed error // kept from the queue below, which has a meaning for contract.ErrRequeue
	item, err := f.fifo.Pop(func(obj any, isInInitialList bool) error {
		failed = process(obj, isInInitialList)
		return nil
	})
	return item, cmp.Or(err, failed)
}

// KeyOf returns the key of an object, of a tombstone (its Key) or of Deltas (that of the
// newest). The error is the key function's, or a KeyError for empty Deltas.
func (f *DeltaFIFO) KeyOf(obj any) (string, error) {
	if deltas, ok := obj.(Deltas); ok {
		if len(deltas) == 0 {
			return "", KeyError{Obj: obj, Err: ErrZeroLengthDeltasObject}
		}
		obj = deltas.Newest().Object
	}
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return f.keyFunc(obj)
}

// HasSynced reports whether the objects of the first Replace were popped and processed, or
// whether Add, Update or Delete was called before any Replace. It never blocks.
func (f *DeltaFIFO) HasSynced() bool { return f.fifo.HasSynced() }

// HasSyncedChecker gives HasSynced as a channel to wait for.
func (f *DeltaFIFO) HasSyncedChecker() DoneChecker { return f }

// Name returns DeltaFIFOOptions.Name.
func (f *DeltaFIFO) Name() string { return f.fifo.Name() }

// Done is closed when HasSynced becomes true.
func (f *DeltaFIFO) Done() <-chan struct{} { return f.fifo.Done() }

// Transformer returns DeltaFIFOOptions.Transformer.
func (f *DeltaFIFO) Transformer() TransformFunc { return f.fifo.Transformer() }

// Close makes Pop return ErrFIFOClosed once nothing waits.
func (f *DeltaFIFO) Close() { f.fifo.Close() }

// IsClosed reports whether Close was called.
func (f *DeltaFIFO) IsClosed() bool { return f.fifo.IsClosed() }
