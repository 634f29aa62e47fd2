package informer

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watchBesideResync watches, and resyncs the store at its period meanwhile. A resync
// that fails ends the watch, so that a list repairs the store.
func (r *Reflector) watchBesideResync(ctx context.Context, w watch.Interface) error {
	watchCtx, cancel := context.WithCancel(ctx)
	var resyncing sync.WaitGroup
	defer resyncing.Wait()
	defer cancel()
	resyncing.Go(func() {
		defer cancel()
		r.resync(watchCtx)
	})
	if err := r.watch(watchCtx, w); watchCtx.Err() == nil {
		return err
	}
	return nil
}

// resync calls the store's Resync until it fails or ctx is done. The period runs
// from the end of one resync to the beginning of the next.
func (r *Reflector) resync(ctx context.Context) {
	logger := klog.FromContext(ctx)
	timer := r.clock.NewTimer(r.options.ResyncPeriod)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		if should := r.options.ShouldResync; should == nil || should() {
			logger.V(4).Info("Forcing resync", "reflector", r.name)
			if err := r.store.Resync(); err != nil {
				logger.Info("Warning: resync failed, the objects are listed again", "reflector", r.name, "type",
					r.typeDescription, "err", err)
				return
			}
		}
		timer.Reset(r.options.ResyncPeriod)
	}
}

// watch follows the state from the known version, in one watch after the other, until only
// a list can help. w is the first watch if it is not nil; watch stops it.
func (r *Reflector) watch(ctx context.Context, w watch.Interface) error {
	retry := cache.NewRetryWithDeadline(r.options.MaxInternalErrorRetryDuration, time.Minute,
		apierrors.IsInternalError, r.clock)
	for quick := 0; ctx.Err() == nil; w = nil {
		s, err := r.begin(ctx, w)
		if isUnreachable(err) {
			r.note(err)
			r.backOffFrom(ctx, 4, "Watch failed, backing off", err)
			continue
		}
		if err != nil {
			r.noteExpired(err)
			return err
		}
		r.note(nil)
		err = s.run(ctx)
		if quick++; !s.isShort() {
			quick, r.backoff.served = 0, true
		}
		retry.After(err)
		if ctx.Err() == nil && !r.goesOn(ctx, err, quick, retry) {
			return nil
		}
	}
	if w != nil {
		w.Stop()
	}
	return ctx.Err()
}

// begin begins w, or a watch at the known version if w is nil.
//
//go:noinline
func (r *Reflector) begin(ctx context.Context, w watch.Interface) (s *session, err error) {
	// Some proxies send no headers before the first event, so the time of the request counts.
	s = &session{r: r, w: w, sink: r.store, started: r.clock.Now(), ordered: true}
	if w == nil {
		version := r.LastSyncResourceVersion()
		s.ordered = version != "" && version != "0"
		s.w, err = r.openWatch(ctx, metav1.ListOptions{ResourceVersion: version})
	}
	return s, err
}

// goesOn reports whether another watch may follow one that ended with err, and backs off before it
// where it must. quick is the number of watches in a row that ended soon.
//
//go:noinline
func (r *Reflector) goesOn(ctx context.Context, err error, quick int,
	retry cache.RetryWithDeadline) bool {
	logger := klog.FromContext(ctx)
	switch {
	case err == nil && quick <= quickWatches:
	case err == nil:
		r.backOffFrom(ctx, 2, "Watches end as soon as they have begun, backing off", nil)
	case isExpired(err):
		// A list at the known version or a newer one can come from the watch cache, and does
		// not go back: no need for the newest, which may cost etcd a read.
		r.noteExpired(err)
		logger.V(4).Info("Watch closed", "reflector", r.name, "type", r.typeDescription, "err", err)
		return false
	case apierrors.IsTooManyRequests(err):
		r.backOffFrom(ctx, 2, "Watch returned 429, backing off", err)
	case apierrors.IsInternalError(err) && retry.ShouldRetry():
		// client-go tries again without a wait, and so as fast as the server fails.
		r.backOffFrom(ctx, 2, "Retrying watch after internal error", err)
	default:
		logger.Info("Warning: watch ended with error", "reflector", r.name, "type", r.typeDescription,
			"err", err)
		return false
	}
	return true
}

