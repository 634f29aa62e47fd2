//go:build next

package informer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	clientgo "k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistency"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/dynamicinformer"
)

type withOptions func(cache.ListerWatcher,
	cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// both calls f with the constructors of both informers.
func both(t *testing.T, f func(t *testing.T, newInformer withOptions)) {
	for name, newInformer := range map[string]withOptions{
		"client-go": func(lw cache.ListerWatcher,
			o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
		},
		"ours": func(lw cache.ListerWatcher,
			o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
		},
	} {
		t.Run(name, func(t *testing.T) { f(t, newInformer) })
	}
}

func TestShardSelectorOfTheOptions(t *testing.T) {
	both(t, func(t *testing.T, newInformer withOptions) {
		keepsTheShard(t, func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return newInformer(lw, cache.SharedIndexInformerOptions{ShardSelector: firstHalf})
		})
	})
}

// The factories say which informers have not synced, and why.
func TestGVRSyncResult(t *testing.T) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	synctest.Test(t, func(t *testing.T) {
		for name, newFactory := range map[string]func(dynamic.Interface,
			time.Duration) clientgo.DynamicSharedInformerFactory{
			"client-go": clientgo.NewDynamicSharedInformerFactory,
			"ours":      dynamicinformer.NewDynamicSharedInformerFactory,
		} {
			client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme)
			client.PrependReactor("list", "nodes",
				func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no") })
			f := newFactory(client, 0)
			f.ForResource(pods).Informer()
			ctx, cancel := context.WithCancelCause(t.Context())
			f.StartWithContext(ctx)
			if r := f.WaitForCacheSyncWithContext(ctx); r.AsError() != nil || !r.Synced[pods] {
				t.Errorf("%s: %v", name, r)
			}
			nodes := corev1.SchemeGroupVersion.WithResource("nodes")
			f.ForResource(nodes).Informer()
			f.StartWithContext(ctx)
			time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
			r := f.WaitForCacheSyncWithContext(ctx)
			if err := r.AsError(); err == nil || r.Synced[nodes] || !r.Synced[pods] ||
				err.Error() != "failed to sync all caches: /v1, Resource=nodes: enough" {
				t.Errorf("%s: %v, %v", name, r.Synced, err)
			}
			f.Shutdown()
		}
	})
}

// The gauge of the version is made when there is one: before, its 0 would be told.
func TestVersionMetricIsMadeLate(t *testing.T) {
	both(t, func(t *testing.T, newInformer withOptions) {
		synctest.Test(t, func(t *testing.T) {
			p := newPublished()
			inf := newInformer(newSource(t, 3), cache.SharedIndexInformerOptions{
				Identifier: newName(t, "late").WithResource(metricResource), InformerMetricsProvider: p})
			if p.made > 0 {
				t.Errorf("%d metrics are made before the start", p.made)
			}
			defer start(t, inf)()
			synctest.Wait()
			if got, _ := p.of("late"); got["version"] == 0 {
				t.Errorf("after the first list: %v", got)
			}
		})
	})
}

// A ConsistencyStore over an informer's store says that an owner's writes are seen once they are.
func TestConsistencyStore(t *testing.T) {
	both(t, func(t *testing.T, newInformer withOptions) {
		synctest.Test(t, func(t *testing.T) {
			w := watch.NewFake()
			pods := newInformer(listWatch{&cache.ListWatch{
				ListWithContextFunc: listFunc(
					&corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}),
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return w, nil
				},
			}}, cache.SharedIndexInformerOptions{})
			others := newInformer(newSource(t, 1), cache.SharedIndexInformerOptions{})
			resource := func(name string) schema.GroupResource {
				return schema.GroupResource{Resource: name}
			}
			store := consistency.NewConsistencyStore(map[schema.GroupResource]consistency.LastSyncRVGetter{
				resource("pods"): pods.GetStore(), resource("others"): others.GetIndexer(),
				resource("none"): nil,
			})
			owner := types.NamespacedName{Namespace: "ns", Name: "owner"}
			wrote := func(name, version string) { store.WroteAt(owner, "1", resource(name), version) }
			seen := func(situation string, want bool) {
				t.Helper()
				synctest.Wait()
				if err := store.EnsureReady(owner); (err == nil) != want {
					t.Errorf("%s: %v, want it ready: %v", situation, err, want)
				}
			}
			event := func(version string) *corev1.Pod {
				p := pod("ns/a")
				p.ResourceVersion = version
				return p
			}

			seen("nothing was written", true)
			wrote("pods", "")
			wrote("pods", "no number")
			seen("versions that are none", true)
			wrote("pods", "10")
			var because *consistency.ConsistencyError
			if err := store.EnsureReady(owner); !errors.As(err, &because) || because.ReadRV != "" {
				t.Errorf("before the start: %v", err)
			}
			defer start(t, pods)()
			seen("the list is as new", true)
			wrote("pods", "12")
			seen("the list is older", false)
			w.Add(event("11"))
			seen("an older event", false)
			w.Modify(event("12"))
			seen("the event itself", true)
			wrote("pods", "20")
			wrote("pods", "15") // an older write changes nothing
			w.Action(watch.Bookmark, event("16"))
			seen("a bookmark between two writes", false)
			w.Action(watch.Bookmark, event("30"))
			seen("a newer bookmark", true)
			wrote("pods", "31")
			w.Delete(event("31"))
			seen("a deletion", true)
			wrote("others", "1")
			seen("of two informers one has not begun", false)
			defer start(t, others)()
			seen("both have", true)
			wrote("none", "1")
			seen("a store that is nil", false)
			store.Clear(owner, "another")
			seen("another owner of that name was deleted", false)
			store.Clear(owner, "1")
			seen("the owner was deleted", true)
		})
	})
}
