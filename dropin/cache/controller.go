package cache

import (
	"context"
	"time"

	clientgo "k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/internal/callsite"
)

// New returns a controller that has not been started: an informer.Controller, which runs this
// project's Reflector. It panics if c lacks Queue, ListerWatcher or Process.
//
// The fields of c mean what they mean in client-go:
//
//   - Queue: any, such as a *RealFIFO or a *DeltaFIFO. The controller closes it when it ends.
//   - ProcessBatch: used if Queue is a QueueWithBatch and client-go's feature gate
//     InOrderInformersBatchProcess is on, which it is by default.
//   - FullResyncPeriod and ShouldResync: how often Queue.Resync is considered (0: never), and
//     what decides it (nil: always).
//   - MinWatchTimeout: below five minutes it means five minutes.
//   - WatchErrorHandler, or else WatchErrorHandlerWithContext: told of errors of list and watch.
//     Its Reflector is an idle one of client-go's with the name and type of the controller's.
//   - WatchListPageSize: the limit of list requests; 0 leaves it to the Reflector.
//   - ObjectType and ObjectDescription: what objects are let through (nil: all), and what
//     messages call them.
func New(c *Config) Controller {
	config := informer.Config{
		FIFO:              c.Queue,
		ListerWatcher:     c.ListerWatcher,
		Process:           contract.PopProcessFunc(c.Process),
		ObjectType:        c.ObjectType,
		ObjectDescription: c.ObjectDescription,
		FullResyncPeriod:  c.FullResyncPeriod,
		ShouldResync:      c.ShouldResync,
		MinWatchTimeout:   max(c.MinWatchTimeout, informer.DefaultMinWatchTimeout),
		PageSize:          c.WatchListPageSize,
		ProcessBatch:      c.ProcessBatch,
	}
	handler := c.WatchErrorHandlerWithContext
	if withoutContext := c.WatchErrorHandler; withoutContext != nil {
		handler = func(_ context.Context, r *Reflector, err error) { withoutContext(r, err) }
	}
	config.WatchErrorHandler = informer.WatchErrorHandlerOf(handler, c.ListerWatcher, c.ObjectType,
		c.ObjectDescription)
	return controller{informer.NewController(config), c.Queue}
}

// controller leaves it to the queue to say when it has synced.
type controller struct {
	*informer.Controller
	queue Queue
}

func (c controller) HasSynced() bool               { return c.queue.HasSynced() }
func (c controller) HasSyncedChecker() DoneChecker { return c.queue.HasSyncedChecker() }

// NewReflector is NewReflectorWithOptions for one of its options.
func NewReflector(lw ListerWatcher, expectedType any, store ReflectorStore,
	resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store,
		ReflectorOptions{ResyncPeriod: resyncPeriod})
}

// NewNamedReflector is NewReflectorWithOptions for two of its options.
func NewNamedReflector(name string, lw ListerWatcher, expectedType any, store ReflectorStore,
	resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store,
		ReflectorOptions{Name: name, ResyncPeriod: resyncPeriod})
}

// NewReflectorWithOptions returns client-go's own Reflector, for the reason that the package
// comment gives. Without a name it has that of the code that led here: package, file and line.
func NewReflectorWithOptions(lw ListerWatcher, expectedType any, store ReflectorStore,
	options ReflectorOptions) *Reflector {
	if options.Name == "" {
		options.Name = callsite.Name()
	}
	return clientgo.NewReflectorWithOptions(lw, expectedType, store, options)
}
