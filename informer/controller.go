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
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/callsite"
)

// Config is what a Controller is made of. FIFO, ListerWatcher and Process are needed.
type Config struct {
	// FIFO is filled by the Reflector and drained by the loop; nothing else may pop from it.
	FIFO          contract.FIFO
	ListerWatcher cache.ListerWatcher
	// Process handles the result of one Pop.
	Process contract.PopProcessFunc
	// ProcessBatch handles the result of one PopBatch, if the FIFO is a
	// contract.BatchPopper. Process then gets what comes alone. Nil: Process gets all.
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
	// them; without either there are none. See Options.
	Identifier              cache.InformerNameAndResource
	InformerMetricsProvider cache.InformerMetricsProvider
}

// Controller runs a Reflector that fills a FIFO, and a loop that drains it. It satisfies
// cache.Controller. All methods may be called by any number of goroutines at once.
type Controller struct {
	config    Config
	intake    *intake
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
				" (contract.KeyedQueue, such as deltafifo.DeltaFIFO or deltafifo.Coalescing), and a %T does "+
				"not",
			config.FIFO))
	}
	if config.Name == "" {
		// Here and not in Run: the stack of Run's goroutine may not have the caller's code.
		config.Name = callsite.Name()
	}
	m := newMeter(&config)
	return &Controller{config: config, intake: newIntake(config.FIFO, config.Transform, m), meter: m}
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
	if !c.started.CompareAndSwap(false, true) {
		utilruntime.HandleErrorWithContext(ctx, nil,
			"A controller was run a second time: it runs once, make a new one")
		return
	}
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		c.config.FIFO.Close()
	})

	var store cache.ReflectorStore = c.intake
	if versions, ok := c.config.FIFO.(cache.ResourceVersionUpdater); ok {
		store = versionedIntake{c.intake, versions}
	}
	r := NewReflector(c.config.ListerWatcher, c.config.ObjectType, store, ReflectorOptions{
		Name:              c.config.Name,
		TypeDescription:   c.config.ObjectDescription,
		ResyncPeriod:      c.config.FullResyncPeriod,
		ShouldResync:      c.config.ShouldResync,
		MinWatchTimeout:   c.config.MinWatchTimeout,
		PageSize:          c.config.PageSize,
		UseWatchList:      c.config.UseWatchList,
		WatchErrorHandler: c.config.WatchErrorHandler,
		Clock:             c.config.Clock,
	})
	c.reflector.Store(r)

	var running sync.WaitGroup
	running.Go(func() { r.RunWithContext(ctx) })
	// again, if Process panics with ReallyCrash off
	wait.UntilWithContext(ctx, c.processLoop, time.Second)
	running.Wait()
	<-closed
}

// processLoop drains the FIFO until ctx ends or the FIFO is closed and empty.
func (c *Controller) processLoop(ctx context.Context) {
	defer c.intake.noteSynced() // a Pop whose process panics may have been the last of the first list
	pop := c.popper()
	for ctx.Err() == nil {
		err := pop()
		c.intake.noteSynced()
		if c.meter != nil {
			c.meter.publishQueued()
		}
		switch {
		case err == nil:
		case errors.Is(err, contract.ErrFIFOClosed):
			return
		default:
			utilruntime.HandleErrorWithContext(ctx, err, "Processing what the FIFO handed out failed",
				"type", c.config.ObjectDescription)
		}
	}
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
	if b, ok := fifo.(contract.BatchPopper); ok && batch != nil {
		return func() error { return b.PopBatch(batch, process) }
	}
	return func() error {
		_, err := fifo.Pop(process)
		return err
	}
}

// HasSynced reports whether the initial list was handed out by the FIFO and processed.
func (c *Controller) HasSynced() bool { return c.intake.synced.Load() || c.config.FIFO.HasSynced() }

// HasSyncedChecker gives HasSynced as a channel to wait for. Only a running controller
// closes it.
func (c *Controller) HasSyncedChecker() cache.DoneChecker { return c.intake }

// LastSyncResourceVersion is the Reflector's; "" before the controller runs.
func (c *Controller) LastSyncResourceVersion() string {
	if r := c.reflector.Load(); r != nil {
		return r.LastSyncResourceVersion()
	}
	return ""
}

