package subject

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// EventSource is the source of one measured informer. It is as cheap as a source can be, so
// that the informer is the bottleneck. A list is a copy of a slice of the objects
// themselves. An event is a send on a channel of capacity one, as in client-go's own
// benchmark of shared informers. synthetic.Source, by contrast, keeps a history, makes versions
// and takes a lock for each event, which would be most of the measured time.
//
// One watch is open at a time. send may be called by several goroutines at once.
type EventSource struct {
	stream  bool // answers a watch that asks for initial events; else the client lists
	version string
	opened  chan struct{} // of capacity one: a watch takes events
	lists   atomic.Int64  // answered so far
	Open    atomic.Pointer[EventWatch]
	done    chan struct{}
	running sync.WaitGroup
	// decode makes the object that a client gets; nil: it gets the source's own.
	decode func(runtime.Object) runtime.Object
	mu     struct {
		sync.Mutex
		items   []runtime.Object
		gate    chan struct{} // a list waits until it is closed; nil lets the list pass
		waiting chan struct{} // closed when a list waits at the gate
	}
}

var (
	_ cache.ListerWatcher            = (*EventSource)(nil)
	_ cache.ListerWatcherWithContext = (*EventSource)(nil)
)

// NewEventSource makes a source that lists the given objects.
func NewEventSource(items []runtime.Object, version string, stream bool) *EventSource {
	f := &EventSource{stream: stream, version: version, opened: make(chan struct{}, 1),
		done: make(chan struct{})}
	f.mu.items = items
	return f
}

// IsWatchListSemanticsUnSupported is client-go's question before it asks for initial
// events.
func (f *EventSource) IsWatchListSemanticsUnSupported() bool { return !f.stream }

// List is part of cache.ListerWatcher.
func (f *EventSource) List(o metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), o)
}

// Watch is part of cache.ListerWatcher.
func (f *EventSource) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return f.WatchWithContext(context.Background(), o)
}

// ListWithContext returns the objects as a *metainternalversion.List, as a synthetic.Source does.
func (f *EventSource) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object,
	error) {
	f.mu.Lock()
	gate := f.mu.gate
	if gate != nil && f.mu.waiting != nil {
		close(f.mu.waiting)
		f.mu.waiting = nil
	}
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.done:
			return nil, apierrors.NewServiceUnavailable("the source was stopped")
		}
	}
	f.lists.Add(1)
	f.mu.Lock()
	items := slices.Clone(f.mu.items)
	f.mu.Unlock()
	for i, obj := range items {
		items[i] = f.toClient(obj)
	}
	return &metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: f.version},
		Items: items}, nil
}

func (f *EventSource) toClient(obj runtime.Object) runtime.Object {
	if f.decode == nil {
		return obj
	}
	return f.decode(obj)
}

// WatchWithContext opens the watch, which gets every event sent from then on. The initial
// events come first, where a client asks for them.
func (f *EventSource) WatchWithContext(_ context.Context, o metav1.ListOptions) (watch.Interface,
	error) {
	w := &EventWatch{events: make(chan watch.Event, 1), done: make(chan struct{})}
	if o.SendInitialEvents == nil || !*o.SendInitialEvents {
		f.open(w)
		return w, nil
	}
	if !f.stream {
		return nil, apierrors.NewBadRequest("this source streams no initial events")
	}
	f.mu.Lock()
	items := f.mu.items
	f.mu.Unlock()
	f.running.Go(func() {
		for _, obj := range items {
			if !w.Send(watch.Event{Type: watch.Added, Object: f.toClient(obj)}, f.done) {
				return
			}
		}
		if w.Send(watch.Event{Type: watch.Bookmark, Object: f.endOfInitial(items)}, f.done) {
			f.open(w)
		}
	})
	return w, nil
}

func (f *EventSource) open(w *EventWatch) {
	f.Open.Store(w)
	select {
	case f.opened <- struct{}{}:
	default:
	}
}

// endOfInitial is an object with only the version and the annotation that ends the initial
// events.
func (f *EventSource) endOfInitial(items []runtime.Object) runtime.Object {
	obj := reflect.New(reflect.TypeOf(items[0]).Elem()).Interface().(runtime.Object)
	if m, err := meta.Accessor(obj); err == nil {
		m.SetResourceVersion(f.version)
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return obj
}

// send gives the open watch a MODIFIED event, and blocks until there is room for it.
func (f *EventSource) send(obj runtime.Object) {
	f.Open.Load().events <- watch.Event{Type: watch.Modified, Object: f.toClient(obj)}
}

// hold ends the watch with a 410 and makes the next list wait, whose answer will be items.
// The returned channel is closed when that list has arrived.
func (f *EventSource) hold(items []runtime.Object) (waiting <-chan struct{}) {
	f.mu.Lock()
	f.mu.items, f.mu.gate, f.mu.waiting = items, make(chan struct{}), make(chan struct{})
	waiting = f.mu.waiting
	f.mu.Unlock()
	gone := apierrors.NewResourceExpired("too old resource version").Status()
	if w := f.Open.Load(); w != nil {
		w.Send(watch.Event{Type: watch.Error, Object: &gone}, f.done)
	}
	return waiting
}

// release answers the list that hold made wait.
func (f *EventSource) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.mu.gate)
	f.mu.gate = nil
}

// close unblocks every goroutine waiting in the source, after the informer was told to
// stop.
func (f *EventSource) close() {
	close(f.done)
	f.running.Wait()
}

// drain takes an unread event, if there is one, so that its sender continues.
func (f *EventSource) drain() {
	if w := f.Open.Load(); w != nil {
		select {
		case <-w.events:
		default:
		}
	}
}

// EventWatch is an open watch of an EventSource.
type EventWatch struct {
	events chan watch.Event
	once   sync.Once
	done   chan struct{}
}

// ResultChan is part of watch.Interface.
func (w *EventWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop is part of watch.Interface.
func (w *EventWatch) Stop() { w.once.Do(func() { close(w.done) }) }

// Send reports whether the watch took the event.
func (w *EventWatch) Send(e watch.Event, done <-chan struct{}) bool {
	select {
	case w.events <- e:
		return true
	case <-w.done:
	case <-done:
	}
	return false
}
