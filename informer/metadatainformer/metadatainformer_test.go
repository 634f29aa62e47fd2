package metadatainformer_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/fake"
	clientgo "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/metadatainformer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

func thing(namespace, name, version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Thing"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: version},
	}
}

func newClient(t *testing.T, objects ...runtime.Object) *fake.FakeMetadataClient {
	t.Helper()
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewSimpleMetadataClient(scheme, objects...)
}

// A program written for client-go's factory, run on ours and on client-go's.
func TestAProgramOfClientGosRunsUnchanged(t *testing.T) {
	for whose, newFactory := range map[string]func(metadata.Interface, time.Duration, string,
		clientgo.TweakListOptionsFunc) clientgo.SharedInformerFactory{
		"ours":      metadatainformer.NewFilteredSharedInformerFactory,
		"client-go": clientgo.NewFilteredSharedInformerFactory,
	} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, thing("a", "1", "1"), thing("b", "1", "1"))
				tweaked := 0
				factory := newFactory(client, 0, "a", func(*metav1.ListOptions) { tweaked++ })
				i := factory.ForResource(things)
				if factory.ForResource(things).Informer() != i.Informer() {
					t.Error("a resource has two informers")
				}
				var told []string
				_, err := i.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc: func(obj any) {
						told = append(told, "add "+obj.(*metav1.PartialObjectMetadata).Name)
					},
					UpdateFunc: func(_, obj any) {
						told = append(told, "update "+obj.(*metav1.PartialObjectMetadata).ResourceVersion)
					},
					DeleteFunc: func(obj any) {
						told = append(told, "delete "+obj.(*metav1.PartialObjectMetadata).Name)
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				factory.Start(ctx.Done())
				if synced := factory.WaitForCacheSync(ctx.Done()); !synced[things] {
					t.Errorf("synced: %v", synced)
				}
				synctest.Wait()
				if obj, err := i.Lister().ByNamespace("a").Get("1"); err != nil ||
					obj.(*metav1.PartialObjectMetadata).Name != "1" {
					t.Errorf("a thing: %v, %v", obj, err)
				}
				changes := client.Resource(things).Namespace("a").(fake.MetadataClient)
				for _, err := range []error{
					created(changes.CreateFake(thing("a", "2", "2"), metav1.CreateOptions{})),
					created(changes.UpdateFake(thing("a", "1", "3"), metav1.UpdateOptions{})),
					changes.(metadata.ResourceInterface).Delete(ctx, "2", metav1.DeleteOptions{}),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if want := []string{"add 1", "add 2", "update 3", "delete 2"}; !slices.Equal(told, want) {
					t.Errorf("told %q, want %q", told, want)
				}
				if list, err := i.Lister().List(labels.Everything()); err != nil || len(list) != 1 ||
					tweaked == 0 {
					t.Errorf("listed %v, %v; tweaked %d times", list, err, tweaked)
				}
				cancel()
				factory.Shutdown()
			})
		})
	}
}

func created(_ *metav1.PartialObjectMetadata, err error) error { return err }

func TestOptionsReachTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := 0
		trim := func(obj any) (any, error) {
			m := obj.(*metav1.PartialObjectMetadata)
			m.Annotations = map[string]string{"trimmed": "yes"}
			return m, nil
		}
		for _, factory := range []clientgo.SharedInformerFactory{
			metadatainformer.New(newClient(t, thing("a", "1", "1")), 0,
				metadatainformer.Config{Informer: informer.Options{
					NewStore:  func(i contract.Indexers) contract.Store { stores++; return mutexmap.New(i) },
					Transform: trim,
				}}),
			metadatainformer.NewSharedInformerFactoryWithOptions(newClient(t, thing("a", "1", "1")), 0,
				metadatainformer.WithTransform(trim)),
		} {
			i := factory.ForResource(things)
			ctx, cancel := context.WithCancel(t.Context())
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
			obj, err := i.Lister().ByNamespace("a").Get("1")
			if err != nil || obj.(*metav1.PartialObjectMetadata).Annotations["trimmed"] != "yes" {
				t.Errorf("%v, %v; want it transformed", obj, err)
			}
			cancel()
			factory.Shutdown()
		}
		if stores != 1 {
			t.Errorf("%d stores were made by the option, want 1", stores)
		}
	})
}

func TestOneWithoutAFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := metadatainformer.NewFilteredMetadataInformer(newClient(t, thing("a", "1", "1")), things, "a",
			0, cache.Indexers{}, nil)
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
