package engine

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure/stats"
)

const (
	// Undisturbed is the quantile of the sittings, in percent, that is reported as ns/op.
	// Other processes can only make an operation slower, so the lower values are closer to
	// its cost (Chen and Revels, "Robust benchmarking in noisy environments", 2016, who go
	// as far as the minimum). Each value is a mean.
	Undisturbed = 25
	// Warm-up ends when the medians of two successive windows of steadyRounds rounds each
	// differ by less than the share steadyWithin.
	steadyRounds = 3
	steadyWithin = 0.05
	maxWarmup    = 4 // windows after the first; then the operation is measured as it is, with a warning
)

// errStopped is the error of an operation whose time would be meaningless.
var errStopped = errors.New("the operation did fewer than it was asked for: nothing to take out, or the component refused")

// solo is one side of a duet: an operation on one goroutine or several. Each goroutine does
// the same number of operations per round.
//
// ns/op is the wall time divided by the operations that one goroutine did in it. Two
// goroutines that do not hinder each other therefore show the ns/op of one.
type solo struct {
	actors   []Actor
	gc       *collector
	stopped  bool // an actor did fewer operations than asked
	restless bool // no steady state after warm-up

	turns []spent   // of this sitting
	all   spent     // in the turns of all sittings
	times []float64 // of the sittings, in ns per operation
}

// spent is what operations took.
type spent struct {
	time           time.Duration // wall time
	ops            uint64        // of all goroutines
	bytes, objects uint64        // allocated
}

func (s *spent) add(o spent) {
	s.time += o.time
	s.ops += o.ops
	s.bytes += o.bytes
	s.objects += o.objects
}

// begin begins a sitting.
func (s *solo) begin(actors []Actor, gc *collector) {
	s.actors, s.gc = actors, gc
	for _, a := range actors {
		if a.Begin != nil {
			a.Begin()
		}
	}
}

// turn does one turn of n operations.
func (s *solo) turn(n int) {
	if n >= leadIn {
		s.round(n / leadIn)
	}
	s.turns = append(s.turns, s.round(n))
}

// longestTurn is how many times the median turn of its sitting a turn counts at most. What
// an operation does seldom counts in full: the cost of hundreds of operations. A machine that
// stops for some milliseconds does not.
const longestTurn = 10

// rise ends a sitting.
func (s *solo) rise() {
	times := make([]float64, len(s.turns))
	for i, t := range s.turns {
		times[i] = float64(t.time)
		s.all.add(t)
	}
	most, total, ops := longestTurn*stats.MedianOf(times), 0.0, 0.0
	for i, t := range s.turns {
		total += min(times[i], most)
		ops += float64(t.ops)
	}
	s.times = append(s.times, total*float64(len(s.actors))/ops)
}

// last is the time per operation in the last sitting.
func (s *solo) last() float64 { return s.times[len(s.times)-1] }

// calibrate returns how many operations take about the time want.
func (s *solo) calibrate(want time.Duration) int {
	n := 1
	for {
		elapsed := s.round(n).time
		// At most a hundredfold, so that one reading that is too short cannot lead to
		// hours.
		grow := min(100, float64(want)/float64(max(elapsed, 1)))
		if elapsed >= want/2 || n >= 1<<28 || s.stopped {
			return max(1, int(float64(n)*grow))
		}
		n = max(n+1, int(float64(n)*grow))
	}
}

// warmUp repeats rounds until two windows agree.
func (s *solo) warmUp(n int) {
	window := func() float64 {
		v := make([]float64, steadyRounds)
		for i := range v {
			v[i] = float64(s.round(n).time)
		}
		return stats.MedianOf(v)
	}
	before := window()
	for range maxWarmup {
		now := window()
		if d := now/before - 1; d < steadyWithin && d > -steadyWithin {
			return
		}
		before = now
	}
	s.restless = true
}

// round lets every actor do n operations and returns what they took, without the
// preparations.
func (s *solo) round(n int) (total spent) {
	for done := 0; done < n && !s.stopped; {
		k := n - done
		for _, a := range s.actors {
			k = a.Batch(k)
		}
		for _, a := range s.actors {
			if a.Prepare != nil {
				a.Prepare(k)
			}
		}
		before := s.gc.tidy()
		took, whole := Together(s.actors, k)
		after := s.gc.counter.Read()
		s.stopped = !whole
		total.add(spent{took, uint64(k * len(s.actors)), after.Bytes - before.Bytes, after.Objects - before.Objects})
		done += k
	}
	return total
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
