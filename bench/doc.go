// Package bench is the measuring loop as a library. It fills a component with a workload's
// objects and runs the workload's operations alone, or its actor groups against each other.
// The result is a record.Fork. go test -bench (bench_test.go of this package), benchrun
// and the profiles all run the same loops.
//
// How data flows: a [Request] names a cell. [Run] builds the [Subject] of its component
// (store.go, fifo.go, delay.go, queue.go, informer.go), which makes an [Actor] for each
// operation. alone.go times actors back to back; contend.go runs groups of them at once;
// pace.go says when an open loop's operations are due. A workload with faults runs over a
// list/watch source (sourced.go). trace.go replays a trace through a target for each
// component (trace_store.go, trace_fifo.go, trace_informer.go).
//
// Beside the times, stale.go measures from when an event was due until its consumer has it.
// stride.go says how many operations are timed. tracer.go and locks.go find the longest
// wait for a lock and the longest hold, in the extra fork of profiler.go.
package bench

import (
	"errors"
	"time"

	"github.com/informerbench/informerbench/load"
)

// ErrUnsupported is wrapped by the error of an actor whose operation the implementation
// lacks.
var ErrUnsupported = errors.New("not supported by this implementation")

// Actor does one operation over and over on behalf of one goroutine.
type Actor struct {
	// Loop does n operations back to back and returns how many were done: fewer than n only
	// when the subject was stopped meanwhile. The loop belongs to the actor, so that no
	// indirect call stands between two operations.
	Loop func(n int) int
	// Begin puts the component into the state that the operation needs, after other actors
	// have changed it; nil where nothing is needed.
	Begin func()
	// Prepare makes the next n operations ready, outside the timing; nil where nothing is
	// needed.
	Prepare func(n int)
	// Chunk is the largest n that Prepare takes; 0 where there is no bound.
	Chunk int

	// tell adds the actor's own measurements to the values of its operation, measured
	// alone; nil where there are none.
	tell func(values map[string]float64)
	// collects marks an actor whose Prepare collects garbage: no pass is of whole cycles
	// then.
	collects bool
	// idles marks an actor that waits between operations, so its throughput is meaningless.
	idles bool
	due   *due       // of a producer with stamped events, else nil
	seen  *sightings // of a consumer's group, else nil
	// owed is called for each operation of an open loop that was due and not begun by the
	// end, with its wait until then. It is nil where only the loop's own delay counts
	// those.
	owed func(waited time.Duration)
}

// Subject is a component under load.
type Subject interface {
	// Fill gives the component its initial objects or items. It is called once, before
	// everything else. The growth of the heap during Fill is the component's memory.
	Fill()
	// Actor makes the actor for one operation of a group, or of an operation measured alone
	// (the group has no name then). who numbers the group's goroutines, so that each walks
	// the objects in an order of its own. The error wraps ErrUnsupported where the
	// implementation lacks the operation.
	Actor(op load.Op, group load.Group, who int) (Actor, error)
	// Stop makes blocked actors return; no actor may be made after it.
	Stop()
	// Held is the number of objects or items that it holds, the divisor of its memory.
	Held() int
}

// chunk returns the largest batch of at most n operations that a accepts.
func (a Actor) chunk(n int) int {
	if a.Chunk > 0 {
		return min(n, a.Chunk)
	}
	return n
}
