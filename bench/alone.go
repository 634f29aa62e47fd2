package bench

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/informerbench/informerbench/measure"
)

const (
	// minRounds is how many batches an operation is timed in, so that their
	// median means something.
	minRounds = 11
	// steadyRounds and steadyWithin: warm-up ends when the medians of two
	// successive windows of so many batches agree to within so much.
	steadyRounds = 3
	steadyWithin = 0.05
	maxWarmup    = 10 // windows, after which the operation is measured as it is, with a warning
)

// alone measures one operation with nothing else going on, on the given number
// of goroutines, each doing the same number of operations per round.
//
// ns/op is the wall time of a round divided by the operations that one
// goroutine did in it: with two goroutines that do not hinder each other it
// stays what it was with one.
func alone(actors []Actor, budget time.Duration) (measure.Series, string) {
	runtime.GC()
	allocs := measure.NewAllocCounter()
	n := calibrate(actors, budget/minRounds, allocs)
	warning := ""
	if !warmUp(actors, n, allocs) {
		warning = "no steady state after warm-up"
	}
	var rounds []float64
	var bytes, objects, ops uint64
	for start := time.Now(); len(rounds) < minRounds || time.Since(start) < budget; {
		elapsed, b, o := round(actors, n, allocs)
		rounds = append(rounds, float64(elapsed)/float64(n))
		bytes, objects, ops = bytes+b, objects+o, ops+uint64(n*len(actors))
	}
	return measure.Series{
		Goroutines: len(actors),
		Rounds:     rounds,
		Values: map[string]float64{
			measure.NsPerOp:     measure.MedianOf(rounds),
			measure.BytesPerOp:  perOp(bytes, ops, 0.1),
			measure.AllocsPerOp: perOp(objects, ops, 0.001),
		},
	}, warning
}

// perOp divides, and rounds to a step below which the count is the runtime's own
// and not the operation's.
func perOp(count, ops uint64, step float64) float64 {
	return math.Round(float64(count)/float64(ops)/step) * step
}

// calibrate finds how many operations fill the given time.
func calibrate(actors []Actor, want time.Duration, allocs *measure.AllocCounter) int {
	n := 1
	for {
		elapsed, _, _ := round(actors, n, allocs)
		if elapsed >= want/2 || n >= 1<<28 {
			return max(1, int(float64(n)*float64(want)/float64(max(elapsed, 1))))
		}
		// At most a hundredfold, so that one lucky reading cannot ask for hours.
		grow := float64(want) / float64(max(elapsed, 1))
		n = max(n+1, int(float64(n)*min(grow, 100)))
	}
}

// warmUp repeats rounds until two windows agree.
func warmUp(actors []Actor, n int, allocs *measure.AllocCounter) bool {
	window := func() float64 {
		v := make([]float64, steadyRounds)
		for i := range v {
			elapsed, _, _ := round(actors, n, allocs)
			v[i] = float64(elapsed)
		}
		slices.Sort(v)
		return v[steadyRounds/2]
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

// round lets every actor do n operations and returns how long that took, and
// what was allocated meanwhile, both without the preparations.
func round(actors []Actor, n int, allocs *measure.AllocCounter) (elapsed time.Duration, bytes, objects uint64) {
	for done := 0; done < n; {
		k := n - done
		for _, a := range actors {
			k = a.chunk(k)
		}
		for _, a := range actors {
			if a.Prepare != nil {
				a.Prepare(k)
			}
		}
		b, o := allocs.Read()
		elapsed += together(actors, k)
		b2, o2 := allocs.Read()
		bytes, objects = bytes+b2-b, objects+o2-o
		done += k
	}
	return elapsed, bytes, objects
}

// together runs k operations on every actor at once and returns the wall time.
func together(actors []Actor, k int) time.Duration {
	if len(actors) == 1 {
		start := time.Now()
		actors[0].Loop(k)
		return time.Since(start)
	}
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for _, a := range actors {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			a.Loop(k)
		})
	}
	ready.Wait()
	start := time.Now()
	close(gate)
	done.Wait()
	return time.Since(start)
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
