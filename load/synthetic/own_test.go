package synthetic

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Decoded objects share nothing, and of one template no two are equal where a cluster's are not.
func TestDecodedObjectsAreTheirOwn(t *testing.T) {
	pods := Generate(ObjectSpec{Kind: KindPod, Count: 200, Decoded: true}, 1)
	containers, tokens := map[string]bool{}, map[string]bool{}
	for _, obj := range pods.All() {
		p := obj.(*corev1.Pod)
		containers[p.Status.ContainerStatuses[0].ContainerID] = true
		tokens[p.Spec.Containers[0].VolumeMounts[0].Name] = true
	}
	if len(containers) != 200 {
		t.Errorf("%d container IDs of 200 pods", len(containers))
	}
	a, b := pods.At(0).(*corev1.Pod), pods.Mutate(pods.At(0), rand.New(rand.NewPCG(1, 1)), false)
	if later := b.(*corev1.Pod); &later.Spec.Containers[0] == &a.Spec.Containers[0] {
		t.Error("a later version shares the containers")
	} else if !equality.Semantic.DeepEqual(later.Spec, a.Spec) {
		t.Error("a later version has another spec")
	}
	if len(tokens) < 100 && len(tokens) != 1 { // 1: another volume is mounted first
		t.Errorf("%d names of token volumes of 200 pods", len(tokens))
	}
}
