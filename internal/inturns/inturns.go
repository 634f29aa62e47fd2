// Package inturns is for benchmarks that compare implementations in turns, in one process and
// on the same input. A ratio measured so is worth more than two times measured one after the
// other: what slows the machine for a while slows all.
package inturns

import (
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
// it reports the sum of its times as a ratio to that of the first, in the unit "name/first". What
// happens seldom counts in full, such as a table that grows, and garbage collection in the turns in
// which it happens; see [longestTurn] for the exception.
func Compare(b *testing.B, runs ...Run) {
	took := make([][]time.Duration, len(runs))
	order := orders(len(runs))
	round := 0
	for b.Loop() {
		round++
		for _, i := range order() {
			start := time.Now()
			runs[i].Round(round)
			took[i] = append(took[i], time.Since(start))
		}
	}
	first := total(took[0])
	for i, run := range runs[1:] {
		b.ReportMetric(float64(total(took[i+1]))/float64(first), run.Name+"/"+runs[0].Name)
	}
}

// orders returns a function that draws the order of n turns in the next round.
func orders(n int) func() []int {
	rng := rand.New(rand.NewPCG(1, 1))
	return func() []int { return rng.Perm(n) }
}

// longestTurn is how many times the median turn of its implementation a turn counts at most. More
// is
// a machine that stops for some milliseconds.
const longestTurn = 10

// total is the sum of the turns, none longer than longestTurn allows.
func total(turns []time.Duration) (sum time.Duration) {
	most := longestTurn * slices.Sorted(slices.Values(turns))[len(turns)/2]
	for _, t := range turns {
		sum += min(t, most)
	}
	return sum
}
