package stats

import (
	"math"

	"github.com/informerbench/informerbench/measure/metrics"
)

// Verdict is the result of a comparison.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Same         Verdict = "same"
	Inconclusive Verdict = "inconclusive"
	// NotComparable means that there is no verdict: the metric is a condition of the run,
	// or there is no ratio. A base of zero has one (FromZero).
	NotComparable Verdict = "-"
)

// Rule is the set of conditions for a verdict.
type Rule struct {
	// Threshold is the smallest relative difference worth reporting: 0.03 is 3 percent.
	Threshold float64 `json:"threshold"`
	// Equivalence is the relative difference within which two values count as the same, of
	// metrics that have no wider one of their own (see For).
	Equivalence float64 `json:"equivalence"`
	// Alpha is the largest q: the p of the Mann-Whitney test, corrected for the
	// number of comparisons (see Adjust).
	Alpha float64 `json:"alpha"`
}

// AtLook is the rule for the look-th look at a growing sample, counted from 1. Repeated
// looks at a growing sample find a difference sooner or later, so each is charged. The first
// may spend half of alpha, the next half of what is left, and so on: at most alpha for any
// number of looks. 0 stands for a sample whose size was fixed beforehand, which costs nothing.
func (r Rule) AtLook(look int) Rule {
	r.Alpha = math.Ldexp(r.Alpha, -look)
	return r
}

// For is the rule for a metric: the difference within which its values count as the same may
// be wider.
func (r Rule) For(m metrics.Metric) Rule {
	r.Equivalence = max(r.Equivalence, m.SameWithin)
	return r
}

// DefaultRule is the rule unless another is requested. A difference of 3 percent is worth
// reporting, with one chance in a hundred of a false one. Within 5 percent two values are
// the same.
var DefaultRule = Rule{Threshold: 0.03, Equivalence: 0.05, Alpha: 0.01}

// Judge turns a ratio into a verdict. floor is the relative difference between two samples
// of the same code on this machine (A/A); a difference within it proves nothing.
//
// better or worse: the whole interval lies beyond both the threshold and the floor, and the
// test's q is at most alpha. same: the whole interval lies within the equivalence margin,
// however noisy the machine, or is 1 exactly, as of equal counts. Every other ratio is
// inconclusive, and so is any with fewer than FewestForks values, or FewestDuets if they are
// paired.
func (r Rule) Judge(direction metrics.Direction, ratio Ratio, floor float64) Verdict {
	if direction == metrics.Neither || math.IsNaN(ratio.Estimate) {
		return NotComparable
	}
	if ratio.Lo == 1 && ratio.Hi == 1 && ratio.N > 1 {
		return Same // such as equal counts in all forks
	}
	if !ratio.Enough() {
		return Inconclusive
	}
	margin := r.margin(floor)
	proven := ratio.Q <= r.Alpha
	switch {
	case proven && ratio.Lo > 1+margin:
		return pick(direction == metrics.HigherIsBetter)
	case proven && ratio.Hi < 1/(1+margin):
		return pick(direction == metrics.LowerIsBetter)
	case ratio.Lo >= 1/(1+r.Equivalence) && ratio.Hi <= 1+r.Equivalence:
		return Same
	}
	return Inconclusive
}

// margin is the smallest distance of the whole interval from 1.
func (r Rule) margin(floor float64) float64 { return max(r.Threshold, floor) }

func pick(better bool) Verdict {
	if better {
		return Better
	}
	return Worse
}

// FloorOf is the noise floor of an A/A pair: the distance of the ratio of their medians
// from 1, as a relative difference in either direction. If only one of the medians is 0, it is
// FromZero: next to that no difference proves anything.
func FloorOf(aa Ratio) float64 {
	switch {
	case math.IsNaN(aa.Estimate):
		return 0
	case aa.Estimate <= 0:
		return FromZero
	}
	return min(FromZero, math.Exp(math.Abs(math.Log(aa.Estimate)))-1)
}
