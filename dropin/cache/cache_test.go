package cache_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgo "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/dropin/cache"
	"github.com/informerbench/informerbench/load/synthetic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

// queue is what both packages' FIFOs have.
type queue interface {
	cache.Queue
	cache.TransformingStore
	IsClosed() bool
	Name() string
}

// The options of the FIFOs do what client-go's do: both packages' get the same calls.
func TestFIFOOptions(t *testing.T) {
	t.Parallel()
	known := clientgo.NewStore(clientgo.MetaNamespaceKeyFunc)
	if err := known.Add(pod("known", "1")); err != nil {
		t.Fatal(err)
	}
	byName := func(obj any) (string, error) {
		p, ok := obj.(*corev1.Pod)
		if !ok {
			return "", errors.New("no pod")
		}
		return "key-of-" + p.Name, nil
	}
	rename := func(obj any) (any, error) {
		p := obj.(*corev1.Pod).DeepCopy()
		p.Labels = map[string]string{"transformed": p.Labels["transformed"] + "!"}
		return p, nil
	}
	id := reserved(t, "pods-of-a-test")
	delta := func(o cache.DeltaFIFOOptions) []queue {
		return []queue{cache.NewDeltaFIFOWithOptions(o), clientgo.NewDeltaFIFOWithOptions(o)}
	}
	real := func(o cache.RealFIFOOptions) []queue {
		return []queue{cache.NewRealFIFOWithOptions(o), clientgo.NewRealFIFOWithOptions(o)}
	}
	for name, both := range map[string][]queue{
		"delta": delta(cache.DeltaFIFOOptions{}),
		"delta, NewDeltaFIFO": {cache.NewDeltaFIFO(clientgo.MetaNamespaceKeyFunc, known),
			//lint:ignore SA1019 programs that still use it get the same
			clientgo.NewDeltaFIFO(clientgo.MetaNamespaceKeyFunc, known)}, //nolint:staticcheck // as above
		"delta, known": delta(cache.DeltaFIFOOptions{KnownObjects: known}),
		"delta, replaced, known": delta(
			cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true}),
		"delta, key function": delta(cache.DeltaFIFOOptions{KeyFunction: byName}),
		"delta, transformer, name": delta(
			cache.DeltaFIFOOptions{Transformer: rename, Name: "mine", EmitDeltaTypeReplaced: true}),
		"real, NewRealFIFO": {cache.NewRealFIFO(clientgo.MetaNamespaceKeyFunc, known, rename),
			//lint:ignore SA1019 programs that still use it get the same
			clientgo.NewRealFIFO(clientgo.MetaNamespaceKeyFunc, known, rename)}, //nolint:staticcheck // as above
		"real, known, name": real(cache.RealFIFOOptions{KnownObjects: known, Name: "mine"}),
		"real, atomic":      real(cache.RealFIFOOptions{AtomicEvents: true}),
		"real, atomic, unlocked": real(
			cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, Transformer: rename}),
		"real, atomic, bookmarks, id": real(
			cache.RealFIFOOptions{AtomicEvents: true, EmitDeltaTypeBookmark: true, Identifier: id,
				Name: "unused", KeyFunction: byName}),
	} {
		t.Run(name, func(t *testing.T) {
			var played [2]string
			for i, q := range both {
				played[i] = play(q)
			}
			if played[0] != played[1] {
				t.Errorf("ours:\n%s\ntheirs:\n%s", played[0], played[1])
			}
		})
	}
}

