package interned_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/informerbench/informerbench/objects/interned"
)

// One keeper serves all informers of a program.
func Example() {
	keeper := interned.New(interned.Options{})
	factory := informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(), 0,
		informers.WithTransform(keeper.Transform))
	_ = factory.Core().V1().Pods().Informer()
	// With controller-runtime: cache.Options{DefaultTransform: keeper.Transform}

	var pods []*corev1.Pod
	for _, uid := range []types.UID{"a", "b", "c"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid},
			Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "spot", Operator: "Exists"}}}}
		keeper.Keep(pod)
		pods = append(pods, pod)
	}
	fmt.Println(&pods[1].Spec.Tolerations[0] == &pods[2].Spec.Tolerations[0])
	// Output: true
}
