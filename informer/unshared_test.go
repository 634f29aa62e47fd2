package informer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// toldCalls keeps what a handler was told, in order.
type toldCalls struct {
	mu   sync.Mutex
	told []string
	on   func(what string) // before it is kept
}

func (c *toldCalls) tell(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if c.on != nil {
		c.on(what)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, what)
}

func (c *toldCalls) OnAdd(obj any, initial bool) {
	c.tell("add %s %v", synthetic.Key(obj), initial)
}
func (c *toldCalls) OnUpdate(old, obj any) {
	o, n := old.(*corev1.Pod), obj.(*corev1.Pod)
	c.tell("update %s %s-%s", synthetic.Key(obj), o.Labels["app"], n.Labels["app"])
}
func (c *toldCalls) OnDelete(obj any) {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	c.tell("delete %s", key)
}

// take returns what was told since the last take.
func (c *toldCalls) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.told
	c.told = nil
	return out
}

// each has client-go's constructors and ours, called alike.
var each = map[string]struct {
	plain func(cache.ListerWatcher, runtime.Object, time.Duration,
		cache.ResourceEventHandler) (cache.Store, cache.Controller)
	indexer func(cache.ListerWatcher, runtime.Object, time.Duration,
		cache.ResourceEventHandler, cache.Indexers) (cache.Indexer, cache.Controller)
	transforming func(cache.ListerWatcher, runtime.Object, time.Duration,
		cache.ResourceEventHandler, cache.TransformFunc) (cache.Store, cache.Controller)
	transformingIndexer func(cache.ListerWatcher, runtime.Object, time.Duration,
		cache.ResourceEventHandler, cache.Indexers, cache.TransformFunc) (cache.Indexer, cache.Controller)
	withOptions func(cache.InformerOptions) (cache.Store, cache.Controller)
}{
	//lint:ignore SA1019 what client-go deprecates must go on working
	"client-go": {cache.NewInformer, cache.NewIndexerInformer, cache.NewTransformingInformer, //nolint:staticcheck // as above
		//lint:ignore SA1019 likewise
		cache.NewTransformingIndexerInformer, cache.NewInformerWithOptions}, //nolint:staticcheck // as above
	"ours": {informer.NewInformer, informer.NewIndexerInformer, informer.NewTransformingInformer,
		informer.NewTransformingIndexerInformer, informer.NewInformerWithOptions},
}

// shout changes a pod's label. It is idempotent, because a streaming list goes through it
// twice.
func shout(obj any) (any, error) {
	if pod, ok := obj.(*corev1.Pod); ok && !strings.HasSuffix(pod.Labels["app"], "!") {
		pod = pod.DeepCopy()
		pod.Labels["app"] += "!"
		return pod, nil
	}
	return obj, nil
}

