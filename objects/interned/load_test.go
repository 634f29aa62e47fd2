package interned_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/load/synthetic"
)

// podsOf makes n pods of 64 templates. If own is set, each has of its own what pods of a real
// cluster have: the name of its token's volume in each container, container IDs, and times.
func podsOf(n int, own bool) []*corev1.Pod {
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: n}, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = objects.At(i).(*corev1.Pod)
		if own {
			pods[i] = pods[i].DeepCopy()
			makeOwn(pods[i], rng)
		}
	}
	return pods
}

func makeOwn(pod *corev1.Pod, rng *rand.Rand) {
	token := fmt.Sprintf("kube-api-access-%05x", rng.Uint32()&0xfffff)
	created := pod.CreationTimestamp.Time
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(created.Add(time.Duration(seconds) * time.Second))
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Projected != nil {
			v.Name = token
		}
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			for j := range list[i].VolumeMounts {
				if m := &list[i].VolumeMounts[j]; strings.HasPrefix(m.Name, "kube-api-access") {
					m.Name = token
				}
			}
		}
	}
	for i := range pod.ManagedFields {
		t := at(5 * i)
		pod.ManagedFields[i].Time = &t
	}
	started := at(1)
	pod.Status.StartTime = &started
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].LastTransitionTime = at(1 + i)
	}
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		s.ContainerID = fmt.Sprintf("containerd://%064x", rng.Uint64())
		if s.State.Running != nil {
			s.State.Running.StartedAt = at(3 + i)
		}
	}
}

// codec is a way in which objects come from a server.
type codec struct {
	name   string
	encode func(*corev1.Pod) []byte
	decode func([]byte) any
}

var codecs = []codec{
	{"protobuf", func(p *corev1.Pod) []byte { return must(p.Marshal()) }, func(b []byte) any {
		p := &corev1.Pod{}
		check(p.Unmarshal(b))
		return p
	}},
	{"json", jsonOf, func(b []byte) any {
		p := &corev1.Pod{}
		check(json.Unmarshal(b, p))
		return p
	}},
	{"unstructured", jsonOf, func(b []byte) any {
		u := &unstructured.Unstructured{}
		check(u.UnmarshalJSON(b))
		return u
	}},
}

func jsonOf(p *corev1.Pod) []byte {
	p = p.DeepCopy()
	p.APIVersion, p.Kind = "v1", "Pod"
	return must(json.Marshal(p))
}

func (c codec) encodeAll(pods []*corev1.Pod) [][]byte {
	all := make([][]byte, len(pods))
	for i, p := range pods {
		all[i] = c.encode(p)
	}
	return all
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// heap returns the bytes and the objects that are in use.
func heap() (bytes, objects float64) {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc), float64(s.HeapObjects)
}
