package informer

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/internal/callsite"
)

// ReflectorOptions configures a Reflector. The zero value works.
type ReflectorOptions struct {
	// Name is for logs and errors; the default is package, file and line of the code that
	// led to NewReflector, outside of informers' own packages.
	Name string
	// TypeDescription is for logs and errors; the default is the group, version and
	// kind of an unstructured object that has them, or else the Go type.
	TypeDescription string
	// ResyncPeriod is the time between two resyncs of the store; 0 means never. It
	// begins anew with each list, as client-go's does.
	ResyncPeriod time.Duration
	// ShouldResync is asked before each resync, in the resync timer's goroutine; nil
	// means always.
	ShouldResync func() bool
	// MinWatchTimeout is the shortest timeout of a watch. Each watch asks the server for a
	// random one, between once and twice this, in whole seconds, so that the watches of many
	// clients do not end together. The default is DefaultMinWatchTimeout. Shorter timeouts
	// load the server. client-go raises any below the default to the default; here a shorter
	// one holds.
	MinWatchTimeout time.Duration
	// PageSize is the limit of list requests, as client-go's WatchListPageSize. With 0
	// the Reflector chooses: pages of DefaultPageSize where the server cannot answer
	// from its watch cache anyway, no pages where it can. Below 0 it never asks for pages.
	// A server answers pages from etcd, which costs etcd more than a list without a limit.
	PageSize int64
	// WatchErrorHandler is told of each error with which ListAndWatchWithContext
	// ends, before the back-off, in Run's goroutine; the default is
	// DefaultWatchErrorHandler. It should return at once.
	WatchErrorHandler func(ctx context.Context, r *Reflector, err error)
	// OnFailure is told how many attempts to list or to open a watch have failed in a row: after each
	// that fails, and with 0 when a watch is open again. It is called in Run's goroutine; nil: not.
	OnFailure func(attempts int)
	// Backoff says how long to wait between attempts; the default is DefaultBackoff.
	Backoff *wait.Backoff
	// BackoffReset is the time without a wait after which the back-off begins anew; the
	// default is DefaultBackoffReset.
	BackoffReset time.Duration
	// MaxInternalErrorRetryDuration is how long a watch that ends with an internal
	// error of the server is tried again before the objects are listed again; the
	// default, 0, lists at once.
	MaxInternalErrorRetryDuration time.Duration
	// UseWatchList says whether to fetch the state with a streaming list. Nil means the
	// value of client-go's feature gate WatchListClient, unless the ListerWatcher says
	// that it cannot (watchlist.DoesClientNotSupportWatchListSemantics).
	UseWatchList *bool
	// Clock times every wait of the Reflector; the default is the real one.
	Clock clock.WithTicker
}

// Defaults of ReflectorOptions: client-go's constants.
const (
	DefaultMinWatchTimeout = 5 * time.Minute
	DefaultPageSize        = 500
	DefaultBackoffReset    = 2 * time.Minute
)

// DefaultBackoff returns client-go's: waits from 0.8 s, doubling to 30 s, each prolonged by
// a random jitter of up to its own length.
func DefaultBackoff() wait.Backoff {
	return wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 38, Factor: 2,
		Jitter: 1}
}

