package informer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

// write makes n random writes.
func write(t *testing.T, s *synthetic.Source, rng *rand.Rand, n int) {
	t.Helper()
	for range n {
		key := fmt.Sprintf("ns-%d/extra-%d", rng.IntN(3), rng.IntN(20))
		_, there := s.Snapshot()[key]
		switch {
		case !there:
			must[any](t)(s.Create(pod(key)))
		case rng.IntN(3) == 0:
			must[any](t)(s.Delete(key))
		default:
			must[any](t)(s.Update(pod(key)))
		}
	}
}

// TestFollowsTheSource: at any quiet moment store and handlers equal the source, though
// watches break and lists are done again, and handlers come late.
func TestFollowsTheSource(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 30,
			synthetic.Fault{Kind: synthetic.FaultClose, AfterEvents: 20, EveryEvents: 60},
			synthetic.Fault{Kind: synthetic.FaultGone, AfterEvents: 50, EveryEvents: 90},
			synthetic.Fault{Kind: synthetic.FaultListError, AfterEvents: 1})
		inf := newInformer(s, &corev1.Pod{}, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		recorders := []*recorder{newRecorder(t)}
		must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(recorders[0]))
		stop := start(t, inf)
		rng := rand.New(rand.NewPCG(7, 7))
		for range 10 {
			write(t, s, rng, 30)
			synctest.Wait()
			late := newRecorder(t)
			recorders = append(recorders, late)
			must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(late))
			write(t, s, rng, 10)
			waitInBubble()
			equalsSource(t, s, inf.GetStore(), recorders...)
		}
		if struck := s.Struck(); struck[synthetic.FaultGone] == 0 || struck[synthetic.FaultClose] == 0 {
			t.Errorf("faults that were to strike: %v", struck)
		}
		if n := len(must[[]any](t)(inf.GetIndexer().ByIndex(cache.NamespaceIndex, "ns-1"))); n == 0 {
			t.Error("the index is empty")
		}
		if got, want := inf.LastSyncResourceVersion(), s.ResourceVersion(); got != want {
			t.Errorf("LastSyncResourceVersion is %s, the source's %s", got, want)
		}
		stop()
		if !inf.IsStopped() {
			t.Error("not stopped")
		}
	})
}

// TestMissedDeletion: an object that is deleted while no watch is open comes as a tombstone.
func TestMissedDeletion(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 4, synthetic.Fault{Kind: synthetic.FaultGone})
		inf := newInformer(s, &corev1.Pod{}, 0, nil)
		r := newRecorder(t)
		must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		start(t, inf)
		synctest.Wait()
		key := synthetic.Key(inf.GetStore().List()[0].(*corev1.Pod))
		must[any](t)(s.Delete(key)) // the event before which the history is forgotten
		waitInBubble()
		equalsSource(t, s, inf.GetStore(), r)
		if r.count("initial ") != 4 || r.count("tombstone "+key) != 1 || r.count("resync ") != 3 ||
			r.count("") != 8 {
			t.Errorf("notifications: %s", r.lines())
		}
	})
}

// TestTransform: handlers and readers see transformed objects only.
func TestTransform(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 3)
		inf := newInformer(s, &corev1.Pod{}, 0, nil)
		err := inf.SetTransform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			if p.Labels["transformed"] != "" {
				return p, nil
			}
			p = p.DeepCopy()
			p.Labels = map[string]string{"transformed": "yes"}
			return p, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var calls, bad atomic.Int64
		check := func(obj any) {
			calls.Add(1)
			if obj.(*corev1.Pod).Labels["transformed"] == "" {
				bad.Add(1)
			}
		}
		must[cache.ResourceEventHandlerRegistration](t)(
			inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: check, DeleteFunc: check, UpdateFunc: func(old, obj any) { check(old); check(obj) },
			}))
		start(t, inf)
		synctest.Wait()
		must[any](t)(s.Create(pod("ns/a")))
		must[any](t)(s.Update(pod("ns/a")))
		synctest.Wait()
		obj, _, _ := inf.GetStore().GetByKey("ns/a")
		check(obj)
		must[any](t)(s.Delete("ns/a"))
		synctest.Wait()
		if calls.Load() != 8 || bad.Load() != 0 {
			t.Errorf("%d objects seen, want 8; %d of them as they came", calls.Load(), bad.Load())
		}
	})
}

