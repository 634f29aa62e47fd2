package informers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/dynamicinformer"
	"github.com/informerbench/informerbench/informer/informers"
	"github.com/informerbench/informerbench/informer/metadatainformer"
)

var errOut = errors.New("out of order")

// The Reflector of an informer is named after the line that made the informer, whichever
// goroutine runs it.
func TestReflectorsAreNamedAfterTheirCreator(t *testing.T) {
	failing := func(f *clienttesting.Fake) {
		f.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errOut
		})
		f.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, errOut
		})
	}
	for name, setUp := range map[string]func() (i cache.SharedIndexInformer,
		start func(context.Context), stop func()){
		"a typed factory": func() (cache.SharedIndexInformer, func(context.Context), func()) {
			client := fake.NewClientset()
			failing(&client.Fake)
			f := informers.NewSharedInformerFactory(client, 0)
			i := f.Core().V1().Pods().Informer()
			return i, f.StartWithContext, f.Shutdown
		},
		"a typed factory, by resource": func() (cache.SharedIndexInformer, func(context.Context),
			func()) {
			client := fake.NewClientset()
			failing(&client.Fake)
			f := informers.NewSharedInformerFactory(client, 0)
			i, err := f.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
			if err != nil {
				t.Error(err)
			}
			return i.Informer(), f.StartWithContext, f.Shutdown
		},
		"client-go's factory": func() (cache.SharedIndexInformer, func(context.Context), func()) {
			client := fake.NewClientset()
			failing(&client.Fake)
			newPods, err := informers.NewInformerFunc(&corev1.Pod{})
			if err != nil {
				t.Error(err)
			}
			f := clientgo.NewSharedInformerFactory(client, 0)
			i := f.InformerFor(&corev1.Pod{}, newPods)
			return i, f.StartWithContext, f.Shutdown
		},
		"a dynamic factory": func() (cache.SharedIndexInformer, func(context.Context), func()) {
			things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{things: "ThingList"})
			failing(&client.Fake)
			f := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
			i := f.ForResource(things).Informer()
			return i, func(ctx context.Context) { f.Start(ctx.Done()) }, f.Shutdown
		},
		"a metadata factory": func() (cache.SharedIndexInformer, func(context.Context), func()) {
			client := metadatafake.NewSimpleMetadataClient(metadatafake.NewTestScheme())
			failing(&client.Fake)
			f := metadatainformer.NewSharedInformerFactory(client, 0)
			i := f.ForResource(
				schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}).Informer()
			return i, func(ctx context.Context) { f.Start(ctx.Done()) }, f.Shutdown
		},
		"no factory": func() (cache.SharedIndexInformer, func(context.Context), func()) {
			lw := &cache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					return nil, errOut
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return nil, errOut
				},
			}
			i := informer.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, nil)
			return i, func(ctx context.Context) { go i.RunWithContext(ctx) }, func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i, start, stop := setUp()
				var named string
				err := i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, _ error) {
					named = r.Name()
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				start(ctx)
				time.Sleep(time.Minute)
				synctest.Wait()
				if !strings.HasPrefix(named,
					"github.com/informerbench/informerbench/informer/informers_test/names_test.go:") {
					t.Errorf("the Reflector is named %q, want the line here that made the informer", named)
				}
				cancel()
				stop()
			})
		})
	}
}
