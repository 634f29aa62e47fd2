package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/dropin/cache" // (1) was k8s.io/client-go/tools/cache
	// (2) was k8s.io/client-go/util/workqueue
	"github.com/informerbench/informerbench/dropin/workqueue"
)

const (
	byNode  = "node"
	workers = 2
)

// controller counts the pods of each node.
type controller struct {
	informer cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[string] // names of nodes
	report   func(node string, pods int)

	mu      sync.Mutex
	counted map[string]int // what was reported last
}

// newController returns a controller that calls report when the pods of a node have changed in
// number, for one node at a time.
func newController(clientset kubernetes.Interface, report func(node string, pods int)) (*controller,
	error) {
	pods := clientset.CoreV1().Pods(metav1.NamespaceAll)
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object,
			error) {
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface,
			error) {
			return pods.Watch(ctx, options)
		},
	}, clientset)
	c := &controller{
		informer: cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{byNode: nodeOf}),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "nodes"}),
		report:  report,
		counted: map[string]int{},
	}
	err := c.informer.SetWatchErrorHandler(func(r *cache.Reflector, err error) {
		klog.Background().Error(err, "The pods cannot be listed or watched", "reflector", r.Name())
	})
	if err != nil {
		return nil, err
	}
	_, err = c.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.enqueue,
		UpdateFunc: func(old, obj any) {
			c.enqueue(old)
			c.enqueue(obj)
		},
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj
			}
			c.enqueue(obj)
		},
	})
	return c, err
}

func nodeOf(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("a %T is no pod", obj)
	}
	return []string{pod.Spec.NodeName}, nil
}

func (c *controller) enqueue(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		c.queue.Add(pod.Spec.NodeName)
	}
}

// run works until ctx ends, and returns when everything that it started has ended.
func (c *controller) run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer c.queue.ShutDown()
	running.Go(func() { c.informer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), c.informer.HasSynced) {
		return errors.New("stopped before the cache was filled")
	}
	for range workers {
		running.Go(func() {
			for c.work() {
			}
		})
	}
	<-ctx.Done()
	return nil
}

// work counts the pods of one node; it returns false when the queue is shut down.
func (c *controller) work() bool {
	node, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(node)
	pods, err := c.informer.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		c.queue.AddRateLimited(node)
		return true
	}
	c.queue.Forget(node)
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.counted[node]; !ok || last != len(pods) {
		c.counted[node] = len(pods)
		c.report(node, len(pods))
	}
	return true
}
