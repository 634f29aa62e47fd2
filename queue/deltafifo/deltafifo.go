package deltafifo

// The type, its construction, and the methods of producers. pop.go has the
// consumer's side, relist.go Replace and Resync, keyed.go the readable queue.

import (
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
)

// Options are the choices that contract.FIFOConfig does not have. The zero value
// is what an informer wants.
type Options struct {
	// Name is what HasSyncedChecker calls the FIFO; "" means "DeltaFIFO".
	Name string
	// Transformer changes each object given to Add, Update, Delete and Replace, once and
	// before anything else sees it, one call at a time. Tombstones and resynced objects were
	// transformed before. A DeltaFIFO calls it under its lock, so that it must not call the
	// FIFO. The others call it under a lock of its own: it must not call these four methods.
	Transformer contract.TransformFunc
	// SyncOnReplace makes Replace emit Sync instead of Replaced deltas, for
	// consumers written before Replaced existed (client-go before v0.18). InOrder
	// ignores it.
	SyncOnReplace bool
	// Atomic makes an InOrder one of class contract.InOrderAtomic: a Replace is one
	// ReplacedAll event, a Resync one SyncAll event, and KnownObjects is not used. The
	// others ignore it.
	Atomic bool
	// Bookmarks makes an InOrder queue a Bookmark delta for each call of Bookmark, which
	// otherwise does nothing. The other FIFOs have no Bookmark.
	Bookmarks bool
	// RepeatKeys lets a batch of an InOrder hold several events of one key, in their order, for
	// consumers that apply them so: hot keys do not end a batch. Client-go's informer before v0.38
	// is no such consumer. The others ignore it.
	RepeatKeys bool
	// MaxBatch is the most deltas that a PopBatch hands out; 0 means DefaultMaxBatch.
	// DeltaFIFO has no PopBatch.
	MaxBatch int
	// Logger is told of known objects whose look-up fails; nil means klog.Background().
	Logger *klog.Logger
}

func (o Options) logger() klog.Logger {
	if o.Logger == nil {
		return klog.Background()
	}
	return *o.Logger
}

// DefaultMaxBatch is what client-go's RealFIFO hands out at once.
const DefaultMaxBatch = 1000

// DeltaFIFO is a contract.FIFO of class contract.Coalescing.
//
// All methods may be called by any number of goroutines. Several may Pop, but the deltas of
// one key are then processed in no certain order. process, the transformer and KnownObjects
// run under the lock. They must not call the FIFO, except HasSynced, HasSyncedChecker,
// Done, KeyOf and Transformer.
type DeltaFIFO struct {
	name        string
	keyFunc     contract.KeyFunc
	known       contract.KeyListerGetter // nil: nothing is known
	logger      klog.Logger
	transformer contract.TransformFunc
	replaced    contract.DeltaType // what a Replace emits
	synced      <-chan struct{}    // mu.initial closes it

	arrived sync.Cond // L is mu; one Signal for each accumulator pushed
	mu      struct {
		sync.Mutex
		// A key is in waiting exactly when its accumulator is in order.
		waiting map[string]*accumulator
		order   ring[*accumulator]
		relists uint64 // number of Replaces so far
		initial initialList
		closed  bool
	}
}

var (
	_ contract.FIFO           = (*DeltaFIFO)(nil)
	_ contract.KeyedQueue     = (*DeltaFIFO)(nil)
	_ cache.Queue             = (*DeltaFIFO)(nil)
	_ cache.TransformingStore = (*DeltaFIFO)(nil)
	_ cache.DoneChecker       = (*DeltaFIFO)(nil)
)