// Reflector keeps a store equal to what a ListerWatcher shows. Make one with
// NewReflector and run it with one of Run, RunWithContext and
// ListAndWatchWithContext, one at a time. The other methods may be called by any
// number of goroutines at once.
type Reflector struct {
	options         ReflectorOptions
	name            string
	typeDescription string
	lw              cache.ListerWatcherWithContext
	clock           clock.WithTicker
	useWatchList    bool
	backoff         backoff

	// The objects that are let through: a nil expectedType lets all through; expectedGVK is
	// set if expectedType is of an unstructured object that has a kind.
	expectedType reflect.Type
	expectedGVK  *schema.GroupVersionKind

	// The store, and its optional interfaces; nil where it lacks one.
	store       cache.ReflectorStore
	bookmarks   cache.ReflectorBookmarkStore
	versions    cache.ResourceVersionUpdater
	transformer cache.TransformingStore

	// Only the goroutine that runs the Reflector reads and writes these.
	//
	// streamPause is the pause after the last streaming list, 0 if that was complete; until
	// streamAfter there is none.
	streamPause time.Duration
	streamAfter time.Time
	// expired is the version from which the last watch was answered 410. Another list of
	// this version leads nowhere.
	expired string
	// unavailable means that the server would not list or stream at the known
	// version (expired, or newer than it knows), so that the next attempt asks for the newest.
	unavailable bool
	// paged means that the server answered version "0" in pages: it has no watch
	// cache that paging would bypass.
	paged bool

	mu struct {
		sync.RWMutex
		version string   // the last that the store was told of
		failure *Failure // nil: a watch is open, or there was no attempt yet
	}
}

// Failure says why a Reflector does not follow its source. A resource that is gone, as after its
// CustomResourceDefinition was deleted, has an Err that apierrors.IsNotFound finds
// (kubernetes#79610).
type Failure struct {
	Err      error     // of the last attempt to list or to open a watch
	Attempts int       // that have failed in a row
	Since    time.Time // of the first of them
}

// NewReflector makes a Reflector that fills store from lw once it runs.
//
// Objects of another type than expectedType are reported and left out. If expectedType is
// an *unstructured.Unstructured with apiVersion and kind, so are events of another kind.
// Nil lets everything through.
//
// Like client-go's, the Reflector uses the store's optional methods: Bookmark
// (cache.ReflectorBookmarkStore), UpdateResourceVersion (cache.ResourceVersionUpdater)
// and Transformer (cache.TransformingStore).
func NewReflector(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore,
	options ReflectorOptions) *Reflector {
	if options.MinWatchTimeout <= 0 {
		options.MinWatchTimeout = DefaultMinWatchTimeout
	}
	if options.WatchErrorHandler == nil {
		options.WatchErrorHandler = DefaultWatchErrorHandler
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	r := &Reflector{
		options:         options,
		name:            options.Name,
		typeDescription: options.TypeDescription,
		lw:              cache.ToListerWatcherWithContext(lw),
		clock:           options.Clock,
		backoff:         newBackoff(options),
		expectedType:    reflect.TypeOf(expectedType),
		store:           store,
	}
	if u, ok := expectedType.(*unstructured.Unstructured); ok {
		if gvk := u.GroupVersionKind(); !gvk.Empty() {
			r.expectedGVK = &gvk
		}
	}
	if r.name == "" {
		r.name = callsite.Name()
	}
	if r.typeDescription == "" {
		r.typeDescription = r.describeType()
	}
	r.bookmarks, _ = store.(cache.ReflectorBookmarkStore)
	r.versions, _ = store.(cache.ResourceVersionUpdater)
	r.transformer, _ = store.(cache.TransformingStore)
	if options.UseWatchList != nil {
		r.useWatchList = *options.UseWatchList
	} else {
		r.useWatchList = clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient) &&
			!watchlist.DoesClientNotSupportWatchListSemantics(lw)
	}
	return r
}

func (r *Reflector) describeType() string {
	switch {
	case r.expectedGVK != nil:
		return r.expectedGVK.String()
	case r.expectedType != nil:
		return r.expectedType.String()
	default:
		return "<unspecified>"
	}
}

// Name returns the name that logs and errors use.
func (r *Reflector) Name() string { return r.name }

// TypeDescription returns the type that logs and errors use, for people to read.
func (r *Reflector) TypeDescription() string { return r.typeDescription }

// LastSyncResourceVersion returns the newest resource version that the store has been told
// of, "" before the first list. A FIFO may not have been drained up to it.
func (r *Reflector) LastSyncResourceVersion() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.mu.version
}

func (r *Reflector) setVersion(version string) {
	r.mu.Lock()
	r.mu.version = version
	r.mu.Unlock()
}

