package informer

// The low-level controller: a Reflector before a FIFO, and a loop behind it.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/callsite"
	"github.com/informerbench/informerbench/internal/inuse"
)

// Config is what a Controller is made of. FIFO, ListerWatcher and Process are needed.
type Config struct {
	// FIFO is filled by the Reflector and drained by the loop; nothing else may pop from it.
	FIFO          contract.FIFO
	ListerWatcher cache.ListerWatcher
	// Process handles the result of one Pop.
	Process contract.PopProcessFunc
	// ProcessBatch handles the result of one PopBatch, if the FIFO is a
	// contract.BatchPopper and client-go's feature gate InOrderInformersBatchProcess is on, as by
	// default. Process then gets what comes alone. Nil: Process gets all.
	ProcessBatch contract.ProcessBatchFunc
	// RetryOnError puts Deltas back if Process returned an error for them, as a
	// contract.ErrRequeue does; client-go had this option until v0.17. The FIFO must be a
	// contract.KeyedQueue, and batches are not used. Without it the error is only logged.
	RetryOnError bool

	// ObjectType is an example object; objects of another type are dropped. Nil: any type.
	ObjectType runtime.Object
	// ObjectDescription is what the Reflector's messages call the objects; "": the type's name.
	ObjectDescription string
	// Name is the Reflector's, for logs and errors; "": package, file and line of the code
	// that led to NewController, outside of informers' own packages.
	Name string
	// Transform changes each object before it is queued. One goroutine at a time calls it,
	// without tombstones. If it fails for an object of a list, that is listed again; in a
	// streaming list it gets the object once more at the end, which is then left out. The
	// failure of a watched event is logged, and the FIFO does not get the event, as from
	// client-go. Nil: no change.
	Transform contract.TransformFunc
	keeper    contract.ObjectKeeper // comes after Transform; nil: none

	// FullResyncPeriod is how often ShouldResync is asked; 0: never.
	FullResyncPeriod time.Duration
	// ShouldResync says whether the FIFO is to resync; nil: always.
	ShouldResync func() bool

	MinWatchTimeout   time.Duration // see ReflectorOptions
	PageSize          int64         // see ReflectorOptions
	UseWatchList      *bool         // see ReflectorOptions
	WatchErrorHandler func(ctx context.Context, r *Reflector, err error)
	Clock             clock.WithTicker // nil: the real one

	// Identifier names the metrics of FIFO and Process, and InformerMetricsProvider makes
	// them. See Options.
	Identifier              cache.InformerNameAndResource
	InformerMetricsProvider cache.InformerMetricsProvider
}

// Controller runs a Reflector that fills a FIFO, and a loop that drains it. It satisfies
// cache.Controller. All methods may be called by any number of goroutines at once.
type Controller struct {
	config    Config
	feed      *feed
	meter     *meter // nil: no metrics
	reflector atomic.Pointer[Reflector]
	started   atomic.Bool
}

var _ cache.Controller = (*Controller)(nil)

// NewController returns a controller that has not been started. It panics if config lacks
// a needed field, or has RetryOnError and a FIFO that is no contract.KeyedQueue.
func NewController(config Config) *Controller {
	switch {
	case config.FIFO == nil:
		panic("informer.NewController: Config.FIFO is missing")
	case config.ListerWatcher == nil:
		panic("informer.NewController: Config.ListerWatcher is missing")
	case config.Process == nil:
		panic("informer.NewController: Config.Process is missing")
	}
	if _, ok := config.FIFO.(contract.KeyedQueue); config.RetryOnError && !ok {
		panic(fmt.Sprintf(
			"informer.NewController: RetryOnError needs a FIFO that takes back what was popped"+
				" (contract.KeyedQueue, such as deltafifo.Coalescing), and a %T does "+
				"not",
			config.FIFO))
	}
	if config.Name == "" {
		// Here and not in Run: the stack of Run's goroutine may not have the caller's code.
		config.Name = callsite.Name()
	}
	m := newMeter(&config)
	return &Controller{config: config, feed: newFeed(&config, m), meter: m}
}

// Run is RunWithContext with a channel that ends it.
func (c *Controller) Run(stopCh <-chan struct{}) {
	c.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext runs Reflector and loop until ctx ends, and returns when both have ended.
// Events that wait in the FIFO by then are not processed. A second call logs an error and
// returns at once.
func (c *Controller) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if !c.begin(ctx) {
		return
	}
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		c.config.FIFO.Close()
	})

	r := c.newReflector()
	var running sync.WaitGroup
	running.Go(func() { r.RunWithContext(ctx) })
	for c.processLoop(ctx); ctx.Err() == nil; c.processLoop(ctx) {
		waitFor(ctx, crashPause) // Process panicked, with ReallyCrash off
	}
	running.Wait()
	<-closed
}

