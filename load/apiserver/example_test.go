package apiserver_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// A real client against a server of 100 pods.
func Example() {
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100}, 1)
	pods := synthetic.NewSource(objects.All(), synthetic.SourceOptions{})
	defer pods.Stop()
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods},
		apiserver.Options{TLS: true, Token: "secret"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()

	client, err := kubernetes.NewForConfig(server.RESTConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := client.CoreV1().Pods("").List(context.Background(),
		metav1.ListOptions{FieldSelector: "metadata.namespace=ns-00"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(list.Items), "of", objects.Len(), "pods")
	// Output: 10 of 100 pods
}

// An informer whose connection is cut and whose version expires.
func Example_faults() {
	pods := synthetic.NewSource(nil, synthetic.SourceOptions{
		Example: &corev1.Pod{},
		Faults:  []synthetic.Fault{{Kind: synthetic.FaultGone, AfterEvents: 5}},
	})
	defer pods.Stop()
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods}, apiserver.Options{
			Faults: []synthetic.Fault{{Kind: apiserver.FaultHalfClose, AfterEvents: 10}},
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()

	config := server.RESTConfig()
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(config, h)
	if err != nil {
		fmt.Println(err)
		return
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	defer factory.Shutdown()
	defer close(stop)
	factory.WaitForCacheSync(stop)

	for i := range 20 {
		if _, err := pods.Create(
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a",
				Name: fmt.Sprintf("pod-%02d", i)}}); err != nil {
			fmt.Println(err)
		}
	}
	for len(informer.GetStore().ListKeys()) < 20 {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(len(informer.GetStore().ListKeys()), "pods;", pods.Struck(), server.Struck())
	// Output: 20 pods; map[gone:1] map[half-close:1]
}