// TestRules: which calls are allowed before the start, after it and after the end.
func TestRules(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 3)
		inf := newInformer(s, &corev1.Pod{}, 0, cache.Indexers{})
		byName := cache.Indexers{"name": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.Pod).Name}, nil
		}}
		if err := inf.AddIndexers(
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}); err != nil {
			t.Fatal(err)
		}
		if err := inf.SetWatchErrorHandler(func(*cache.Reflector, error) {}); err != nil {
			t.Fatal(err)
		}
		if inf.LastSyncResourceVersion() != "" || inf.IsStopped() {
			t.Error("it seems to run before the start")
		}
		stop := start(t, inf)
		synctest.Wait()
		if err := inf.AddIndexers(byName); err != nil {
			t.Errorf("AddIndexers while it runs: %v", err)
		}
		if err := inf.AddIndexers(byName); err == nil {
			t.Error("an index was added twice")
		}
		if got := must[[]any](t)(inf.GetIndexer().ByIndex("name", "pod-000001")); len(got) != 1 {
			t.Errorf("the new index gives %v", got)
		}
		if inf.SetTransform(nil) == nil || inf.SetWatchErrorHandler(nil) == nil ||
			inf.SetWatchErrorHandlerWithContext(nil) == nil {
			t.Error("set after the start")
		}
		if c := inf.GetController(); !c.HasSynced() || !cache.IsDone(c.HasSyncedChecker()) {
			t.Error("GetController has not synced")
		}
		inf.GetController().Run(nil) // does nothing, or it would not return
		stop()
		if _, err := inf.AddEventHandler(newRecorder(t)); err == nil {
			t.Error("a handler was added after the stop")
		}
		if err := inf.AddIndexers(byName); err == nil {
			t.Error("an index was added after the stop")
		}
		if n := len(inf.GetStore().List()); n != 3 {
			t.Errorf("after the stop the store has %d objects", n)
		}
	})
}

// TestTypedInformer: client-go's typed wrapper works over our informer as over its own.
func TestTypedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, 2)
		inf := cache.NewTypedSharedIndexInformer[*corev1.Pod](
			informer.NewSharedIndexInformer(s, &corev1.Pod{}, 0, nil))
		if err := inf.AddTypedIndexers(
			cache.TypedIndexers[*corev1.Pod]{"name": func(p *corev1.Pod) ([]string, error) {
				return []string{p.Name}, nil
			}}); err != nil {
			t.Fatal(err)
		}
		var added atomic.Int64
		must[cache.ResourceEventHandlerRegistration](t)(
			inf.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
				AddFunc: func(*corev1.Pod) { added.Add(1) },
			}))
		start(t, inf)
		synctest.Wait()
		got, err := inf.GetTypedIndexer().ByTypedIndex("name", "pod-000001")
		if err != nil || len(got) != 1 || added.Load() != 2 {
			t.Errorf("%v, %v; %d added", got, err, added.Load())
		}
	})
}

// TestBookmark: the store's resource version follows bookmarks, though nothing changes.
func TestBookmark(t *testing.T) {
	for name, newInformer := range map[string]contract.NewInformer{
		"client-go": cache.NewSharedIndexInformer, "ours": informer.NewSharedIndexInformer} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch.NewFake()
				inf := newInformer(listWatch{&cache.ListWatch{
					ListWithContextFunc: listFunc(
						&corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}),
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
						return w, nil
					},
				}}, &corev1.Pod{}, 0, nil)
				start(t, inf)
				synctest.Wait()
				before := inf.GetStore().LastStoreSyncResourceVersion()
				w.Action(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "500"}})
				synctest.Wait()
				if after := inf.GetStore().LastStoreSyncResourceVersion(); before != "7" || after != "500" {
					t.Errorf("the store's version was %q, and %q after the bookmark", before, after)
				}
			})
		})
	}
}