// play makes calls of every kind and writes down what comes of them.
func play(q queue) (log string) {
	note := func(what string, values ...any) {
		log += fmt.Sprintln(append([]any{what + ":"}, values...)...)
	}
	note("name", q.Name(), q.HasSyncedChecker().Name(), q.HasSynced(), q.Transformer() != nil)
	note("replace", q.Replace([]any{pod("a", "2"), pod("b", "3")}, "4"))
	note("update", q.Update(pod("a", "5")))
	note("delete", q.Delete(pod("b", "6")),
		q.Delete(cache.DeletedFinalStateUnknown{Key: "ns/c", Obj: pod("c", "7")}))
	note("resync", q.Resync())
	if b, ok := q.(cache.ReflectorBookmarkStore); ok {
		note("bookmark", b.Bookmark("8"))
	}
	note("add", q.Add(pod("d", "9")), errors.As(q.Add("no pod"), &cache.KeyError{}))
	if k, ok := q.(interface{ KeyOf(any) (string, error) }); ok {
		for _, obj := range []any{pod("a", "1"), cache.DeletedFinalStateUnknown{Key: "k"},
			cache.Deltas{{Object: pod("z", "")}}, cache.Deltas{}, "no pod"} {
			key, err := k.KeyOf(obj)
			note("key of", key, err, errors.As(err, &cache.KeyError{}))
		}
	}
	q.Close()
	note("closed", q.IsClosed())
	for {
		item, err := q.Pop(func(obj any, isInInitialList bool) error {
			note("process", isInInitialList)
			return nil
		})
		if err != nil {
			note("pop", err, errors.Is(err, cache.ErrFIFOClosed), q.HasSynced(),
				cache.IsDone(q.HasSyncedChecker()))
			return log
		}
		for _, d := range item.(cache.Deltas) {
			note("delta", d.Type, describe(d.Object))
		}
	}
}

func describe(obj any) string {
	switch o := obj.(type) {
	case *corev1.Pod:
		return o.Name + "@" + o.ResourceVersion + o.Labels["transformed"]
	case cache.DeletedFinalStateUnknown:
		return "tombstone " + o.Key + " " + describe(o.Obj)
	case cache.ReplacedAllInfo:
		text := "list " + o.ResourceVersion
		for _, obj := range o.Objects {
			text += " " + describe(obj)
		}
		return text
	}
	return fmt.Sprintf("%T%v", obj, obj)
}

// A Pop runs alone, as with client-go's FIFOs, which hold their lock meanwhile.
func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]cache.Queue{
		"DeltaFIFO": cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
		"RealFIFO":  cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true}),
	} {
		for i := range 300 {
			if err := q.Add(pod(fmt.Sprint(i), "1")); err != nil {
				t.Fatal(err)
			}
		}
		q.Close()
		var running atomic.Int32
		var consumers sync.WaitGroup
		for range 3 {
			consumers.Go(func() {
				for {
					_, err := q.Pop(func(any, bool) error {
						if n := running.Add(1); n != 1 {
							t.Errorf("%s: %d calls of process at once", name, n)
						}
						goruntime.Gosched()
						running.Add(-1)
						return nil
					})
					if errors.Is(err, cache.ErrFIFOClosed) {
						return
					}
				}
			})
		}
		consumers.Wait()
	}
}

// A list is the caller's again once Replace has returned, as in client-go, even while process runs.
func TestReplaceKeepsNoList(t *testing.T) {
	t.Parallel()
	known := clientgo.NewStore(clientgo.MetaNamespaceKeyFunc)
	for name, q := range map[string]queue{
		"delta": cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, nil),
		"real":  cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil),
	} {
		errAdd := q.Add(pod("a", "1"))
		_, errPop := q.Pop(func(any, bool) error {
			list := []any{pod("b", "2")}
			err := q.Replace(list, "2")
			list[0] = pod("overwritten", "3")
			return err
		})
		item, err := q.Pop(func(any, bool) error { return nil })
		if err := errors.Join(errAdd, errPop, err); err != nil {
			t.Fatal(err)
		}
		if p := item.(cache.Deltas).Newest().Object.(*corev1.Pod); p.Name != "b" {
			t.Errorf("%s gave %s", name, p.Name)
		}
	}
}

func TestBadRealFIFOOptions(t *testing.T) {
	t.Parallel()
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for name, o := range map[string]cache.RealFIFOOptions{
		"atomic with known objects":  {AtomicEvents: true, KnownObjects: known},
		"not atomic, nothing known":  {},
		"unlocked, not atomic":       {KnownObjects: known, UnlockWhileProcessing: true},
		"bookmarks, but not atomic":  {KnownObjects: known, EmitDeltaTypeBookmark: true},
		"NewRealFIFO, nothing known": {KeyFunction: cache.MetaNamespaceKeyFunc},
	} {
		for whose, make := range map[string]func(){
			"ours":   func() { cache.NewRealFIFOWithOptions(o) },
			"theirs": func() { clientgo.NewRealFIFOWithOptions(o) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: %s do not panic", name, whose)
					}
				}()
				make()
			}()
		}
	}
}