// intake stands between the Reflector and the FIFO: it transforms objects, whatever the
// FIFO, and notes when the FIFO has synced. A FIFO syncs in a Pop or, with nothing to pop,
// in a producing call. So noteSynced runs after each of both; no goroutine waits.
type intake struct {
	fifo      contract.FIFO
	bookmarks cache.ReflectorBookmarkStore // nil: the FIFO takes none
	transform contract.TransformFunc       // nil: none
	meter     *meter                       // nil: no metrics

	synced atomic.Bool
	done   chan struct{}
	once   sync.Once
	// onSynced is called once, before synced is set.
	onSynced func()
}

var (
	_ cache.ReflectorStore         = (*intake)(nil)
	_ cache.TransformingStore      = (*intake)(nil)
	_ cache.ReflectorBookmarkStore = (*intake)(nil)
	_ cache.DoneChecker            = (*intake)(nil)
	_ transformedStore             = (*intake)(nil)
	_ transformedStore             = versionedIntake{}
)

// versionedIntake is the intake of a FIFO that is a cache.ResourceVersionUpdater.
type versionedIntake struct {
	*intake
	cache.ResourceVersionUpdater
}

func newIntake(fifo contract.FIFO, transform contract.TransformFunc, m *meter) *intake {
	in := &intake{fifo: fifo, transform: transform, meter: m, done: make(chan struct{}),
		onSynced: func() {}}
	in.bookmarks, _ = fifo.(cache.ReflectorBookmarkStore)
	return in
}

func (in *intake) noteSynced() {
	if in.synced.Load() || !in.fifo.HasSynced() {
		return
	}
	in.once.Do(func() {
		in.onSynced()
		in.synced.Store(true)
		close(in.done)
	})
}

func (in *intake) Name() string          { return fmt.Sprintf("Controller over %T", in.fifo) }
func (in *intake) Done() <-chan struct{} { return in.done }

// Transformer is the FIFO's own where the intake has none. A streaming list then leaves out the
// objects for which it fails. Else the FIFO would refuse the whole list because of one of them.
func (in *intake) Transformer() contract.TransformFunc {
	if fifo, ok := in.fifo.(cache.TransformingStore); ok && in.transform == nil {
		return fifo.Transformer()
	}
	return in.transform
}

func (in *intake) Add(obj any) error    { return in.put(obj, in.fifo.Add) }
func (in *intake) Update(obj any) error { return in.put(obj, in.fifo.Update) }
func (in *intake) Delete(obj any) error { return in.put(obj, in.fifo.Delete) }

func (in *intake) put(obj any, put func(any) error) error {
	obj, err := in.transformed(obj)
	if err != nil {
		return err
	}
	err = put(obj)
	in.noteSynced()
	if in.meter != nil && err == nil {
		in.meter.came()
	}
	return err
}

func (in *intake) transformed(obj any) (any, error) {
	if _, tombstone := obj.(contract.DeletedFinalStateUnknown); tombstone || in.transform == nil {
		return obj, nil
	}
	changed, err := in.transform(obj)
	if err != nil {
		return nil, fmt.Errorf("transforming a %T: %w", obj, err)
	}
	return changed, nil
}

// Replace owns list.
func (in *intake) Replace(list []any, resourceVersion string) error {
	if in.transform != nil {
		for i, obj := range list {
			changed, err := in.transformed(obj)
			if err != nil {
				return fmt.Errorf("object %d of a list of %d: %w", i, len(list), err)
			}
			list[i] = changed
		}
	}
	return in.replaceTransformed(list, resourceVersion)
}

// replaceTransformed is Replace for a list that the Reflector has transformed.
func (in *intake) replaceTransformed(list []any, resourceVersion string) error {
	err := in.fifo.Replace(list, resourceVersion)
	in.noteSynced()
	in.changed()
	return err
}

func (in *intake) Resync() error {
	defer in.changed()
	return in.fifo.Resync()
}

func (in *intake) Bookmark(resourceVersion string) error {
	if in.bookmarks == nil {
		return nil
	}
	defer in.changed()
	return in.bookmarks.Bookmark(resourceVersion)
}

// changed publishes the FIFO's length after a call that is not an event.
func (in *intake) changed() {
	if in.meter != nil {
		in.meter.publishQueued()
	}
}
