package contract

// FIFO is the queue that a Reflector fills and a Controller drains. *cache.DeltaFIFO and
// *cache.RealFIFO satisfy it.
//
// Any number of goroutines may call the methods at once. Pop is meant for one consumer: several
// share what comes (FIFO-21), and then handle events of one key in no certain order. A nil object
// is queued if KeyFunc gives it a key, which MetaNamespaceKeyFunc does not (FIFO-8, FIFO-11).
// Close stops no producer (FIFO-64). Clauses FIFO-*.
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

// FIFOConfig holds the arguments of a FIFO's constructor.
type FIFOConfig struct {
	// KeyFunc computes an object's key; nil means cache.MetaNamespaceKeyFunc.
	KeyFunc KeyFunc
	// KnownObjects lists the objects of the consumer's store. The FIFO needs it to find the
	// deletions that a Replace implies and the objects that a Resync queues. It may be nil.
	KnownObjects KeyListerGetter
}

// FIFOClass says what a FIFO promises about the order and number of the deltas
// that come out. A catalog entry declares its class and the suites test it.
type FIFOClass string

const (
	// Coalescing promises that one Pop returns all waiting events of one key. Keys come out
	// in the order in which they began to wait (DeltaFIFO).
	Coalescing FIFOClass = "coalescing"
	// InOrder promises that every event comes out by itself, in the order of arrival.
	// Replace becomes one event per object (RealFIFO without atomic events).
	InOrder FIFOClass = "in-order"
	// InOrderAtomic promises the same as InOrder, but a Replace is one ReplacedAll event
	// and a Resync one SyncAll event. KnownObjects is not used (RealFIFO's default since
	// client-go 1.36).
	InOrderAtomic FIFOClass = "in-order-atomic"
)

// FIFOClasses lists the classes, for messages and checks.
func FIFOClasses() []FIFOClass { return []FIFOClass{Coalescing, InOrder, InOrderAtomic} }

// BatchPopper is a FIFO that hands out several events at once.
type BatchPopper interface {
	PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error
}

// KeyedQueue is the Queue interface of client-go v0.17. Its callers can read the waiting
// Deltas and put popped Deltas back.
type KeyedQueue interface {
	FIFO
	// AddIfNotPresent puts Deltas back unless newer ones wait under their key.
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
