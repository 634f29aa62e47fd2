package contract

// Store is the thread-safe indexed store: string keys to objects, with any number of
// secondary indexes. cache.ThreadSafeStore satisfies it as it is.
//
// Any number of goroutines may call every method at once. Objects are shared, not copied,
// so callers must not change them. A nil object is kept under its key, in no index (STORE-54).
// Clauses STORE-*.
//
// How a store calls IndexFuncs, by this contract and in client-go v0.37.2:
//
//   - Add, Update, Delete, Transaction, Replace and AddIndexers call them one at a time,
//     on any objects, old or new (STORE-48; client-go: under its write lock).
//   - Index calls an IndexFunc on the reader's goroutine, at the same time as other calls of
//     Index (client-go: under its read lock). A store may also do so during a write; client-go
//     does not. So an IndexFunc with state needs a lock of its own if several goroutines call
//     Index, or if one calls Index beside writers.
//   - The slice that an IndexFunc returns belongs to the IndexFunc. A store copies what it
//     keeps beyond the call (STORE-47; client-go does not where an Update moves an object).
//   - If Index runs beside writers, or several calls of it at once, the IndexFunc must not write
//     a slice again that it returned. A lock of its own does not help there: the store reads the
//     slice after the IndexFunc has returned, while another call may run.
type Store interface {
	Add(key string, obj any)
	Update(key string, obj any)
	Delete(key string)
	Get(key string) (item any, exists bool)
	List() []any
	ListKeys() []string
	Replace(items map[string]any, resourceVersion string)
	Index(indexName string, obj any) ([]any, error)
	IndexKeys(indexName, indexedValue string) ([]string, error)
	ListIndexFuncValues(indexName string) []string
	ByIndex(indexName, indexedValue string) ([]any, error)
	GetIndexers() Indexers
	AddIndexers(newIndexers Indexers) error
	Resync() error
}

// Transactor is a Store that applies a batch of writes atomically: readers see none of them
// or all. The batch enters the store (takes its lock, say) once.
type Transactor interface {
	Transaction(txns ...StoreTransaction)
}

// Appender is a Store whose lists can lie in memory of the caller's. A caller that looks
// through a list and keeps few of its objects then leaves no garbage.
type Appender interface {
	// AppendList appends what List returns to dst, and returns the longer slice.
	AppendList(dst []any) []any
	// AppendByIndex appends what ByIndex returns. With an error it returns dst.
	AppendByIndex(dst []any, indexName, indexedValue string) ([]any, error)
}

// ObjectDeleter is a Store whose Delete can take the deleted object. The store reads the
// resource version from that object.
type ObjectDeleter interface {
	DeleteWithObject(key string, obj any)
}

// ResourceVersioner is a Store that remembers the newest resource version that it was
// given. client-go's store returns "" unless its AtomicFIFO gate is on.
type ResourceVersioner interface {
	Bookmark(rv string)
	LastStoreSyncResourceVersion() string
}
