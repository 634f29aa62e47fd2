package informer

// Registration: a handler, its buffer and its goroutine.

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// crashPause is how long a handler that panicked is left alone, as in client-go.
const crashPause = time.Second

// Registration is what AddEventHandler returns: a handler in an informer, with the
// notifications that wait for it. All methods may be called by any number of
// goroutines at once.
//
// One goroutine calls the handler with one notification after the other, in the order in
// which the store changed. The buffer before it has no bound: it grows without end if the
// handler stays too slow; see [Registration.Len].
//
// A handler that panics goes the way of client-go's: utilruntime.HandleCrash logs it, and
// crashes the process if utilruntime.ReallyCrash is set, which is the default. Without
// ReallyCrash the notification counts as delivered, and the next follows a second later.
type Registration struct {
	handler cache.ResourceEventHandler
	name    string
	logger  klog.Logger
	clock   clock.Clock

	buffer   buffer
	tracker  *tracker
	closing  chan struct{} // closed by close
	finished chan struct{} // closed when the handler is called no more
	panics   atomic.Int64
	onPanic  []func(context.Context, any)

	// Under the processor's lock.
	requested  time.Duration // what the handler asked for, with the lower bounds applied
	period     time.Duration // 0: no resyncs, of the informer or for this handler
	nextResync time.Time
	resyncing  bool // gets onResync: true at first, then set by shouldResync
}

var _ cache.ResourceEventHandlerRegistration = (*Registration)(nil)

func newRegistration(handler cache.ResourceEventHandler, upstream string, logger klog.Logger,
	c clock.Clock) *Registration {
	name := handlerName(handler)
	r := &Registration{
		handler: handler, name: name, logger: logger, clock: c,
		tracker:   newTracker(upstream, name),
		closing:   make(chan struct{}),
		finished:  make(chan struct{}),
		resyncing: true,
	}
	r.buffer.init()
	r.onPanic = []func(context.Context, any){func(context.Context, any) { r.panics.Add(1) }}
	return r
}

// HasSynced reports whether the informer has synced and the handler has returned from
// the last object of the initial list, or of what was in the store when it was added.
func (r *Registration) HasSynced() bool { return cache.IsDone(r.tracker) }

// HasSyncedChecker gives HasSynced as a channel to wait for.
func (r *Registration) HasSyncedChecker() cache.DoneChecker { return r.tracker }

// ShutdownChan is closed when the handler was removed, or the informer has stopped, and
// the handler has returned from its last call; cache.ShutDownEventHandler waits for it.
func (r *Registration) ShutdownChan() <-chan struct{} { return r.finished }

// Name is the handler's type, or the name of its first function.
func (r *Registration) Name() string { return r.name }

// Len is how many notifications wait, without the one that the handler is busy with; 0
// once it was removed or the informer has stopped. It takes no lock.
func (r *Registration) Len() int { return r.buffer.len() }

// Panics is how often the handler has panicked.
func (r *Registration) Panics() int64 { return r.panics.Load() }

// add queues a batch. initial is the number of its notifications that are of the initial
// list.
func (r *Registration) add(batch []notification, initial int, resyncs bool) {
	r.tracker.start(initial)
	r.buffer.add(batch, resyncs)
}

// close drops what waits. The processor calls it once.
func (r *Registration) close() {
	close(r.closing)
	r.buffer.close()
}

// run calls the handler until close.
func (r *Registration) run() {
	defer close(r.finished)
	var emptied spares
	for {
		taken, ok := r.buffer.take(&emptied)
		if !ok || !r.deliverAll(&taken, &emptied) {
			return
		}
	}
}

// deliverAll delivers what was taken. It returns false if the buffer was closed.
func (r *Registration) deliverAll(taken *notifications, emptied *spares) bool {
	for {
		kind, crashed := r.deliver(taken, emptied)
		if !crashed {
			return !r.buffer.closed.Load()
		}
		if kind == onInitialAdd {
			r.tracker.finished()
		}
		if !r.pause() {
			return false
		}
	}
}

// deliver calls the handler until nothing is left of what was taken, a close or a panic,
// and returns the kind of the last notification. One deferred function serves all calls.
func (r *Registration) deliver(taken *notifications, emptied *spares) (kind notificationKind,
	crashed bool) {
	crashed = true
	defer utilruntime.HandleCrashWithLogger(r.logger, r.onPanic...)
	read := r.buffer.read.Load()
	for taken.Len() > 0 && !r.buffer.closed.Load() {
		n := *taken.Front()
		taken.Drop(emptied)
		kind = n.kind
		read++
		r.buffer.read.Store(read)
		switch kind {
		case onAdd:
			r.handler.OnAdd(n.obj, false)
		case onInitialAdd:
			r.handler.OnAdd(n.obj, true)
			r.tracker.finished()
		case onDelete:
			r.handler.OnDelete(n.obj)
		case onUpdate, onResync:
			r.handler.OnUpdate(n.old, n.obj)
		}
	}
	return kind, false
}

// pause waits after a panic. It returns false if the buffer was closed.
func (r *Registration) pause() bool {
	t := r.clock.NewTimer(crashPause)
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-r.closing:
		return false
	}
}

// handlerName names a handler as client-go does, for messages: by the function that has its
// functions within it, by each of them if they are of several, and by its type if it has none.
func handlerName(handler cache.ResourceEventHandler) string {
	var funcs cache.ResourceEventHandlerFuncs
	switch h := handler.(type) {
	case cache.ResourceEventHandlerFuncs:
		funcs = h
	case *cache.ResourceEventHandlerFuncs:
		if h != nil {
			funcs = *h
		}
	case nil:
	default:
		v := reflect.ValueOf(h)
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if t := v.Type(); t.Name() != "" {
			return t.PkgPath() + "." + t.Name()
		}
	}
	var names, around []string
	for _, f := range []any{funcs.AddFunc, funcs.UpdateFunc, funcs.DeleteFunc} {
		if fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer()); fn != nil {
			names = append(names, fn.Name())
			around = append(around, fn.Name()[:strings.LastIndexByte(fn.Name(), '.')])
		}
	}
	switch around = slices.Compact(around); len(around) {
	case 0:
		return fmt.Sprintf("%T", handler)
	case 1:
		return around[0]
	}
	return strings.Join(names, "+")
}
