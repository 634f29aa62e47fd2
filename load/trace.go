package load

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Trace is the history of the objects of one or more resources: the initial objects and
// every event since, ordered by time. It comes from a file ([ReadTraceFile]), recorded from
// a cluster or made from a CSV ([PodTrace.Trace]).
//
// A Trace and its objects are immutable: objects share parts with each other. All methods
// may be called concurrently.
type Trace struct {
	TraceHeader
	// Initial are the initial objects: ADDED events at 0.
	Initial []TraceEvent
	// Events are in the order of At.
	Events []TraceEvent
	// Notes are the recorder's difficulties, in the order of At.
	Notes []TraceNote
	// Length is the duration of the recording, compressed as the events are; at least the
	// time of the last event.
	Length time.Duration
	// Ended says why a recording ended early; "" if it did not.
	Ended string
}

// TraceHeader describes a trace's origin and contents.
type TraceHeader struct {
	// Source says where the trace comes from.
	Source string `json:"source"`
	// Recorded is when the recording began; zero for an imported trace.
	Recorded time.Time `json:"recorded,omitzero"`
	// Seed generated the values that the source does not have. It is 0 in a recording,
	// which has all values.
	Seed uint64 `json:"seed,omitempty"`
	// Compress is the factor by which the times were divided; 1 in a recording.
	Compress float64 `json:"compress"`
	// Resources are the resources of the events, by number.
	Resources []TraceResource `json:"resources"`
	// Namespace is the only recorded namespace; "" for all.
	Namespace string `json:"namespace,omitempty"`
	// MetadataOnly says that the objects have metadata only.
	MetadataOnly bool `json:"metadataOnly,omitempty"`
	// Dropped describes what was dropped from every object.
	Dropped []string `json:"dropped,omitempty"`
}

