package informer

// Informers with one handler, which is called by the goroutine that fills the store.

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer/indexer"
)

// NewUnshared returns a store, and a controller that fills it and calls handler for each
// change; handler may be nil. There is no buffer between them: while the handler is busy,
// the store does not change, and events wait in the FIFO. The store is for reading only.
//
// With a FIFO that hands out batches, the default, a batch is one write of the store
// before the handler is called for each of its events. A panic of the handler is logged and
// ends the process, as that of a [Registration]'s handler, unless utilruntime.ReallyCrash
// is false; then the next call follows.
//
// Of the options, MutationDetector is not used.
func NewUnshared(lw cache.ListerWatcher, exampleObject runtime.Object,
	handler cache.ResourceEventHandler, options Options) (cache.Indexer, *Controller) {
	return newUnshared(lw, exampleObject, handler, options, klog.Background())
}

func newUnshared(lw cache.ListerWatcher, exampleObject runtime.Object,
	handler cache.ResourceEventHandler, options Options, logger klog.Logger) (cache.Indexer,
	*Controller) {
	if handler == nil {
		handler = cache.ResourceEventHandlerFuncs{}
	}
	options.MutationDetector = noDetector
	options = options.withDefaults(exampleObject)
	handler = options.handler(handler)
	store, read := options.stores()
	c := &content{
		keyFunc: options.KeyFunc, store: store, failures: options.failures, logger: logger,
		onlyChanges: options.OnlyChanges, recreations: options.Recreations,
		publishVersion: versionPublisher(options.Identifier, options.InformerMetricsProvider),
		publish: func(batch []notification) {
			for i := range batch {
				call(handler, &batch[i], logger)
			}
		},
	}
	client := indexer.New(options.KeyFunc, read,
		indexer.Options{WrapIndexers: options.failures.around, HideVersion: c.hidesVersion})
	return client, NewController(Config{
		FIFO: options.NewFIFO(contract.FIFOConfig{KeyFunc: options.KeyFunc,
			KnownObjects: indexer.New(options.KeyFunc, store, indexer.Options{})}),
		ListerWatcher:     NewShardedListWatch(lw, options.ShardSelector),
		Process:           c.process,
		ProcessBatch:      c.processBatch,
		ObjectType:        exampleObject,
		ObjectDescription: options.ObjectDescription,
		Transform:         options.Transform,
		keeper:            options.Objects,
		FullResyncPeriod:  options.ResyncPeriod,
		MinWatchTimeout:   options.MinWatchTimeout,
		PageSize:          options.PageSize,
		UseWatchList:      options.UseWatchList,
		WatchErrorHandler: WatchErrorHandlerOf(options.WatchErrorHandler, lw, exampleObject,
			options.ObjectDescription),
		Clock: options.Clock,

		Identifier:              options.Identifier,
		InformerMetricsProvider: options.InformerMetricsProvider,
	})
}

// call gives a handler one notification. A panic ends this call only: the store has the
// whole batch already, so the handler must be told of the rest.
func call(handler cache.ResourceEventHandler, n *notification, logger klog.Logger) {
	defer utilruntime.HandleCrashWithLogger(logger)
	switch n.kind {
	case onAdd, onInitialAdd:
		handler.OnAdd(n.obj, n.kind == onInitialAdd)
	case onUpdate, onResync:
		handler.OnUpdate(n.old, n.obj)
	case onDelete:
		handler.OnDelete(n.obj)
	}
}

// NewInformerWithOptions is client-go's function of this name over [NewUnshared]. The
// store is a cache.Indexer, with or without indexers. A MinWatchTimeout below
// DefaultMinWatchTimeout means that.
func NewInformerWithOptions(options cache.InformerOptions) (cache.Store, cache.Controller) {
	return newIndexerInformer(options)
}

func newIndexerInformer(options cache.InformerOptions) (cache.Indexer, cache.Controller) {
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	return newUnshared(options.ListerWatcher, options.ObjectType, options.Handler, Options{
		ResyncPeriod:    options.ResyncPeriod,
		MinWatchTimeout: max(options.MinWatchTimeout, DefaultMinWatchTimeout),
		Indexers:        options.Indexers,
		Transform:       options.Transform,

		Identifier:              options.Identifier,
		InformerMetricsProvider: options.InformerMetricsProvider,
	}, logger)
}

// NewInformer returns a store, and a controller that fills it and calls handler; see
// [NewUnshared]. The handler gets the objects again every resyncPeriod, if that is not 0.
// Client-go deprecates its function of this name for [NewInformerWithOptions], and so the
// three functions below.
func NewInformer(lw cache.ListerWatcher, exampleObject runtime.Object, resyncPeriod time.Duration,
	handler cache.ResourceEventHandler) (cache.Store, cache.Controller) {
	return NewTransformingIndexerInformer(lw, exampleObject, resyncPeriod, handler, nil, nil)
}

// NewIndexerInformer is [NewInformer] with indexers.
func NewIndexerInformer(lw cache.ListerWatcher, exampleObject runtime.Object,
	resyncPeriod time.Duration, handler cache.ResourceEventHandler,
	indexers cache.Indexers) (cache.Indexer, cache.Controller) {
	return NewTransformingIndexerInformer(lw, exampleObject, resyncPeriod, handler, indexers, nil)
}

// NewTransformingInformer is [NewInformer] with objects changed by transform before the
// store and the handler get them.
func NewTransformingInformer(lw cache.ListerWatcher, exampleObject runtime.Object,
	resyncPeriod time.Duration, handler cache.ResourceEventHandler,
	transform cache.TransformFunc) (cache.Store, cache.Controller) {
	return NewTransformingIndexerInformer(lw, exampleObject, resyncPeriod, handler, nil, transform)
}

// NewTransformingIndexerInformer is [NewIndexerInformer] with objects changed by transform
// before the store and the handler get them.
func NewTransformingIndexerInformer(lw cache.ListerWatcher, exampleObject runtime.Object,
	resyncPeriod time.Duration, handler cache.ResourceEventHandler, indexers cache.Indexers,
	transform cache.TransformFunc) (cache.Indexer, cache.Controller) {
	return newIndexerInformer(cache.InformerOptions{
		ListerWatcher: lw, ObjectType: exampleObject, ResyncPeriod: resyncPeriod, Handler: handler,
		Indexers: indexers, Transform: transform,
	})
}