// begin is apart, as newReflector is, so that the goroutine that processes, and waits most of its
// life, needs little stack; see Reflector.RunWithContext. It returns false if the controller was run
// before.
//
//go:noinline
func (c *Controller) begin(ctx context.Context) bool {
	if !c.started.CompareAndSwap(false, true) {
		utilruntime.HandleErrorWithContext(ctx, nil,
			"A controller was run a second time: it runs once, make a new one")
		return false
	}
	inuse.Log(klog.FromContext(ctx), "informer of "+typeName(c.config.ObjectType))
	return true
}

//go:noinline
func (c *Controller) newReflector() *Reflector {
	var store cache.ReflectorStore = c.feed
	if versions, ok := c.config.FIFO.(cache.ResourceVersionUpdater); ok {
		store = versionedFeed{c.feed, versions}
	}
	options := ReflectorOptions{
		Name:              c.config.Name,
		TypeDescription:   c.config.ObjectDescription,
		ResyncPeriod:      c.config.FullResyncPeriod,
		ShouldResync:      c.config.ShouldResync,
		MinWatchTimeout:   c.config.MinWatchTimeout,
		PageSize:          c.config.PageSize,
		UseWatchList:      c.config.UseWatchList,
		WatchErrorHandler: c.config.WatchErrorHandler,
		Clock:             c.config.Clock,
	}
	if c.meter != nil && c.meter.failures != nil {
		options.OnFailure = c.meter.failed
	}
	r := NewReflector(c.config.ListerWatcher, c.config.ObjectType, store, options)
	c.reflector.Store(r)
	return r
}

// waitFor waits for d, or until ctx ends.
//
//go:noinline
func waitFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// processLoop drains the FIFO until ctx ends or the FIFO is closed and empty, or a process panics.
func (c *Controller) processLoop(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	defer c.feed.noteSynced() // a Pop whose process panics may have been the last of the first list
	pop := c.popper()
	for ctx.Err() == nil {
		err := pop()
		c.feed.noteSynced()
		if c.meter != nil {
			c.meter.publishQueued()
		}
		switch {
		case err == nil:
		case errors.Is(err, contract.ErrFIFOClosed):
			return
		default:
			c.logFailure(ctx, err)
		}
	}
}

//go:noinline
func (c *Controller) logFailure(ctx context.Context, err error) {
	utilruntime.HandleErrorWithContext(ctx, err, "Processing what the FIFO handed out failed", "type",
		c.config.ObjectDescription)
}

// popper returns the function that takes out and processes: in batches if the FIFO can.
func (c *Controller) popper() func() error {
	fifo, process, batch := c.config.FIFO, c.config.Process, c.config.ProcessBatch
	if c.meter != nil {
		process = c.meter.measure(process)
		if batch != nil {
			batch = c.meter.measureBatch(batch)
		}
	}
	if c.config.RetryOnError {
		// The FIFO puts them back before it looks at what came meanwhile (FIFO-61). Put back after
		// Pop, they would come behind a deletion that came meanwhile, and undo it.
		return func() error {
			_, err := fifo.Pop(func(obj any, isInInitialList bool) error {
				if err := process(obj, isInInitialList); err != nil {
					return contract.ErrRequeue{Err: err}
				}
				return nil
			})
			return err
		}
	}
	if b, ok := fifo.(contract.BatchPopper); ok && batch != nil &&
		features.FeatureGates().Enabled(features.InOrderInformersBatchProcess) {
		return func() error { return b.PopBatch(batch, process) }
	}
	return func() error {
		_, err := fifo.Pop(process)
		return err
	}
}

// HasSynced reports whether the initial list was handed out by the FIFO and processed.
func (c *Controller) HasSynced() bool { return c.feed.synced.Load() || c.config.FIFO.HasSynced() }

// HasSyncedChecker gives HasSynced as a channel to wait for. Only a running controller
// closes it.
func (c *Controller) HasSyncedChecker() cache.DoneChecker { return c.feed }

// LastSyncResourceVersion is the Reflector's; "" before the controller runs.
func (c *Controller) LastSyncResourceVersion() string {
	if r := c.reflector.Load(); r != nil {
		return r.LastSyncResourceVersion()
	}
	return ""
}

// Failure is the Reflector's; nil before the controller runs.
func (c *Controller) Failure() *Failure {
	if r := c.reflector.Load(); r != nil {
		return r.Failure()
	}
	return nil
}
