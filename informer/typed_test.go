package informer_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

var _ cache.TypedSharedIndexInformer[*corev1.Pod] = (*informer.TypedSharedIndexInformer[*corev1.Pod])(nil)

// Of finds an informer of this package under those that wrap it.
func TestOf(t *testing.T) {
	raw := informer.New(&cache.ListWatch{}, &corev1.Pod{}, informer.Options{})
	theirs := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
	for name, i := range map[string]cache.SharedInformer{
		"itself": raw, "client-go's typed": cache.NewTypedSharedIndexInformer[*corev1.Pod](raw),
		"typed":       informer.Typed[*corev1.Pod](raw),
		"typed twice": informer.Typed[*corev1.Pod](informer.Typed[*corev1.Pod](raw)),
	} {
		if got, ok := informer.Of(i); !ok || got != raw {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	for name, i := range map[string]cache.SharedInformer{
		"none": nil, "client-go's": theirs, "client-go's, typed": informer.Typed[*corev1.Pod](theirs),
		"an empty wrapper": struct {
			cache.SharedInformer
		}{},
	} {
		if got, ok := informer.Of(i); ok || got != nil {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}

// Nothing below asserts a type: handlers, indexes and listers take and return *corev1.Pod.
// Over our informer and over client-go's the outcome is the same.
func TestTypedSharedIndexInformer(t *testing.T) {
	for whose, typed := range map[string]func(
		cache.ListerWatcher) *informer.TypedSharedIndexInformer[*corev1.Pod]{
		"ours": func(lw cache.ListerWatcher) *informer.TypedSharedIndexInformer[*corev1.Pod] {
			return informer.NewTyped(lw, &corev1.Pod{}, informer.Options{})
		},
		"client-go": func(lw cache.ListerWatcher) *informer.TypedSharedIndexInformer[*corev1.Pod] {
			return informer.Typed[*corev1.Pod](
				cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{}))
		},
	} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := synthetic.NewSource([]runtime.Object{labelled("a", "1", "web")},
					synthetic.SourceOptions{})
				defer source.Stop()
				pods := typed(source)
				var told []string
				_, err := pods.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
					AddFunc: func(pod *corev1.Pod) { told = append(told, "add "+pod.Name) },
					UpdateFunc: func(old, pod *corev1.Pod) {
						told = append(told, old.Labels["app"]+" "+pod.Labels["app"])
					},
					DeleteFunc: func(pod cache.DeletedObject[*corev1.Pod]) {
						told = append(told, "delete "+pod.GetKey())
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := pods.AddTypedIndexers(
					cache.TypedIndexers[*corev1.Pod]{"app": func(pod *corev1.Pod) ([]string, error) {
						return []string{pod.Labels["app"]}, nil
					}}); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { pods.RunWithContext(ctx); close(ended) }()
				synctest.Wait()
				must[runtime.Object](t)(source.Update(labelled("a", "1", "db")))
				synctest.Wait()
				indexed, err := pods.GetTypedIndexer().ByTypedIndex("app", "db")
				if err != nil || len(indexed) != 1 || indexed[0].Name != "1" {
					t.Errorf("the index gives %v, %v", indexed, err)
				}
				listed, err := pods.Lister(podResource).List(labels.SelectorFromSet(labels.Set{"app": "db"}))
				if err != nil || len(listed) != 1 || listed[0] != indexed[0] {
					t.Errorf("the lister gives %v, %v", listed, err)
				}
				must[runtime.Object](t)(source.Delete("a/1"))
				synctest.Wait()
				if want := []string{"add 1", "web db", "delete a/1"}; !slices.Equal(told, want) {
					t.Errorf("told %q, want %q", told, want)
				}
				cancel()
				<-ended
			})
		})
	}
}
