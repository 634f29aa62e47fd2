package informer

// What an informer is made of, and the constructors.

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer/indexer"
	"github.com/informerbench/informerbench/objects"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// Options configures an informer. The zero value works.
type Options struct {
	// NewStore makes the store; nil means lockfree.New. Any contract.Store will do; one
	// that is a contract.Transactor takes a batch of events in one write.
	NewStore func(contract.Indexers) contract.Store
	// NewFIFO makes the FIFO between Reflector and store; nil means deltafifo.NewInOrder, with
	// atomic lists and bookmarks unless client-go's feature gate AtomicFIFO is off. A
	// contract.BatchPopper is drained in batches. Over a cache.ReflectorBookmarkStore the store's
	// resource version follows bookmarks. Over a FIFO that is not atomic, or that puts the events
	// of an object together, the store's resource version is that of the object that was written
	// last: it may go back, and older events of other objects may still wait. The informer
	// transforms objects itself, before the FIFO.
	NewFIFO func(contract.FIFOConfig) contract.FIFO
	// ResyncPeriod is the resync period of handlers that are added without one of their own.
	// The informer also checks at this period which handlers are due, unless a handler that
	// is added before the start asks for a shorter period. 0: no resyncs, whatever handlers
	// ask for.
	ResyncPeriod time.Duration
	// Indexers are the store's first indexers.
	Indexers contract.Indexers
	// KeyFunc computes the keys of objects, for store and FIFO; nil means
	// cache.DeletionHandlingMetaNamespaceKeyFunc. A streaming list takes objects of one
	// namespace and name for the same one: if KeyFunc tells such objects apart, set
	// UseWatchList to false.
	KeyFunc contract.KeyFunc
	// Transform changes each object before it is queued; SetTransform replaces it. See
	// cache.TransformFunc. It sees a list page by page.
	Transform contract.TransformFunc
	// Objects decides how objects are kept between their arrival and a read or a handler; it comes
	// after the transform. Nil: as they are. Informers may share one, interned above all, which keeps
	// once what objects of several informers have in common.
	Objects contract.ObjectKeeper
	// WatchErrorHandler is told of errors of list and watch; SetWatchErrorHandler
	// replaces it. Nil: they are logged.
	WatchErrorHandler cache.WatchErrorHandlerWithContext
	// OnlyChanges spares handlers the OnUpdate for each object that a relist brings at the version
	// that they know (kubernetes#81638). client-go calls it, and documents that: it is for handlers
	// that wait for no resync of that kind. Resyncs of a period come as before.
	OnlyChanges bool
	// Recreations tells handlers by OnDelete, with a tombstone, and OnAdd of an object that has
	// another UID than the one of its name before: it was deleted and created again while no watch
	// was open. client-go calls OnUpdate (kubernetes#133565).
	Recreations bool
	// ShardSelector limits the informer to a shard of the resource: see [NewShardedListWatch].
	// SetShardSelector replaces it. Nil: all objects.
	ShardSelector sharding.Selector
	// MutationDetector looks for handlers and readers that change shared objects; nil means that of
	// cache.NewCacheMutationDetector, which does nothing unless the environment of the process has
	// KUBE_CACHE_MUTATION_DETECTOR=true.
	MutationDetector cache.MutationDetector
	// ObjectDescription is what messages call the objects; "": the type's name.
	ObjectDescription string
	MinWatchTimeout   time.Duration // see ReflectorOptions
	PageSize          int64         // see ReflectorOptions
	UseWatchList      *bool         // see ReflectorOptions
	// Clock times resyncs, back-off and pauses; nil: the real one.
	Clock clock.WithTicker
	// Identifier is the name and the resource under which the informer publishes client-go's
	// three metrics of informers: the store's version from its construction, the FIFO's from
	// its start, until the name is released. It is for one informer: make it with
	// cache.InformerName.WithResource. The zero value means
	// no metrics, and no cost. With a name each event costs a call of the FIFO's Len and a
	// Set under a lock, and each Pop or PopBatch two readings of the clock.
	//
	//   - The length of the FIFO, by its Len() int, which must not wait for a process function
	//     that runs. For a FIFO without Len the informer counts the events that went in and did
	//     not come out: right if none is merged or dropped, as in client-go's RealFIFO.
	//     Client-go's DeltaFIFO has no such metric, there as here.
	//   - The seconds that it took to process the result of one Pop or PopBatch: to write
	//     the store and fill the handlers' buffers.
	//   - The store's resource version, its last 15 digits as a number.
	Identifier cache.InformerNameAndResource
	// InformerMetricsProvider makes the metrics; nil means that of [SetInformerMetricsProvider].
	// Without either, the store's resource version goes to the provider of client-go's function of
	// that name, and the other metrics are off: client-go keeps that provider to itself. A
	// FailureMetricsProvider has one metric more.
	InformerMetricsProvider cache.InformerMetricsProvider

	failures *indexFailures // notes the errors of all indexers, added ones too
}

