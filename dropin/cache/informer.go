package cache

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/informerbench/informerbench/informer"
)

// NewSharedInformer is NewSharedIndexInformer without indexers.
func NewSharedInformer(lw ListerWatcher, exampleObject runtime.Object,
	defaultEventHandlerResyncPeriod time.Duration) SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, defaultEventHandlerResyncPeriod, Indexers{})
}

// NewSharedIndexInformer is NewSharedIndexInformerWithOptions for two of its options.
func NewSharedIndexInformer(lw ListerWatcher, exampleObject runtime.Object,
	defaultEventHandlerResyncPeriod time.Duration, indexers Indexers) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, SharedIndexInformerOptions{
		ResyncPeriod: defaultEventHandlerResyncPeriod, Indexers: indexers,
	})
}

// NewSharedIndexInformerWithOptions returns an informer.SharedIndexInformer with its default
// store and FIFO, which has not been started. The comment of package informer has its
// guarantees and costs.
//
//   - ResyncPeriod: that of handlers added without one, and how often the informer checks
//     which handlers are due. 0: no resyncs.
//   - Indexers: the store's first. The map is copied.
//   - ObjectDescription: what messages call the objects; "": the Go type.
//   - ShardSelector (client-go v0.38): limits the informer to a shard, as NewShardedListWatch does.
//   - Identifier and InformerMetricsProvider: three metrics are published under the name. A
//     nil provider is that of SetInformerMetricsProvider. An identifier that is not reserved
//     means no metrics, and no cost.
func NewSharedIndexInformerWithOptions(lw ListerWatcher, exampleObject runtime.Object,
	options SharedIndexInformerOptions) SharedIndexInformer {
	return informer.NewSharedIndexInformerWithOptions(lw, exampleObject, options)
}

// NewShardedListWatch returns a ListerWatcher of the objects of lw that are in a shard: see
// informer.NewShardedListWatch.
func NewShardedListWatch(lw ListerWatcher, selector sharding.Selector) ListerWatcher {
	return informer.NewShardedListWatch(lw, selector)
}

// NewInformerWithOptions returns a store, and a controller that fills it and calls the one
// handler for each change: see informer.NewUnshared. The store is for reading only. Its type
// is Indexer's too.
//
//   - Logger: nil means klog.Background(). It is told of a handler that panics.
//   - ListerWatcher and ObjectType: where the objects come from, and an example of them.
//   - Handler: nil calls nothing.
//   - ResyncPeriod: how often the handler gets every object again; 0: never.
//   - MinWatchTimeout: below five minutes it means five minutes.
//   - Indexers: the store's first. The map is copied.
//   - Transform: changes each object before the store and the handler get it.
//   - Identifier and InformerMetricsProvider: as for NewSharedIndexInformerWithOptions.
func NewInformerWithOptions(options InformerOptions) (Store, Controller) {
	return informer.NewInformerWithOptions(options)
}

// NewInformer is NewInformerWithOptions for four of its options.
//
// Deprecated: use NewInformerWithOptions.
func NewInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration,
	h ResourceEventHandler) (Store, Controller) {
	return NewTransformingInformer(lw, objType, resyncPeriod, h, nil)
}

// NewIndexerInformer is NewInformerWithOptions for five of its options.
//
// Deprecated: use NewInformerWithOptions.
func NewIndexerInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration,
	h ResourceEventHandler, indexers Indexers) (Indexer, Controller) {
	return NewTransformingIndexerInformer(lw, objType, resyncPeriod, h, indexers, nil)
}

// NewTransformingInformer is NewInformerWithOptions for five of its options.
//
// Deprecated: use NewInformerWithOptions.
func NewTransformingInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration,
	h ResourceEventHandler, transformer TransformFunc) (Store, Controller) {
	return NewTransformingIndexerInformer(lw, objType, resyncPeriod, h, nil, transformer)
}

// NewTransformingIndexerInformer is NewInformerWithOptions for six of its options.
//
// Deprecated: use NewInformerWithOptions.
func NewTransformingIndexerInformer(lw ListerWatcher, objType runtime.Object,
	resyncPeriod time.Duration, h ResourceEventHandler, indexers Indexers,
	transformer TransformFunc) (Indexer, Controller) {
	store, controller := NewInformerWithOptions(InformerOptions{
		ListerWatcher: lw, ObjectType: objType, ResyncPeriod: resyncPeriod, Handler: h,
		Indexers: indexers, Transform: transformer,
	})
	return store.(Indexer), controller
}
