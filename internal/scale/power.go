package scale

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/informerbench/informerbench/measure/stats"
)

// planted is the share of the comparisons that differ. With a family of which so many are found,
// the largest significant p is about that share of alpha (Benjamini and Hochberg).
const planted = 0.1

// rankEfficiency is that of the Mann-Whitney test beside Student's, for normal values.
const rankEfficiency = 3 / math.Pi

// sigmas is how many standard errors a difference must be to be found with stats.Power: p is
// significant in its family, by Student's t of these degrees of freedom.
func sigmas(degrees float64) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: degrees}
	return t.Quantile(1-planted*stats.DefaultRule.Alpha/2) + t.Quantile(stats.Power)
}

// smallest is the smallest relative difference that so many processes of each implementation
// find with stats.Power; infinite for fewer than a verdict needs.
func smallest(k kind, spread float64, forks int) float64 {
	n := float64(forks)
	if k == turns {
		if forks < stats.FewestDuets {
			return math.Inf(1)
		}
		return math.Expm1(sigmas(n-1) * spread / math.Sqrt(n))
	}
	if forks < stats.FewestForks {
		return math.Inf(1)
	}
	return math.Expm1(sigmas(2*n-2) * spread * math.Sqrt(2/(n*rankEfficiency)))
}

// forksFor is the smallest number of processes that find the relative difference.
func forksFor(k kind, spread, difference float64) int {
	lo, hi := 1, 2
	for smallest(k, spread, hi) > difference {
		hi *= 2
	}
	for lo+1 < hi {
		if middle := (lo + hi) / 2; smallest(k, spread, middle) > difference {
			lo = middle
		} else {
			hi = middle
		}
	}
	return hi
}
