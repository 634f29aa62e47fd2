package indexer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Options configures an Indexer. The zero value is client-go's default.
type Options struct {
	// Transformer changes each object on its way into the store; nil leaves it as
	// it is. It sees the object after the KeyFunc has, so it does not change keys.
	// It must be idempotent: the FIFO before may have the same transformer.
	Transformer contract.TransformFunc
	// WrapIndexers replaces the argument of AddIndexers before the store gets it. It must
	// not change its argument. Nil: the store gets the argument itself.
	WrapIndexers func(contract.Indexers) contract.Indexers
	// HideVersion makes LastStoreSyncResourceVersion return "" for as long as it returns true: the
	// store's version may be newer than what the store holds. Nil: it never does.
	HideVersion func() bool
}

// Indexer is a cache.Indexer over a contract.Store.
type Indexer struct {
	keyFunc   contract.KeyFunc
	transform contract.TransformFunc
	wrap      func(contract.Indexers) contract.Indexers
	hidden    func() bool
	store     cache.ThreadSafeStoreWithTransaction
}

var (
	_ cache.Indexer          = (*Indexer)(nil)
	_ cache.TransactionStore = (*Indexer)(nil)
	_ contract.Appender      = (*Indexer)(nil)
)

// New returns an Indexer that keeps its objects in store. A nil keyFunc is
// cache.DeletionHandlingMetaNamespaceKeyFunc, which knows tombstones
// (cache.DeletedFinalStateUnknown) and cache.ExplicitKey.
//
// A store that has every method of cache.ThreadSafeStoreWithTransaction is used as it is.
// For any other the Indexer supplies the missing methods:
//   - Without Transaction, the writes of a batch come one by one, and readers see each by
//     itself. If an IndexFunc fails, the writes before it stay.
//   - Without LastStoreSyncResourceVersion, the Indexer remembers the version itself, at the
//     cost of a mutex per write, and only of writes that came through this Indexer.
func New(keyFunc contract.KeyFunc, store contract.Store, opts Options) *Indexer {
	if keyFunc == nil {
		keyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	return &Indexer{keyFunc: keyFunc, transform: opts.Transformer, wrap: opts.WrapIndexers,
		hidden: opts.HideVersion, store: Complete(store)}
}

// Add stores obj under its key. The error is a contract.KeyError if obj has no key, or
// wraps the transformer's; then nothing is stored.
func (x *Indexer) Add(obj any) error {
	key, obj, err := x.prepare(obj)
	if err != nil {
		return err
	}
	x.store.Add(key, obj)
	return nil
}

// Update stores obj under its key, as Add does.
func (x *Indexer) Update(obj any) error {
	key, obj, err := x.prepare(obj)
	if err != nil {
		return err
	}
	x.store.Update(key, obj)
	return nil
}

// Delete removes the object under obj's key, and takes the resource version of obj if obj
// has one. obj may be a tombstone. The error is a contract.KeyError.
func (x *Indexer) Delete(obj any) error {
	key, err := x.key(obj)
	if err != nil {
		return err
	}
	x.store.DeleteWithObject(key, obj)
	return nil
}

// Replace makes the objects the whole content. Of several with one key the last
// one counts. If one of them has no key or cannot be transformed, nothing is
// changed and the error is as Add's.
func (x *Indexer) Replace(objects []any, resourceVersion string) error {
	items := make(map[string]any, len(objects))
	for _, obj := range objects {
		key, obj, err := x.prepare(obj)
		if err != nil {
			return err
		}
		items[key] = obj
	}
	x.store.Replace(items, resourceVersion)
	return nil
}

// Transaction applies the writes in their order, as one write if the store can. It leaves
// out a write whose object has no key. The error then holds the causes, and the indices of the
// writes that were applied. It stores objects as they are, without Options.Transformer.
func (x *Indexer) Transaction(txns ...contract.Transaction) *cache.TransactionError {
	keyed := make([]contract.StoreTransaction, 0, len(txns))
	applied := make([]int, 0, len(txns))
	var errs []error
	for i, txn := range txns {
		key, err := x.key(txn.Object)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		keyed = append(keyed, contract.StoreTransaction{Transaction: txn, Key: key})
		applied = append(applied, i)
	}
	x.store.Transaction(keyed...)
	if len(errs) > 0 {
		return &cache.TransactionError{SuccessfulIndices: applied, TotalTransactions: len(txns),
			Errors: errs}
	}
	return nil
}

// Get returns what is stored under obj's key. The error is a contract.KeyError.
func (x *Indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := x.key(obj)
	if err != nil {
		return nil, false, err
	}
	return x.GetByKey(key)
}

// GetByKey returns what is stored under key. The error is always nil.
func (x *Indexer) GetByKey(key string) (item any, exists bool, err error) {
	item, exists = x.store.Get(key)
	return item, exists, nil
}

// List returns all objects; see contract.Store.
func (x *Indexer) List() []any { return x.store.List() }

// AppendList appends all objects to dst; see contract.Appender. Over a store that is none it
// makes a list first.
func (x *Indexer) AppendList(dst []any) []any {
	if a, ok := x.store.(contract.Appender); ok {
		return a.AppendList(dst)
	}
	return append(dst, x.store.List()...)
}

// ListKeys returns all keys; see contract.Store.
func (x *Indexer) ListKeys() []string { return x.store.ListKeys() }

// Index returns the objects that share a value of the index with obj.
func (x *Indexer) Index(indexName string, obj any) ([]any, error) {
	return x.store.Index(indexName, obj)
}

// IndexKeys returns the keys of the objects that have the value in the index.
func (x *Indexer) IndexKeys(indexName, indexedValue string) ([]string, error) {
	return x.store.IndexKeys(indexName, indexedValue)
}

// ListIndexFuncValues returns the values that objects have in the index.
func (x *Indexer) ListIndexFuncValues(indexName string) []string {
	return x.store.ListIndexFuncValues(indexName)
}

// ByIndex returns the objects that have the value in the index.
func (x *Indexer) ByIndex(indexName, indexedValue string) ([]any, error) {
	return x.store.ByIndex(indexName, indexedValue)
}

// AppendByIndex appends what ByIndex returns to dst, as AppendList does.
func (x *Indexer) AppendByIndex(dst []any, indexName, indexedValue string) ([]any, error) {
	if a, ok := x.store.(contract.Appender); ok {
		return a.AppendByIndex(dst, indexName, indexedValue)
	}
	list, err := x.store.ByIndex(indexName, indexedValue)
	return append(dst, list...), err
}

// GetIndexers returns the store's indexers.
func (x *Indexer) GetIndexers() contract.Indexers { return x.store.GetIndexers() }

// AddIndexers adds indexers to the store, which may hold objects already.
func (x *Indexer) AddIndexers(newIndexers contract.Indexers) error {
	if x.wrap != nil {
		newIndexers = x.wrap(newIndexers)
	}
	return x.store.AddIndexers(newIndexers)
}

// Bookmark sets the resource version.
func (x *Indexer) Bookmark(rv string) { x.store.Bookmark(rv) }

// LastStoreSyncResourceVersion returns the resource version of the newest write
// that had one (STORE-40), or "" as Options.HideVersion says.
func (x *Indexer) LastStoreSyncResourceVersion() string {
	if x.hidden != nil && x.hidden() {
		return ""
	}
	return x.store.LastStoreSyncResourceVersion()
}

// Resync does nothing; it is there for cache.Store.
func (x *Indexer) Resync() error { return nil }

func (x *Indexer) key(obj any) (string, error) {
	key, err := x.keyFunc(obj)
	if err != nil {
		return "", contract.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// prepare returns the key of obj, and obj as it is to be stored.
func (x *Indexer) prepare(obj any) (key string, stored any, err error) {
	if key, err = x.key(obj); err != nil || x.transform == nil {
		return key, obj, err
	}
	if stored, err = x.transform(obj); err != nil {
		return "", nil, fmt.Errorf("transforming %q before storing it: %w", key, err)
	}
	return key, stored, nil
}
