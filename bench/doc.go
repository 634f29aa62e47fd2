// Package bench is the measuring loop as a library: it fills a component with a
// workload's objects, runs the workload's operations alone or its actor groups
// against each other, and returns a measure.Fork. go test -bench (bench_test.go
// of this package), benchrun and the profiles all drive the same loops.
//
// How data flows: a [Request] names a cell; [Run] builds the [Subject] for its
// component (store.go, fifo.go, delay.go, queue.go, informer.go), which makes an [Actor] for
// each operation; alone.go times actors back to back, contend.go runs groups of
// them at once, pace.go says when an open loop's operations are due. A workload
// with faults runs over a list/watch source (sourced.go), a trace is replayed by
// trace.go through a target for each component (trace_store.go, trace_fifo.go,
// trace_informer.go). Beside the times: stale.go follows an event from when it was due to
// its consumer, stride.go says how many operations are timed, tracer.go and
// locks.go find the longest wait for a lock and the longest hold in the extra
// fork of profiler.go.
package bench

import (
	"errors"
	"time"

	"github.com/informerbench/informerbench/load"
)

// ErrUnsupported is wrapped by the error of an actor whose operation the
// implementation has no method for.
var ErrUnsupported = errors.New("not supported by this implementation")

// Actor does one operation over and over on behalf of one goroutine.
type Actor struct {
	// Loop does n operations back to back and returns how many were done: fewer
	// than n only when the subject was stopped meanwhile. The loop is part of the
	// actor, so that no indirect call stands between two operations.
	Loop func(n int) int
	// Begin puts the component into the state that the operation needs, when
	// others have had their turn; nil where nothing is needed.
	Begin func()
	// Prepare gets ready for the next n operations, outside the timing; nil
	// where nothing is needed.
	Prepare func(n int)
	// Chunk is the largest n that Prepare takes; 0 where there is no bound.
	Chunk int

	// tell adds what the actor has measured itself to the values of its operation, which
	// was measured alone; nil where there is nothing.
	tell func(values map[string]float64)
	// collects says that Prepare collects garbage: no pass is of whole cycles then.
	collects bool
	// idles says that between two operations it waits for what is no part of them, so that
	// a rate would say nothing.
	idles bool
	due   *due       // of a producer whose events are stamped, else nil
	seen  *sightings // of a consumer's group, else nil
	// owed is told of each operation of an open loop that was due and not begun by the end,
	// with how long it had waited by then; nil where only the loop's own delay counts those.
	owed func(waited time.Duration)
}

// Subject is a component under load.
type Subject interface {
	// Fill gives the component what the workload has it hold. It comes once, before
	// everything else; what it adds to the heap is the component's.
	Fill()
	// Actor makes the actor for one operation of a group, or of an operation
	// measured alone (the group has no name then); who numbers the group's
	// goroutines, so that each walks the objects in an order of its own. The error
	// wraps ErrUnsupported where the implementation lacks the power.
	Actor(op load.Op, group load.Group, who int) (Actor, error)
	// Stop makes blocked actors return; no actor may be made after it.
	Stop()
	// Held is how many objects or items it holds, for the memory of each.
	Held() int
}

// chunk is the largest batch that a may be given.
func (a Actor) chunk(n int) int {
	if a.Chunk > 0 {
		return min(n, a.Chunk)
	}
	return n
}
