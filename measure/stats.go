package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"
)

// Confidence of every interval that is shown.
const Confidence = 0.95

// FewestForks is the least number of values for which a distribution-free
// interval of the median exists at that confidence: 1 - 2*0.5^6 = 0.97.
const FewestForks = 6

// Estimate is a median with its interval, and what weakens it.
type Estimate struct {
	Median float64 `json:"median"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	N      int     `json:"n"`
	// Outliers counts the values beyond Tukey's fences (1.5 interquartile ranges
	// outside the quartiles). They are marked, never dropped.
	Outliers int      `json:"outliers,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// EstimateOf gives the median of the forks' values with benchmath's
// distribution-free interval, the one that benchstat prints. With fewer than
// six values that interval does not exist: Lo and Hi are then the smallest and
// the largest value, and a warning says so.
func EstimateOf(values []float64) Estimate {
	e := Estimate{N: len(values)}
	if len(values) == 0 {
		e.Median, e.Lo, e.Hi = math.NaN(), math.NaN(), math.NaN()
		e.Warnings = append(e.Warnings, "no values")
		return e
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, Confidence)
	e.Median, e.Lo, e.Hi = s.Center, s.Lo, s.Hi
	for _, w := range append(sample.Warnings, s.Warnings...) {
		e.Warnings = append(e.Warnings, w.Error())
	}
	if math.IsInf(e.Lo, 0) || math.IsInf(e.Hi, 0) {
		e.Lo, e.Hi = slices.Min(values), slices.Max(values)
		e.Warnings = append(e.Warnings, "the interval is the range of the values")
	}
	e.Outliers = len(OutliersOf(values))
	return e
}

// OutliersOf returns the positions of the values beyond Tukey's outer or inner
// fences; fewer than four values have none.
func OutliersOf(values []float64) []int {
	if len(values) < 4 {
		return nil
	}
	q, err := stats.Quartile(values)
	if err != nil {
		return nil
	}
	iqr := q.Q3 - q.Q1
	var out []int
	for i, v := range values {
		if v < q.Q1-1.5*iqr || v > q.Q3+1.5*iqr {
			out = append(out, i)
		}
	}
	return out
}

// MedianOf is the median of values, NaN of none.
func MedianOf(values []float64) float64 {
	m, err := stats.Median(values)
	if err != nil {
		return math.NaN()
	}
	return m
}

// Ratio is the effect of exchanging base for head: the ratio of their medians.
type Ratio struct {
	Estimate float64 `json:"ratio"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	// P is the probability, under the hypothesis that both come from one
	// distribution, of samples at least as far apart (Mann-Whitney, two-sided).
	P float64 `json:"p"`
	// N is the size of the smaller sample.
	N int `json:"n"`
}

// bootstrapResamples is what Efron and Tibshirani call enough for percentile
// intervals ("An Introduction to the Bootstrap", 1993, section 13.3: 1,000 and more).
const bootstrapResamples = 2000

// RatioOf compares two samples. The interval is the percentile bootstrap of the
// ratio of medians: both samples are drawn again with replacement, each from
// itself, and the middle 95 percent of the ratios are kept (Efron and Tibshirani
// 1993, chapters 13 and 16). The draws are seeded by the sizes alone, so the
// same samples always give the same interval. The error says which sample
// cannot be compared.
func RatioOf(base, head []float64) (Ratio, error) {
	if len(base) == 0 || len(head) == 0 {
		return Ratio{}, fmt.Errorf("nothing to compare: %d values against %d", len(base), len(head))
	}
	b := MedianOf(base)
	if b == 0 {
		if MedianOf(head) == 0 {
			return Ratio{Estimate: 1, Lo: 1, Hi: 1, P: 1, N: min(len(base), len(head))}, nil
		}
		return Ratio{}, fmt.Errorf("the median of the base is zero: there is no ratio")
	}
	r := Ratio{Estimate: MedianOf(head) / b, N: min(len(base), len(head))}
	rng := rand.New(rand.NewPCG(uint64(len(base)), uint64(len(head))))
	ratios := make([]float64, 0, bootstrapResamples)
	bb, hh := make([]float64, len(base)), make([]float64, len(head))
	for range bootstrapResamples {
		resample(rng, bb, base)
		resample(rng, hh, head)
		if m := sortedMedian(bb); m != 0 {
			ratios = append(ratios, sortedMedian(hh)/m)
		}
	}
	slices.Sort(ratios)
	if n := len(ratios); n > 0 {
		tail := (1 - Confidence) / 2
		r.Lo = ratios[int(tail*float64(n))]
		r.Hi = ratios[min(n-1, int(math.Ceil((1-tail)*float64(n)))-1)]
	} else {
		r.Lo, r.Hi = r.Estimate, r.Estimate
	}
	c := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(base), &benchmath.DefaultThresholds),
		benchmath.NewSample(slices.Clone(head), &benchmath.DefaultThresholds))
	r.P = c.P
	return r, nil
}

// resample fills into with values drawn from, with replacement, sorted.
func resample(rng *rand.Rand, into, from []float64) {
	for i := range into {
		into[i] = from[rng.IntN(len(from))]
	}
	slices.Sort(into)
}

func sortedMedian(v []float64) float64 {
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}
