package cache

// Compiled with client-go's tests only: see TestUpstream. It stands in for the unexported names
// that they use, and runs its Reflector's tests on ours.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
)

type sharedIndexInformer = informer.SharedIndexInformer

// threadSafeMap is our store with the index of client-go's.
type threadSafeMap struct{ *lockfree.Store }

type storeIndex struct {
	indices map[string]map[string]sets.Set[string]
}

func newThreadSafeStore(indexers Indexers, indices Indices) ThreadSafeStore {
	return &threadSafeMap{NewThreadSafeStore(indexers, indices).(*lockfree.Store)}
}

func (s *threadSafeMap) index() (i storeIndex) {
	i.indices = map[string]map[string]sets.Set[string]{}
	for name := range s.GetIndexers() {
		i.indices[name] = map[string]sets.Set[string]{}
		for _, value := range s.ListIndexFuncValues(name) {
			keys, _ := s.IndexKeys(name, value)
			i.indices[name][value] = sets.New(keys...)
		}
	}
	return i
}

// items is what waits, by key.
func (f *DeltaFIFO) items() map[string]Deltas {
	items := map[string]Deltas{}
	for _, key := range f.fifo.ListKeys() {
		deltas, _, _ := f.fifo.GetByKey(key)
		items[key] = deltas.(Deltas)
	}
	return items
}

// keyOf is the key of a Delta, or of an object of the tests of the Reflector.
func (f *RealFIFO) keyOf(obj any) (string, error) {
	if d, ok := obj.(Delta); ok {
		return NewDeltaFIFO(testFifoObjectKeyFunc, nil).KeyOf(d.Object)
	}
	return MetaNamespaceKeyFunc(obj)
}

// atomic makes an empty FIFO of client-go's test of it one with atomic events, whatever is set.
func (f *RealFIFO) atomic() *struct{ events, bookmarks bool } {
	*f = *NewRealFIFOWithOptions(RealFIFOOptions{KeyFunction: testFifoObjectKeyFunc,
		AtomicEvents: true, EmitDeltaTypeBookmark: true})
	return new(struct{ events, bookmarks bool })
}

// nameForHandler is the name that our informer gives a handler, with client-go's package for ours.
func nameForHandler(handler ResourceEventHandler) string {
	r, err := NewSharedIndexInformer(&ListWatch{}, nil, 0, Indexers{}).AddEventHandler(handler)
	if err != nil {
		return fmt.Sprintf("%T", handler) // no informer takes a nil one
	}
	_, name, _ := strings.Cut(r.HasSyncedChecker().Name(), " + event handler ")
	return strings.ReplaceAll(name, "github.com/informerbench/informerbench/dropin/cache",
		"k8s.io/client-go/tools/cache")
}

// ourReflector is an informer.Reflector with the methods and fields of client-go's. The
// Reflector is made when it is first used, since tests set the fields before.
type ourReflector struct {
	WatchListPageSize             int64
	ShouldResync                  func() bool
	MaxInternalErrorRetryDuration time.Duration

	listerWatcher ListerWatcher
	expectedType  any
	store         ReflectorStore
	options       ReflectorOptions
	version       string
	once          sync.Once
	inner         *informer.Reflector
}

func newReflector(lw ListerWatcher, expectedType any, store ReflectorStore,
	resyncPeriod time.Duration) *ourReflector {
	return newReflectorWithOptions(lw, expectedType, store,
		ReflectorOptions{ResyncPeriod: resyncPeriod})
}

func newReflectorWithOptions(lw ListerWatcher, expectedType any, store ReflectorStore,
	options ReflectorOptions) *ourReflector {
	return &ourReflector{listerWatcher: lw, expectedType: expectedType, store: store, options: options}
}

func (r *ourReflector) made() *informer.Reflector {
	r.once.Do(func() {
		c, _ := r.options.Clock.(clock.WithTicker)
		options := informer.ReflectorOptions{
			Name: r.options.Name, TypeDescription: r.options.TypeDescription,
			ResyncPeriod:    r.options.ResyncPeriod,
			MinWatchTimeout: max(r.options.MinWatchTimeout, informer.DefaultMinWatchTimeout), Clock: c,
			Backoff:      r.options.Backoff,
			ShouldResync: r.ShouldResync, PageSize: r.WatchListPageSize,
			MaxInternalErrorRetryDuration: r.MaxInternalErrorRetryDuration,
		}
		r.inner = informer.NewReflector(r.listerWatcher, r.expectedType, r.store, options)
		if r.version != "" {
			r.inner.SetVersion(r.version)
		}
	})
	return r.inner
}

func (r *ourReflector) setLastSyncResourceVersion(version string) { r.version = version }
func (r *ourReflector) useWatchList() bool                        { return r.made().UsesWatchList() }
func (r *ourReflector) list(ctx context.Context) error            { return r.made().List(ctx) }

const defaultExpectedTypeName = "<unspecified>"

func getTypeDescriptionFromObject(obj any) string {
	return newReflector(&ListWatch{}, obj, nil, 0).TypeDescription()
}

func getExpectedGVKFromObject(obj any) *schema.GroupVersionKind {
	return newReflector(&ListWatch{}, obj, nil, 0).made().ExpectedGVK()
}

func isUnsupportedTableObject(obj runtime.Object) bool { return informer.IsTable(obj) }

func (r *ourReflector) Name() string            { return r.made().Name() }
func (r *ourReflector) TypeDescription() string { return r.made().TypeDescription() }
func (r *ourReflector) LastSyncResourceVersion() string {
	return r.made().LastSyncResourceVersion()
}
func (r *ourReflector) Run(stopCh <-chan struct{})         { r.made().Run(stopCh) }
func (r *ourReflector) RunWithContext(ctx context.Context) { r.made().RunWithContext(ctx) }
func (r *ourReflector) ListAndWatch(stopCh <-chan struct{}) error {
	return r.ListAndWatchWithContext(wait.ContextForChannel(stopCh))
}
func (r *ourReflector) ListAndWatchWithContext(ctx context.Context) error {
	return r.made().ListAndWatchWithContext(ctx)
}

// newestFIFO stands in for client-go's FIFO, whose tests read what waits: a DeltaFIFO that hands
// out the newest object of each key.
type newestFIFO struct{ *DeltaFIFO }

func newFIFO(keyFunc KeyFunc) newestFIFO { return newestFIFO{NewDeltaFIFO(keyFunc, nil)} }

func (f newestFIFO) List() (objs []any) {
	for _, key := range f.fifo.ListKeys() {
		if deltas, _, _ := f.fifo.GetByKey(key); deltas.(Deltas).Newest().Type != Deleted {
			objs = append(objs, deltas.(Deltas).Newest().Object)
		}
	}
	return objs
}

func (f newestFIFO) Get(obj any) (item any, exists bool, err error) {
	deltas, exists, err := f.fifo.Get(obj)
	if !exists || deltas.(Deltas).Newest().Type == Deleted {
		return nil, false, err
	}
	return deltas.(Deltas).Newest().Object, true, nil
}

func (f newestFIFO) Pop(process PopProcessFunc) (item any, err error) {
	_, err = f.DeltaFIFO.Pop(func(obj any, isInInitialList bool) error {
		item = obj.(Deltas).Newest().Object
		return process(item, isInInitialList)
	})
	return item, err
}
