package synthetic

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Own returns a copy of a pod or a node with what in a cluster no other object of its template has,
// beside the name, UID, addresses and version: the name of the token volume, container IDs, the
// times of conditions, starts and managers; for a node its IDs, host name and heartbeats. Sharing
// and compression look better than they are without.
func Own(obj runtime.Object, rng *rand.Rand) runtime.Object {
	obj = obj.DeepCopyObject()
	switch o := obj.(type) {
	case *corev1.Pod:
		ownPod(o, rng)
	case *corev1.Node:
		o.Status.NodeInfo.MachineID = strings.ReplaceAll(string(newUID(rng)), "-", "")
		o.Status.NodeInfo.SystemUUID, o.Status.NodeInfo.BootID = string(newUID(rng)), string(newUID(rng))
		if _, has := o.Labels[corev1.LabelHostname]; has {
			o.Labels[corev1.LabelHostname] = o.Name
		}
		at := o.CreationTimestamp.Time
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			c.LastTransitionTime, c.LastHeartbeatTime = after(&at, rng), after(&at, rng)
		}
		ownManagers(o.ManagedFields, &at, rng)
	}
	return obj
}

// tokenVolume is the volume of a pod's token, in a template.
const tokenVolume = "kube-api-access"

func ownPod(p *corev1.Pod, rng *rand.Rand) {
	name := fmt.Sprintf("%s-%05x", tokenVolume, rng.IntN(1<<20))
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.Name == tokenVolume {
			v.Name = name
		}
	}
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].VolumeMounts {
				if m := &containers[i].VolumeMounts[j]; m.Name == tokenVolume {
					m.Name = name
				}
			}
		}
	}
	at := p.CreationTimestamp.Time
	if p.Status.StartTime != nil {
		*p.Status.StartTime = after(&at, rng)
	}
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].LastTransitionTime = after(&at, rng)
	}
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		c.ContainerID = fmt.Sprintf("containerd://%016x%016x%016x%016x", rng.Uint64(), rng.Uint64(),
			rng.Uint64(), rng.Uint64())
		if c.State.Running != nil {
			c.State.Running.StartedAt = after(&at, rng)
		}
	}
	ownManagers(p.ManagedFields, &at, rng)
	for _, m := range p.ManagedFields {
		m.FieldsV1.SetRawString(strings.ReplaceAll(m.FieldsV1.GetRawString(), anyIP, p.Status.PodIP))
	}
}

func ownManagers(entries []metav1.ManagedFieldsEntry, at *time.Time, rng *rand.Rand) {
	for i := range entries {
		t := after(at, rng)
		entries[i].Time = &t
	}
}

// after is at most three seconds after at, which it moves on.
func after(at *time.Time, rng *rand.Rand) metav1.Time {
	*at = at.Add(time.Duration(rng.IntN(4)) * time.Second)
	return metav1.NewTime(*at)
}
