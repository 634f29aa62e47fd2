package informer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	fakedynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	fakemetadata "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/apiserver"
)

// bare is a ListWatch over a fake client, as programs write it: it does not say that the fake has
// no streaming lists, and the fake's watches ignore timeoutSeconds.
func bare[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error),
	watches func(context.Context, metav1.ListOptions) (watch.Interface, error)) *cache.ListWatch {
	return &cache.ListWatch{
		//lint:ignore SA1019 as they do
		ListFunc: func(o metav1.ListOptions) (runtime.Object, error) { //nolint:staticcheck // as above
			return list(context.Background(), o)
		},
		//lint:ignore SA1019 likewise
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) { //nolint:staticcheck // as above
			return watches(context.Background(), o)
		}}
}

// bareFake is a bare ListWatch of pods, and how a test makes another.
type bareFake struct {
	lw     *cache.ListWatch
	of     runtime.Object
	create func(ctx context.Context, name string) error
}

// An informer over a bare fake client syncs within 15 seconds, also while a test creates objects.
// client-go's waits for ever (kubernetes#135895).
func TestBareFakesSync(t *testing.T) {
	t.Parallel()
	first := pod("a/first")
	first.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	meta := &metav1.PartialObjectMetadata{TypeMeta: first.TypeMeta, ObjectMeta: first.ObjectMeta}
	metaScheme := fakemetadata.NewTestScheme()
	if err := metav1.AddMetaToScheme(metaScheme); err != nil {
		t.Fatal(err)
	}
	for name, newFake := range map[string]func() bareFake{
		"typed": func() bareFake {
			c := fake.NewClientset(first).CoreV1().Pods("a")
			return bareFake{bare(c.List, c.Watch), &corev1.Pod{},
				func(ctx context.Context, name string) error {
					_, err := c.Create(ctx, pod("a/"+name), metav1.CreateOptions{})
					return err
				}}
		},
		"dynamic": func() bareFake {
			c := fakedynamic.NewSimpleDynamicClient(scheme.Scheme, first).Resource(apiserver.Pods).
				Namespace("a")
			return bareFake{bare(c.List, c.Watch), &unstructured.Unstructured{},
				func(ctx context.Context, name string) error {
					u := &unstructured.Unstructured{}
					u.SetGroupVersionKind(first.GroupVersionKind())
					u.SetName(name)
					_, err := c.Create(ctx, u, metav1.CreateOptions{})
					return err
				}}
		},
		"metadata": func() bareFake {
			c := fakemetadata.NewSimpleMetadataClient(metaScheme, meta).Resource(apiserver.Pods).
				Namespace("a")
			return bareFake{bare(c.List, c.Watch), &metav1.PartialObjectMetadata{},
				func(_ context.Context, name string) error {
					m := meta.DeepCopy()
					m.Name = name
					_, err := c.(fakemetadata.MetadataClient).CreateFake(m, metav1.CreateOptions{})
					return err
				}}
		},
	} {
		for _, period := range []time.Duration{0, time.Second} {
			t.Run(fmt.Sprintf("%s/%s", name, period), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake()
					inf := informer.NewSharedIndexInformer(f.lw, f.of, 0, nil)
					began := time.Now()
					stop := start(t, inf)
					ctx, cancel := context.WithCancel(t.Context())
					var writing sync.WaitGroup
					if period > 0 {
						writing.Go(func() {
							every(ctx, period, func(i int) bool {
								if err := f.create(ctx, fmt.Sprint("pod-", i)); err != nil {
									t.Error(err)
								}
								return i < 60
							})
						})
					}
					if !cache.WaitForCacheSync(t.Context().Done(), inf.HasSynced) ||
						time.Since(began) > 15*time.Second {
						t.Errorf("synced after %s", time.Since(began))
					}
					if _, there, _ := inf.GetStore().GetByKey("a/first"); !there {
						t.Errorf("the store has %v", inf.GetStore().ListKeys())
					}
					cancel()
					writing.Wait()
					stop()
				})
			})
		}
	}
}
