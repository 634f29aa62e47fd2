package stats

// Change points: where the level of a series of runs changes.
//
// A candidate is where the energy distance of Matteson and James is largest ("A Nonparametric
// Approach for Multiple Change Point Analysis of Multivariate Data", JASA 109, 2014), searched
// in windows as Fleming et al. do ("Hunter: Using Open Source Code to Find Performance
// Regressions", ICPE 2023; now Apache Otava). As in Hunter, weaker candidates are accepted at
// first; then the weakest is dropped until each that is left passes a t-test.
//
// Two things differ from Hunter. Its p-value ignores that the test is made where the values
// differ most: at p <= 0.001 it finds a change in 7 of 100 series of 30 equal runs. Here p is
// multiplied by the number of splits that the search could choose (Bonferroni). And the t-test
// is that of Yuen and Dixon for trimmed means ("The approximate behaviour and performance of
// the two-sample trimmed t", Biometrika 60, 1973), because one disturbed run must not hide a
// change. change_test.go measures both.

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	// FewestAround is the smallest number of runs on either side of a change. Two disturbed
	// runs in a row are no change.
	FewestAround = 3
	// FewestRuns is the smallest number of runs in which a change can be found.
	FewestRuns = 2 * FewestAround

	changeWindow = 200 // runs; windows overlap by half
	// trimmedShare is what the t-test leaves out on each side of a segment, in whole values:
	// nothing below five values, one of five to nine.
	trimmedShare = 0.2
	// weaker is how many times the accepted p a candidate may have before the others are known.
	weaker = 10
)

// Change is where a series changes its level.
type Change struct {
	// At is the position of the first value with the new level.
	At int
	// P is the probability of a change as clear as this at any of the places that the search
	// could choose, where nothing changes.
	P float64
	// Shift is the new level less the old one, with the interval at Confidence. The levels are
	// trimmed means of the values between this change and the next on either side.
	Shift, Lo, Hi float64
}

