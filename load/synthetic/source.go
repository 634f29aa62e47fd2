package synthetic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// SourceOptions configures a Source. The zero value works.
type SourceOptions struct {
	// Example is an object of the watched kind; bookmarks have its type. The default is of
	// the first object's type, or *corev1.Pod.
	Example runtime.Object
	// SelectableFields are the fields of unstructured objects that field selectors may use
	// beside metadata.name and metadata.namespace, such as "spec.color", like
	// selectableFields in a CustomResourceDefinition. Typed objects ignore it.
	SelectableFields []string
	// Window is how many events are kept, for watches to begin from and for lists at old
	// versions; the default is DefaultWindow. A watcher that falls behind by more is
	// closed, as the apiserver closes a watcher whose buffer is full.
	Window int
	// BookmarkEvery is the interval of bookmarks on an idle watch that allows them; the
	// default is a minute, as in the apiserver.
	BookmarkEvery time.Duration
	// FreshWait is how long a request for a future version waits before it is answered "too
	// large resource version"; the default is 3 s, as in the apiserver.
	FreshWait time.Duration
	// NoWatchCache makes a list at version "0" respect its limit. A server with a watch
	// cache ignores the limit, and so does a Source by default.
	NoWatchCache bool
	// Faults are the failures of the source. They must be valid.
	Faults []Fault
	// Clock is the clock of faults, timeouts and bookmarks; the default is the real one.
	Clock clock.WithTicker
}

// The defaults of SourceOptions.
const (
	DefaultWindow        = 10_000
	DefaultBookmarkEvery = time.Minute
	DefaultFreshWait     = 3 * time.Second
)

// Source is an in-process stand-in for one resource of an apiserver. It satisfies
// cache.ListerWatcher and cache.ListerWatcherWithContext. It follows
// https://kubernetes.io/docs/reference/using-api/api-concepts/ for resource versions,
// paging, bookmarks, streaming lists and selectors.
//
// Create, Update and Delete each advance the resource version by one and reach every
// watcher in order. All methods are safe for concurrent use. Objects are handed out without
// copying: do not change one.
//
// A write costs O(1) and wakes each idle watcher. A list costs O(n). It costs O(n log n) if
// it asks for a version older than the newest, or is the first after a create or delete.
type Source struct {
	options SourceOptions
	faults  *FaultSchedule
	stop    chan struct{}
	running sync.WaitGroup

	mu struct {
		sync.Mutex
		stopped bool
		objects map[string]runtime.Object
		keys    []string // sorted; nil if a create or delete made them stale
		// history[i] has version floor+1+i; events up to floor are forgotten.
		history []change
		floor   uint64
		// cacheFloor is the version at the last restart of the watch cache. Watches begin there
		// or later; lists at an exact version reach back to floor.
		cacheFloor uint64
		version    uint64
		changed    chan struct{} // closed, and made anew, at each change
	}
}

var (
	_ cache.ListerWatcher            = (*Source)(nil)
	_ cache.ListerWatcherWithContext = (*Source)(nil)
)

// change is one event of the history. before is nil for a creation, after for a deletion.
type change struct {
	key           string
	event         watch.Event
	before, after runtime.Object
}

// NewSource makes a source with these objects. Its resource version is the newest of
// theirs, or 1. It panics if an option is invalid or an object is not a Kubernetes object.
// Stop it when it is no longer needed.
func NewSource(objects []runtime.Object, options SourceOptions) *Source {
	s := &Source{options: options, stop: make(chan struct{})}
	s.mu.objects = make(map[string]runtime.Object, len(objects))
	s.mu.changed = make(chan struct{})
	s.mu.version = 1
	for _, obj := range objects {
		s.mu.objects[Key(obj)] = obj
		s.mu.version = max(s.mu.version, VersionOf(obj))
	}
	s.mu.floor = s.mu.version
	s.defaults(objects)
	for _, f := range options.Faults {
		if err := f.Validate(); err != nil {
			panic(fmt.Sprintf("synthetic: NewSource: %v", err))
		}
	}
	s.faults = NewFaultSchedule(options.Faults, s.options.Clock)
	return s
}

