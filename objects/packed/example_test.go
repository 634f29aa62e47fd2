package packed_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/objects/packed"
)

func Example() {
	keeper := packed.New(packed.Options{})
	kept := keeper.Keep(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-0"},
		Spec:       corev1.PodSpec{NodeName: "node-1"},
	})

	// A store keys and indexes what is kept.
	key, err := cache.MetaNamespaceKeyFunc(kept)
	fmt.Println(key, err)
	nodes, err := keeper.Values(kept, 0, func(obj any) ([]string, error) {
		return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
	})
	fmt.Println(nodes, err)

	// A reader sees the object.
	pod := keeper.Object(kept).(*corev1.Pod)
	fmt.Println(pod.Name, pod.Spec.NodeName, pod == keeper.Object(kept))
	// Output:
	// shop/cart-0 <nil>
	// [node-1] <nil>
	// cart-0 node-1 true
}
