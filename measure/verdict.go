package measure

import "math"

// Verdict says what a comparison has shown.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Same         Verdict = "same"
	Inconclusive Verdict = "inconclusive"
	// NotComparable stands where there is no ratio: a metric that is a condition
	// of the run, or a base of zero.
	NotComparable Verdict = "-"
)

// Rule is what a verdict asks for.
type Rule struct {
	// Threshold is the smallest relative difference worth telling: 0.03 is 3 percent.
	Threshold float64 `json:"threshold"`
	// Equivalence is the relative difference within which two are called the same.
	Equivalence float64 `json:"equivalence"`
	// Alpha is the largest q: the p of the Mann-Whitney test, corrected for the
	// number of comparisons (see Adjust).
	Alpha float64 `json:"alpha"`
}

// AtLook is the rule for a verdict that is the look-th look at a growing sample,
// counted from 1. Who looks again and again until something shows will see
// something, so each look is charged: the k-th may spend alpha/(k(k+1)) of the
// error, which for any number of looks adds up to alpha at most. 0 stands for a
// sample whose size was settled beforehand, which costs nothing.
func (r Rule) AtLook(look int) Rule {
	if look > 0 {
		r.Alpha /= float64(look * (look + 1))
	}
	return r
}

// DefaultRule holds where nothing else is asked for: a difference of 3 percent is
// worth telling, at one chance in a hundred of seeing one where there is none;
// within 5 percent two are the same.
var DefaultRule = Rule{Threshold: 0.03, Equivalence: 0.05, Alpha: 0.01}

// Judge turns a ratio into a verdict. floor is the relative difference that the
// machine showed between two samples of the same code (A/A); a difference within
// it proves nothing.
//
// better or worse: the whole interval lies beyond both the threshold and the
// floor, and the test's q is at most alpha. same: the whole interval lies within
// the equivalence margin, however noisy the machine. Everything else is
// inconclusive, and so is whatever rests on fewer than FewestForks values.
func (r Rule) Judge(direction Direction, ratio Ratio, floor float64) Verdict {
	if direction == Neither || math.IsNaN(ratio.Estimate) {
		return NotComparable
	}
	if ratio.N < FewestForks {
		return Inconclusive
	}
	margin := r.margin(floor)
	proven := ratio.Q <= r.Alpha
	switch {
	case proven && ratio.Lo > 1+margin:
		return pick(direction == HigherIsBetter)
	case proven && ratio.Hi < 1/(1+margin):
		return pick(direction == LowerIsBetter)
	case ratio.Lo >= 1/(1+r.Equivalence) && ratio.Hi <= 1+r.Equivalence:
		return Same
	}
	return Inconclusive
}

// margin is how far the whole interval must lie from 1.
func (r Rule) margin(floor float64) float64 { return max(r.Threshold, floor) }

func pick(better bool) Verdict {
	if better {
		return Better
	}
	return Worse
}

// FloorOf is the noise floor that an A/A pair shows: how far the ratio of their
// medians lies from 1, in relative terms, whichever way.
func FloorOf(aa Ratio) float64 {
	if aa.Estimate <= 0 || math.IsNaN(aa.Estimate) {
		return 0
	}
	return math.Exp(math.Abs(math.Log(aa.Estimate))) - 1
}