func (s *Source) defaults(objects []runtime.Object) {
	o := &s.options
	if o.Example == nil {
		o.Example = &corev1.Pod{}
		if len(objects) > 0 {
			o.Example = objects[0]
		}
	}
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	if o.BookmarkEvery <= 0 {
		o.BookmarkEvery = DefaultBookmarkEvery
	}
	if o.FreshWait <= 0 {
		o.FreshWait = DefaultFreshWait
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
}

// Stop ends every watch and waits until their goroutines have ended. Lists, watches and
// writes fail from then on. It may be called more than once.
func (s *Source) Stop() {
	s.mu.Lock()
	if !s.mu.stopped {
		s.mu.stopped = true
		close(s.stop)
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Create adds an object and returns it with its resource version. It fails with
// AlreadyExists.
func (s *Source) Create(obj runtime.Object) (runtime.Object, error) {
	return s.write(watch.Added, Key(obj), obj, "")
}

// Update replaces an object, whatever version the caller knew, and returns it with its
// resource version. It fails with NotFound.
func (s *Source) Update(obj runtime.Object) (runtime.Object, error) {
	return s.write(watch.Modified, Key(obj), obj, "")
}

// UpdateFrom is Update if the object still has the resource version from; otherwise it
// fails with Conflict.
func (s *Source) UpdateFrom(obj runtime.Object, from string) (runtime.Object, error) {
	return s.write(watch.Modified, Key(obj), obj, from)
}

// Delete removes the object under a key and returns its last state, with the
// resource version of the deletion. It fails with NotFound.
func (s *Source) Delete(key string) (runtime.Object, error) {
	return s.write(watch.Deleted, key, nil, "")
}

// DeleteFrom is Delete if the object still has the resource version from; otherwise it
// fails with Conflict.
func (s *Source) DeleteFrom(key, from string) (runtime.Object, error) {
	return s.write(watch.Deleted, key, nil, from)
}

// Get returns the object under a key, and whether there is one.
func (s *Source) Get(key string) (obj runtime.Object, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, exists = s.mu.objects[key]
	return obj, exists
}

// Example is an object of the source's kind. Do not change it.
func (s *Source) Example() runtime.Object { return s.options.Example }

// write applies a change of type kind. from is the version that the object must have, ""
// for any.
func (s *Source) write(kind watch.EventType, key string, obj runtime.Object,
	from string) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopped {
		return nil, errStopped()
	}
	before, exists := s.mu.objects[key]
	switch {
	case kind == watch.Added && exists:
		return nil, apierrors.NewAlreadyExists(s.resource(), key)
	case kind != watch.Added && !exists:
		return nil, apierrors.NewNotFound(s.resource(), key)
	case from != "" && Accessor(before).GetResourceVersion() != from:
		return nil, apierrors.NewConflict(s.resource(), key, errModified)
	case kind == watch.Deleted:
		obj = before
	}
	obj = withVersion(obj, s.mu.version+1)
	c := change{key: key, event: watch.Event{Type: kind, Object: obj}, before: before, after: obj}
	if kind == watch.Deleted {
		c.after = nil
		delete(s.mu.objects, key)
	} else {
		s.mu.objects[key] = obj
	}
	if kind != watch.Modified {
		s.mu.keys = nil
	}
	s.mu.version++
	s.mu.history = append(s.mu.history, c)
	if len(s.mu.history) > s.options.Window {
		s.mu.history[0] = change{} // or the garbage collector would keep it until the next growth
		s.mu.history = s.mu.history[1:]
		s.mu.floor++
	}
	close(s.mu.changed)
	s.mu.changed = make(chan struct{})
	return obj, nil
}

// ResourceVersion returns the newest resource version.
func (s *Source) ResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return formatVersion(s.mu.version)
}

// Snapshot returns the objects by key: the state that every client should reach. The map
// belongs to the caller.
func (s *Source) Snapshot() map[string]runtime.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mu.objects)
}