// Failure returns nil while the Reflector follows its source, or has not yet tried to.
func (r *Reflector) Failure() *Failure {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.mu.failure
}

// note notes the outcome of an attempt to list or to open a watch; nil: a watch is open.
//
//go:noinline
func (r *Reflector) note(err error) {
	attempts, failure := 0, (*Failure)(nil)
	r.mu.Lock()
	before := r.mu.failure
	if err != nil {
		failure = &Failure{Err: err, Attempts: 1, Since: r.clock.Now()}
		if before != nil {
			failure.Attempts, failure.Since = before.Attempts+1, before.Since
		}
		attempts = failure.Attempts
	}
	r.mu.failure = failure
	r.mu.Unlock()
	if r.options.OnFailure != nil && failure != before {
		r.options.OnFailure(attempts)
	}
}

// Run is RunWithContext with a channel that ends it when it is closed.
func (r *Reflector) Run(stopCh <-chan struct{}) {
	r.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext lists and watches again and again, with a back-off between, until ctx is
// done. A panic of the ListerWatcher, the store or a callback is logged and passed on to
// the caller. If utilruntime.ReallyCrash is off, it counts as a failed attempt instead. But a panic
// of ShouldResync or of the store's Resync ends the process, as in client-go.
//
// Its goroutine waits in a watch most of its life. The frames up to that wait (session.run) take
// less than 1,248 bytes on amd64: the collector shrinks a stack of 8 KiB, which listing needs, only
// to four times what is in use, and of that the runtime counts 800 bytes itself. So what these
// functions do rarely, a line of log above all, is in functions of its own.
func (r *Reflector) RunWithContext(ctx context.Context) {
	r.logRun(ctx, "Starting reflector")
	defer r.logRun(ctx, "Stopping reflector")
	for ctx.Err() == nil {
		r.attempt(ctx)
		if !r.backOff(ctx) {
			return
		}
	}
}

//go:noinline
func (r *Reflector) logRun(ctx context.Context, message string) {
	klog.FromContext(ctx).V(3).Info(message, "type", r.typeDescription, "resyncPeriod",
		r.options.ResyncPeriod, "reflector", r.name)
}

func (r *Reflector) attempt(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if err := r.ListAndWatchWithContext(ctx); err != nil {
		r.options.WatchErrorHandler(ctx, r, err)
	}
}

// ListAndWatchWithContext fetches the state, gives it to the store and watches until only
// another list can help or ctx is done. It returns an error if the objects could not be
// listed or given to the store, or if a watch was refused. A watch that began and failed
// is logged, and is no error. Nor is the end of ctx: client-go may report requests that
// fail because of it, the Reflector does not.
func (r *Reflector) ListAndWatchWithContext(ctx context.Context) error {
	err := r.listAndWatch(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		r.note(err)
	}
	return err
}

func (r *Reflector) listAndWatch(ctx context.Context) error {
	w, err := r.populate(ctx)
	switch {
	case err != nil:
		return err
	case r.options.ResyncPeriod > 0:
		return r.watchBesideResync(ctx, w)
	default:
		return r.watch(ctx, w)
	}
}

// populate gives the state to the store. If it took a streaming list, it returns that, which goes on
// as the first watch.
//
//go:noinline
func (r *Reflector) populate(ctx context.Context) (w watch.Interface, err error) {
	logger := klog.FromContext(ctx)
	logger.V(3).Info("Listing and watching", "type", r.typeDescription, "reflector", r.name)
	if r.useWatchList && !r.clock.Now().Before(r.streamAfter) {
		if w, err = r.watchList(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			logger.V(4).Info("The streaming list failed, falling back to a list", "reflector", r.name,
				"type", r.typeDescription, "err", err)
		}
	}
	if w == nil {
		if err := r.list(ctx); err != nil {
			return nil, err
		}
	}
	logger.V(2).Info("Caches populated", "type", r.typeDescription, "reflector", r.name)
	return w, nil
}
