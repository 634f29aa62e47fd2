package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MidMean is the mean of the middle half of values (the interquartile mean), NaN of none. A
// quarter of the values on either side may be anything, so a disturbance that hits fewer of
// them does not move it much. Where the values are undisturbed it is nearly as precise as
// the mean. It costs O(n log n).
func MidMean(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	// Each end loses a quarter of the total weight; a value that the cut divides counts in
	// part.
	cut := float64(len(sorted)) / 4
	sum, weight := 0.0, 0.0
	for i, v := range sorted {
		inside := min(float64(i+1), float64(len(sorted))-cut) - max(float64(i), cut)
		if inside > 0 {
			sum += inside * v
			weight += inside
		}
	}
	return sum / weight
}

// FewestDuets is the smallest number of forks from which a verdict on their ratios may
// come: with fewer, the interval rests on a guess of the noise.
const FewestDuets = 4

// PairedRatioOf combines the ratios that forks measured by letting head and base take turns
// in one process. logs are the logarithms of head to base, one for each fork. The estimate
// is their geometric mean. The interval at Confidence and P are those of Student's t: a
// fork's value is itself a mean over hundreds of turns, and the forks differ by what differs
// between processes. A single value has the interval from 0 to FromZero and P 1.
func PairedRatioOf(logs []float64) (Ratio, error) {
	n := len(logs)
	if n == 0 {
		return Ratio{}, fmt.Errorf("no ratios of forks")
	}
	if i := slices.IndexFunc(logs, func(v float64) bool {
		return math.IsNaN(v) || math.IsInf(v, 0)
	}); i >= 0 {
		return Ratio{}, fmt.Errorf("ratio %d of %d is not finite: %v", i+1, n, logs[i])
	}
	mean, deviation := stat.MeanStdDev(logs, nil)
	r := Ratio{Estimate: math.Exp(mean), Lo: 0, Hi: FromZero, P: 1, Q: 1, N: n, Paired: true}
	if n == 1 {
		return r, nil
	}
	r.student(mean, stat.StdErr(deviation, float64(n)), float64(n-1))
	return r, nil
}

// RelativeRatioOf compares two samples that were each measured in turns with the same
// reference. base and head are the logarithms of their ratios to it, one for each fork, so
// whatever changed the speed of the machine between the two cancels. The estimate is the
// quotient of their geometric means. The interval at Confidence and P are those of Welch's t
// test ("The generalization of 'Student's' problem when several different population
// variances are involved", Biometrika 34, 1947). Fewer than two values on a side give the
// interval from 0 to FromZero and P 1.
func RelativeRatioOf(base, head []float64) (Ratio, error) {
	var r [2]Ratio
	var share, degrees [2]float64 // of the variance of the difference
	for i, logs := range [][]float64{base, head} {
		var err error
		if r[i], err = PairedRatioOf(logs); err != nil {
			return Ratio{}, err
		}
		_, deviation := stat.MeanStdDev(logs, nil)
		share[i], degrees[i] = deviation*deviation/float64(len(logs)), float64(len(logs)-1)
	}
	difference := math.Log(r[1].Estimate) - math.Log(r[0].Estimate)
	out := Ratio{Estimate: math.Exp(difference), Lo: 0, Hi: FromZero, P: 1, Q: 1,
		N: min(r[0].N, r[1].N), Paired: true}
	if out.N < 2 {
		return out, nil
	}
	// Welch's degrees of freedom, after Satterthwaite; the smaller of the two where neither
	// side varies.
	variance, nu := share[0]+share[1], min(degrees[0], degrees[1])
	if variance > 0 {
		nu = variance * variance / (share[0]*share[0]/degrees[0] + share[1]*share[1]/degrees[1])
	}
	out.student(difference, math.Sqrt(variance), nu)
	return out, nil
}

// student sets interval and test to those of Student's t, from the logarithm of the ratio,
// its standard error and the degrees of freedom.
func (r *Ratio) student(mean, se, degrees float64) {
	r.Degrees = degrees
	t := studentT(degrees)
	half := t.Quantile(1-(1-Confidence)/2) * se
	r.Lo, r.Hi = math.Exp(mean-half), math.Exp(mean+half)
	switch {
	case se > 0:
		r.P = 2 * t.Survival(math.Abs(mean)/se)
	case mean != 0: // all forks agree to the last digit
		r.P = 0
	}
	r.Q = r.P
}

// studentT is Student's t distribution.
func studentT(degrees float64) distuv.StudentsT { return distuv.StudentsT{Sigma: 1, Nu: degrees} }
