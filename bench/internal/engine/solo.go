package engine

import (
	"time"

	"github.com/informerbench/informerbench/measure/stats"
)

const (
	// Undisturbed is the quantile of the sittings, in percent, that is reported as ns/op.
	// Other processes can only make an operation slower, so the lower values are closer to
	// its cost (Chen and Revels, "Robust benchmarking in noisy environments", 2016, who go
	// as far as the minimum). Each value is a mean.
	Undisturbed = 25
)

// solo is one side of a duet: an operation on one goroutine or several. Each goroutine does
// the same number of operations per round.
//
// ns/op is the wall time divided by the operations that one goroutine did in it. Two
// goroutines that do not hinder each other therefore show the ns/op of one. All other costs
// are divided by the operations of all goroutines.
type solo struct {
	crew crew
	err  error // why there is nothing to measure

	turns    []spent              // of this sitting
	counted  spent                // in the rounds of all sittings whose allocations were counted
	sittings [allCosts][]float64  // per operation
	told     map[string][]float64 // what the operation measured itself, by metric, in each sitting
}

// begin begins a sitting.
func (s *solo) begin(c crew) {
	s.crew, s.turns = c, nil
	s.err = c.begin()
}

// end ends the sitting.
func (s *solo) end() error {
	if s.err != nil {
		return s.err
	}
	told, err := s.crew.end()
	if s.told == nil {
		s.told = map[string][]float64{}
	}
	for metric, v := range told {
		s.told[metric] = append(s.told[metric], v)
	}
	return err
}

// round does n operations, after a number of others that do not count.
func (s *solo) round(before, n int, count bool) (total spent) {
	if s.err == nil {
		total, s.err = s.crew.round(before, n, count)
	}
	return total
}

// turn does one turn of n operations. With count, it counts what they allocate.
func (s *solo) turn(n int, count bool) {
	before := n / leadIn
	if s.crew.wholeTurn() > 0 {
		before = 0
	}
	t := s.round(before, n, count)
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
	// count allocations: leastCounted operations or more, because the runtime now and then
	// allocates something itself.
	countedShare = 8
	leastCounted = 16
)

// rise ends a sitting, of turns of n operations, in which allocations were counted or not.
func (s *solo) rise(n int, counted bool) {
	ops := uint64(0)
	for _, t := range s.turns {
		ops += t.Ops
	}
	for i := range s.sittings {
		values := make([]float64, len(s.turns))
		for j, t := range s.turns {
			values[j] = t.Costs[i]
		}
		median, total := stats.MedianOf(values), 0.0
		for _, v := range values {
			total += min(v, longestTurn*median)
		}
		switch i {
		case wallTime:
			total *= float64(s.crew.goroutines())
		case usualTime:
			total = median * float64(len(s.turns)*s.crew.goroutines())
		}
		s.sittings[i] = append(s.sittings[i], total/float64(ops))
	}
	if !counted {
		for ops := max(leastCounted, n*len(s.turns)/countedShare); ops > 0; ops -= n {
			s.counted.add(s.round(0, n, true))
		}
	}
}

// last is a cost per operation in the last sitting.
func (s *solo) last(cost int) float64 { return s.sittings[cost][len(s.sittings[cost])-1] }

// calibrate returns how many operations take about the time want; less than 1 if one takes
// longer.
func (s *solo) calibrate(want time.Duration) float64 {
	n := max(1, s.crew.wholeTurn())
	for {
		elapsed := max(1, time.Duration(s.round(0, n, false).Costs[wallTime]))
		n2 := float64(n) * float64(want) / float64(elapsed)
		if elapsed >= want/2 || n >= 1<<28 || s.err != nil {
			return n2
		}
		// At most a hundredfold, so that one reading that is too short cannot lead to
		// hours.
		n = max(n+1, int(min(100*float64(n), n2)))
	}
}
