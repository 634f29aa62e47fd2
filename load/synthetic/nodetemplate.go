package synthetic

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(cpus, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory<<30, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(1<<40, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
		"hugepages-1Gi":                 *resource.NewQuantity(0, resource.DecimalSI),
		"hugepages-2Mi":                 *resource.NewQuantity(0, resource.DecimalSI),
	}
	zone := fmt.Sprintf("zone-%c", 'a'+n%3)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{
				corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelTopologyZone: zone,
				corev1.LabelTopologyRegion:     "region-1",
				corev1.LabelInstanceTypeStable: fmt.Sprintf("standard-%d", cpus),
				"node.kubernetes.io/lifecycle": "on-demand", "nodepool": fmt.Sprintf("pool-%d", n),
			},
			Annotations: map[string]string{
				"node.alpha.kubernetes.io/ttl":                           "0",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
				"csi.volume.kubernetes.io/nodeid":                        `{"ebs.csi.example.com":"i-0123456789abcdef0","efs.csi.example.com":"i-0123456789abcdef0"}`,
			},
		},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: fmt.Sprintf("%032x", rng.Uint64()), SystemUUID: string(newUID(rng)),
				BootID:        string(newUID(rng)),
				KernelVersion: "6.12.8-generic", OSImage: "Ubuntu 24.04.1 LTS",
				ContainerRuntimeVersion: "containerd://2.0.1",
				KubeletVersion:          "v1.36.0", OperatingSystem: "linux", Architecture: "amd64",
			},
		},
	}
	for _, c := range []struct {
		kind            corev1.NodeConditionType
		status          corev1.ConditionStatus
		reason, message string
	}{
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory",
			"kubelet has sufficient memory available"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure",
			"kubelet has no disk pressure"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID",
			"kubelet has sufficient PID available"},
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"},
	} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{
			Type: c.kind, Status: c.status, Reason: c.reason, Message: c.message, LastHeartbeatTime: at,
			LastTransitionTime: at,
		})
	}
	for i := range nodeImages {
		name := fmt.Sprintf("registry.example.com/team-%02d/service-%02d", i%12, i)
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
			Names: []string{fmt.Sprintf("%s@sha256:%064x", name, rng.Uint64()),
				fmt.Sprintf("%s:v1.%d.%d", name, rng.IntN(40), rng.IntN(20))},
			SizeBytes: int64(rng.IntN(900)+100) << 20,
		})
	}
	return node
}