// backOffFrom logs why the Reflector backs off, and does.
//
//go:noinline
func (r *Reflector) backOffFrom(ctx context.Context, level int, message string, err error) {
	klog.FromContext(ctx).V(level).Info(message, "reflector", r.name, "type", r.typeDescription,
		"err", err)
	r.backOff(ctx)
}

// noteExpired remembers the version from which a watch was answered 410, if err is that.
func (r *Reflector) noteExpired(err error) {
	if isExpired(err) {
		r.expired = r.LastSyncResourceVersion()
	}
}

// openWatch begins a watch with the options that all watches share: bookmarks, which a
// server may ignore, and a random timeout, so that none hangs on a dead server.
func (r *Reflector) openWatch(ctx context.Context, options metav1.ListOptions) (watch.Interface,
	error) {
	least := r.options.MinWatchTimeout.Seconds()
	seconds := max(1, int64(least+rand.Float64()*least))
	options.TimeoutSeconds = &seconds
	options.AllowWatchBookmarks = true
	w, err := await(ctx, r, func(ctx context.Context) (watch.Interface, error) {
		return r.lw.WatchWithContext(ctx, options)
	}, stopWatch)
	if err == nil && w == nil {
		return nil, errors.New("the Watcher returned neither a watch nor an error")
	}
	return w, err
}

func stopWatch(w watch.Interface) {
	if w != nil {
		w.Stop()
	}
}

// sink takes the events of a watch.
type sink interface {
	Add(obj any) error
	Update(obj any) error
	Delete(obj any) error
}

// session is one watch, from its beginning to its end.
type session struct {
	r       *Reflector
	w       watch.Interface
	sink    sink
	started time.Time
	// streaming means that the watch begins with a streaming list and is handed on,
	// open, at its end: complete is set then, and version to that of the list.
	streaming, complete bool
	version             string
	// ordered means that the initial events are over. They stand for the state at the
	// beginning and come in no order of versions. From then on a watch can resume from each
	// version. The first event that is not ADDED shows it.
	ordered bool
	events  int
	// progress counts the initial events of a streaming list, seen those of them at the last tick.
	progress, seen int
	// quietSince is since when a streaming list has brought nothing of the initial state.
	quietSince time.Time
	// newest is the last name of the initial events without a time of creation.
	newest types.NamespacedName
}

// run delivers the events until the watch or ctx ends, or the streaming list is complete.
// It stops the watch, except after a complete streaming list.
//
// It is the hot loop: as long as events are there, it takes them without a select
// over several channels, which would lock them all for each event.
func (s *session) run(ctx context.Context) error {
	defer func() {
		if !s.complete {
			s.w.Stop()
		}
	}()
	var tick <-chan time.Time
	if s.streaming {
		ticker := s.r.clock.NewTicker(streamPatience / 4)
		defer ticker.Stop()
		tick = ticker.C()
	}
	for done, results := ctx.Done(), s.w.ResultChan(); ; {
		select {
		case <-done:
			return ctx.Err()
		default:
		}
		if s.events%busyEvents == 0 { // events that are always there hide the tick
			select {
			case <-tick:
				if s.isStalled() {
					return errStalledStream
				}
			default:
			}
		}
		var event watch.Event
		var open bool
		select {
		case event, open = <-results:
		default:
			select {
			case event, open = <-results:
			case <-done:
				return ctx.Err()
			case <-tick:
				if s.isStalled() {
					return errStalledStream
				}
				continue
			}
		}
		switch {
		case !open:
			return s.closed(ctx)
		case event.Type == watch.Error:
			return apierrors.FromObject(event.Object)
		}
		s.deliver(ctx, event)
		if s.complete {
			return nil
		}
	}
}

// busyEvents is after how many events a streaming list that never waits is asked whether it stalls.
const busyEvents = 16