// The loggers of both FIFOs are told of a look-up that fails, under the FIFO's name.
func TestLogger(t *testing.T) {
	t.Parallel()
	var said []string
	logger := klog.New(funcr.New(func(prefix, _ string) {
		said = append(said, prefix)
	}, funcr.Options{}).GetSink())
	for _, q := range []cache.Queue{
		cache.NewDeltaFIFOWithOptions(
			cache.DeltaFIFOOptions{Logger: &logger, Name: "mine", KnownObjects: broken{}}),
		cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{Logger: &logger, KnownObjects: broken{}}),
	} {
		if err := q.Resync(); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"mine/UnhandledError", "RealFIFO/UnhandledError"}; !slices.Equal(said, want) {
		t.Errorf("the names logged are %q, want %q", said, want)
	}
}

// broken is a store that cannot be read.
type broken struct{}

func (broken) ListKeys() []string                 { return []string{"ns/a"} }
func (broken) GetByKey(string) (any, bool, error) { return nil, false, errors.New("broken") }

// The options of stores do what client-go's do.
func TestStoreOptions(t *testing.T) {
	t.Parallel()
	failing := func(obj any) (any, error) {
		if obj.(*corev1.Pod).Name == "bad" {
			return nil, errors.New("bad")
		}
		return pod("transformed", "7"), nil
	}
	for _, s := range []cache.Store{
		cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(failing)),
		clientgo.NewStore(clientgo.MetaNamespaceKeyFunc, clientgo.WithTransformer(failing)),
	} {
		if err := errors.Join(s.Add(pod("a", "1")), s.Update(pod("b", "2"))); err != nil {
			t.Error(err)
		}
		if err := s.Add(pod("bad", "1")); err == nil {
			t.Errorf("%T: no error of the transformer", s)
		}
		if err := s.Add("no pod"); !errors.As(err, &cache.KeyError{}) {
			t.Errorf("%T: %v, want a KeyError", s, err)
		}
		obj, found, err := s.GetByKey("ns/a")
		if !found || err != nil || obj.(*corev1.Pod).Name != "transformed" || len(s.ListKeys()) != 2 {
			t.Errorf("%T has %v under ns/a, and %q: %v", s, obj, s.ListKeys(), err)
		}
	}
	indexed := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, cache.WithTransformer(nil))
	if err := indexed.Replace([]any{pod("a", "1"), pod("b", "2")}, "3"); err != nil {
		t.Fatal(err)
	}
	if keys, err := indexed.IndexKeys(cache.NamespaceIndex, "ns"); !slices.Equal(keys,
		[]string{"ns/a", "ns/b"}) || err != nil {
		t.Errorf("the keys of the namespace are %q, %v", keys, err)
	}
	var pushed []int
	undelta := cache.NewUndeltaStore(func(all []any) {
		pushed = append(pushed, len(all))
	}, cache.MetaNamespaceKeyFunc)
	if err := errors.Join(undelta.Add(pod("a", "1")), undelta.Add(pod("b", "1")),
		undelta.Delete(pod("a", "1"))); err != nil || !slices.Equal(pushed, []int{1, 2, 1}) {
		t.Errorf("an UndeltaStore pushed lists of %v, %v", pushed, err)
	}
}

// New runs a queue of either package, as client-go's New does.
func TestNew(t *testing.T) {
	t.Parallel()
	for name, newQueue := range map[string]func() cache.Queue{
		"ours, in order": func() cache.Queue {
			return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
		},
		"ours, merged": func() cache.Queue {
			return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{EmitDeltaTypeReplaced: true})
		},
		"theirs, in order": func() cache.Queue {
			return clientgo.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
		},
		"theirs, old merge": func() cache.Queue {
			return clientgo.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var played [2][]string
				for i, newController := range []func(*cache.Config) cache.Controller{cache.New, clientgo.New} {
					played[i] = control(t, newQueue(), newController)
				}
				if !reflect.DeepEqual(played[0], played[1]) {
					t.Errorf("ours:\n%q\ntheirs:\n%q", played[0], played[1])
				}
			})
		})
	}
}