// New returns an empty FIFO. It starts no goroutine.
func New(cfg contract.FIFOConfig, opts Options) *DeltaFIFO {
	f := &DeltaFIFO{
		name:        opts.Name,
		keyFunc:     cfg.KeyFunc,
		known:       cfg.KnownObjects,
		logger:      opts.logger(),
		transformer: opts.Transformer,
		replaced:    contract.Replaced,
	}
	if f.name == "" {
		f.name = "DeltaFIFO"
	}
	if f.keyFunc == nil {
		f.keyFunc = cache.MetaNamespaceKeyFunc
	}
	if opts.SyncOnReplace {
		f.replaced = contract.Sync
	}
	f.arrived.L = &f.mu
	f.mu.waiting = map[string]*accumulator{}
	f.mu.initial.done = make(chan struct{})
	f.synced = f.mu.initial.done
	return f
}

// Add queues an Added delta. The error is a KeyError or the transformer's, and
// then nothing is queued. Clauses FIFO-5, FIFO-8, FIFO-55.
func (f *DeltaFIFO) Add(obj any) error { return f.produce(contract.Added, obj) }

// Update queues an Updated delta; errors as for Add.
func (f *DeltaFIFO) Update(obj any) error { return f.produce(contract.Updated, obj) }

// Delete queues a Deleted delta for an object or a tombstone, unless its key
// neither waits nor is known: a Replace has then reported the deletion already.
// Errors as for Add. Clauses FIFO-28 to FIFO-31.
func (f *DeltaFIFO) Delete(obj any) error { return f.produce(contract.Deleted, obj) }

func (f *DeltaFIFO) produce(kind contract.DeltaType, obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if kind == contract.Deleted && !f.existsLocked(key) {
		f.mu.initial.begin(0)
		return nil
	}
	if obj, err = f.transformLocked(obj); err != nil {
		return err
	}
	f.mu.initial.begin(0)
	f.enqueueLocked(key, contract.Delta{Type: kind, Object: obj})
	return nil
}

// existsLocked reports whether a deletion of key is news to the consumer. A
// look-up that fails counts as yes: an extra deletion does no harm.
func (f *DeltaFIFO) existsLocked(key string) bool {
	if f.mu.waiting[key] != nil {
		return true
	}
	if f.known == nil {
		return false
	}
	_, exists, err := f.known.GetByKey(key)
	return exists || err != nil
}

func (f *DeltaFIFO) transformLocked(obj any) (any, error) {
	if f.transformer == nil {
		return obj, nil
	}
	if _, isTombstone := obj.(contract.DeletedFinalStateUnknown); isTombstone {
		return obj, nil
	}
	return f.transformer(obj)
}

// enqueueLocked appends d to what waits under key.
func (f *DeltaFIFO) enqueueLocked(key string, d contract.Delta) *accumulator {
	a := f.mu.waiting[key]
	if a == nil {
		a = newAccumulator(key)
		f.pushLocked(a)
	}
	a.add(d)
	return a
}

// pushLocked queues a. One Signal for each push is enough for any number of Pops: a Pop
// that is woken takes one accumulator, and any other looks into the ring before it waits.
func (f *DeltaFIFO) pushLocked(a *accumulator) {
	f.mu.waiting[a.key] = a
	f.mu.order.push(a)
	f.arrived.Signal()
}

// KeyOf returns the key of an object, of a tombstone (its Key) or of Deltas (that
// of the newest). The error is a KeyError.
func (f *DeltaFIFO) KeyOf(obj any) (string, error) {
	of := obj
	if deltas, ok := of.(contract.Deltas); ok {
		if len(deltas) == 0 {
			return "", contract.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
		}
		of = deltas.Newest().Object
	}
	if tombstone, ok := of.(contract.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	key, err := f.keyFunc(of)
	if err != nil {
		return "", contract.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// Transformer returns Options.Transformer. It is there for the Reflector, which transforms
// with it the objects that it gathers before a Replace.
func (f *DeltaFIFO) Transformer() contract.TransformFunc { return f.transformer }

// Len is how many keys wait. process must not call it. O(1).
func (f *DeltaFIFO) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.order.len()
}

// Close makes Pop return ErrFIFOClosed once nothing waits. What is added later is
// still queued, as in client-go.
func (f *DeltaFIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.closed = true
	f.arrived.Broadcast()
}
