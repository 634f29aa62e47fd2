package contract

// FIFO is what a Reflector fills and a Controller drains. *cache.DeltaFIFO and
// *cache.RealFIFO satisfy it.
//
// Any number of goroutines may call the producing methods at once; Pop is
// meant for one consumer. Clauses FIFO-*.
type FIFO interface {
	Add(obj any) error
	Update(obj any) error
	Delete(obj any) error
	Replace(items []any, resourceVersion string) error
	Resync() error
	Pop(process PopProcessFunc) (any, error)
	HasSynced() bool
	Close()
}

// FIFOConfig is what a FIFO's constructor is given.
type FIFOConfig struct {
	// KeyFunc computes an object's key; nil means cache.MetaNamespaceKeyFunc.
	KeyFunc KeyFunc
	// KnownObjects is the store's view, used to tell deletions that a Replace
	// implies and the objects of a Resync. It may be nil.
	KnownObjects KeyListerGetter
}

// FIFOClass says what a FIFO promises about the order and number of the deltas
// that come out. A catalog entry declares its class and the suites test it.
type FIFOClass string

const (
	// Coalescing promises: what happened to one key while it waited comes out in one
	// Pop, keys in the order in which they began to wait (DeltaFIFO).
	Coalescing FIFOClass = "coalescing"
	// InOrder promises: every event comes out by itself, in the order of arrival;
	// Replace becomes one event per object (RealFIFO without atomic events).
	InOrder FIFOClass = "in-order"
	// InOrderAtomic promises: as InOrder, but a Replace is one ReplacedAll event and a
	// Resync one SyncAll event, and KnownObjects is not used (RealFIFO's default
	// since client-go 1.36).
	InOrderAtomic FIFOClass = "in-order-atomic"
)

// FIFOClasses lists the classes, for messages and checks.
func FIFOClasses() []FIFOClass { return []FIFOClass{Coalescing, InOrder, InOrderAtomic} }

// BatchPopper is a FIFO that hands out several events at once.
type BatchPopper interface {
	PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error
}

// KeyedQueue is the whole Queue that client-go's DeltaFIFO had when its
// accumulators could still be read and put back (v0.17).
type KeyedQueue interface {
	FIFO
	// AddIfNotPresent puts Deltas back unless the key has newer ones.
	AddIfNotPresent(obj any) error
	// List returns the newest object of each waiting key.
	List() []any
	// ListKeys returns the waiting keys.
	ListKeys() []string
	// Get returns the Deltas that wait under obj's key.
	Get(obj any) (item any, exists bool, err error)
	// GetByKey returns the Deltas that wait under key.
	GetByKey(key string) (item any, exists bool, err error)
	// IsClosed reports whether Close was called.
	IsClosed() bool
}
