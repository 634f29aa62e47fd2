package deltafifo

import (
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
	// transformed before. It is called under a lock of its own: it must not call these methods.
	Transformer contract.TransformFunc
	// SyncOnReplace makes Replace emit Sync instead of Replaced deltas, for
	// consumers written before Replaced existed (client-go before v0.18). InOrder
	// ignores it.
	SyncOnReplace bool
	// Atomic makes an InOrder one of class contract.InOrderAtomic: a Replace is one
	// ReplacedAll event, a Resync one SyncAll event, and KnownObjects is not used. A Coalescing
	// ignores it.
	Atomic bool
	// Bookmarks makes an InOrder queue a Bookmark delta for each call of Bookmark, which
	// otherwise does nothing. A Coalescing has no Bookmark.
	Bookmarks bool
	// RepeatKeys lets a batch of an InOrder hold several events of one key, in their order, for
	// consumers that apply them so: hot keys do not end a batch. Client-go's informer before v0.38
	// is no such consumer. A Coalescing ignores it.
	RepeatKeys bool
	// MaxBatch is the most deltas that a PopBatch hands out; 0 means DefaultMaxBatch.
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

// ErrRequeue makes the Pop of a Coalescing put back the Deltas that process was given.
type ErrRequeue = contract.ErrRequeue
