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

	"github.com/informerbench/informerbench/load/synthetic"
)

// resourceGPU is the name of GPUs in a pod's requests.
const resourceGPU corev1.ResourceName = "nvidia.com/gpu"

// Trace makes a trace of whole pods from the events.
func (t *PodTrace) Trace() *Trace {
	out := &Trace{TraceHeader: TraceHeader{
		Source: t.Source, Seed: t.Seed, Compress: t.Compress,
		Resources: []TraceResource{{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}},
	}, Events: make([]TraceEvent, 0, len(t.Events)-t.Initial)}
	place := map[string]int{}
	for i, e := range t.lives() {
		if i >= t.Initial {
			out.Events = append(out.Events, e)
			continue
		}
		at, known := place[e.Key]
		if !known {
			at = len(out.Initial)
			place[e.Key] = at
			out.Initial = append(out.Initial, e)
		}
		out.Initial[at].Object = e.Object
	}
	out.Length = out.Span()
	return out
}

// lives yields all events by number, those of the start too, with whole pods, as large as
// generated ones. The pods share parts with each other: do not change one. Each call yields
// equal pods, which are a function of the trace alone. Event i has the resource version i+1.
// An event costs a few microseconds; memory is held for the live pods. The trace must be
// valid; those of ImportCSV and ReadTrace are.
func (t *PodTrace) lives() iter.Seq2[int, TraceEvent] {
	return func(yield func(int, TraceEvent) bool) {
		templates := synthetic.NewPodTemplates(rand.New(rand.NewPCG(t.Seed, 0)))
		live := map[int]*corev1.Pod{}
		for i, e := range t.Events {
			record := t.Pods[e.Pod]
			template := templates[record.application()%uint64(len(templates))]
			out := TraceEvent{At: e.At, Type: watch.Modified, Key: record.Key()}
			var pod *corev1.Pod
			if e.Type == TraceCreated {
				out.Type = watch.Added
				pod = tracePod(template, record, e.At, rand.New(rand.NewPCG(t.Seed, uint64(e.Pod))))
			} else {
				next := *live[e.Pod]
				pod = &next
			}
			switch e.Type {
			case TraceScheduled:
				pod.Spec.NodeName = e.Node
				setStatus(pod, template.Starting)
			case TracePhase:
				setStatus(pod, statusOf(template, e.Phase))
			}
			pod.ResourceVersion = strconv.Itoa(i + 1)
			live[e.Pod], out.Object = pod, pod
			if e.Type == TraceDeleted {
				out.Type = watch.Deleted
				delete(live, e.Pod)
			}
			if !yield(i, out) {
				return
			}
		}
	}
}

// application identifies pods that belong together: those of a namespace with the same
// requests.
func (p TracePod) application() uint64 {
	h := fnv.New64a()
	for _, part := range []string{p.Namespace, p.shape()} {
		_, _ = h.Write([]byte(part + "\x00")) // never fails
	}
	return h.Sum64()
}

// shape is the pod's QOS class and requests, as text.
func (p TracePod) shape() string {
	shape := p.QOS
	for _, n := range []int64{p.CPUMilli, p.MemoryMiB, p.GPUs, p.GPUMilli} {
		shape += "/" + strconv.FormatInt(n, 10)
	}
	return shape
}

// tracePod makes the pod as created. Its first container has the record's requests.
func tracePod(t *synthetic.PodTemplate, record TracePod, at time.Duration,
	rng *rand.Rand) *corev1.Pod {
	p := t.Pod(record.Namespace, record.Name, "", "", t.Pending, rng)
	// the API has whole seconds
	p.CreationTimestamp = metav1.NewTime(synthetic.Epoch.Add(at).Truncate(time.Second))
	p.Status.QOSClass = qosClass(record.QOS)
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(record.CPUMilli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(record.MemoryMiB<<20, resource.BinarySI),
	}
	if record.GPUs > 0 {
		requests[resourceGPU] = *resource.NewQuantity(record.GPUs, resource.DecimalSI)
	}
	p.Spec.Containers = slices.Clone(t.Spec.Containers)
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: requests}
	return p
}

// statusOf is the status of a pod in one of tracePhases.
func statusOf(t *synthetic.PodTemplate, phase corev1.PodPhase) corev1.PodStatus {
	switch phase {
	case corev1.PodSucceeded:
		return t.Succeeded
	case corev1.PodFailed:
		return t.Failed
	default:
		return t.Running
	}
}

// setStatus changes the status and keeps the fields that belong to the pod. A pod that was
// never on a node has no container statuses.
func setStatus(p *corev1.Pod, s corev1.PodStatus) {
	s.QOSClass = p.Status.QOSClass
	if p.Spec.NodeName == "" {
		s.Conditions, s.ContainerStatuses, s.StartTime = p.Status.Conditions, nil, nil
	}
	p.Status = s
}

// qosClass maps the source's name of the class: LS is latency sensitive, BE best effort.
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
