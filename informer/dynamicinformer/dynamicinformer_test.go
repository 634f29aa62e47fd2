package dynamicinformer_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgo "k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/dynamicinformer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

func thing(namespace, name, version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
	u.SetGroupVersionKind(things.GroupVersion().WithKind("Thing"))
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetResourceVersion(version)
	return u
}

func newClient(objects ...runtime.Object) dynamic.Interface {
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{things: "ThingList"}, objects...)
}

// TestAFactoryWithoutAClient: tests of programs make one, and fill the store by hand.
func TestAFactoryWithoutAClient(t *testing.T) {
	for whose, newFactory := range map[string]func(dynamic.Interface,
		time.Duration) clientgo.DynamicSharedInformerFactory{
		"ours":      dynamicinformer.NewDynamicSharedInformerFactory,
		"client-go": clientgo.NewDynamicSharedInformerFactory,
	} {
		i := newFactory(nil, 0).ForResource(things)
		if err := i.Informer().GetIndexer().Add(thing("ns", "a", "1")); err != nil {
			t.Errorf("%s: %v", whose, err)
		}
		if obj, err := i.Lister().ByNamespace("ns").Get("a"); err != nil || obj == nil {
			t.Errorf("%s: the lister gives %v, %v", whose, obj, err)
		}
	}
}

// A program written for client-go's factory, run on ours and on client-go's.
func TestAProgramOfClientGosRunsUnchanged(t *testing.T) {
	for whose, newFactory := range map[string]func(dynamic.Interface, time.Duration, string,
		clientgo.TweakListOptionsFunc) clientgo.DynamicSharedInformerFactory{
		"ours":      dynamicinformer.NewFilteredDynamicSharedInformerFactory,
		"client-go": clientgo.NewFilteredDynamicSharedInformerFactory,
	} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(thing("a", "1", "1"), thing("b", "1", "1"))
				tweaked := 0
				factory := newFactory(client, 0, "a", func(*metav1.ListOptions) { tweaked++ })
				i := factory.ForResource(things)
				if factory.ForResource(things).Informer() != i.Informer() {
					t.Error("a resource has two informers")
				}
				var told []string
				_, err := i.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc: func(obj any) {
						told = append(told, "add "+obj.(*unstructured.Unstructured).GetName())
					},
					UpdateFunc: func(_, obj any) {
						told = append(told, "update "+obj.(*unstructured.Unstructured).GetResourceVersion())
					},
					DeleteFunc: func(obj any) {
						told = append(told, "delete "+obj.(*unstructured.Unstructured).GetName())
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				factory.Start(ctx.Done())
				if synced := factory.WaitForCacheSync(ctx.Done()); !synced[things] {
					t.Errorf("synced: %v", synced)
				}
				synctest.Wait()
				if obj, err := i.Lister().ByNamespace("a").Get("1"); err != nil ||
					obj.(*unstructured.Unstructured).GetName() != "1" {
					t.Errorf("a thing: %v, %v", obj, err)
				}
				if list, err := i.Lister().List(labels.Everything()); err != nil || len(list) != 1 {
					t.Errorf("things of one namespace: %v, %v", list, err)
				}
				_, err = i.Lister().ByNamespace("b").Get("1")
				if !apierrors.IsNotFound(err) || err.Error() != `things.example.com "1" not found` {
					t.Errorf("a thing of another namespace: %v", err)
				}
				resource := client.Resource(things).Namespace("a")
				if _, err := resource.Update(ctx, thing("a", "1", "2"), metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if err := resource.Delete(ctx, "1", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if want := []string{"add 1", "update 2", "delete 1"}; !slices.Equal(told, want) ||
					tweaked != 2 {
					t.Errorf("told %q, want %q; %d lists and watches", told, want, tweaked)
				}
				cancel()
				factory.Shutdown()
				factory.Start(t.Context().Done())
				if !i.Informer().IsStopped() {
					t.Error("it runs after Shutdown")
				}
			})
		})
	}
}

func TestOptionsReachTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := 0
		factory := dynamicinformer.New(newClient(thing("a", "1", "1")), 0,
			dynamicinformer.Config{Informer: informer.Options{
				NewStore: func(i contract.Indexers) contract.Store { stores++; return mutexmap.New(i) },
				Indexers: contract.Indexers{"size": func(obj any) ([]string, error) {
					size, _, err := unstructured.NestedInt64(obj.(*unstructured.Unstructured).Object, "spec",
						"size")
					return []string{fmt.Sprint(size)}, err
				}},
			}})
		i := factory.ForResource(things)
		ctx, cancel := context.WithCancel(t.Context())
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		if keys, err := i.Informer().GetIndexer().IndexKeys("size", "1"); err != nil || len(keys) != 1 ||
			stores != 1 {
			t.Errorf("%d stores; index %v, %v", stores, keys, err)
		}
		if list, err := i.Informer().GetIndexer().ByIndex(cache.NamespaceIndex, "a"); err != nil ||
			len(list) != 1 {
			t.Errorf("the namespace index: %v, %v", list, err)
		}
		cancel()
		factory.Shutdown()
	})
}

func TestOneWithoutAFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := dynamicinformer.NewFilteredDynamicInformer(newClient(thing("a", "1", "1")), things, "a", 0,
			cache.Indexers{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { i.Informer().RunWithContext(ctx); close(ended) }()
		synctest.Wait()
		if list, err := i.Lister().ByNamespace("a").List(labels.Everything()); err != nil ||
			len(list) != 1 {
			t.Errorf("without the namespace index: %v, %v", list, err)
		}
		cancel()
		<-ended
	})
}

// TestIndexersAreEachInformersOwn: client-go's store keeps the map of indexers that it is
// given, so that no two informers of a factory may be given the same.
func TestIndexersAreEachInformersOwn(t *testing.T) {
	factory := dynamicinformer.New(newClient(), 0, dynamicinformer.Config{Informer: informer.Options{
		NewStore: func(i contract.Indexers) contract.Store {
			return cache.NewThreadSafeStore(i, cache.Indices{})
		},
	}})
	one, other := factory.ForResource(things).Informer(),
		factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "others"}).Informer()
	byName := cache.Indexers{"name": func(any) ([]string, error) { return nil, nil }}
	if err := one.AddIndexers(byName); err != nil {
		t.Fatal(err)
	}
	if _, leaked := other.GetIndexer().GetIndexers()["name"]; leaked {
		t.Error("an index of one informer is the other's too")
	}
}

// TestInformerName: each informer of a factory with a name publishes its metrics, until
// Shutdown gives the name back.
func TestInformerName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, err := cache.NewInformerName("dynamic")
		if err != nil {
			t.Fatal(err)
		}
		var versions versions
		factory := dynamicinformer.New(newClient(thing("a", "1", "1")), 0, dynamicinformer.Config{
			InformerName: name, Informer: informer.Options{InformerMetricsProvider: &versions},
		})
		factory.ForResource(things)
		ctx, cancel := context.WithCancel(t.Context())
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		synctest.Wait()
		if len(versions.of) != 1 || versions.of[0].Name() != "dynamic" ||
			versions.of[0].GroupVersionResource() != things || versions.set.Load() == 0 {
			t.Errorf("metrics of %v, set %d times", versions.of, versions.set.Load())
		}
		cancel()
		factory.Shutdown()
		again, err := cache.NewInformerName("dynamic")
		if err != nil {
			t.Errorf("Shutdown did not give the name back: %v", err)
		}
		again.Release()
	})
}

// versions is a provider that counts how often stores' versions are set.
type versions struct {
	of  []cache.InformerNameAndResource
	set atomic.Int64
}

func (v *versions) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return ignored{}
}

func (v *versions) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return ignored{}
}

func (v *versions) NewStoreResourceVersionMetric(
	id cache.InformerNameAndResource) cache.GaugeMetric {
	v.of = append(v.of, id)
	return v
}

func (v *versions) Set(float64) { v.set.Add(1) }

type ignored struct{}

func (ignored) Set(float64)     {}
func (ignored) Observe(float64) {}
