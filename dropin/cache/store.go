package cache

import (
	"sync"
	"time"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/indexer"
)

// StoreOption changes what NewStore or NewIndexer makes.
type StoreOption = func(*storeConfig)

type storeConfig struct {
	transformer TransformFunc
	metrics     []ThreadSafeStoreOption
}

// WithTransformer has the store change each object, once it has its key and before it is
// stored. An error of transformer is returned by the store's method, and nothing is stored.
func WithTransformer(transformer TransformFunc) StoreOption {
	return func(c *storeConfig) { c.transformer = transformer }
}

// WithStoreMetrics has the store publish its resource version; see
// WithThreadSafeStoreMetrics.
func WithStoreMetrics(identifier InformerNameAndResource,
	metrics InformerMetricsProvider) StoreOption {
	return func(c *storeConfig) {
		c.metrics = []ThreadSafeStoreOption{WithThreadSafeStoreMetrics(identifier, metrics)}
	}
}

// ThreadSafeStoreOption changes what NewThreadSafeStore makes.
type ThreadSafeStoreOption = func(*threadSafeConfig)

type threadSafeConfig struct {
	publish func(version string) // nil: no metrics
}

// WithThreadSafeStoreMetrics has the store publish its resource version after each write,
// until the identifier is released. The metric is made by metricsProvider or, if that is nil,
// by the provider of SetInformerMetricsProvider. An identifier that is not reserved means no
// metric. With one, a write takes a lock more.
func WithThreadSafeStoreMetrics(identifier InformerNameAndResource,
	metricsProvider InformerMetricsProvider) ThreadSafeStoreOption {
	if !identifier.Reserved() {
		return func(c *threadSafeConfig) { c.publish = nil }
	}
	return func(c *threadSafeConfig) {
		// An empty store of client-go's publishes the version that it is told, in client-go's way.
		publisher := clientgo.NewThreadSafeStore(Indexers{}, Indices{},
			clientgo.WithThreadSafeStoreMetrics(identifier, informer.MetricsProviderOr(metricsProvider)))
		c.publish = func(version string) {
			if identifier.Reserved() {
				publisher.Bookmark(version)
			}
		}
	}
}

// NewThreadSafeStore returns a lockfree.Store: its readers take no lock. It has every method
// of ThreadSafeStoreWithTransaction too. indexers may be nil.
//
// The indices are not used: client-go's store takes them for the content of its indexes, and
// no program outside of client-go can have any for a store that is empty.
func NewThreadSafeStore(indexers Indexers, indices Indices,
	opts ...ThreadSafeStoreOption) ThreadSafeStore {
	var c threadSafeConfig
	for _, opt := range opts {
		opt(&c)
	}
	store := lockfree.New(indexers)
	if c.publish == nil {
		return store
	}
	return &published{ThreadSafeStoreWithTransaction: store, publish: c.publish}
}

// NewStore returns a store of objects under their keys, over NewThreadSafeStore's. It has the
// methods of Indexer and TransactionStore too. Its methods return a KeyError for an object
// that has no key.
func NewStore(keyFunc KeyFunc, opts ...StoreOption) Store {
	return NewIndexer(keyFunc, Indexers{}, opts...)
}

// NewIndexer returns a store with indexes. It panics, as client-go's does, on a write of an
// object for which an IndexFunc fails; then nothing of the write is stored.
func NewIndexer(keyFunc KeyFunc, indexers Indexers, opts ...StoreOption) Indexer {
	var c storeConfig
	for _, opt := range opts {
		opt(&c)
	}
	return indexer.New(keyFunc, NewThreadSafeStore(indexers, nil, c.metrics...),
		indexer.Options{Transformer: c.transformer})
}

// NewUndeltaStore returns a store that calls pushFunc with its whole content after each
// change. A change costs a copy of that content.
func NewUndeltaStore(pushFunc func([]any), keyFunc KeyFunc) *UndeltaStore {
	return &UndeltaStore{Store: NewStore(keyFunc), PushFunc: pushFunc}
}

// NewNamespaceKeyedIndexerAndReflector returns an indexer with the index NamespaceIndex, and
// a Reflector that fills it.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType any,
	resyncPeriod time.Duration) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// published is a store that publishes its resource version after each write.
type published struct {
	clientgo.ThreadSafeStoreWithTransaction
	publish func(version string)
	// publishing makes reading the version and publishing it one step, so that the version
	// published last is the store's.
	publishing sync.Mutex
}

func (s *published) after() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.publish(s.LastStoreSyncResourceVersion())
}

func (s *published) Add(key string, obj any) {
	s.ThreadSafeStoreWithTransaction.Add(key, obj)
	s.after()
}

func (s *published) Update(key string, obj any) {
	s.ThreadSafeStoreWithTransaction.Update(key, obj)
	s.after()
}

func (s *published) Delete(key string) {
	s.ThreadSafeStoreWithTransaction.Delete(key)
	s.after()
}

func (s *published) DeleteWithObject(key string, obj any) {
	s.ThreadSafeStoreWithTransaction.DeleteWithObject(key, obj)
	s.after()
}

func (s *published) Replace(items map[string]any, resourceVersion string) {
	s.ThreadSafeStoreWithTransaction.Replace(items, resourceVersion)
	s.after()
}

func (s *published) Transaction(txns ...ThreadSafeStoreTransaction) {
	s.ThreadSafeStoreWithTransaction.Transaction(txns...)
	s.after()
}

func (s *published) Bookmark(rv string) {
	s.ThreadSafeStoreWithTransaction.Bookmark(rv)
	s.after()
}
