package informer

// The informer that many handlers share.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer/indexer"
	"github.com/informerbench/informerbench/internal/callsite"
)

// minimumResyncPeriod is the shortest period that a handler can have, as in client-go.
const minimumResyncPeriod = time.Second

// The errors of calls that come too late. The texts are those that programs written for client-go
// match, for they have nothing else.
var (
	ErrStarted = errors.New("informer has already started")
	ErrStopped = errors.New("it has stopped already")
)

// SharedIndexInformer keeps a store equal to what a ListerWatcher shows and tells handlers
// of the changes. It satisfies cache.SharedIndexInformer. Make one with [New]. All methods
// may be called by any number of goroutines at once, and by handlers.
type SharedIndexInformer struct {
	lw         cache.ListerWatcher
	objectType runtime.Object
	name       string // of the Reflector: where New was called from
	options    Options

	indexer   *indexer.Indexer
	content   content
	processor processor
	// closed once the initial list is in the store and in the handlers' buffers
	synced chan struct{}

	// blockDeltas is held while deltas are applied to the store and distributed, and
	// while a handler is added or removed. So a new handler gets the store's objects and
	// exactly the changes after them. Readers do not take it.
	blockDeltas sync.Mutex

	// Lock order: mu, blockDeltas, the processor's lock, a buffer's lock.
	mu struct {
		sync.Mutex
		started, stopped  bool
		controller        *Controller   // set by the start
		resyncCheckPeriod time.Duration // fixed by the start
		transform         contract.TransformFunc
		shardSelector     sharding.Selector
		watchErrorHandler cache.WatchErrorHandlerWithContext
	}
}

var _ cache.SharedIndexInformer = (*SharedIndexInformer)(nil)

// New returns an informer that has not been started. exampleObject is of the objects'
// type: the Reflector drops objects of another type. For an *unstructured.Unstructured with
// a kind it also drops watch events of another kind.
func New(lw cache.ListerWatcher, exampleObject runtime.Object,
	options Options) *SharedIndexInformer {
	options = options.withDefaults(exampleObject)
	s := &SharedIndexInformer{lw: lw, objectType: exampleObject, name: callsite.Name(),
		options: options, synced: make(chan struct{})}
	store, read := options.stores()
	s.indexer = indexer.New(options.KeyFunc, read,
		indexer.Options{WrapIndexers: options.failures.around, HideVersion: s.content.hidesVersion})
	s.processor.clock = options.Clock
	s.content.keyFunc, s.content.store, s.content.failures = options.KeyFunc, store, options.failures
	s.content.publish = s.processor.distribute
	s.content.objects = options.Objects
	s.content.onlyChanges, s.content.recreations = options.OnlyChanges, options.Recreations
	s.content.publishVersion = versionPublisher(options.Identifier, options.InformerMetricsProvider)
	if options.MutationDetector != noDetector {
		s.content.detector = options.MutationDetector
	}
	s.mu.resyncCheckPeriod = options.ResyncPeriod
	s.mu.transform, s.mu.watchErrorHandler = options.Transform, options.WatchErrorHandler
	s.mu.shardSelector = options.ShardSelector
	return s
}

// Run is RunWithContext with a channel that ends it.
func (s *SharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext runs the informer until ctx ends, and returns when everything that it
// started has ended, handlers included. It drops the notifications that wait, and waits
// for calls of handlers that are under way. An informer runs once; a second call is logged
// and returns at once.
func (s *SharedIndexInformer) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	c := s.start(ctx)
	if c == nil {
		s.logSecondRun(ctx)
		return
	}
	// Handlers are stopped after the controller, which fills their buffers.
	defer s.stop(s.detect())
	c.RunWithContext(ctx)
}

//go:noinline
func (s *SharedIndexInformer) logSecondRun(ctx context.Context) {
	klog.FromContext(ctx).Info("Warning: an informer was run a second time: it runs once, and goes "+
		"on as it is", "type", typeName(s.objectType))
}

// detect runs the mutation detector, if there is one. The function that it returns ends it.
func (s *SharedIndexInformer) detect() (end func()) {
	if s.content.detector == nil {
		return func() {}
	}
	var running sync.WaitGroup
	over := make(chan struct{})
	running.Go(func() { s.content.detector.Run(over) })
	return func() {
		close(over)
		running.Wait()
	}
}

func (s *SharedIndexInformer) stop(detector func()) {
	s.mu.Lock()
	s.mu.stopped = true
	s.mu.Unlock()
	s.processor.stop()
	detector()
}

// start makes the controller and starts the handlers; it returns nil on a second call.
func (s *SharedIndexInformer) start(ctx context.Context) *Controller {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.started {
		return nil
	}
	s.mu.started = true
	s.content.logger = klog.FromContext(ctx)
	fifo := s.options.NewFIFO(contract.FIFOConfig{KeyFunc: s.options.KeyFunc,
		KnownObjects: indexer.New(s.options.KeyFunc, s.content.store, indexer.Options{})})
	c := NewController(Config{
		FIFO:              fifo,
		ListerWatcher:     NewShardedListWatch(s.lw, s.mu.shardSelector),
		Process:           s.process,
		ProcessBatch:      s.processBatch,
		ObjectType:        s.objectType,
		ObjectDescription: s.options.ObjectDescription,
		Name:              s.name,
		Transform:         s.mu.transform,
		keeper:            s.options.Objects,
		FullResyncPeriod:  s.mu.resyncCheckPeriod,
		ShouldResync:      s.processor.shouldResync,
		MinWatchTimeout:   s.options.MinWatchTimeout,
		PageSize:          s.options.PageSize,
		UseWatchList:      s.options.UseWatchList,
		WatchErrorHandler: WatchErrorHandlerOf(s.mu.watchErrorHandler, s.lw, s.objectType,
			s.options.ObjectDescription),
		Clock: s.options.Clock,

		Identifier:              s.options.Identifier,
		InformerMetricsProvider: s.options.InformerMetricsProvider,
	})
	c.feed.onSynced = func() {
		close(s.synced)
		s.processor.hasSynced()
	}
	s.mu.controller = c
	s.processor.start()
	return c
}

