package informer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// In a program written for client-go one word changes: the package of
// NewSharedIndexInformer.
func ExampleNewSharedIndexInformer() {
	client := fake.NewClientset(labelled("shop", "web-0", "web"), labelled("shop", "web-1", "web"))
	lw := informer.NewListWatch(client, client.CoreV1().Pods("shop"), nil)

	pods := informer.NewSharedIndexInformer(lw, &corev1.Pod{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	seen := make(chan string)
	handler, err := pods.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if !initial {
				seen <- "new: " + obj.(*corev1.Pod).Name
			}
		},
		DeleteFunc: func(obj any) { seen <- "gone: " + obj.(*corev1.Pod).Name },
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { pods.RunWithContext(ctx); close(ended) }()
	cache.WaitFor(ctx, "", handler.HasSyncedChecker())
	fmt.Println(len(pods.GetStore().List()), "pods")

	_, _ = client.CoreV1().Pods("shop").Create(ctx, labelled("shop", "web-2", "web"),
		metav1.CreateOptions{})
	fmt.Println(<-seen)
	_ = client.CoreV1().Pods("shop").Delete(ctx, "web-0", metav1.DeleteOptions{})
	fmt.Println(<-seen)

	cancel()
	<-ended // handlers included
	// Output:
	// 2 pods
	// new: web-2
	// gone: web-0
}

// Options choose the store and the FIFO; handlers and listers take and return pods.
func ExampleNewTyped() {
	source := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 100}, 1).All(),
		synthetic.SourceOptions{})
	defer source.Stop()

	pods := informer.NewTyped(source, &corev1.Pod{}, informer.Options{
		NewStore: func(i contract.Indexers) contract.Store { return mutexmap.New(i) },
		NewFIFO: func(c contract.FIFOConfig) contract.FIFO {
			return deltafifo.NewInOrder(c, deltafifo.Options{Atomic: true})
		},
		Indexers: synthetic.Indexers(),
	})
	adds := 0
	handler, err := pods.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
		AddFunc: func(pod *corev1.Pod) { adds++ },
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { pods.RunWithContext(ctx); close(ended) }()
	cache.WaitFor(ctx, "", handler.HasSyncedChecker())

	all, _ := pods.Lister(corev1.Resource("pods")).List(labels.Everything())
	_, err = pods.Lister(corev1.Resource("pods")).ByNamespace("nowhere").Get("web-0")
	fmt.Println(len(all), "pods;", err)
	cancel()
	<-ended
	fmt.Println(adds, "adds")
	// Output:
	// 100 pods; pods "web-0" not found
	// 100 adds
}

// An informer with one handler, which is called by the goroutine that fills the store.
func ExampleNewUnshared() {
	source := synthetic.NewSource(
		synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 3}, 1).All(),
		synthetic.SourceOptions{})
	defer source.Stop()

	adds := 0
	store, controller := informer.NewUnshared(source, &corev1.Pod{}, cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { adds++ },
	}, informer.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { controller.RunWithContext(ctx); close(ended) }()
	cache.WaitFor(ctx, "", controller.HasSyncedChecker())
	cancel()
	<-ended
	fmt.Println(len(store.List()), "pods,", adds, "calls")
	// Output: 3 pods, 3 calls
}