// noDetector is client-go's detector that does nothing, if the environment does not turn it on.
var noDetector = cache.NewCacheMutationDetector("")

// stores makes the store that events are written to, and the one for readers, which gives objects
// where the first holds what Options.Objects made of them.
func (o Options) stores() (written cache.ThreadSafeStoreWithTransaction, read contract.Store) {
	newStore := func(indexers contract.Indexers) cache.ThreadSafeStoreWithTransaction {
		return indexer.Complete(o.NewStore(indexers))
	}
	if !objects.NeedsView(o.Objects) {
		written = newStore(o.Indexers)
		return written, written
	}
	view := objects.NewStore(o.Objects, o.Indexers, newStore)
	return view.Kept(), view
}

// handler makes a handler take what is kept, if that is not the objects.
func (o Options) handler(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	if objects.NeedsView(o.Objects) {
		return objects.Handler(o.Objects, h)
	}
	return h
}

func (o Options) withDefaults(exampleObject runtime.Object) Options {
	// client-go's store keeps the map that it is given, and AddIndexers changes it. So each
	// informer gets a map of its own: callers may use one for several informers.
	o.failures = &indexFailures{}
	o.Indexers = o.failures.around(o.Indexers)
	if o.NewStore == nil {
		o.NewStore = func(i contract.Indexers) contract.Store { return lockfree.New(i) }
	}
	if o.NewFIFO == nil {
		o.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
			atomic := features.FeatureGates().Enabled(features.AtomicFIFO)
			return deltafifo.NewInOrder(cfg, deltafifo.Options{Atomic: atomic, Bookmarks: atomic,
				RepeatKeys: true})
		}
	}
	if o.KeyFunc == nil {
		o.KeyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	if objects.NeedsView(o.Objects) {
		o.KeyFunc = objects.KeyFunc(o.Objects, o.KeyFunc)
	}
	if o.MutationDetector == nil {
		o.MutationDetector = cache.NewCacheMutationDetector(typeName(exampleObject))
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

// NewSharedIndexInformer returns an informer with the default store and FIFO. It is a
// contract.NewInformer, and takes the place of client-go's function of this name.
func NewSharedIndexInformer(lw cache.ListerWatcher, exampleObject runtime.Object,
	resyncPeriod time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return New(lw, exampleObject, Options{ResyncPeriod: resyncPeriod, Indexers: indexers})
}

// NewSharedIndexInformerWithOptions takes the place of client-go's function of this name.
func NewSharedIndexInformerWithOptions(lw cache.ListerWatcher, exampleObject runtime.Object,
	options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return New(lw, exampleObject, Options{
		ResyncPeriod:            options.ResyncPeriod,
		Indexers:                options.Indexers,
		ObjectDescription:       options.ObjectDescription,
		Identifier:              options.Identifier,
		InformerMetricsProvider: options.InformerMetricsProvider,
		ShardSelector:           shardSelectorOf(options),
	})
}

// NewSharedInformer is NewSharedIndexInformer without indexers.
func NewSharedInformer(lw cache.ListerWatcher, exampleObject runtime.Object,
	resyncPeriod time.Duration) cache.SharedInformer {
	return New(lw, exampleObject, Options{ResyncPeriod: resyncPeriod})
}

// Func returns NewSharedIndexInformer with chosen options; the caller's resyncPeriod and
// indexers replace the options' ResyncPeriod and Indexers. It is for controller-runtime's
// cache.Options.NewInformer.
func Func(options Options) contract.NewInformer {
	return func(lw cache.ListerWatcher, exampleObject runtime.Object, resyncPeriod time.Duration,
		indexers contract.Indexers) cache.SharedIndexInformer {
		o := options
		o.ResyncPeriod, o.Indexers = resyncPeriod, indexers
		return New(lw, exampleObject, o)
	}
}