// WatchErrorHandlerOf adapts a handler that is written for client-go's Reflector to
// Config.WatchErrorHandler; nil gives nil. The handler gets an idle Reflector of client-go's
// with the name and type of the one that failed, which its methods return. No client-go
// Reflector can stand for a Reflector of this package. The other arguments are those of the
// Config.
func WatchErrorHandlerOf(handler cache.WatchErrorHandlerWithContext, lw cache.ListerWatcher,
	objectType runtime.Object, description string) func(context.Context, *Reflector, error) {
	if handler == nil {
		return nil
	}
	var idle *cache.Reflector // for the Reflector's goroutine only
	return func(ctx context.Context, r *Reflector, err error) {
		if idle == nil {
			idle = cache.NewReflectorWithOptions(lw, objectType, cache.NewStore(cache.MetaNamespaceKeyFunc),
				cache.ReflectorOptions{Name: r.Name(), TypeDescription: description})
		}
		handler(ctx, idle, err)
	}
}

func (s *SharedIndexInformer) process(obj any, isInInitialList bool) error {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	return s.content.process(obj, isInInitialList)
}

func (s *SharedIndexInformer) processBatch(deltas []contract.Delta, isInInitialList bool) error {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	return s.content.processBatch(deltas, isInInitialList)
}

// HasSynced reports whether the initial list is in the store. It says nothing about a
// handler: see its Registration.
func (s *SharedIndexInformer) HasSynced() bool { return cache.IsDone(s.HasSyncedChecker()) }

// HasSyncedChecker gives HasSynced as a channel to wait for.
func (s *SharedIndexInformer) HasSyncedChecker() cache.DoneChecker { return syncedChecker{s} }

type syncedChecker struct{ s *SharedIndexInformer }

func (c syncedChecker) Name() string {
	return "SharedIndexInformer " + typeName(c.s.objectType)
}
func (c syncedChecker) Done() <-chan struct{} { return c.s.synced }

func typeName(obj runtime.Object) string { return fmt.Sprintf("%T", obj) }

// IsStopped reports whether the informer was stopped. It takes no handlers then.
func (s *SharedIndexInformer) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.stopped
}

// LastSyncResourceVersion is the newest version that the Reflector has heard of; the
// events of that version may still wait in the FIFO. "" before the start.
func (s *SharedIndexInformer) LastSyncResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.controller == nil {
		return ""
	}
	return s.mu.controller.LastSyncResourceVersion()
}

// Failure returns nil while the informer follows its source, or has not tried to yet. Otherwise it
// says why it does not, and since when.
func (s *SharedIndexInformer) Failure() *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.controller == nil {
		return nil
	}
	return s.mu.controller.Failure()
}

// GetStore returns the store. It is for reading: a write would reach no handler, and the
// next list would undo it.
func (s *SharedIndexInformer) GetStore() cache.Store { return s.indexer }

// GetIndexer returns the store, as GetStore does.
func (s *SharedIndexInformer) GetIndexer() cache.Indexer { return s.indexer }

// AddIndexers adds indexers, before or after the start. The error is ErrStopped, or the
// store's if it has an index of that name. It takes O(objects of the store), and meanwhile
// AddEventHandler, IsStopped and LastSyncResourceVersion wait, as in client-go.
func (s *SharedIndexInformer) AddIndexers(indexers cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopped {
		return fmt.Errorf("indexer was not added because %w", ErrStopped)
	}
	return s.indexer.AddIndexers(indexers)
}

// SetWatchErrorHandler replaces the handler of list and watch errors; nil logs them. The
// handler gets an idle client-go Reflector, with the name and the type description of the
// informer's own and no resource version. The error is ErrStarted.
func (s *SharedIndexInformer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	if handler == nil {
		return s.SetWatchErrorHandlerWithContext(nil)
	}
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) {
		handler(r, err)
	})
}

// SetWatchErrorHandlerWithContext is SetWatchErrorHandler for a handler with a context.
func (s *SharedIndexInformer) SetWatchErrorHandlerWithContext(
	handler cache.WatchErrorHandlerWithContext) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.started {
		return ErrStarted
	}
	s.mu.watchErrorHandler = handler
	return nil
}

// SetTransform replaces Options.Transform; nil means no transform. controller-runtime's cache calls
// it with its own transform, or nil. The error is ErrStarted.
func (s *SharedIndexInformer) SetTransform(transform cache.TransformFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.started {
		return ErrStarted
	}
	s.mu.transform = transform
	return nil
}

// GetController returns a controller that reports what the informer reports and whose Run
// does nothing: it is there for client-go's interface.
func (s *SharedIndexInformer) GetController() cache.Controller { return observer{s} }

type observer struct{ *SharedIndexInformer }

func (observer) Run(<-chan struct{})            {}
func (observer) RunWithContext(context.Context) {}
