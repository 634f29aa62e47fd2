// Package inturns is for benchmarks that compare implementations in turns, in one process and
// on the same input. A ratio measured so is worth more than two times measured one after the
// other: what slows the machine for a while slows all.
package inturns

import (
	"iter"
	"math"
	"slices"
	"testing"
	"time"
)

// Run is one implementation. Round does its work once; rounds are counted from 1.
type Run struct {
	Name  string
	Round func(round int)
}

// Compare gives each implementation a turn in every round, in this order and in the reverse
// one by turns. For each but the first it reports its time as a ratio to that of the first,
// in the unit "name/first": the geometric mean of the rounds' ratios, without the highest and
// the lowest quarter. Garbage collection counts for the turn in which it happens.
func Compare(b *testing.B, runs ...Run) {
	took := make([]time.Duration, len(runs))
	logs := make([][]float64, len(runs))
	round := 0
	for b.Loop() {
		round++
		for i := range order(len(runs), round) {
			start := time.Now()
			runs[i].Round(round)
			took[i] = time.Since(start)
		}
		for i := range runs {
			logs[i] = append(logs[i], math.Log(took[i].Seconds()/took[0].Seconds()))
		}
	}
	for i, run := range runs[1:] {
		b.ReportMetric(math.Exp(middle(logs[i+1])), run.Name+"/"+runs[0].Name)
	}
}

// order gives the turns of a round: forward in odd rounds, backward in even ones.
func order(n, round int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if round%2 == 0 {
				i = n - 1 - i
			}
			if !yield(i) {
				return
			}
		}
	}
}

// middle returns the mean of the values without the highest and the lowest quarter.
func middle(values []float64) float64 {
	slices.Sort(values)
	values = values[len(values)/4 : len(values)-len(values)/4]
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