// TraceResource is a resource of a trace.
type TraceResource struct {
	Group      string `json:"group,omitempty"`
	Version    string `json:"version"`
	Resource   string `json:"resource"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// GVR is the resource as clients name it.
func (r TraceResource) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// GVK is the kind of the resource's objects.
func (r TraceResource) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// String is "pods" or "deployments.apps".
func (r TraceResource) String() string { return r.GVR().GroupResource().String() }

// TraceEvent is one event, with the resulting state of the object.
type TraceEvent struct {
	At       time.Duration   // since the trace's start
	Type     watch.EventType // Added, Modified or Deleted
	Resource int             // an index into Trace.Resources
	Key      string          // of the object, as [synthetic.Key] has it; unique within the resource
	// Object is whole: *unstructured.Unstructured in a recording, *corev1.Pod in an
	// imported trace. A deletion has the object's last state.
	Object runtime.Object
}

// The subjects of notes.
const (
	NoteResumed  = "resumed"  // a watch broke off and continued at its last version
	NoteRelisted = "relisted" // history was gone; the differences from a new list became events
	NoteRefused  = "refused"  // the server refused for a while
)

// TraceNote is a difficulty of the recorder. A replay ignores it.
type TraceNote struct {
	At       time.Duration `json:"at"`
	Resource int           `json:"r"`
	What     string        `json:"what"`
	Why      string        `json:"why,omitempty"`
	// The differences that a relist found. The states between two versions and the times of
	// the changes are unknown: the events have the time of the relist.
	Added    int `json:"added,omitempty"`
	Modified int `json:"modified,omitempty"`
	Deleted  int `json:"deleted,omitempty"`
}

// all yields the initial objects and the events, in their order.
func (t *Trace) all() iter.Seq[*TraceEvent] {
	return func(yield func(*TraceEvent) bool) {
		for _, events := range [][]TraceEvent{t.Initial, t.Events} {
			for i := range events {
				if !yield(&events[i]) {
					return
				}
			}
		}
	}
}

// Span is the time of the last event.
func (t *Trace) Span() time.Duration {
	if n := len(t.Events); n > 0 {
		return t.Events[n-1].At
	}
	return 0
}

// FinalState returns the state that clients must reach after the whole trace, by resource
// and key: the oracle.
func (t *Trace) FinalState() []map[string]runtime.Object { return t.StateAfter(len(t.Events)) }

// StateAfter returns the state that clients must reach after the first n events.
func (t *Trace) StateAfter(n int) []map[string]runtime.Object {
	state := make([]map[string]runtime.Object, len(t.Resources))
	for i := range state {
		state[i] = map[string]runtime.Object{}
	}
	part := Trace{Initial: t.Initial, Events: t.Events[:n]}
	for e := range part.all() {
		if e.Type == watch.Deleted {
			delete(state[e.Resource], e.Key)
		} else {
			state[e.Resource][e.Key] = e.Object
		}
	}
	return state
}

// Objects returns the last version of every object that a resource ever has in the trace,
// in the order of their first events.
func (t *Trace) Objects(resource int) []runtime.Object {
	var objects []runtime.Object
	place := map[string]int{}
	for e := range t.all() {
		if e.Resource != resource {
			continue
		}
		if i, known := place[e.Key]; known {
			objects[i] = e.Object
			continue
		}
		place[e.Key] = len(objects)
		objects = append(objects, e.Object)
	}
	return objects
}

// Nodes returns the names of the nodes that pods of the trace run on, sorted.
func (t *Trace) Nodes() []string {
	names := map[string]bool{}
	for e := range t.all() {
		if node := nodeOf(e.Object); node != "" {
			names[node] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ApplyEvent changes a store as an informer does at such an event.
func ApplyEvent(store contract.Store, e TraceEvent) {
	switch e.Type {
	case watch.Added:
		store.Add(e.Key, e.Object)
	case watch.Modified:
		store.Update(e.Key, e.Object)
	case watch.Deleted:
		store.Delete(e.Key)
	}
}

// Validate reports the first broken rule of a Trace.
func (t *Trace) Validate() error {
	rules := newTraceRules(len(t.Resources))
	for i, e := range t.Initial {
		if err := rules.initial(e); err != nil {
			return fmt.Errorf("initial object %d: %w", i, err)
		}
	}
	for i, e := range t.Events {
		if err := rules.event(e); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	if len(t.Resources) == 0 {
		return fmt.Errorf("the trace is about no resource")
	}
	if !(t.Compress > 0) || math.IsInf(t.Compress, 0) {
		return fmt.Errorf("the trace is compressed by %v: use a number above 0", t.Compress)
	}
	return nil
}

// traceRules checks events one after the other against the rules of a Trace.
type traceRules struct {
	last  time.Duration
	begun bool              // an event has come: initial objects may not follow
	live  []map[string]bool // keys, by resource
}

func newTraceRules(resources int) *traceRules {
	r := &traceRules{live: make([]map[string]bool, resources)}
	for i := range r.live {
		r.live[i] = map[string]bool{}
	}
	return r
}

func (r *traceRules) initial(e TraceEvent) error {
	switch {
	case r.begun:
		return fmt.Errorf("%s comes after an event", e.Key)
	case e.Type != watch.Added || e.At != 0:
		return fmt.Errorf("%s is %s at %v: what is there at first is ADDED at 0", e.Key, e.Type, e.At)
	}
	return r.change(e)
}

func (r *traceRules) event(e TraceEvent) error {
	if e.At < r.last {
		return fmt.Errorf("%s is at %v, before its predecessor at %v", e.Key, e.At, r.last)
	}
	r.last, r.begun = e.At, true
	return r.change(e)
}

func (r *traceRules) change(e TraceEvent) error {
	if e.Resource < 0 || e.Resource >= len(r.live) {
		return fmt.Errorf("%s is of resource %d: there are %d", e.Key, e.Resource, len(r.live))
	}
	if e.Object == nil || e.Key != synthetic.Key(e.Object) {
		return fmt.Errorf("the object under the key %q has another, or there is none", e.Key)
	}
	live := r.live[e.Resource]
	switch e.Type {
	case watch.Added:
		if live[e.Key] {
			return fmt.Errorf("%s is added and exists", e.Key)
		}
		live[e.Key] = true
	case watch.Modified, watch.Deleted:
		if !live[e.Key] {
			return fmt.Errorf("%s is %s and does not exist", e.Key, e.Type)
		}
		if e.Type == watch.Deleted {
			delete(live, e.Key)
		}
	default:
		return fmt.Errorf("unknown type %q: use ADDED, MODIFIED or DELETED", e.Type)
	}
	return nil
}

// TraceInfo summarises a trace.
type TraceInfo struct {
	Span       time.Duration // from the start to the last event
	Objects    int           // that ever exist
	Initial    int           // that exist at the start
	PeakLive   int           // the most that exist at one time
	FinalLive  int           // that exist at the end
	Events     map[watch.EventType]int
	Total      int // of all events
	Namespaces int
	Nodes      int     // with pods
	MeanRate   float64 // events per second
	PeakRate   int     // the most events in a second of the replay, by whole seconds
	Resources  []TraceResourceInfo
}

// TraceResourceInfo summarises one resource of a trace.
type TraceResourceInfo struct {
	TraceResource
	Objects, Initial, PeakLive, FinalLive, Events int
}

// Info summarises the trace, in time proportional to its events.
func (t *Trace) Info() TraceInfo {
	info := TraceInfo{Span: t.Span(), Initial: len(t.Initial), Total: len(t.Events),
		Events: map[watch.EventType]int{}}
	seen := make([]map[string]bool, len(t.Resources))
	for i, r := range t.Resources {
		seen[i] = map[string]bool{}
		info.Resources = append(info.Resources, TraceResourceInfo{TraceResource: r})
	}
	namespaces := map[string]bool{}
	count := func(e TraceEvent) *TraceResourceInfo {
		r := &info.Resources[e.Resource]
		if !seen[e.Resource][e.Key] {
			seen[e.Resource][e.Key] = true
			r.Objects++
			info.Objects++
		}
		switch e.Type {
		case watch.Added:
			r.FinalLive++
			info.FinalLive++
		case watch.Deleted:
			r.FinalLive--
			info.FinalLive--
		}
		r.PeakLive, info.PeakLive = max(r.PeakLive, r.FinalLive), max(info.PeakLive, info.FinalLive)
		if ns := synthetic.Accessor(e.Object).GetNamespace(); ns != "" {
			namespaces[ns] = true
		}
		return r
	}
	for _, e := range t.Initial {
		count(e).Initial++
	}
	var second time.Duration = -1
	inSecond := 0
	for _, e := range t.Events {
		count(e).Events++
		info.Events[e.Type]++
		if s := e.At.Truncate(time.Second); s != second {
			second, inSecond = s, 0
		}
		inSecond++
		info.PeakRate = max(info.PeakRate, inSecond)
	}
	info.Namespaces, info.Nodes = len(namespaces), len(t.Nodes())
	if info.Span > 0 {
		info.MeanRate = float64(info.Total) / info.Span.Seconds()
	}
	return info
}

// byNode is the function of the index by node.
var byNode = synthetic.Indexers()[synthetic.IndexNode]

// nodeOf is the node that a pod runs on, "" without one.
func nodeOf(obj runtime.Object) string {
	nodes, err := byNode(obj)
	if err != nil || len(nodes) == 0 { // with an error it is neither a pod nor a node
		return ""
	}
	return nodes[0]
}