// control runs a controller over a source that fails first, and returns what it says.
func control(t *testing.T, q cache.Queue,
	newController func(*cache.Config) cache.Controller) (said []string) {
	var mu sync.Mutex
	note := func(format string, values ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, values...))
	}
	source := synthetic.NewSource([]runtime.Object{pod("a", "")}, synthetic.SourceOptions{})
	defer source.Stop()
	failures := 2
	var timeouts []int64
	lw := unstreamed{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if failures--; failures >= 0 {
				return nil, errors.New("not now")
			}
			note("list limit %d", o.Limit)
			return source.ListWithContext(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			timeouts = append(timeouts, *o.TimeoutSeconds)
			return source.WatchWithContext(ctx, o)
		},
	}}
	process := func(obj any, isInInitialList bool) error {
		for _, d := range obj.(cache.Deltas) {
			note("%s in the initial list: %t", d.Type, isInInitialList)
		}
		return nil
	}
	resyncs := 0
	c := newController(&cache.Config{
		Queue: q, ListerWatcher: lw, ObjectType: &corev1.Pod{}, ObjectDescription: "pods of a test",
		Process: process, WatchListPageSize: 7,
		MinWatchTimeout: time.Second, FullResyncPeriod: time.Hour,
		ShouldResync: func() bool { resyncs++; return false },
		ProcessBatch: func(deltas []cache.Delta, isInInitialList bool) error {
			return process(cache.Deltas(deltas), isInInitialList)
		},
		WatchErrorHandler: func(r *cache.Reflector, err error) {
			note("%s: %v", r.TypeDescription(), err)
		},
		WatchErrorHandlerWithContext: func(context.Context, *cache.Reflector, error) {
			note("the wrong handler")
		},
	})
	note("%t %q %s", c.HasSynced(), c.LastSyncResourceVersion(), c.HasSyncedChecker().Name())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.RunWithContext(ctx) })
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	note("%t %q %t", c.HasSynced(), c.LastSyncResourceVersion(), cache.IsDone(c.HasSyncedChecker()))
	if _, err := source.Create(pod("b", "")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Minute)
	synctest.Wait()
	cancel()
	running.Wait()
	note("%d resyncs considered, closed: %t", resyncs, q.(interface{ IsClosed() bool }).IsClosed())
	for _, seconds := range timeouts {
		if seconds < 300 || seconds > 600 {
			t.Errorf("a watch asks for %d s, want 300 to 600: shorter ones are not honored", seconds)
		}
	}
	return said
}

// unstreamed does not stream lists.
type unstreamed struct{ *cache.ListWatch }

func (unstreamed) IsWatchListSemanticsUnSupported() bool { return true }

// A Reflector and an informer without a name are named after the code that makes them, which is
// here and not in between.
func TestNames(t *testing.T) {
	t.Parallel()
	r := cache.NewReflector(unstreamed{&cache.ListWatch{}}, &corev1.Pod{},
		cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	if want := "github.com/informerbench/informerbench/dropin/cache_test/cache_test.go:"; len(
		r.Name()) < len(want) || r.Name()[:len(want)] != want {
		t.Errorf("the Reflector's name is %q, want %s and a line", r.Name(), want)
	}
	if r := cache.NewNamedReflector("mine", unstreamed{&cache.ListWatch{}}, nil,
		cache.NewStore(cache.MetaNamespaceKeyFunc), 0); r.Name() != "mine" {
		t.Errorf("a named Reflector's name is %q", r.Name())
	}
}

func reserved(t *testing.T, name string) cache.InformerNameAndResource {
	t.Helper()
	n, err := cache.NewInformerName(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Release)
	return n.WithResource(corev1.SchemeGroupVersion.WithResource("pods"))
}
