package bench

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure"
)

const (
	// passes is how many times, spread over the life of the process, an operation is
	// returned to. What disturbs a machine comes and goes within some tens of
	// milliseconds to a second, so the passes do not suffer it alike.
	passes = 5
	// undisturbed is the quantile of the passes that ns/op is, in percent: others can
	// make an operation slower and never faster, so what the lower passes say is
	// closer to its cost (Chen and Revels, "Robust benchmarking in noisy
	// environments", 2016, who go as far as the minimum). Each pass is a mean.
	undisturbed = 25
	// minRounds is how many batches a pass has at least.
	minRounds = 2
	// steadyRounds and steadyWithin: warm-up ends when the medians of two
	// successive windows of so many batches agree to within so much.
	steadyRounds = 3
	steadyWithin = 0.05
	maxWarmup    = 4 // windows, after which the operation is measured as it is, with a warning
)

// An operation that brings a garbage collection after so many of it is measured over
// whole cycles, from the end of one collection to the end of another, so that each pass
// has the collections in it that its garbage caused, and no more. The bounds are numbers
// of operations, because a time would be kept by the slower of two implementations and
// not by the quicker one. More of them, and what collections add to one is less than the
// noise; fewer, and one operation takes so long that whole cycles would take seconds:
// those are measured between collections.
const (
	leastPerCycle = 50
	mostPerCycle  = 10_000
	partsOfCycle  = 16 // rounds per cycle, whose end is found to within one
	mostCycles    = 4  // that a collection is waited for, should the operation allocate no more
)

// solo measures one operation with nothing else going on, on one goroutine or
// several, each doing the same number of operations per round.
//
// ns/op is the wall time of a pass divided by the operations that one
// goroutine did in it: with two goroutines that do not hinder each other it
// stays what it was with one.
type solo struct {
	rounder
	measured   allocated // without calibration and warm-up
	goroutines int
	perRound   int       // operations of each goroutine; 0 before the first pass
	perCycle   int       // operations of each goroutine between two collections, if passes are whole cycles; else 0
	times      []float64 // of the passes, in ns per operation
	ops        int       // of each goroutine in all passes
	warning    string
}

// pass does rounds until budget is spent, and until a collection ends if the pass is of
// whole cycles. The first pass also finds out how many operations make a round and warms
// up until a steady state is seen. The error is errStopped if an actor did less than it
// was asked to: its time would mean nothing.
func (s *solo) pass(actors []Actor, budget time.Duration) error {
	for _, a := range actors {
		if a.Begin != nil {
			a.Begin()
		}
	}
	if s.perCycle == 0 {
		runtime.GC()
	}
	s.actors, s.goroutines = actors, len(actors)
	if s.perRound == 0 {
		s.allocs = measure.NewAllocCounter()
		s.perRound = s.calibrate(budget / minRounds)
		if !s.warmUp(s.perRound) {
			s.warning = "no steady state after warm-up"
		}
		if per := s.cycleOf(s.perRound); per >= leastPerCycle && per <= mostPerCycle && !actors[0].collects {
			s.perCycle, s.perRound = per, max(1, min(s.perRound, per/partsOfCycle))
		}
	}
	if s.perCycle > 0 {
		s.untilCollected() // the heap has been as large as it gets, so its memory is there
	} else {
		s.round(s.perRound) // what others left in the caches is not this operation's
	}
	before, done, took := s.allocated, 0, time.Duration(0)
	for start := time.Now(); done < minRounds*s.perRound || time.Since(start) < budget || s.amidCycle(done); done += s.perRound {
		took += s.round(s.perRound)
		if s.stopped {
			return errStopped
		}
	}
	s.times = append(s.times, float64(took)/float64(done))
	s.ops += done
	s.measured.bytes += s.bytes - before.bytes
	s.measured.objects += s.objects - before.objects
	return nil
}

// untilCollected does rounds until a collection has ended in one.
func (s *solo) untilCollected() {
	s.collected = false
	for done := 0; s.amidCycle(done) && !s.stopped; done += s.perRound {
		s.round(s.perRound)
	}
}

// amidCycle reports whether a pass of whole cycles must not end yet, so many operations
// after it began.
func (s *solo) amidCycle(done int) bool {
	return !s.collected && done < mostCycles*s.perCycle
}

