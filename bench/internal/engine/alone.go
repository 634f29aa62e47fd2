package engine

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

const (
	// passes is how many separate passes measure an operation, spread over the life of the
	// process. Disturbances of a machine last some tens of milliseconds to a second, so
	// they do not hit all passes alike.
	passes = 5
	// Undisturbed is the quantile of the passes, in percent, that is reported as ns/op.
	// Other processes can only make an operation slower, so the lower passes are closer to
	// its cost (Chen and Revels, "Robust benchmarking in noisy environments", 2016, who go
	// as far as the minimum). Each pass is a mean.
	Undisturbed = 25
	// minRounds is the smallest number of rounds in a pass.
	minRounds = 2
	// Warm-up ends when the medians of two successive windows of steadyRounds rounds each
	// differ by less than the share steadyWithin.
	steadyRounds = 3
	steadyWithin = 0.05
	maxWarmup    = 4 // windows after the first; then the operation is measured as it is, with a warning
)

// An operation that allocates is measured over whole garbage collection cycles if one cycle
// holds leastPerCycle to mostPerCycle operations. Such a pass lasts from the end of one
// collection to the end of another, so it contains exactly the collections that its garbage
// caused. The bounds count operations: a bound in time would hold for the slower of two
// implementations and not for the faster. Above mostPerCycle, collections add less to an
// operation than the noise. Below leastPerCycle, an operation takes so long that whole
// cycles would take seconds: it is measured between collections.
const (
	leastPerCycle = 50
	mostPerCycle  = 10_000
	partsOfCycle  = 16 // rounds per cycle: its end is found to within one round
	mostCycles    = 4  // longest wait for a collection, should the operation stop allocating
)

// solo measures one operation with nothing else going on, on one goroutine or several. Each
// goroutine does the same number of operations per round.
//
// ns/op is the wall time of a pass divided by the operations that one goroutine did in it.
// Two goroutines that do not hinder each other therefore show the ns/op of one.
type solo struct {
	rounder
	measured   allocated // without calibration and warm-up
	goroutines int
	perRound   int       // operations of each goroutine; 0 before the first pass
	perCycle   int       // operations of each goroutine between two collections; 0 if passes are not of whole cycles
	times      []float64 // of the passes, in ns per operation
	ops        int       // of each goroutine in all passes
	warning    string
}

// pass does rounds until budget is spent. A pass of whole cycles goes on until a collection
// ends. The error is errStopped if an actor did fewer operations than asked: the
// time would be meaningless.
func (s *solo) pass(actors []Actor, budget time.Duration) error {
	s.ready(actors, budget/minRounds)
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

// ready begins a pass. The first call also finds the number of operations in a round, which
// is to last for about the time round, and warms up to a steady state.
func (s *solo) ready(actors []Actor, round time.Duration) {
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
		s.allocs = sysinfo.NewAllocCounter()
		s.perRound = s.calibrate(round)
		if !s.warmUp(s.perRound) {
			s.warning = "no steady state after warm-up"
		}
		if per := s.cycleOf(s.perRound); per >= leastPerCycle && per <= mostPerCycle && !actors[0].Collects {
			s.perCycle, s.perRound = per, max(1, min(s.perRound, per/partsOfCycle))
		}
	}
	if s.perCycle > 0 {
		s.untilCollected() // the heap reaches its largest size, so its memory is mapped
	} else {
		s.round(s.perRound) // refills the caches, which other operations used meanwhile
	}
}

// untilCollected does rounds until a collection has ended during one.
func (s *solo) untilCollected() {
	s.collected = false
	for done := 0; s.amidCycle(done) && !s.stopped; done += s.perRound {
		s.round(s.perRound)
	}
}

// amidCycle reports whether a pass of whole cycles must go on after done operations.
func (s *solo) amidCycle(done int) bool {
	return !s.collected && done < mostCycles*s.perCycle
}

// series summarises the passes.
func (s *solo) series() record.Series {
	ops := uint64(s.ops * s.goroutines)
	return record.Series{
		Goroutines: s.goroutines,
		Passes:     s.times,
		Warnings:   s.warnings(),
		Values: map[string]float64{
			metrics.NsPerOp:     stats.QuantileOf(s.times, Undisturbed),
			metrics.BytesPerOp:  perOp(s.measured.bytes, ops, 0.1),
			metrics.AllocsPerOp: perOp(s.measured.objects, ops, 0.001),
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

// perOp divides and rounds to a multiple of step: smaller amounts are the runtime's own
// allocations and not the operation's.
func perOp(count, ops uint64, step float64) float64 {
	return math.Round(float64(count)/float64(ops)/step) * step
}

// rounder times batches of one operation.
type rounder struct {
	actors    []Actor
	allocs    *sysinfo.AllocCounter
	allocated        // in all rounds so far
	stopped   bool   // an actor did fewer operations than asked
	ended     uint64 // collections, at the last reading
	collected bool   // a collection ended in the last round
}

type allocated struct{ bytes, objects uint64 }

// calibrate returns how many operations take about the time want.
func (r *rounder) calibrate(want time.Duration) int {
	n := 1
	for {
		elapsed := r.round(n)
		// At most a hundredfold, so that one reading that is too short cannot lead to
		// hours.
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
		return stats.MedianOf(v)
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

// cycleOf estimates, from a round of n, how many operations of each actor fill the heap
// between two collections. It returns 0 if they allocate nothing.
func (r *rounder) cycleOf(n int) int {
	before := r.bytes
	r.round(n)
	now, bytes := r.allocs.Read(), float64(r.bytes-before)
	if bytes == 0 {
		return 0
	}
	return int(min((float64(now.Goal)-float64(now.Live))/bytes*float64(n), 1<<28))
}

// round lets every actor do n operations and returns their wall time. Neither the time nor
// the counted allocations include the preparations.
func (r *rounder) round(n int) (elapsed time.Duration) {
	r.collected = false
	for done := 0; done < n && !r.stopped; {
		k := n - done
		for _, a := range r.actors {
			k = a.Batch(k)
		}
		for _, a := range r.actors {
			if a.Prepare != nil {
				a.Prepare(k)
			}
		}
		before := r.allocs.Read()
		took, whole := Together(r.actors, k)
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

// Together runs k operations on every actor at once. It returns the wall time, and whether
// every actor did all k.
func Together(actors []Actor, k int) (took time.Duration, whole bool) {
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

// empty is an operation that does only what the loops of all actors do. Its cost is the
// harness's share of every ns/op.
func empty(keys []string) Actor {
	w := NewWalk(len(keys), 0, 0)
	own := Along(w, func(i int) string { return keys[i] })
	return Actor{Loop: func(n int) int {
		length := 0
		for range n {
			length += len(own[w.Slot()])
		}
		runtime.KeepAlive(length) // or the compiler would remove the loop
		return n
	}}
}
