package synthetic

import (
	_ "embed" // of the templates
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Epoch is the start time of generated objects. It is fixed, so that a seed gives the same
// bytes on every day.
var Epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// podTemplates is the number of deployments that the pods belong to. Pods of one deployment
// share all their common parts, as in a program that interns strings at best. So 100,000
// pods fit in memory.
const podTemplates = 64

// PodTemplate is the part of a pod that all pods of a deployment have in common. Do not
// change one: pods share it.
type PodTemplate struct {
	labels      map[string]string
	annotations map[string]string
	owners      []metav1.OwnerReference
	managed     []metav1.ManagedFieldsEntry
	Spec        corev1.PodSpec

	// The statuses of a pod in each phase of its life. A starting pod is pending and has a node.
	Pending, Starting, Running, Succeeded, Failed corev1.PodStatus
}

// NewPodTemplates makes the templates of 64 deployments. The same rng gives the same ones.
func NewPodTemplates(rng *rand.Rand) []*PodTemplate {
	templates := make([]*PodTemplate, podTemplates)
	for i := range templates {
		templates[i] = newPodTemplate(i, rng)
	}
	return templates
}

func newPodTemplate(n int, rng *rand.Rand) *PodTemplate {
	app := fmt.Sprintf("service-%02d", n)
	hash := fmt.Sprintf("%08x", rng.Uint32())
	started := metav1.NewTime(Epoch.Add(time.Duration(rng.IntN(86_400)) * time.Second))
	var pod corev1.Pod
	fill(podTemplate(), &pod, "app", app, "hash", hash,
		"version", fmt.Sprintf("v1.%d.%d", rng.IntN(40), rng.IntN(20)),
		"team", fmt.Sprintf("team-%02d", n%12), "checksum", fmt.Sprintf("%064x", rng.Uint64()),
		"uid", string(newUID(rng)))
	for i := range pod.ManagedFields {
		pod.ManagedFields[i].Time = &started
	}
	t := &PodTemplate{labels: pod.Labels, annotations: pod.Annotations, owners: pod.OwnerReferences,
		managed: pod.ManagedFields, Spec: pod.Spec}
	t.setStatuses(started)
	return t
}

var (
	//go:embed pod.yaml
	podText []byte
	//go:embed node.yaml
	nodeText []byte

	podTemplate  = sync.OnceValue(func() string { return jsonOf(podText) })
	nodeTemplate = sync.OnceValue(func() string { return jsonOf(nodeText) })
)

func jsonOf(text []byte) string {
	out, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		panic(fmt.Sprintf("synthetic: a template: %v", err))
	}
	return string(out)
}

// fill makes the object of a template whose ${NAME} stand for values: pairs of both.
func fill(template string, into any, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "${" + pairs[i] + "}"
	}
	text := strings.NewReplacer(pairs...).Replace(template)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic(fmt.Sprintf("synthetic: a template: %v", err))
	}
}

// setStatuses makes the status of a pod for each phase of its life.
func (t *PodTemplate) setStatuses(at metav1.Time) {
	status := func(phase corev1.PodPhase, scheduled, ready corev1.ConditionStatus,
		state corev1.ContainerState) corev1.PodStatus {
		s := corev1.PodStatus{Phase: phase, QOSClass: corev1.PodQOSBurstable}
		for _, c := range []struct {
			kind   corev1.PodConditionType
			status corev1.ConditionStatus
		}{
			{corev1.PodReadyToStartContainers, ready}, {corev1.PodInitialized, ready},
			{corev1.PodReady, ready},
			{corev1.ContainersReady, ready}, {corev1.PodScheduled, scheduled},
		} {
			s.Conditions = append(s.Conditions,
				corev1.PodCondition{Type: c.kind, Status: c.status, LastTransitionTime: at})
		}
		if scheduled == corev1.ConditionFalse {
			s.Conditions = s.Conditions[len(s.Conditions)-1:]
			s.Conditions[0].Reason = corev1.PodReasonUnschedulable
			return s
		}
		s.StartTime = &at
		for _, c := range t.Spec.Containers {
			running := state.Running != nil
			s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, State: state, Ready: running, Started: &running,
				ImageID:     c.Image + "@sha256:9b2a1f0e6d5c4b3a29181706f5e4d3c2b1a09f8e7d6c5b4a3928171605f4e3d2",
				ContainerID: "containerd://4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796",
			})
		}
		return s
	}
	done := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: at,
				FinishedAt: at}}
	}
	t.Pending = status(corev1.PodPending, corev1.ConditionFalse, corev1.ConditionFalse,
		corev1.ContainerState{})
	t.Starting = status(corev1.PodPending, corev1.ConditionTrue, corev1.ConditionFalse,
		corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	t.Running = status(corev1.PodRunning, corev1.ConditionTrue, corev1.ConditionTrue,
		corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}})
	t.Succeeded = status(corev1.PodSucceeded, corev1.ConditionTrue, corev1.ConditionFalse,
		done(0, "Completed"))
	t.Failed = status(corev1.PodFailed, corev1.ConditionTrue, corev1.ConditionFalse, done(1, "Error"))
}

// newUID makes a version 4 UUID from rng.
func newUID(rng *rand.Rand) types.UID {
	a, b := rng.Uint64(), rng.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff,
		b>>48&0x3fff|0x8000, b&0xffff_ffff_ffff))
}
