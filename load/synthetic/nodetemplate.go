package synthetic

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeTemplates is the number of kinds of machines. nodeImages is the most images that the
// kubelet reports; they are most of a node's size.
const (
	nodeTemplates = 8
	nodeImages    = 50
)

// newNodeTemplates builds nodes; the generated nodes are shallow copies of them. The
// templates are never changed after that.
func newNodeTemplates(rng *rand.Rand) []*corev1.Node {
	templates := make([]*corev1.Node, nodeTemplates)
	for i := range templates {
		templates[i] = newNodeTemplate(i, rng)
	}
	return templates
}

func newNodeTemplate(n int, rng *rand.Rand) *corev1.Node {
	at := metav1.NewTime(Epoch.Add(time.Duration(rng.IntN(86_400)) * time.Second))
	cpus, memory := int64(16<<(n%4)), int64(64<<(n%4))
	node := &corev1.Node{}
	fill(nodeTemplate(), node, "cpus", fmt.Sprint(cpus), "memory", fmt.Sprint(memory),
		"n", fmt.Sprint(n), "zone", fmt.Sprintf("zone-%c", 'a'+n%3),
		"machine", fmt.Sprintf("%032x", rng.Uint64()), "system", string(newUID(rng)),
		"boot", string(newUID(rng)))
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		c.LastHeartbeatTime, c.LastTransitionTime = at, at
	}
	node.Status.Images = newImages(nodeImages, rng)
	return node
}

func newImages(count int, rng *rand.Rand) []corev1.ContainerImage {
	images := make([]corev1.ContainerImage, count)
	for i := range images {
		name := fmt.Sprintf("registry.example.com/team-%02d/service-%02d", i%12, i)
		images[i] = corev1.ContainerImage{
			Names: []string{fmt.Sprintf("%s@sha256:%064x", name, rng.Uint64()),
				fmt.Sprintf("%s:v1.%d.%d", name, rng.IntN(40), rng.IntN(20))},
			SizeBytes: int64(rng.IntN(900)+100) << 20,
		}
	}
	return images
}
