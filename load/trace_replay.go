package load

import (
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/contract"
)

// resourceGPU is what GPUs are called in a pod's requests.
const resourceGPU corev1.ResourceName = "nvidia.com/gpu"

// ReplayEvent is a trace's event with the pod as it is from then on.
type ReplayEvent struct {
	At    time.Duration // when it is due, since the replay's start
	Trace TraceEventType
	Type  watch.EventType // Added, Modified or Deleted
	Key   string
	// Pod is a whole pod, as large as a generated one. It shares parts with
	// others: nobody may change it. A deleted event has the last state.
	Pod *corev1.Pod
}

// Replay yields the events in order, with real pods. Each call yields equal pods:
// they are a function of the trace alone. Event i has the resource version i+1.
// An event costs a few microseconds; memory is held for the live pods. The trace
// must be valid, as what ImportCSV and ReadTrace return is.
func (t *Trace) Replay() iter.Seq[ReplayEvent] {
	return func(yield func(ReplayEvent) bool) {
		templates := newPodTemplates(rand.New(rand.NewPCG(t.Seed, 0)))
		live := map[int]*corev1.Pod{}
		for i, e := range t.Events {
			record := t.Pods[e.Pod]
			template := templates[record.application()%podTemplates]
			out := ReplayEvent{At: e.At, Trace: e.Type, Type: watch.Modified, Key: record.Key()}
			if e.Type == TraceCreated {
				out.Type = watch.Added
				out.Pod = template.tracePod(record, e.At, rand.New(rand.NewPCG(t.Seed, uint64(e.Pod))))
			} else {
				next := *live[e.Pod]
				out.Pod = &next
			}
			switch e.Type {
			case TraceScheduled:
				out.Pod.Spec.NodeName = e.Node
				setStatus(out.Pod, template.starting)
			case TracePhase:
				setStatus(out.Pod, template.status(e.Phase))
			}
			out.Pod.ResourceVersion = strconv.Itoa(i + 1)
			live[e.Pod] = out.Pod
			if e.Type == TraceDeleted {
				out.Type = watch.Deleted
				delete(live, e.Pod)
			}
			if !yield(out) {
				return
			}
		}
	}
}

// FinalState returns what a store must hold after the whole replay: the oracle.
func (t *Trace) FinalState() map[string]*corev1.Pod { return t.StateAfter(len(t.Events)) }

// StateAfter returns what a store must hold after the first n events.
func (t *Trace) StateAfter(n int) map[string]*corev1.Pod {
	state := map[string]*corev1.Pod{}
	for e := range t.Replay() {
		if n--; n < 0 {
			break
		}
		if e.Type == watch.Deleted {
			delete(state, e.Key)
		} else {
			state[e.Key] = e.Pod
		}
	}
	return state
}

// ApplyEvent does to a store what an informer does at such an event.
func ApplyEvent(store contract.Store, e ReplayEvent) {
	switch e.Type {
	case watch.Added:
		store.Add(e.Key, e.Pod)
	case watch.Modified:
		store.Update(e.Key, e.Pod)
	case watch.Deleted:
		store.Delete(e.Key)
	}
}

// application tells which pods belong together: those of the same namespace that
// ask for the same.
func (p TracePod) application() uint64 {
	h := fnv.New64a()
	for _, part := range []string{p.Namespace, p.shape()} {
		_, _ = h.Write([]byte(part + "\x00")) // never fails
	}
	return h.Sum64()
}

// shape is what the pod asks for, as text.
func (p TracePod) shape() string {
	shape := p.QOS
	for _, n := range []int64{p.CPUMilli, p.MemoryMiB, p.GPUs, p.GPUMilli} {
		shape += "/" + strconv.FormatInt(n, 10)
	}
	return shape
}

// tracePod makes the pod as it is created. Its first container asks for what the record says.
func (t *podTemplate) tracePod(record TracePod, at time.Duration, rng *rand.Rand) *corev1.Pod {
	p := t.pod(record.Namespace, record.Name, "", "", t.pending, rng)
	p.CreationTimestamp = metav1.NewTime(epoch.Add(at).Truncate(time.Second)) // the API has whole seconds
	p.Status.QOSClass = qosClass(record.QOS)
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(record.CPUMilli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(record.MemoryMiB<<20, resource.BinarySI),
	}
	if record.GPUs > 0 {
		requests[resourceGPU] = *resource.NewQuantity(record.GPUs, resource.DecimalSI)
	}
	p.Spec.Containers = slices.Clone(t.spec.Containers)
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: requests}
	return p
}

// status is that of a pod in a phase that a trace may bring.
func (t *podTemplate) status(phase corev1.PodPhase) corev1.PodStatus {
	switch phase {
	case corev1.PodSucceeded:
		return t.succeeded
	case corev1.PodFailed:
		return t.failed
	default:
		return t.running
	}
}

// setStatus changes the status and keeps what is the pod's own. A pod that was
// never on a node has no containers to report.
func setStatus(p *corev1.Pod, s corev1.PodStatus) {
	s.QOSClass = p.Status.QOSClass
	if p.Spec.NodeName == "" {
		s.Conditions, s.ContainerStatuses, s.StartTime = p.Status.Conditions, nil, nil
	}
	p.Status = s
}

// qosClass maps what the source calls the class: LS is latency sensitive, BE best effort.
func qosClass(source string) corev1.PodQOSClass {
	switch source {
	case "BE":
		return corev1.PodQOSBestEffort
	case "Guaranteed":
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}
