package synthetic_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load/synthetic"
)

func ExampleGenerate() {
	objects := synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 1_000, Namespaces: 20, Nodes: 50}, 1)
	store := cache.NewThreadSafeStore(synthetic.Indexers(), cache.Indices{})
	store.Replace(objects.Map(), objects.Version())

	pod := objects.At(112).(*corev1.Pod)
	moved := objects.Mutate(pod, rand.New(rand.NewPCG(1, 1)), true).(*corev1.Pod)
	store.Update(synthetic.Key(moved), moved)

	onNode, err := store.ByIndex(synthetic.IndexNode, pod.Spec.NodeName)
	fmt.Println(synthetic.Key(moved), moved.ResourceVersion, len(onNode), err)
	// Output: ns-12/pod-000112 1001 19 <nil>
}

func ExampleSource() {
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 2}, 1)
	source := synthetic.NewSource(objects.All(),
		synthetic.SourceOptions{Faults: []synthetic.Fault{{Kind: synthetic.FaultClose, AfterEvents: 1}}})
	defer source.Stop()

	w, err := source.Watch(metav1.ListOptions{ResourceVersion: source.ResourceVersion()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		if _, err := source.Update(objects.At(0)); err != nil {
			fmt.Println(err)
		}
	}
	for e := range w.ResultChan() {
		fmt.Println(e.Type, synthetic.Key(e.Object), e.Object.(*corev1.Pod).ResourceVersion)
	}
	fmt.Println("closed")
	// Output:
	// MODIFIED ns-00/pod-000000 3
	// closed
}
