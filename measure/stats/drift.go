package stats

import (
	"math"
	"slices"
)

// Drift is a level that moves a little with every run.
type Drift struct {
	// Shift is how far the level moved from the first value to the last, with the interval at
	// Confidence.
	Shift, Lo, Hi float64
}

// fewestTrend is the smallest number of values from which on Kendall's S is near enough to
// normal.
const fewestTrend = 8

// TrendP is the probability of a series that rises or falls as steadily as this where nothing
// changes (Mann, "Nonparametric tests against trend", Econometrica 13, 1945; normal
// approximation, two-sided), 1 for fewer than 8 values. A step is a trend too: see DriftOf. It
// costs O(n²).
func TrendP(values []float64) float64 {
	n := len(values)
	if n < fewestTrend {
		return 1
	}
	s := 0
	for i, v := range values {
		for _, later := range values[i+1:] {
			switch {
			case later > v:
				s++
			case later < v:
				s--
			}
		}
	}
	// Ties make the true variance smaller, so p is too large rather than too small.
	variance := float64(n*(n-1)*(2*n+5)) / 18
	z := max(0, math.Abs(float64(s))-1) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// DriftOf tells a drift from the steps of ChangesIn: a search for steps cuts a drift into
// some. It reports whether a straight line says more of the values than the steps do, or one
// level if there are none, by Akaike's criterion for small samples. That uses absolute
// deviations, so a disturbed run does not decide. The line and its interval are Sen's
// ("Estimates of the regression coefficient based on Kendall's tau", JASA 63, 1968). It is no
// test: ask it of a series with changes, or with a small TrendP. It costs O(n² log n) time
// and O(n²) memory.
func DriftOf(values []float64, changes []Change) (Drift, bool) {
	n := len(values)
	if n < fewestTrend {
		return Drift{}, false
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range values {
		for j := i + 1; j < n; j++ {
			slopes = append(slopes, (values[j]-values[i])/float64(j-i))
		}
	}
	slices.Sort(slopes)
	slope := MedianOf(slopes)
	rest := make([]float64, n)
	for i, v := range values {
		rest[i] = v - slope*float64(i)
	}
	base := MedianOf(rest)
	line, steps := 0.0, 0.0
	for _, r := range rest {
		line += math.Abs(r - base)
	}
	edges := []int{0}
	for _, c := range changes {
		edges = append(edges, c.At)
	}
	edges = append(edges, n)
	for i := range len(edges) - 1 {
		segment := values[edges[i]:edges[i+1]]
		level := MedianOf(segment)
		for _, v := range segment {
			steps += math.Abs(v - level)
		}
	}
	// A step costs its place and its level.
	if !(criterion(line, n, 2) < criterion(steps, n, 1+2*len(changes))) {
		return Drift{}, false
	}
	half := zInterval * math.Sqrt(float64(n*(n-1)*(2*n+5))/18) / 2
	middle, span := float64(len(slopes))/2, float64(n-1)
	at := func(rank float64) float64 { return slopes[int(max(0, min(float64(len(slopes)-1), rank)))] }
	return Drift{slope * span, at(middle-half) * span, at(middle+half) * span}, true
}

// criterion is Akaike's for deviations whose absolute values add up to sum.
func criterion(sum float64, n, parameters int) float64 {
	k, of := float64(parameters+1), float64(n)
	if of-k-1 <= 0 {
		return math.Inf(1)
	}
	return 2*of*math.Log(sum/of) + 2*k*of/(of-k-1)
}
