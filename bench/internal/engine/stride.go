package engine

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure/stats"
)

const (
	// timingShare is the most that timing may add to the time of a closed loop, as a share
	// of it.
	timingShare = 0.1
	// longestStride is the most operations per timed one.
	longestStride = 64
	// strideSamples is how many batches, the last ones of the warm-up, determine the cost
	// of an operation. There must be at least fewestStrideSamples.
	strideSamples       = 1001
	fewestStrideSamples = 11
)

// timingCost is the cost of timing one operation: two readings of the clock and an entry in
// a histogram. It is the median of batches; measuring it takes about a millisecond. In a
// synctest bubble it is 0.
func timingCost() time.Duration {
	const batches, timings = 11, 500
	h := stats.NewHistogram()
	costs := make([]float64, batches)
	for i := range costs {
		start := time.Now()
		for range timings {
			began := time.Now()
			h.Record(time.Since(began))
		}
		costs[i] = float64(time.Since(start)) / timings
	}
	return time.Duration(math.Ceil(stats.MedianOf(costs)))
}

// strideFor is the number of operations per timed one, given the costs of an operation and
// of its timing in ns: a power of two, at most longestStride.
func strideFor(operation, timing float64) int {
	k := 1
	for k < longestStride && timing > timingShare*operation*float64(k) {
		k *= 2
	}
	return k
}

// stride determines how many operations of a closed loop are done per timed one. In the
// warm-up each goroutine measures the cost of an operation. The first to end the warm-up
// decides for the group, so that the operations of all goroutines weigh the same in the
// merged distribution. Until then each goroutine goes by its last batch.
type stride struct {
	timing time.Duration
	group  *atomic.Int64 // 0 until decided
	own    int
	costs  []float64 // ns per operation, of the last batches
	seen   int       // batches
}

// next is the number of operations in the next batch; its last operation is timed. A nil
// stride times each operation.
func (s *stride) next() int {
	if s == nil {
		return 1
	}
	return max(1, s.own)
}

// decided is the number of operations per timed one that the group decided on.
func (s *stride) decided() int {
	if s == nil {
		return 1
	}
	return max(1, int(s.group.Load()))
}

// learn adds a batch of k operations to the samples. decide ends the learning, if there are
// enough.
func (s *stride) learn(k int, took time.Duration, decide bool) {
	if s == nil {
		return
	}
	if decided := s.group.Load(); decided > 0 {
		s.own = int(decided)
		return
	}
	cost := float64(max(0, took-s.timing)) / float64(k)
	if len(s.costs) < strideSamples {
		s.costs = append(s.costs, cost)
	} else {
		s.costs[s.seen%strideSamples] = cost
	}
	s.seen++
	s.own = strideFor(cost, float64(s.timing))
	if decide && s.seen >= fewestStrideSamples {
		s.group.CompareAndSwap(0, int64(strideFor(stats.MedianOf(s.costs), float64(s.timing))))
		s.own = int(s.group.Load())
	}
}