// isStalled is asked at each tick of a streaming list: whether it has brought nothing of the initial
// state for streamPatience.
func (s *session) isStalled() bool {
	if s.seen != s.progress {
		s.seen, s.quietSince = s.progress, s.r.clock.Now()
	}
	return s.r.clock.Since(s.quietSince) >= streamPatience
}

// quickWatches is how many watches that end within a second are opened one after the other before
// the Reflector waits. Their events do not matter: without a wait, a server that ends each watch
// after one event is asked thousands of times a second.
const quickWatches = 5

// isShort reports whether the watch ended within a second.
//
//go:noinline
func (s *session) isShort() bool { return s.r.clock.Since(s.started) < time.Second }

// closed says what the regular end of a watch means.
func (s *session) closed(ctx context.Context) error {
	if s.isShort() && s.events == 0 { // something between client and server is broken
		return &cache.VeryShortWatchError{Name: s.r.name}
	}
	klog.FromContext(ctx).V(4).Info("Watch close", "reflector", s.r.name, "type", s.r.typeDescription,
		"totalItems", s.events)
	return nil
}

// deliver gives one event to the sink and then notes its version. It reports and skips an
// event that cannot be delivered.
func (s *session) deliver(ctx context.Context, event watch.Event) {
	r := s.r
	if r.expectedType != nil && reflect.TypeOf(event.Object) != r.expectedType {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unexpected watch event object type", "reflector",
			r.name, "expectedType", r.expectedType, "actualType", reflect.TypeOf(event.Object))
		return
	}
	if r.expectedGVK != nil {
		if gvk := event.Object.GetObjectKind().GroupVersionKind(); gvk != *r.expectedGVK {
			utilruntime.HandleErrorWithContext(ctx, nil, "Unexpected watch event object gvk", "reflector",
				r.name, "expectedGVK", *r.expectedGVK, "actualGVK", gvk)
			return
		}
	} else if isTable(event.Object) {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unsupported watch event object gvk", "reflector",
			r.name, "actualGVK", event.Object.GetObjectKind().GroupVersionKind())
		return
	}
	m, err := meta.Accessor(event.Object)
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Unable to understand watch event", "reflector",
			r.name, "event", event)
		return
	}
	version := m.GetResourceVersion()
	complete := false
	switch event.Type {
	case watch.Added:
		err = s.sink.Add(event.Object)
	case watch.Modified:
		s.ordered = true
		err = s.sink.Update(event.Object)
	case watch.Deleted:
		s.ordered = true
		err = s.sink.Delete(event.Object)
	case watch.Bookmark:
		s.ordered = true
		complete = s.streaming && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
		if r.bookmarks != nil && !s.streaming && version != "" {
			err = r.bookmarks.Bookmark(version)
		}
	default:
		// Its version counts, or a server that knows a newer protocol would send it for ever.
		utilruntime.HandleErrorWithContext(ctx, nil, "Unknown watch event", "reflector", r.name, "event",
			event)
	}
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "The store refused a watch event", "reflector",
			r.name, "event", event.Type, "object", klog.KObj(m))
	}
	s.events++
	if s.streaming && s.isInitial(event.Type, m) {
		s.progress++
	}
	s.note(version)
	s.complete = complete
}

// isInitial reports whether an event of a streaming list belongs to the initial state, as far as
// it shows: what was made since the watch began does not, nor what has no version, as from a fake,
// nor what comes out of order where objects do not say when they were made.
func (s *session) isInitial(t watch.EventType, m metav1.Object) bool {
	if t != watch.Added || m.GetResourceVersion() == "" {
		return false
	}
	if created := m.GetCreationTimestamp(); !created.IsZero() {
		return !created.After(s.started)
	}
	name := types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}
	if s.progress > 0 && !inKeyOrder(s.newest, name) {
		return false
	}
	s.newest = name
	return true
}

// note advances the known version. An object without one, which only fakes send, makes the next
// watch begin with every object again.
func (s *session) note(version string) {
	switch {
	case !s.ordered:
	case s.streaming:
		s.version = version
	default:
		s.r.setVersion(version)
		if s.r.versions != nil {
			s.r.versions.UpdateResourceVersion(version)
		}
	}
}
