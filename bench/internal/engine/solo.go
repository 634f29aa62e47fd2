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
// goroutines that do not hinder each other therefore show the ns/op of one. All other costs
// are divided by the operations of all goroutines.
type solo struct {
	actors   []Actor
	gc       *collector
	meter    *meter
	stopped  bool // an actor did fewer operations than asked
	restless bool // no steady state after warm-up

	turns    []spent             // of this sitting
	counted  spent               // in the rounds of all sittings whose allocations were counted
	sittings [allCosts][]float64 // per operation
}

// spent is what operations took.
type spent struct {
	costs          costs
	ops            uint64 // of all goroutines
	bytes, objects uint64 // allocated, where that was counted
}

func (s *spent) add(o spent) {
	for i, c := range o.costs {
		s.costs[i] += c
	}
	s.ops += o.ops
	s.bytes += o.bytes
	s.objects += o.objects
}

// begin begins a sitting.
func (s *solo) begin(actors []Actor, gc *collector, m *meter) {
	s.actors, s.gc, s.meter, s.turns = actors, gc, m, nil
	for _, a := range actors {
		if a.Begin != nil {
			a.Begin()
		}
	}
}

// turn does one turn of n operations. With count, it counts what they allocate.
func (s *solo) turn(n int, count bool) {
	if n >= leadIn {
		s.round(n/leadIn, false)
	}
	t := s.round(n, count)
	s.turns = append(s.turns, t)
	if count {
		s.counted.add(t)
	}
}

const (
	// longestTurn is how many times the median turn of its sitting a turn counts at most.
	// What an operation does seldom counts in full: the cost of hundreds of operations. A
	// machine that stops for some milliseconds does not.
	longestTurn = 10
	// countedShare is the share of turns that are done again at the end of a sitting, to
	// count allocations.
	countedShare = 8
)

// rise ends a sitting, of turns of n operations, in which allocations were counted or not.
func (s *solo) rise(n int, counted bool) {
	ops := uint64(0)
	for _, t := range s.turns {
		ops += t.ops
	}
	for i := range s.sittings {
		values := make([]float64, len(s.turns))
		for j, t := range s.turns {
			values[j] = t.costs[i]
		}
		median, total := stats.MedianOf(values), 0.0
		for _, v := range values {
			total += min(v, longestTurn*median)
		}
		switch i {
		case wallTime:
			total *= float64(len(s.actors))
		case usualTime:
			total = median * float64(len(s.turns)*len(s.actors))
		}
		s.sittings[i] = append(s.sittings[i], total/float64(ops))
	}
	if !counted {
		for range max(1, len(s.turns)/countedShare) {
			s.counted.add(s.round(n, true))
		}
	}
}

// last is a cost per operation in the last sitting.
func (s *solo) last(cost int) float64 { return s.sittings[cost][len(s.sittings[cost])-1] }

// calibrate returns how many operations take about the time want; less than 1 if one takes
// longer.
func (s *solo) calibrate(want time.Duration) float64 {
	n := 1
	for {
		elapsed := max(1, time.Duration(s.round(n, false).costs[wallTime]))
		n2 := float64(n) * float64(want) / float64(elapsed)
		if elapsed >= want/2 || n >= 1<<28 || s.stopped {
			return n2
		}
		// At most a hundredfold, so that one reading that is too short cannot lead to
		// hours.
		n = max(n+1, int(min(100*float64(n), n2)))
	}
}

// warmUp repeats rounds until two windows agree.
func (s *solo) warmUp(n int) {
	window := func() float64 {
		v := make([]float64, steadyRounds)
		for i := range v {
			v[i] = s.round(n, false).costs[wallTime]
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
// preparations. With count, it counts what they allocate.
func (s *solo) round(n int, count bool) (total spent) {
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
		s.gc.tidy()
		part := spent{ops: uint64(k * len(s.actors))}
		var bytes, objects uint64
		if count {
			bytes, objects = allocated()
		}
		var whole bool
		part.costs, whole = together(s.actors, k, s.meter)
		if count {
			b, o := allocated()
			part.bytes, part.objects = b-bytes, o-objects
		}
		s.stopped = !whole
		total.add(part)
		done += k
	}
	return total
}

// together runs k operations on every actor at once. It returns the costs, and whether every
// actor did all k.
func together(actors []Actor, k int, m *meter) (costs, bool) {
	if len(actors) == 1 {
		before, start := m.begin()
		got := actors[0].Loop(k)
		return m.end(before, start), got == k
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
	before, start := m.begin()
	close(gate)
	done.Wait()
	return m.end(before, start), !short.Load()
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
