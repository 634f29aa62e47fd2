// Package stats turns samples into statements: medians with intervals, ratios, and verdicts
// with what they could have found. A sample is a slice of values, one per measuring process
// (fork). The package knows nothing of runs, cells or files.
//
// Everything in it is a pure function of its arguments, safe to call at once, except
// Histogram, which one goroutine owns.
package stats

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/montanaflynn/stats"
	"golang.org/x/perf/benchmath"
)

// Confidence is the confidence level of every interval shown.
const Confidence = 0.95

// FewestForks is the smallest number of values for which a distribution-free interval of
// the median exists at that confidence: 1 - 2*0.5^6 = 0.97.
const FewestForks = 6

// Estimate is a median with its interval and the warnings that taint it.
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

// EstimateOf is the median of the forks' values with benchmath's distribution-free
// interval, as benchstat prints it. With fewer than six values that interval does not
// exist. Lo and Hi are then the smallest and the largest value, and a warning says so.
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

// MarshalJSON leaves out the numbers of an estimate without values: JSON has no NaN.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if e.N == 0 {
		return json.Marshal(struct {
			N        int      `json:"n"`
			Warnings []string `json:"warnings,omitempty"`
		}{Warnings: e.Warnings})
	}
	type plain Estimate // without this method
	return json.Marshal(plain(e))
}

// OutliersOf returns the positions of the values beyond Tukey's inner fences;
// fewer than four values have none.
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

// QuantileOf is the value that p percent of values do not exceed (nearest rank),
// NaN of none.
func QuantileOf(values []float64, p float64) float64 {
	v, err := stats.PercentileNearestRank(values, p)
	if err != nil {
		return math.NaN()
	}
	return v
}
