package contract

// The data types are client-go's, by alias: code written for client-go's
// tools/cache compiles against this package, and vice versa.

import "k8s.io/client-go/tools/cache"

type (
	// Indexers maps an index's name to the function that computes its values.
	Indexers = cache.Indexers
	// IndexFunc computes the values under which an object is indexed.
	IndexFunc = cache.IndexFunc
	// KeyFunc computes the key under which an object is stored.
	KeyFunc = cache.KeyFunc
	// KeyError wraps the error of a KeyFunc; it carries the object.
	KeyError = cache.KeyError
	// ExplicitKey stands in for an object when only its key is known.
	ExplicitKey = cache.ExplicitKey

	// Delta is one change of one object.
	Delta = cache.Delta
	// Deltas are the changes of one object, oldest first.
	Deltas = cache.Deltas
	// DeltaType names the kind of a change.
	DeltaType = cache.DeltaType
	// DeletedFinalStateUnknown is the tombstone of an object whose deletion was missed.
	DeletedFinalStateUnknown = cache.DeletedFinalStateUnknown
	// ReplacedAllInfo is the object of a ReplacedAll delta.
	ReplacedAllInfo = cache.ReplacedAllInfo
	// SyncAllInfo is the object of a SyncAll delta.
	SyncAllInfo = cache.SyncAllInfo

	// PopProcessFunc handles the result of one Pop.
	PopProcessFunc = cache.PopProcessFunc
	// ProcessBatchFunc handles the result of one PopBatch.
	ProcessBatchFunc = cache.ProcessBatchFunc
	// TransformFunc changes an object before it is queued.
	TransformFunc = cache.TransformFunc
	// KeyListerGetter is the view of the consumer's store that a FIFO is given.
	KeyListerGetter = cache.KeyListerGetter

	// StoreTransaction is one write of a batch, with its key.
	StoreTransaction = cache.ThreadSafeStoreTransaction
	// Transaction is one write of a batch, keyless.
	Transaction = cache.Transaction
	// TransactionType says whether a write of a batch adds, updates or deletes.
	TransactionType = cache.TransactionType
)

// The kinds of change, as client-go names them.
const (
	Added       = cache.Added
	Updated     = cache.Updated
	Deleted     = cache.Deleted
	Replaced    = cache.Replaced
	ReplacedAll = cache.ReplacedAll
	Sync        = cache.Sync
	SyncAll     = cache.SyncAll
	Bookmark    = cache.Bookmark

	TransactionTypeAdd    = cache.TransactionTypeAdd
	TransactionTypeUpdate = cache.TransactionTypeUpdate
	TransactionTypeDelete = cache.TransactionTypeDelete
)

// ErrFIFOClosed is the error that Pop returns once the FIFO is closed and empty.
var ErrFIFOClosed = cache.ErrFIFOClosed
