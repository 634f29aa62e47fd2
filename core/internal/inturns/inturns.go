// Package inturns is for benchmarks that compare implementations in turns, in one process and
// on the same input. A ratio measured so is worth more than two times measured one after the
// other: what slows the machine for a while slows all.
package inturns

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Run is one implementation. Round does its work once; rounds are counted from 1.
type Run struct {
	Name  string
	Round func(round int)
}

// Compare gives each implementation a turn in every round, in an order that is drawn anew. A fixed
// one would favour some: an implementation that comes after itself finds its memory in the
// caches, and one that comes after another finds what the other left there. For each but the first
// it reports its time as a ratio to that of the first, in the unit "name/first": the geometric
// mean of the rounds' ratios, without the highest and the lowest quarter. Garbage collection counts
// for the turn in which it happens.
func Compare(b *testing.B, runs ...Run) {
	took := make([]time.Duration, len(runs))
	logs := make([][]float64, len(runs))
	order := orders(len(runs))
	round := 0
	for b.Loop() {
		round++
		for _, i := range order() {
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

// orders returns a function that draws the order of n turns in the next round.
func orders(n int) func() []int {
	rng := rand.New(rand.NewPCG(1, 1))
	return func() []int { return rng.Perm(n) }
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
