package informers_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/informerbench/informerbench/informer/informers"
)

// A program written for k8s.io/client-go/informers changes the import path.
func Example() {
	client := fake.NewClientset(pod("shop", "web-0"))

	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pods := factory.Core().V1().Pods().Lister()
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		panic(err)
	}
	list, err := pods.Pods("shop").List(labels.Everything())
	fmt.Println(len(list), err)
	// Output: 1 <nil>
}

// A factory of client-go's can hold an informer of this package for one type.
func ExampleNewInformerFunc() {
	factory := clientgo.NewSharedInformerFactory(fake.NewClientset(), 0)

	newPods, err := informers.NewInformerFunc(&corev1.Pod{})
	if err != nil {
		panic(err)
	}
	ours := factory.InformerFor(&corev1.Pod{}, newPods)

	fmt.Println(factory.Core().V1().Pods().Informer().GetIndexer() == ours.GetIndexer())
	// Output: true
}
