package load

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// PodEventType is the type of an event in a [PodTrace].
type PodEventType string

// The events of a pod's life, in their order. A pod may lack any but the first.
const (
	TraceCreated   PodEventType = "created"   // Pending, without a node
	TraceScheduled PodEventType = "scheduled" // given a node
	TracePhase     PodEventType = "phase"     // Running, Succeeded or Failed
	TraceDeleted   PodEventType = "deleted"
)

// PodEventTypes lists the types in the order of a pod's life.
func PodEventTypes() []PodEventType {
	return []PodEventType{TraceCreated, TraceScheduled, TracePhase, TraceDeleted}
}

// PodTrace is the history of a cluster's pods where the objects themselves were not kept:
// one event of a pod's life per line, ordered by time. [PodTrace.Trace] makes whole pods of
// it. It is immutable; all methods may be called concurrently.
type PodTrace struct {
	// Source says where the trace comes from.
	Source string
	// Seed generates the values that the source does not have, such as UIDs and labels.
	Seed uint64
	// Compress is the factor by which the times were divided.
	Compress float64
	// Pods are the pods of the events, by number, in the order of their creation.
	Pods []TracePod
	// Events are in the order of At; events of the same time are in the order in which they
	// take effect.
	Events []PodEvent
	// Initial is the number of Events, from the first on, that led to what is there at the
	// start. They are at 0, and none is a deletion.
	Initial int
}

// TracePod is a pod as the trace describes it at its creation.
type TracePod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	CPUMilli  int64  `json:"cpu_milli"`
	MemoryMiB int64  `json:"memory_mib"`
	GPUs      int64  `json:"gpus,omitempty"`
	GPUMilli  int64  `json:"gpu_milli,omitempty"` // of each GPU
	QOS       string `json:"qos"`                 // as the source calls it
}

// Key is the pod's key in stores.
func (p TracePod) Key() string { return p.Namespace + "/" + p.Name }

// PodEvent is one event.
type PodEvent struct {
	At    time.Duration   // since the trace's start, compressed
	Type  PodEventType    // what happens
	Pod   int             // an index into PodTrace.Pods
	Node  string          // of a scheduled event
	Phase corev1.PodPhase // of a phase event
}

// tracePhases are the possible phases of a phase event.
var tracePhases = []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}

// podChecker checks events one after the other against the rules of a PodTrace.
type podChecker struct {
	initial int // the number of events that are still those of the start
	last    time.Duration
	next    int                  // the number of the next pod to be created
	live    map[int]PodEventType // the last event of each live pod
	keys    map[string]int       // of live pods
}

func newPodChecker(initial int) *podChecker {
	return &podChecker{initial: initial, live: map[int]PodEventType{}, keys: map[string]int{}}
}

// check reports a broken rule of the next event. pod returns the record of a pod.
func (c *podChecker) check(e PodEvent, pod func(int) TracePod) error {
	order := PodEventTypes()
	now := slices.Index(order, e.Type)
	last, alive := c.live[e.Pod]
	switch {
	case now < 0:
		return fmt.Errorf("unknown type %q: use one of %s", e.Type, join(order, asString))
	case c.initial > 0 && (e.At != 0 || e.Type == TraceDeleted):
		return fmt.Errorf("%s at %v stands among the events that led to the start", e.Type, e.At)
	case e.At < c.last:
		return fmt.Errorf("it is at %v, before its predecessor at %v", e.At, c.last)
	case (e.Node != "") != (e.Type == TraceScheduled):
		return fmt.Errorf("a %s event with the node %q", e.Type, e.Node)
	case (e.Phase != "") != (e.Type == TracePhase), e.Phase != "" &&
		!slices.Contains(tracePhases, e.Phase):
		return fmt.Errorf("a %s event with the phase %q: use one of %s in phase events only", e.Type,
			e.Phase, join(tracePhases, asString))
	case e.Type == TraceCreated && e.Pod != c.next:
		return fmt.Errorf("it creates pod %d: the next one is %d", e.Pod, c.next)
	case e.Type != TraceCreated && !alive:
		return fmt.Errorf("%s of pod %d, which does not exist", e.Type, e.Pod)
	case alive && slices.Index(order, last) >= now:
		return fmt.Errorf("%s of pod %d comes after %s", e.Type, e.Pod, last)
	}
	key := pod(e.Pod).Key()
	switch e.Type {
	case TraceCreated:
		if pod(e.Pod).Namespace == "" || pod(e.Pod).Name == "" {
			return fmt.Errorf("pod %d has no name or no namespace", e.Pod)
		}
		if other, taken := c.keys[key]; taken {
			return fmt.Errorf("pod %d has the key %s of pod %d, which is alive", e.Pod, key, other)
		}
		c.keys[key] = e.Pod
		c.next++
	case TraceDeleted:
		delete(c.keys, key)
	}
	if e.Type == TraceDeleted {
		delete(c.live, e.Pod)
	} else {
		c.live[e.Pod] = e.Type
	}
	c.last = e.At
	c.initial = max(0, c.initial-1)
	return nil
}

// Validate reports the first event that breaks the rules of a PodTrace.
func (t *PodTrace) Validate() error {
	if !(t.Compress > 0) || math.IsInf(t.Compress, 0) {
		return fmt.Errorf("the trace is compressed by %v: use a number above 0", t.Compress)
	}
	if t.Initial < 0 || t.Initial > len(t.Events) {
		return fmt.Errorf("the first %d events are those of the start, of %d", t.Initial, len(t.Events))
	}
	c := newPodChecker(t.Initial)
	for i, e := range t.Events {
		if e.Pod < 0 || e.Pod >= len(t.Pods) {
			return fmt.Errorf("event %d: there is no pod %d", i, e.Pod)
		}
		if err := c.check(e, func(n int) TracePod { return t.Pods[n] }); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	if c.next != len(t.Pods) {
		return fmt.Errorf("%d pods are never created", len(t.Pods)-c.next)
	}
	return nil
}
