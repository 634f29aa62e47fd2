package contract

// Store is the thread-safe indexed store: string keys to objects, with any
// number of secondary indexes. cache.ThreadSafeStore satisfies it as it is.
//
// Every method may be called by any number of goroutines at once. Objects are
// shared, not copied: whoever gets one must not change it. Clauses STORE-*.
//
// When IndexFuncs are called, with client-go v0.37.2 and what this contract asks for:
//
//   - Add, Update, Delete, Transaction, Replace and AddIndexers call them one at a time,
//     on any objects, old or new (STORE-48; client-go: under its write lock).
//   - Index calls one on the reader's goroutine, at the same time as other calls of Index
//     (client-go: under its read lock). A store may also do so beside a write, which
//     client-go does not: so an IndexFunc with state needs a lock of its own where
//     several goroutines call Index, or one does beside writers.
//   - The slice that an IndexFunc returns is the IndexFunc's. A store copies what it keeps
//     beyond the call (STORE-47; client-go does not where an Update moves an object).
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

// Transactor is a Store that applies a batch of writes in one go: readers see
// none of them or all, and the cost of entering the store is paid once.
type Transactor interface {
	Transaction(txns ...StoreTransaction)
}

// ObjectDeleter is a Store whose Delete can be given the deleted object, from
// which it takes the resource version.
type ObjectDeleter interface {
	DeleteWithObject(key string, obj any)
}

// ResourceVersioner is a Store that remembers the newest resource version that
// it was given. client-go's answers "" unless its AtomicFIFO gate is on.
type ResourceVersioner interface {
	Bookmark(rv string)
	LastStoreSyncResourceVersion() string
}
