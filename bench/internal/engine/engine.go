// Package engine is the measuring loop. It knows no component: a [Subject] makes an [Actor]
// for each operation, and the engine runs actors and counts.
//
// [Alone] (alone.go) times one operation at a time, back to back, of one implementation or of
// two that take turns (duet.go, solo.go), with the garbage collector kept between the turns
// (collector.go). [Contend]
// (contend.go) runs groups of actors against each other, closed loops and open ones; pace.go
// says when the operations of an open loop are due, stride.go how many operations of a
// closed one are timed. walk.go is the order in which actors visit objects.
package engine

import (
	"errors"
	"time"

	"github.com/informerbench/informerbench/bench/internal/staleness"
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

	// What comes before operations, outside the timing.

	// Begin puts the component into the state that the operation needs, after other actors
	// have changed it; nil where nothing is needed.
	Begin func()
	// Prepare makes the next n operations ready; nil where nothing is needed.
	Prepare func(n int)
	// Chunk is the largest n that Prepare takes; 0 where there is no bound.
	Chunk int
	// Deferred is how many operations the component may put off when the last of them
	// returns, for another goroutine to do; 0 for most. Turns are much longer than that, or
	// the work would be done in nobody's turn.
	Deferred int
	// Turn is how many operations make a turn, where the cost of one depends on how many follow
	// each other; 0 for most. Such turns have no lead-in.
	Turn int
	// UsualGC says that the collector must run as it usually does: it is part of what the
	// actor measures.
	UsualGC bool

	// Polls says that Loop looks now and then, and returns what has come since its last look.
	// That came evenly: the part of it before the measured time does not count.
	Polls bool

	// What is reported.

	// Tell adds the actor's own measurements, at the end of a sitting, to the values of its
	// operation measured alone; nil where there are none. The median of the sittings is
	// reported.
	Tell func(values map[string]float64)
	// Idles says that the actor waits between operations, so its throughput is meaningless.
	Idles bool

	// Staleness, of the actors of groups.

	// Due is set before each operation of a producer with stamped events, else nil.
	Due *staleness.Due
	// Seen is what a consumer's group has seen, else nil.
	Seen *staleness.Sightings
	// Owed is called for each operation of an open loop that was due and not begun by the
	// end of the measured time, with the results of Timetable.Await. It is nil where only the
	// loop's own delay counts those.
	Owed func(from time.Time, late time.Duration, end time.Time)
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

// A Subject may have more powers. Contend uses those that it has.

// Leaver is a subject that counts, when all actors have ended, the events that were due by
// end and that no consumer has seen.
type Leaver interface {
	Leave(end time.Time)
}

// Awaiter is a subject that has nothing to measure before the time that Earliest returns. Fill
// determines that time.
type Awaiter interface {
	Earliest() time.Time
}

// Quieter is a subject that must come to rest before it is stopped. Quiet is called at the
// end of the measured time; idle is closed when all actors but the consumers have ended.
type Quieter interface {
	Quiet(end time.Time, idle <-chan struct{})
}

// Batch returns the largest batch of at most n operations that a accepts.
func (a Actor) Batch(n int) int {
	if a.Chunk > 0 {
		return min(n, a.Chunk)
	}
	return n
}
