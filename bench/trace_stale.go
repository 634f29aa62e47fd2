package bench

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load"
)

// timeline holds since when each event of a trace waits, and the previous event of its
// object. One goroutine offers events; any number of observers see them.
type timeline struct {
	staleness[int]               // for its clock and groups
	number         map[state]int // the event that leads to a state
	before         []int         // the previous event of the same object; -1 if there is none
	same           []bool        // the event keeps the object's version
	resource       []int
	due            []atomic.Int64
	observers      []*observer
}

// state is the state that an event leads to, as a consumer gets it.
type state struct {
	obj     runtime.Object
	deleted bool
}

func newTimeline(trace *load.Trace) *timeline {
	n := len(trace.Events)
	t := &timeline{number: make(map[state]int, n), before: make([]int, n), same: make([]bool, n), resource: make([]int, n), due: make([]atomic.Int64, n)}
	t.at(time.Now())
	type object struct {
		resource int
		key      string
	}
	last := map[object]int{}
	version := map[object]string{}
	for _, e := range trace.Initial {
		version[object{e.Resource, e.Key}] = versionOf(e.Object)
	}
	for i, e := range trace.Events {
		of := object{e.Resource, e.Key}
		t.before[i], t.resource[i] = -1, e.Resource
		if before, ok := last[of]; ok {
			t.before[i] = before
		}
		t.same[i] = e.Type == watch.Modified && version[of] == versionOf(e.Object)
		last[of], version[of] = i, versionOf(e.Object)
		t.number[state{e.Object, e.Type == watch.Deleted}] = i
	}
	return t
}

// of returns an event's number.
func (t *timeline) of(e *load.TraceEvent) int {
	return t.number[state{e.Object, e.Type == watch.Deleted}]
}

// offer records that an event waits since due.
func (t *timeline) offer(n int, due time.Time) { t.due[n].Store(t.at(due)) }

// observer is a consumer that is to see every event of a resource, or a newer state of its
// object. One goroutine calls it.
type observer struct {
	*timeline
	resource int
	by       *sightings
	seen     []bool // by event
}

// observer makes an observer of a group, before the first event is offered.
func (t *timeline) observer(group string, resource int) *observer {
	o := &observer{timeline: t, resource: resource, by: t.consumer(group), seen: make([]bool, len(t.before))}
	o.by.merges = true
	t.observers = append(t.observers, o)
	return o
}

// saw is called when the observer has a state of an object. All events of the object are
// then seen, up to the one that led to the state.
func (o *observer) saw(obj any, deleted bool) {
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
	at := o.at(time.Now())
	for i := n; i >= 0 && !o.seen[i]; i = o.before[i] {
		o.seen[i] = true
		if since := o.due[i].Load(); since != 0 {
			o.by.saw(since, at)
			if i != n {
				o.by.merged.Add(1)
			}
		}
	}
}

// leave is called when the consumers have ended. Events that an observer had not seen by
// end count for its group.
func (t *timeline) leave(end time.Time) {
	for _, o := range t.observers {
		for i := range t.due {
			if t.resource[i] == o.resource && !o.seen[i] {
				o.by.left(t.due[i].Load(), t.at(end))
			}
		}
	}
}
