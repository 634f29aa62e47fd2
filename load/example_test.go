package load_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load"
)

func ExampleGenerate() {
	objects := load.Generate(load.ObjectSpec{Kind: load.KindPod, Count: 1_000, Namespaces: 20, Nodes: 50}, 1)
	store := cache.NewThreadSafeStore(load.Indexers(), cache.Indices{})
	store.Replace(objects.Map(), objects.Version())

	pod := objects.At(112).(*corev1.Pod)
	moved := objects.Mutate(pod, rand.New(rand.NewPCG(1, 1)), true).(*corev1.Pod)
	store.Update(load.Key(moved), moved)

	onNode, err := store.ByIndex(load.IndexNode, pod.Spec.NodeName)
	fmt.Println(load.Key(moved), moved.ResourceVersion, len(onNode), err)
	// Output: ns-12/pod-000112 1001 19 <nil>
}

func ExampleParseWorkload() {
	_, err := load.ParseWorkload("mine.yaml", []byte(`
name: mine
component: store
objects: {count: 0}
groups:
  - {name: readers, op: lst, goroutines: 4}
`))
	fmt.Println(err)
	// Output:
	// mine.yaml:4: objects.count: 0 is out of range: use 1 to 50000000
	// mine.yaml:6: groups[0].op: unknown operation "lst" of a store: use one of get, list, list-keys, by-index, index, index-keys, update, update-index, add-delete, replace, transaction
}

func ExampleSource() {
	objects := load.Generate(load.ObjectSpec{Kind: load.KindSmall, Count: 2}, 1)
	source := load.NewSource(objects.All(), load.SourceOptions{Faults: []load.Fault{{Kind: load.FaultClose, AfterEvents: 1}}})
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
		fmt.Println(e.Type, load.Key(e.Object), e.Object.(*corev1.Pod).ResourceVersion)
	}
	fmt.Println("closed")
	// Output:
	// MODIFIED ns-00/pod-000000 3
	// closed
}