// The same history through each constructor, client-go's beside ours: the handler is
// told the same, the store and its indexes hold the same.
func TestUnsharedInformersDoAsClientGos(t *testing.T) {
	byApp := cache.Indexers{"app": func(obj any) ([]string, error) {
		return []string{obj.(*corev1.Pod).Labels["app"]}, nil
	}}
	kinds := []string{"plain", "indexer", "transforming", "transformingIndexer", "withOptions"}
	for whose, functions := range each {
		for _, kind := range kinds {
			t.Run(whose+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					source := synthetic.NewSource([]runtime.Object{labelled("a", "1", "web")},
						synthetic.SourceOptions{})
					defer source.Stop()
					told := &toldCalls{}
					const resync = 10 * time.Minute
					var store cache.Store
					var indexed cache.Indexer
					var controller cache.Controller
					mark := ""
					switch kind {
					case "plain":
						store, controller = functions.plain(source, &corev1.Pod{}, resync, told)
					case "indexer":
						indexed, controller = functions.indexer(source, &corev1.Pod{}, resync, told, byApp)
					case "transforming":
						store, controller = functions.transforming(source, &corev1.Pod{}, resync, told, shout)
						mark = "!"
					case "transformingIndexer":
						indexed, controller = functions.transformingIndexer(source, &corev1.Pod{}, resync, told,
							byApp, shout)
						mark = "!"
					case "withOptions":
						store, controller = functions.withOptions(cache.InformerOptions{
							ListerWatcher: source, ObjectType: &corev1.Pod{}, ResyncPeriod: resync, Handler: told,
							Indexers: byApp, Transform: shout})
						indexed, mark = store.(cache.Indexer), "!"
					}
					if indexed != nil {
						store = indexed
					}
					if controller.HasSynced() || controller.LastSyncResourceVersion() != "" {
						t.Error("it knows something before it runs")
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					ended := make(chan struct{})
					go func() { controller.RunWithContext(ctx); close(ended) }()
					want := func(when string, calls ...string) {
						t.Helper()
						synctest.Wait()
						if got := told.take(); !slices.Equal(got, calls) {
							t.Errorf("%s: told %q, want %q", when, got, calls)
						}
					}
					cache.WaitFor(ctx, "", controller.HasSyncedChecker())
					want("the list", "add a/1 true")
					must[runtime.Object](t)(source.Create(labelled("a", "2", "db")))
					want("a creation", "add a/2 false")
					must[runtime.Object](t)(source.Update(labelled("a", "1", "api")))
					want("an update", "update a/1 web"+mark+"-api"+mark)
					must[runtime.Object](t)(source.Delete("a/2"))
					want("a deletion", "delete a/2")
					if keys := store.ListKeys(); !slices.Equal(keys, []string{"a/1"}) {
						t.Errorf("the store holds %q", keys)
					}
					if indexed != nil {
						if found := must[[]string](t)(indexed.IndexKeys("app", "api"+mark)); !slices.Equal(found,
							[]string{"a/1"}) {
							t.Errorf("the index gives %q", found)
						}
					}
					if !controller.HasSynced() ||
						controller.LastSyncResourceVersion() != source.ResourceVersion() {
						t.Errorf("synced %v at version %s of %s", controller.HasSynced(),
							controller.LastSyncResourceVersion(), source.ResourceVersion())
					}
					time.Sleep(resync + time.Second)
					want("a resync", "update a/1 api"+mark+"-api"+mark)
					cancel()
					<-ended
				})
			})
		}
	}
}

// The store, the FIFO and the key function can be chosen.
func TestUnsharedOverChosenParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := synthetic.NewSource([]runtime.Object{labelled("a", "1", "web")},
			synthetic.SourceOptions{})
		defer source.Stop()
		told := &toldCalls{}
		stores, fifos := 0, 0
		store, controller := informer.NewUnshared(source, &corev1.Pod{}, told, informer.Options{
			NewStore: func(i contract.Indexers) contract.Store { stores++; return mutexmap.New(i) },
			NewFIFO: func(c contract.FIFOConfig) contract.FIFO {
				fifos++
				return deltafifo.NewInOrder(c, deltafifo.Options{})
			},
			KeyFunc: func(obj any) (string, error) { return "pod:" + obj.(*corev1.Pod).Name, nil },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { controller.RunWithContext(ctx); close(ended) }()
		synctest.Wait()
		if keys := store.ListKeys(); stores != 1 || fifos != 1 || !slices.Equal(keys, []string{"pod:1"}) {
			t.Errorf("%d stores, %d FIFOs, keys %q", stores, fifos, keys)
		}
		cancel()
		<-ended
	})
}

// If a panic does not end the process, the handler misses the event at which it panicked
// and nothing else.
func TestAnUnsharedHandlerThatPanics(t *testing.T) {
	really, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = really, handlers }()
	synctest.Test(t, func(t *testing.T) {
		source := synthetic.NewSource(
			[]runtime.Object{labelled("a", "1", "x"), labelled("a", "2", "x"), labelled("a", "3", "x")},
			synthetic.SourceOptions{})
		defer source.Stop()
		told := &toldCalls{on: func(what string) {
			if what == "add a/2 true" {
				panic(what)
			}
		}}
		store, controller := informer.NewUnshared(source, &corev1.Pod{}, told, informer.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { controller.RunWithContext(ctx); close(ended) }()
		synctest.Wait()
		must[runtime.Object](t)(source.Delete("a/2"))
		synctest.Wait()
		got := told.take()
		slices.Sort(got[:min(2, len(got))])
		if want := []string{"add a/1 true", "add a/3 true", "delete a/2"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if n := len(store.ListKeys()); n != 2 {
			t.Errorf("the store holds %d of 2", n)
		}
		cancel()
		<-ended
	})
}
