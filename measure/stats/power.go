package stats

import "math"

// Power is the probability with which a comparison finds a difference of the size that it
// claims to detect.
const Power = 0.95

// Normal quantiles: of the interval's two tails, and of Power.
var (
	zInterval = zOf(1 - (1-Confidence)/2)
	zPower    = zOf(Power)
)

func zOf(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Prospect is the smallest difference that a comparison could have found, and the number of
// further forks that would settle it.
type Prospect struct {
	// Detectable is the smallest relative difference that a comparison with the same number
	// of forks and the same noise finds with probability Power. It is 0 if there are too
	// few forks to find any.
	Detectable float64 `json:"detectable,omitempty"`
	// MoreForks is how many more forks of either side would settle the comparison with that
	// probability, if the medians stay the same. It is 0 if more than mostForks would be
	// needed, or no number is enough.
	MoreForks int `json:"moreForks,omitempty"`
}

// mostForks bounds the search for a number of forks that settles a comparison.
const mostForks = 10_000

// Prospect estimates both values. The width of the ratio's interval shrinks with the square
// root of the number of forks. The noise floor, being the difference of two samples of the
// same code, shrinks likewise. The rule asks for an interval beyond threshold and floor,
// and for a p of at most critical: the largest significant p among the comparisons judged
// together.
//
// The interval's own width is uncertain where forks are few, and a claim of power must not
// rest on luck. The interval is therefore widened as Student's t is wider than the normal
// distribution.
func (r Rule) Prospect(ratio Ratio, floor, critical float64) Prospect {
	var p Prospect
	if !ratio.Enough() {
		// Their noise is not known yet.
		return Prospect{MoreForks: ratio.fewest() - ratio.N}
	}
	if ratio.Estimate <= 0 || ratio.Lo <= 0 || ratio.Hi >= FromZero || floor >= FromZero {
		return p
	}
	effect := math.Abs(math.Log(ratio.Estimate))
	seen := precisionOf(ratio)
	if critical > 0 && seen.smallestP() <= critical {
		p.Detectable = math.Expm1(r.needs(seen.cautious(), floor, critical))
	}
	for n := ratio.N + 1; n <= ratio.N+mostForks; n += 1 + n/20 {
		then, shrunk := seen.with(n), math.Sqrt(float64(ratio.N)/float64(n))
		same := effect+(then.quantile(intervalP)+zPower)*then.se <= math.Log1p(r.Equivalence)
		if same || then.smallestP() <= critical && effect >= r.needs(then, floor*shrunk, critical) {
			p.MoreForks = n - ratio.N
			break
		}
	}
	return p
}

// Enough reports whether there are enough values for a verdict.
func (r Ratio) Enough() bool { return r.N >= r.fewest() }

// fewest is the smallest number of values for a verdict.
func (r Ratio) fewest() int {
	if r.Paired {
		return FewestDuets
	}
	return FewestForks
}

// intervalP is the upper end of an interval at Confidence, as a probability.
const intervalP = 1 - (1-Confidence)/2

// LeastP is the smallest P that so many values can have, 0 if there is no bound: a test that
// asks for less never finds anything.
func (r Ratio) LeastP() float64 {
	switch {
	case r.Paired:
		return 0
	case r.SmallestP > 0:
		return r.SmallestP * (1 + rounding)
	}
	return smallestP(r.N, r.N) * (1 + rounding)
}

// rounding is how far, relatively, two ways of computing one p may lie apart.
const rounding = 1e-9

// precision is the standard error of the logarithm of a ratio of n values.
type precision struct {
	se      float64
	n       int
	degrees float64 // of Student's t; 0 if the values are not paired
	logP    float64 // logarithm of SmallestP/2 by value, where Ratio has it; else 0
}

func precisionOf(ratio Ratio) precision {
	p := precision{n: ratio.N, degrees: ratio.Degrees}
	if ratio.SmallestP > 0 {
		p.logP = math.Log(ratio.SmallestP/2) / float64(ratio.N)
	}
	half := max(math.Log(ratio.Hi/ratio.Estimate), math.Log(ratio.Estimate/ratio.Lo))
	p.se = half / p.quantile(intervalP)
	return p
}

// with is the precision of n values with the same noise.
func (p precision) with(n int) precision {
	more := float64(n-1) / float64(p.n-1)
	return precision{se: p.se * math.Sqrt(float64(p.n)/float64(n)), n: n, degrees: p.degrees * more,
		logP: p.logP}
}

// cautious allows for an interval whose width is uncertain. Student's t does so already.
func (p precision) cautious() precision {
	if p.degrees == 0 {
		p.se *= widening(p.n)
	}
	return p
}

// quantile is that of the error in units of se.
func (p precision) quantile(of float64) float64 {
	if p.degrees > 0 {
		return studentT(p.degrees).Quantile(of)
	}
	return zOf(of)
}

// smallestP is the smallest p-value that so many values can give. That of Student's t has
// no bound.
func (p precision) smallestP() float64 {
	if p.degrees > 0 {
		return 0
	}
	if p.logP != 0 { // more values, in the same proportions
		return 2 * math.Exp(p.logP*float64(p.n))
	}
	return smallestP(p.n, p.n)
}

// needs is the logarithm of the ratio that is found with probability Power.
func (r Rule) needs(p precision, floor, critical float64) float64 {
	beyondMargin := math.Log1p(r.margin(floor)) + (p.quantile(intervalP)+zPower)*p.se
	significant := (p.quantile(1-critical/2) + zPower) * p.se
	return max(beyondMargin, significant)
}

// widening is the factor by which an interval is wider because its width was estimated from
// n values on either side. It is the ratio of the 97.5 percent quantiles of Student's t
// with 2n-2 degrees of freedom and of the normal distribution, to the second term of its
// expansion (Abramowitz and Stegun 1964, 26.7.5).
func widening(n int) float64 {
	z2, v := zInterval*zInterval, float64(2*n-2)
	return 1 + (z2+1)/(4*v) + (5*z2*z2+16*z2+3)/(96*v*v)
}

// smallestP is the smallest p that a two-sided Mann-Whitney test of n values against m can
// give: all values of one sample lie below all of the other, in 2 of the (n+m choose n)
// orders.
func smallestP(n, m int) float64 { return min(1, 2*math.Exp(-logChoose(n+m, n))) }
