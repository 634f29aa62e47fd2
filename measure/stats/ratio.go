package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Ratio is head's median divided by base's, with its interval.
type Ratio struct {
	Estimate float64 `json:"ratio"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	// P is the probability of samples at least this far apart, under the hypothesis that
	// both come from one distribution (Mann-Whitney, two-sided), or that paired values are
	// 1 on average (Student's t, two-sided).
	P float64 `json:"p"`
	// Q is P corrected for the number of comparisons judged together (see Adjust). Until
	// then it is P itself.
	Q float64 `json:"q"`
	// N is the size of the smaller sample, or the number of paired values.
	N int `json:"n"`
	// Paired says that each value is a ratio already, of two that took turns (see
	// PairedRatioOf and RelativeRatioOf).
	Paired bool `json:"paired,omitempty"`
	// Degrees are the degrees of freedom of Student's t, if paired.
	Degrees float64 `json:"degrees,omitempty"`
	// Blocks is the number of machines within which values were compared (see RatioWithin); 0
	// if they all come from one machine. SmallestP is the smallest P that samples of these
	// sizes, divided among the machines as these are, can have; 0 if the values are paired, or
	// N on either side and of one machine.
	Blocks    int     `json:"blocks,omitempty"`
	SmallestP float64 `json:"smallestP,omitempty"`
}

// FromZero stands for the ratio of a positive number to a base of zero, so that new
// allocations, for example, are a finding like any other. It is finite, because JSON has no
// infinity.
const FromZero = math.MaxFloat64

// bootstrapResamples is enough for percentile intervals by Efron and Tibshirani ("An
// Introduction to the Bootstrap", 1993, section 13.3: 1,000 and more).
const bootstrapResamples = 2000

// RatioOf compares two samples of values that are 0 or more. The interval is the percentile
// bootstrap of the ratio of medians at Confidence (see bootstrapRatios). P is exact up to
// exactValues values, ties included, and a normal approximation beyond: benchmath's takes the
// distribution for symmetric, which it is not where values are tied and the sizes differ. An
// empty sample is an error. It costs some ten milliseconds at most up to exactValues values, and a
// few for some hundred.
func RatioOf(base, head []float64) (Ratio, error) {
	if len(base) == 0 || len(head) == 0 {
		return Ratio{}, fmt.Errorf("nothing to compare: %d values against %d", len(base), len(head))
	}
	r := Ratio{Estimate: quotient(MedianOf(head), MedianOf(base)), N: min(len(base), len(head))}
	ratios := bootstrapRatios(base, head, bootstrapResamples)
	n, tail := float64(len(ratios)), (1-Confidence)/2
	r.Lo = ratios[int(tail*n)]
	r.Hi = ratios[int(math.Ceil((1-tail)*n))-1]
	// of one block it is Mann and Whitney's
	r.P = vanElteren([]block{{base: base, head: head, weight: 1}})
	r.Q = r.P
	if len(base) != len(head) {
		r.SmallestP = smallestP(len(base), len(head))
	}
	return r, nil
}

// bootstrapRatios resamples each sample from itself with replacement and returns the ratios
// of the medians, sorted. This is the two-sample bootstrap of Efron and Tibshirani (1993,
// algorithm 16.1 without pooling; percentile intervals: chapter 13). The draws are seeded
// by the sizes alone, so the same samples always give the same interval.
func bootstrapRatios(base, head []float64, draws int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(len(base)), uint64(len(head))))
	b, h := newResampler(rng, base), newResampler(rng, head)
	ratios := make([]float64, draws)
	for i := range ratios {
		ratios[i] = quotient(h.median(), b.median())
	}
	slices.Sort(ratios)
	return ratios
}

func quotient(head, base float64) float64 {
	switch {
	case base != 0:
		return head / base
	case head == 0:
		return 1
	}
	return FromZero
}

// resampler resamples a sample with replacement. Because the sample is sorted, a draw is
// the count of each value, and its median is found by counting: O(n) per draw.
type resampler struct {
	rng    *rand.Rand
	sorted []float64
	times  []int32
}

func newResampler(rng *rand.Rand, sample []float64) *resampler {
	return &resampler{rng: rng, sorted: slices.Sorted(slices.Values(sample)),
		times: make([]int32, len(sample))}
}

// median draws once and returns the median.
func (r *resampler) median() float64 {
	clear(r.times)
	n := len(r.sorted)
	for range n {
		r.times[r.rng.IntN(n)]++
	}
	// The median is the mean of the values at ranks (n-1)/2 and n/2, which are equal where
	// n is odd.
	at, below := 0, int(r.times[0])
	rank := func(k int) float64 {
		for below <= k {
			at++
			below += int(r.times[at])
		}
		return r.sorted[at]
	}
	lower := rank((n - 1) / 2)
	return (lower + rank(n/2)) / 2
}

// Adjust sets the Q of each ratio to its P, corrected for the number of tests: the step-up
// procedure of Benjamini and Hochberg ("Controlling the False Discovery Rate", J. R.
// Statist. Soc. B 57(1), 1995), as adjusted p-values. Of the differences that pass Q <=
// alpha, at most the share alpha is expected to be false. Where nothing differs at all, the
// chance that any passes is at most alpha.
func Adjust(family []*Ratio) {
	sorted := slices.SortedFunc(slices.Values(family), func(a, b *Ratio) int {
		return cmp.Compare(b.P, a.P)
	})
	m, q := float64(len(sorted)), 1.0
	for i, r := range sorted { // from the largest P down
		rank := m - float64(i)
		q = min(q, r.P*m/rank)
		r.Q = q
	}
}