// ChangesIn finds the changes of a series whose P is at most alpha, in order. The values are
// of one kind and equally noisy, such as logarithms of ratios, one for each run. Where nothing
// changes, at most the share alpha of series gets a change, if the noise is normal; the
// tests measure what heavy tails do to it. It is deterministic and costs O(n w²) time for n
// values and windows of w = 200, and O(w²) memory: 0.1 ms for 30 values, 1 ms for 200.
func ChangesIn(values []float64, alpha float64) []Change {
	var at []int
	for _, w := range windowsOf(len(values)) {
		at = append(at, candidates(values[w[0]:w[1]], w[0], min(1, weaker*alpha))...)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for len(at) > 0 {
		changes := changesAt(values, at)
		weakest := 0
		for i, c := range changes {
			if !(c.P < changes[weakest].P) {
				weakest = i
			}
		}
		if changes[weakest].P <= alpha {
			return changes
		}
		at = slices.Delete(at, weakest, weakest+1)
	}
	return nil
}

// ClearestChange is the smallest P of any change in a series by itself, 1 for fewer than
// FewestRuns values. It tells the series that changed from those that did not, before their
// number is corrected for (see Adjust). It costs as much as ChangesIn.
func ClearestChange(values []float64) float64 {
	least := 1.0
	windows := windowsOf(len(values))
	for _, w := range windows {
		if b, ok := bestSplit(values[w[0]:w[1]]); ok {
			least = min(least, b.p*float64(len(windows)))
		}
	}
	return least
}

// windowsOf cuts n values into windows [from, to) that overlap by half.
func windowsOf(n int) (out [][2]int) {
	for from := 0; ; from += changeWindow / 2 {
		if from+changeWindow >= n {
			return append(out, [2]int{from, n})
		}
		out = append(out, [2]int{from, from + changeWindow})
	}
}

// candidates splits values where they differ most, and each part again. Positions are counted
// from offset.
func candidates(values []float64, offset int, alpha float64) []int {
	b, ok := bestSplit(values)
	if !ok || b.p > alpha {
		return nil
	}
	left := candidates(values[:b.at], offset, alpha)
	right := candidates(values[b.at:], offset+b.at, alpha)
	return slices.Concat(left, []int{offset + b.at}, right)
}

// split is the place at which a segment differs most from what follows it up to end.
type split struct {
	at, end int
	p       float64
}

// bestSplit maximises the energy distance over (at, end), as E-divisive does: end lets it see
// a level that holds for a while only.
func bestSplit(values []float64) (split, bool) {
	n := len(values)
	if n < FewestRuns {
		return split{}, false
	}
	sums := pairSums(values)
	best, choices, most := split{}, 0, math.Inf(-1)
	for at := FewestAround; at <= n-FewestAround; at++ {
		for end := at + FewestAround; end <= n; end++ {
			choices++
			if q := sums.energy(at, end); q > most {
				best, most = split{at: at, end: end}, q
			}
		}
	}
	best.p = min(1, shiftOf(values[:best.at], values[best.at:best.end]).P*float64(choices))
	return best, true
}

// distances has the sums of |x_i - x_j| over i < a and j < b, at [a*(n+1)+b].
type distances struct {
	sums  []float64
	width int
}

func pairSums(values []float64) distances {
	n := len(values)
	d := distances{make([]float64, (n+1)*(n+1)), n + 1}
	for a := 1; a <= n; a++ {
		row := 0.0
		for b := 1; b <= n; b++ {
			row += math.Abs(values[a-1] - values[b-1])
			d.sums[a*d.width+b] = d.sums[(a-1)*d.width+b] + row
		}
	}
	return d
}

func (d distances) sum(a, b int) float64 { return d.sums[a*d.width+b] }

// energy is the distance Q of Matteson and James (2014, equation 6, alpha 1) between
// values[:at] and values[at:end].
func (d distances) energy(at, end int) float64 {
	n, m := float64(at), float64(end-at)
	before := d.sum(at, at)
	between := d.sum(at, end) - before
	after := d.sum(end, end) - before - 2*between
	// The sums within a part count each pair twice.
	return n * m / (n + m) * (2*between/(n*m) - before/(n*(n-1)) - after/(m*(m-1)))
}

// changesAt tests each change against the segments on either side of it.
func changesAt(values []float64, at []int) []Change {
	edges := slices.Concat([]int{0}, at, []int{len(values)})
	out := make([]Change, len(at))
	for i := range at {
		from, mid, to := edges[i], edges[i+1], edges[i+2]
		if mid-from < FewestAround || to-mid < FewestAround { // candidates of two windows
			out[i] = Change{At: mid, P: 1}
			continue
		}
		c := shiftOf(values[from:mid], values[mid:to])
		c.At = mid
		c.P = min(1, c.P*float64(to-from-FewestRuns+1))
		out[i] = c
	}
	return out
}

// Level is the trimmed mean of a segment, with its interval at Confidence; the values alone
// if there is one.
func Level(values []float64) (mean, lo, hi float64) {
	mean, squares, kept := trimmed(values)
	if kept < 2 {
		return mean, mean, mean
	}
	half := studentT(kept-1).Quantile(intervalP) * math.Sqrt(squares/(kept*(kept-1)))
	return mean, mean - half, mean + half
}

// shiftOf is the two-sample trimmed t-test. Its standard error is that of a common variance,
// or of two where that is larger: a disturbed run in a short segment, which is not trimmed,
// then widens the error as much as it moves the mean.
func shiftOf(before, after []float64) Change {
	a, squaresA, keptA := trimmed(before)
	b, squaresB, keptB := trimmed(after)
	c := Change{Shift: b - a, P: 1}
	degrees := keptA + keptB - 2
	pooled := (squaresA + squaresB) / degrees * (1/keptA + 1/keptB)
	apart := squaresA/(keptA*(keptA-1)) + squaresB/(keptB*(keptB-1))
	se := math.Sqrt(max(pooled, apart))
	switch {
	case se > 0:
		c.P = 2 * studentT(degrees).Survival(math.Abs(c.Shift)/se)
	case se == 0 && c.Shift != 0: // exact counts
		c.P = 0
	}
	half := studentT(degrees).Quantile(intervalP) * se
	c.Lo, c.Hi = c.Shift-half, c.Shift+half
	return c
}

// trimmed returns the trimmed mean of values, the sum of the squares of the winsorised values
// about their own mean, and how many values were kept.
func trimmed(values []float64) (mean, squares, kept float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	cut := int(trimmedShare * float64(n))
	if sorted[cut] == sorted[n-1-cut] { // their computed mean could differ in its last digit
		return sorted[cut], 0, float64(n - 2*cut)
	}
	mean = stat.Mean(sorted[cut:n-cut], nil)
	for i := range cut {
		sorted[i], sorted[n-1-i] = sorted[cut], sorted[n-1-cut]
	}
	centre := stat.Mean(sorted, nil)
	for _, v := range sorted {
		squares += (v - centre) * (v - centre)
	}
	return mean, squares, float64(n - 2*cut)
}
