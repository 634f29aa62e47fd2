package staleness

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load"
)

// Timeline holds since when each event of a trace waits, and the previous event of its
// object. One goroutine offers events; any number of observers see them.
type Timeline struct {
	Tracker[int]               // for its clock and groups
	number       map[state]int // the event that leads to a state
	before       []int         // the previous event of the same object; -1 if there is none
	Same         []bool        // the event keeps the object's version
	resource     []int
	due          []Stamp
	observers    []*Observer
}

// state is the state that an event leads to, as a consumer gets it.
type state struct {
	obj     runtime.Object
	deleted bool
}

// NewTimeline makes the timeline of a trace, before its first event is offered.
func NewTimeline(trace *load.Trace) *Timeline {
	n := len(trace.Events)
	t := &Timeline{number: make(map[state]int, n), before: make([]int, n), Same: make([]bool, n),
		resource: make([]int, n), due: make([]Stamp, n)}
	t.At(time.Now())
	type object struct {
		resource int
		key      string
	}
	last := map[object]int{}
	version := map[object]string{}
	for _, e := range trace.Initial {
		version[object{e.Resource, e.Key}] = VersionOf(e.Object)
	}
	for i, e := range trace.Events {
		of := object{e.Resource, e.Key}
		t.before[i], t.resource[i] = -1, e.Resource
		if before, ok := last[of]; ok {
			t.before[i] = before
		}
		t.Same[i] = e.Type == watch.Modified && version[of] == VersionOf(e.Object)
		last[of], version[of] = i, VersionOf(e.Object)
		t.number[state{e.Object, e.Type == watch.Deleted}] = i
	}
	return t
}

// Of returns an event's number.
func (t *Timeline) Of(e *load.TraceEvent) int {
	return t.number[state{e.Object, e.Type == watch.Deleted}]
}

// Offer records that an event waits since from, so long after it was due.
func (t *Timeline) Offer(n int, from time.Time, late time.Duration) {
	t.due[n].Offer(Moment{t.At(from), int64(late)})
}

// Observer is a consumer that is to see every event of a resource, or a newer state of its
// object. One goroutine calls it.
type Observer struct {
	*Timeline
	resource int
	by       *Sightings
	seen     []bool // by event
}

// Observer makes an observer of a group, before the first event is offered.
func (t *Timeline) Observer(group string, resource int) *Observer {
	o := &Observer{Timeline: t, resource: resource, by: t.Consumer(group),
		seen: make([]bool, len(t.before))}
	o.by.Merges = true
	t.observers = append(t.observers, o)
	return o
}

// Saw is called when the observer has a state of an object. All events of the object are
// then seen, up to the one that led to the state.
func (o *Observer) Saw(obj any, deleted bool) {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = d.Obj
	}
	now, ok := obj.(runtime.Object)
	if !ok {
		return
	}
	n, ok := o.number[state{now, deleted}]
	if !ok {
		return // it was there at the start
	}
	at := o.At(time.Now())
	for i := n; i >= 0 && !o.seen[i]; i = o.before[i] {
		o.seen[i] = true
		if m := o.due[i].Load(); m.Since != 0 {
			o.by.Saw(m, at)
			if i != n {
				o.by.Merged.Add(1)
			}
		}
	}
}

// Leave is called when the consumers have ended. Events that an observer had not seen by
// end count for its group.
func (t *Timeline) Leave(end time.Time) {
	for _, o := range t.observers {
		for i := range t.due {
			if t.resource[i] == o.resource && !o.seen[i] {
				o.by.Left(t.due[i].Load(), t.At(end))
			}
		}
	}
}

// VersionOf is the resource version of an object given to a handler; "" if it has none.
func VersionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}