// series sums the passes up.
func (s *solo) series() measure.Series {
	ops := uint64(s.ops * s.goroutines)
	return measure.Series{
		Goroutines: s.goroutines,
		Passes:     s.times,
		Warnings:   s.warnings(),
		Values: map[string]float64{
			measure.NsPerOp:     measure.QuantileOf(s.times, undisturbed),
			measure.BytesPerOp:  perOp(s.measured.bytes, ops, 0.1),
			measure.AllocsPerOp: perOp(s.measured.objects, ops, 0.001),
		},
	}
}

func (s *solo) warnings() []string {
	if s.warning == "" {
		return nil
	}
	return []string{s.warning}
}

var errStopped = errors.New("the operation did fewer than it was asked for: nothing to take out, or the component refused")

// perOp divides, and rounds to a step below which the count is the runtime's own
// and not the operation's.
func perOp(count, ops uint64, step float64) float64 {
	return math.Round(float64(count)/float64(ops)/step) * step
}

// rounder times batches of one operation.
type rounder struct {
	actors    []Actor
	allocs    *measure.AllocCounter
	allocated        // in all rounds so far
	stopped   bool   // an actor did less than it was asked to
	ended     uint64 // collections, when last looked at
	collected bool   // one ended in the last round
}

type allocated struct{ bytes, objects uint64 }

// calibrate finds how many operations fill the given time.
func (r *rounder) calibrate(want time.Duration) int {
	n := 1
	for {
		elapsed := r.round(n)
		// At most a hundredfold, so that one lucky reading cannot ask for hours.
		grow := min(100, float64(want)/float64(max(elapsed, 1)))
		if elapsed >= want/2 || n >= 1<<28 || r.stopped {
			return max(1, int(float64(n)*grow))
		}
		n = max(n+1, int(float64(n)*grow))
	}
}

// warmUp repeats rounds until two windows agree.
func (r *rounder) warmUp(n int) bool {
	window := func() float64 {
		v := make([]float64, steadyRounds)
		for i := range v {
			v[i] = float64(r.round(n))
		}
		return measure.MedianOf(v)
	}
	before := window()
	for range maxWarmup {
		now := window()
		if d := now/before - 1; d < steadyWithin && d > -steadyWithin {
			return true
		}
		before = now
	}
	return false
}

// cycleOf is how many operations of each actor fill the heap from one collection to the
// next, by a round of n; 0 if they allocate nothing.
func (r *rounder) cycleOf(n int) int {
	before := r.bytes
	r.round(n)
	now, bytes := r.allocs.Read(), float64(r.bytes-before)
	if bytes == 0 {
		return 0
	}
	return int(min((float64(now.Goal)-float64(now.Live))/bytes*float64(n), 1<<28))
}

// round lets every actor do n operations and returns how long that took, without
// the preparations; what was allocated is counted likewise.
func (r *rounder) round(n int) (elapsed time.Duration) {
	r.collected = false
	for done := 0; done < n && !r.stopped; {
		k := n - done
		for _, a := range r.actors {
			k = a.chunk(k)
		}
		for _, a := range r.actors {
			if a.Prepare != nil {
				a.Prepare(k)
			}
		}
		before := r.allocs.Read()
		took, whole := together(r.actors, k)
		after := r.allocs.Read()
		r.bytes, r.objects = r.bytes+after.Bytes-before.Bytes, r.objects+after.Objects-before.Objects
		r.collected = r.collected || after.Cycles > r.ended
		r.ended = after.Cycles
		r.stopped = !whole
		elapsed += took
		done += k
	}
	return elapsed
}

// together runs k operations on every actor at once and returns the wall time,
// and whether all of them did all of theirs.
func together(actors []Actor, k int) (took time.Duration, whole bool) {
	if len(actors) == 1 {
		start := time.Now()
		got := actors[0].Loop(k)
		return time.Since(start), got == k
	}
	var ready, done sync.WaitGroup
	var short atomic.Bool
	gate := make(chan struct{})
	for _, a := range actors {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			if a.Loop(k) < k {
				short.Store(true)
			}
		})
	}
	ready.Wait()
	start := time.Now()
	close(gate)
	done.Wait()
	return time.Since(start), !short.Load()
}

// empty is an operation that does nothing but what the loops of all actors do:
// what it costs is the harness's share of every ns/op.
func empty(keys []string) Actor {
	w := newWalk(len(keys), 0, 0)
	own := along(w, func(i int) string { return keys[i] })
	return Actor{Loop: func(n int) int {
		length := 0
		for range n {
			length += len(own[w.slot()])
		}
		runtime.KeepAlive(length) // or the compiler would leave the loop out
		return n
	}}
}