// Struck returns how often each fault has struck so far.
func (s *Source) Struck() map[FaultKind]int { return s.faults.Struck() }

// sortedKeysLocked returns the keys in the order of lists. Do not change them.
func (s *Source) sortedKeysLocked() []string {
	if s.mu.keys == nil {
		s.mu.keys = slices.Sorted(maps.Keys(s.mu.objects))
	}
	return s.mu.keys
}

// atLocked returns keys and objects as they were at a version, which must lie between floor
// and version, by undoing the later changes.
func (s *Source) atLocked(version uint64) ([]string, map[string]runtime.Object) {
	since := s.mu.history[version-s.mu.floor:]
	if len(since) == 0 {
		return s.sortedKeysLocked(), s.mu.objects
	}
	objects := maps.Clone(s.mu.objects)
	for _, c := range slices.Backward(since) {
		if c.before == nil {
			delete(objects, c.key)
		} else {
			objects[c.key] = c.before
		}
	}
	return slices.Sorted(maps.Keys(objects)), objects
}

// watchFloorLocked is the oldest version from which a watch can begin.
func (s *Source) watchFloorLocked() uint64 { return max(s.mu.floor, s.mu.cacheFloor) }

// lockAt waits until the source has reached a version. It returns with the lock
// held, unless it returns an error.
func (s *Source) lockAt(ctx context.Context, version uint64) error {
	s.mu.Lock()
	if version <= s.mu.version {
		return nil
	}
	timer := s.options.Clock.NewTimer(s.options.FreshWait)
	defer timer.Stop()
	for version > s.mu.version {
		changed, newest := s.mu.changed, s.mu.version
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C():
			return errTooLarge(version, newest)
		case <-s.stop:
			return errStopped()
		case <-ctx.Done():
			return ctx.Err()
		}
		s.mu.Lock()
	}
	return nil
}

func (s *Source) resource() schema.GroupResource {
	return schema.GroupResource{Resource: reflect.TypeOf(s.options.Example).Elem().Name()}
}

// withVersion returns a copy of obj with the version, as shallow as possible.
func withVersion(obj runtime.Object, version uint64) runtime.Object {
	next := ShallowCopy(obj)
	Accessor(next).SetResourceVersion(formatVersion(version))
	return next
}

// ShallowCopy returns a copy whose kind, metadata fields and fields at the top may be replaced;
// the values that they refer to must not be changed.
func ShallowCopy(obj runtime.Object) runtime.Object {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		next := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
		if metadata, ok := u.Object["metadata"].(map[string]any); ok {
			next.Object["metadata"] = maps.Clone(metadata)
		}
		return next
	}
	c := reflect.New(reflect.TypeOf(obj).Elem())
	c.Elem().Set(reflect.ValueOf(obj).Elem())
	return c.Interface().(runtime.Object)
}

// Accessor returns the metadata of an object. It panics if obj is no Kubernetes object.
func Accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("synthetic: a %T is no Kubernetes object: %v", obj, err))
	}
	return m
}

// VersionOf is an object's resource version, 0 if it has none or the version is no number.
func VersionOf(obj runtime.Object) uint64 {
	v, err := strconv.ParseUint(Accessor(obj).GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

func formatVersion(v uint64) string { return strconv.FormatUint(v, 10) }

var errModified = errors.New(
	"the object has been modified; please apply your changes to the latest version and try again")

func errStopped() error {
	return apierrors.NewServiceUnavailable("the source was stopped")
}

func errExpired(version, floor uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(
		fmt.Sprintf("too old resource version: %d (%d)", version, floor))
}

// errTooLarge has the cause that distinguishes it from other timeouts for clients.
func errTooLarge(version, newest uint64) error {
	err := apierrors.NewTimeoutError(
		fmt.Sprintf("Too large resource version: %d, current: %d", version, newest), 1)
	err.ErrStatus.Code = http.StatusGatewayTimeout
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}
