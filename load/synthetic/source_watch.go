package synthetic

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// watchBatch is how many events a watcher takes from the history at a time, so that it does
// not lock for each event.
const watchBatch = 64

// Watch is WatchWithContext without a context.
func (s *Source) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// WatchWithContext starts a watch. The watch ends with Stop of either, with the context,
// after TimeoutSeconds, by a fault, or when its reader falls behind by more than the
// window.
//
// With SendInitialEvents, which is the default from version "" and "0", it begins with an
// ADDED event for each object. A bookmark that is annotated k8s.io/initial-events-end comes
// after the last one, if bookmarks are allowed. A version that does not come within
// FreshWait is answered by an ERROR event of 504 Timeout.
//
// Without SendInitialEvents it begins with the events after its version. A version older
// than the window, or than the last [FaultCacheRestart], is answered by an ERROR event of
// 410 Expired. For a future version the watch waits silently.
func (s *Source) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface,
	error) {
	return s.WatchBuffered(ctx, options, 0)
}

// WatchBuffered is WatchWithContext with a channel of capacity buffer, so that a reader
// that writes to a network finds several events at once.
func (s *Source) WatchBuffered(ctx context.Context, options metav1.ListOptions,
	buffer int) (watch.Interface, error) {
	sendInitialEvents, err := checkOptions(options, true)
	if err != nil {
		return nil, err
	}
	from, err := parseVersion(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	selected, err := s.selection(options)
	if err != nil {
		return nil, err
	}
	if err := s.watchFault(options.ResourceVersion); err != nil {
		return nil, err
	}
	w := &watcher{
		source: s, ctx: ctx, selected: selected, cursor: from, bookmarks: options.AllowWatchBookmarks,
		sendInitialEvents: sendInitialEvents,
		result:            make(chan watch.Event, buffer), done: make(chan struct{}),
	}
	need := from
	if !sendInitialEvents {
		need = 0
	}
	switch err := s.lockAt(ctx, need); {
	case apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge):
		w.refused, _ = errors.AsType[*apierrors.StatusError](err)
		s.mu.Lock()
	case err != nil:
		return nil, err
	}
	defer s.mu.Unlock()
	if s.mu.stopped {
		return nil, errStopped()
	}
	if options.TimeoutSeconds != nil {
		w.timeout = time.Duration(*options.TimeoutSeconds) * time.Second
	}
	switch {
	case w.refused != nil:
	case sendInitialEvents:
		w.cursor = s.mu.version
		for _, key := range s.sortedKeysLocked() {
			if obj := s.mu.objects[key]; selected == nil || selected(obj) {
				w.initial = append(w.initial, obj)
			}
		}
	case from == 0:
		w.cursor = s.mu.version
	case from < s.watchFloorLocked():
		w.refused = errExpired(from, s.watchFloorLocked())
	}
	s.running.Add(1)
	go w.run()
	return w, nil
}

func (s *Source) watchFault(version string) error {
	if s.faults.Strike(FaultWatchRefused) != nil {
		return apierrors.NewTooManyRequests(errAsked(FaultWatchRefused).Error(), 1)
	}
	return s.tooLargeFault(version)
}

// since returns the next changes after a version, and a channel that is closed when there
// are more. expired means that some are forgotten, or are older than the last restart of
// the watch cache.
func (s *Source) since(version uint64) (changes []change, more <-chan struct{}, expired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.watchFloorLocked() {
		return nil, nil, true
	}
	if version < s.mu.version {
		next := s.mu.history[version-s.mu.floor:]
		changes = append(changes, next[:min(len(next), watchBatch)]...)
	}
	return changes, s.mu.changed, false
}

// watcher is one watch. Only its goroutine reads the history and sends. The history is its
// buffer, so a slow reader costs no memory.
type watcher struct {
	source    *Source
	ctx       context.Context
	selected  func(runtime.Object) bool // nil for every object
	initial   []runtime.Object
	refused   *apierrors.StatusError
	cursor    uint64 // the version sent last
	bookmarks bool
	timeout   time.Duration // 0 for none

	sendInitialEvents bool

	result  chan watch.Event
	expired <-chan time.Time // nil without a timeout
	once    sync.Once
	done    chan struct{}
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

func (w *watcher) Stop() { w.once.Do(func() { close(w.done) }) }

func (w *watcher) run() {
	defer w.source.running.Done()
	defer close(w.result)
	if w.timeout != 0 { // a negative one ends at once
		timer := w.source.options.Clock.NewTimer(w.timeout)
		defer timer.Stop()
		w.expired = timer.C()
	}
	var tick <-chan time.Time
	if w.bookmarks {
		ticker := w.source.options.Clock.NewTicker(w.source.options.BookmarkEvery)
		defer ticker.Stop()
		tick = ticker.C()
	}
	if !w.begin() {
		return
	}
	w.source.faults.Synced()
	for {
		changes, more, expired := w.source.since(w.cursor)
		if expired {
			return
		}
		for _, c := range changes {
			w.cursor++
			if e, seen := c.seenBy(w.selected); seen && !w.deliver(e) {
				return
			}
		}
		if len(changes) > 0 {
			continue
		}
		select {
		case <-more:
		case <-tick:
			if w.source.faults.Strike(FaultDropBookmarks) == nil && !w.send(w.bookmark(false)) {
				return
			}
		case <-w.expired:
			return
		case <-w.done:
			return
		case <-w.source.stop:
			return
		case <-w.ctx.Done():
			return
		}
	}
}

// begin sends the events before the first change.
func (w *watcher) begin() bool {
	if w.refused != nil {
		w.send(watch.Event{Type: watch.Error, Object: ptr.To(w.refused.Status())})
		return false
	}
	for _, obj := range w.initial {
		if !w.send(watch.Event{Type: watch.Added, Object: obj}) {
			return false
		}
	}
	w.initial = nil
	return !w.sendInitialEvents || !w.bookmarks || w.send(w.bookmark(true))
}

// deliver sends one event, unless a fault ends the watch.
func (w *watcher) deliver(e watch.Event) bool {
	end, status, delay := w.source.eventFault()
	if delay > 0 {
		timer := w.source.options.Clock.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-w.expired:
			return false
		case <-w.done:
			return false
		case <-w.source.stop:
			return false
		case <-w.ctx.Done():
			return false
		}
	}
	if status != nil {
		w.send(watch.Event{Type: watch.Error, Object: ptr.To(status.Status())})
	}
	return !end && w.send(e)
}

// send reports whether the watch continues.
func (w *watcher) send(e watch.Event) bool {
	select {
	case w.result <- e:
		return true
	case <-w.expired:
	case <-w.done:
	case <-w.source.stop:
	case <-w.ctx.Done():
	}
	return false
}

// bookmark is an object of the watched type with only a version.
func (w *watcher) bookmark(initialEnd bool) watch.Event {
	obj := reflect.New(reflect.TypeOf(w.source.options.Example).Elem()).Interface().(runtime.Object)
	// An unstructured object cannot be encoded without its kind; a typed example has no
	// kind.
	obj.GetObjectKind().SetGroupVersionKind(
		w.source.options.Example.GetObjectKind().GroupVersionKind())
	m := Accessor(obj)
	m.SetResourceVersion(formatVersion(w.cursor))
	if initialEnd {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return watch.Event{Type: watch.Bookmark, Object: obj}
}
