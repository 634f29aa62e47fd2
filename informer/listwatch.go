package informer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// ResourceClient lists and watches one resource. A generated clientset's client for a
// resource, such as client.CoreV1().Pods("default"), satisfies it with
// L = *corev1.PodList, and a dynamic client's resource with L = *unstructured.UnstructuredList.
type ResourceClient[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// NewListWatch returns the ListerWatcher of a clientset's resource, for an informer:
//
//	NewListWatch(client, client.CoreV1().Pods("default"), nil)
//
// It asks the clientset one thing only, whether it can stream lists. client-go's fake
// clientsets say that they cannot, and the informer then lists. If tweak is not nil, it may
// change the options of each list and watch, such as its selectors.
func NewListWatch[L runtime.Object](clientset any, resource ResourceClient[L],
	tweak func(*metav1.ListOptions)) cache.ListerWatcher {
	if tweak == nil {
		tweak = func(*metav1.ListOptions) {}
	}
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		tweak(&options)
		l, err := resource.List(ctx, options)
		if err != nil {
			return nil, err // not l: a nil pointer in an interface is not nil
		}
		return l, nil
	}
	follow := func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		tweak(&options)
		return resource.Watch(ctx, options)
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  list,
		WatchFuncWithContext: follow,
	}, clientset)
}
