package informer_test

// The fixtures of the tests of the whole informer: the combinations, a source, and a
// handler that checks its notifications.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/peers/clientgo"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

var stores = map[string]func(contract.Indexers) contract.Store{
	"lockfree": func(i contract.Indexers) contract.Store { return lockfree.New(i) },
	"mutexmap": func(i contract.Indexers) contract.Store { return mutexmap.New(i) },
	"clientgo": func(i contract.Indexers) contract.Store {
		return cache.NewThreadSafeStore(i, cache.Indices{})
	},
	"bare": func(i contract.Indexers) contract.Store { return bareStore{lockfree.New(i)} },
}

// bareStore has no method besides contract.Store's.
type bareStore struct{ contract.Store }

var fifos = map[string]func(contract.FIFOConfig) contract.FIFO{
	"InOrderAtomic": func(c contract.FIFOConfig) contract.FIFO {
		return deltafifo.NewInOrder(c, deltafifo.Options{Atomic: true})
	},
	"InOrder": func(c contract.FIFOConfig) contract.FIFO {
		return deltafifo.NewInOrder(c, deltafifo.Options{})
	},
	"Coalescing": func(c contract.FIFOConfig) contract.FIFO {
		return deltafifo.NewCoalescing(c, deltafifo.Options{})
	},
	"upstreamDelta": func(c contract.FIFOConfig) contract.FIFO {
		return cache.NewDeltaFIFOWithOptions(
			cache.DeltaFIFOOptions{KeyFunction: c.KeyFunc, KnownObjects: c.KnownObjects,
				EmitDeltaTypeReplaced: true})
	},
	"upstreamReal":   clientgo.NewRealFIFO(clientgo.RealFIFOUnlocked),
	"upstreamPlain":  clientgo.NewRealFIFO(clientgo.RealFIFOPlain),
	"upstreamAtomic": clientgo.NewRealFIFO(clientgo.RealFIFOAtomic),
}

// eachInformer runs f in a bubble of its own with client-go's informer and with ours over
// each combination of store and FIFO.
func eachInformer(t *testing.T, f func(t *testing.T, newInformer contract.NewInformer)) {
	t.Helper()
	t.Run("client-go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, cache.NewSharedIndexInformer) })
	})
	eachOfOurs(t, func(t *testing.T, o informer.Options) { f(t, informer.Func(o)) })
}

func eachOfOurs(t *testing.T, f func(t *testing.T, o informer.Options)) {
	t.Helper()
	for storeName, newStore := range stores {
		for fifoName, newFIFO := range fifos {
			t.Run(storeName+"/"+fifoName, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f(t, informer.Options{NewStore: newStore, NewFIFO: newFIFO})
				})
			})
		}
	}
}

// start runs an informer until the test or the returned function ends it.
func start(t *testing.T, inf cache.SharedInformer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		inf.RunWithContext(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

func newSource(t *testing.T, n int, faults ...synthetic.Fault) *synthetic.Source {
	t.Helper()
	s := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: n, Namespaces: 3},
			1).All(), synthetic.SourceOptions{Faults: faults})
	t.Cleanup(s.Stop)
	return s
}

func pod(key string) *corev1.Pod {
	namespace, name, _ := strings.Cut(key, "/")
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// recorder is a handler that checks the order of the notifications of each object, and
// records them.
type recorder struct {
	t       *testing.T
	mu      sync.Mutex
	current map[string]runtime.Object
	// "add key", "initial key", "update key", "resync key", "delete key", "tombstone key"
	log []string
	// before is called first, with the line that will be logged.
	before func(line string)
}

func newRecorder(t *testing.T) *recorder {
	return &recorder{t: t, current: map[string]runtime.Object{}}
}

func (r *recorder) note(line string, f func()) {
	if r.before != nil {
		r.before(line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, line)
	f()
}

func (r *recorder) OnAdd(obj any, initial bool) {
	key := synthetic.Key(obj.(runtime.Object))
	kind := map[bool]string{true: "initial ", false: "add "}[initial]
	r.note(kind+key, func() {
		if _, there := r.current[key]; there {
			r.t.Errorf("%s was added twice", key)
		}
		r.current[key] = obj.(runtime.Object)
	})
}

func (r *recorder) OnUpdate(old, obj any) {
	key := synthetic.Key(obj.(runtime.Object))
	kind := "update "
	if synthetic.VersionOf(old.(runtime.Object)) == synthetic.VersionOf(obj.(runtime.Object)) {
		kind = "resync "
	}
	r.note(kind+key, func() {
		if have, there := r.current[key]; !there || have != old {
			r.t.Errorf("%s was updated from %v: the handler had %v", key, old, have)
		}
		r.current[key] = obj.(runtime.Object)
	})
}

func (r *recorder) OnDelete(obj any) {
	kind := "delete "
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		kind, obj = "tombstone ", tombstone.Obj
	}
	key := synthetic.Key(obj.(runtime.Object))
	r.note(kind+key, func() {
		if _, there := r.current[key]; !there {
			r.t.Errorf("%s was deleted, and the handler does not have it", key)
		}
		delete(r.current, key)
	})
}

// count is how many lines begin with a prefix.
func (r *recorder) count(prefix string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.log {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func (r *recorder) lines() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.log, ", ")
}

// equalsSource checks that store and handlers equal the source; no event may be under way.
func equalsSource(t *testing.T, s *synthetic.Source, store cache.Store, recorders ...*recorder) {
	t.Helper()
	want := s.Snapshot()
	if got := store.List(); len(got) != len(want) {
		t.Errorf("the store has %d objects, the source %d", len(got), len(want))
	}
	for key, obj := range want {
		if got, _, _ := store.GetByKey(key); got != any(obj) {
			t.Errorf("the store has %v under %s, the source %v", got, key, obj)
		}
	}
	for i, r := range recorders {
		r.mu.Lock()
		if len(r.current) != len(want) {
			t.Errorf("handler %d has %d objects, the source %d", i, len(r.current), len(want))
		}
		for key, obj := range want {
			if r.current[key] != obj {
				t.Errorf("handler %d has %v under %s, the source %v", i, r.current[key], key, obj)
			}
		}
		r.mu.Unlock()
	}
}

// survivePanics turns utilruntime.ReallyCrash off and catches what is reported. The
// test must not be parallel to another.
func survivePanics(t *testing.T) (reported func() []string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	crash, handlers, errs := utilruntime.ReallyCrash, utilruntime.PanicHandlers,
		utilruntime.ErrorHandlers
	t.Cleanup(func() {
		utilruntime.ReallyCrash, utilruntime.PanicHandlers, utilruntime.ErrorHandlers = crash, handlers,
			errs
	})
	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, s)
	}
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) {
		note(fmt.Sprintf("panic: %v", r))
	}}
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, err error, msg string, _ ...any) {
			note(fmt.Sprintf("%s: %v", msg, err))
		}}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), lines...)
	}
}

const settle = 10 * time.Minute // of a bubble's clock: longer than every back-off

func listFunc(list runtime.Object) func(context.Context, metav1.ListOptions) (runtime.Object,
	error) {
	return func(context.Context, metav1.ListOptions) (runtime.Object, error) { return list, nil }
}

// waitFor waits on the real clock for what other goroutines are about to do.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not come about in 30 s")
		}
	}
}

// waitInBubble lets every back-off of a bubble pass.
func waitInBubble() {
	time.Sleep(settle)
	synctest.Wait()
}

// listWatch is a cache.ListWatch that has no streaming lists.
type listWatch struct{ *cache.ListWatch }

func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }
