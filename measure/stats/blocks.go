package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// RatioWithin compares two samples within blocks: base[i] and head[i] were measured by the
// same machine, and machines differ in speed. Values of different machines are never
// compared. A block in which one side has no values is left out. One block gives RatioOf.
//
// The test is van Elteren's ("On the combination of independent two-sample tests of Wilcoxon",
// Bulletin of the International Statistical Institute 37, 1960): the sum over the blocks of
// the Mann-Whitney statistic, weighted by 1/(n+1) of the block's n values. P is exact up to
// exactValues values, ties included, and a normal approximation beyond. The estimate is that of
// Hodges and Lehmann (Ann. Math. Statist. 34, 1963): the weighted median of head to base over
// all pairs of a block. The interval at Confidence inverts the test, so it contains 1 where P
// is above 1 - Confidence; too few values give the interval from 0 to FromZero.
//
// No shape of distribution is assumed. A small P speaks against one hypothesis only: that on
// no machine the code differs. Cost: O(pairs log pairs), and some milliseconds for the exact
// distribution.
func RatioWithin(base, head [][]float64) (Ratio, error) {
	if len(base) != len(head) {
		return Ratio{}, fmt.Errorf("%d blocks against %d", len(base), len(head))
	}
	var blocks []block
	for i := range base {
		if len(base[i]) > 0 && len(head[i]) > 0 {
			blocks = append(blocks, block{base: base[i], head: head[i]})
		}
	}
	switch len(blocks) {
	case 0:
		return Ratio{}, fmt.Errorf("nothing to compare: no block has values on both sides")
	case 1:
		return RatioOf(blocks[0].base, blocks[0].head)
	}
	setWeights(blocks)
	n, m, log := 0, 0, 0.0
	for _, b := range blocks {
		n, m, log = n+len(b.base), m+len(b.head), log+logChoose(b.size(), len(b.base))
	}
	r := Ratio{N: min(n, m), Lo: 0, Hi: FromZero, Blocks: len(blocks),
		SmallestP: min(1, 2*math.Exp(-log))}
	r.P = vanElteren(blocks)
	r.Q = r.P
	pairs, total := pairsOf(blocks)
	r.Estimate = weightedMedian(pairs, total)
	r.Lo, r.Hi = invert(blocks, pairs)
	return r, nil
}

// exactValues is the largest number of values for which P is exact.
const exactValues = 60

// block is one machine's values of both sides.
type block struct {
	base, head []float64
	weight     int
}

func (b *block) size() int { return len(b.base) + len(b.head) }

// setWeights gives the blocks weights in the proportion of 1/(n+1). They are small whole
// numbers, so that the statistic has few values: any fixed weights give an exact test, and
// rounding costs it hardly any power.
func setWeights(blocks []block) {
	const scale = 60 // divisible by what small blocks have
	common := 0
	for i := range blocks {
		blocks[i].weight = max(1, int(math.Round(scale/float64(blocks[i].size()+1))))
		common = divisor(common, blocks[i].weight)
	}
	for i := range blocks {
		blocks[i].weight /= common
	}
}

func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// twiceU is twice the number of pairs of which head is larger, an equal pair counting half.
func (b *block) twiceU() (u int) {
	for _, x := range b.base {
		for _, y := range b.head {
			u += 1 + cmp.Compare(y, x)
		}
	}
	return u
}

// ties are how often each value occurs, in ascending order of the values.
func (b *block) ties() (counts []int) {
	all := slices.Sorted(slices.Values(slices.Concat(b.base, b.head)))
	for i, v := range all {
		if i == 0 || v != all[i-1] {
			counts = append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return counts
}

// vanElteren is the two-sided p-value.
func vanElteren(blocks []block) float64 {
	observed := 0
	for i := range blocks {
		observed += blocks[i].weight * blocks[i].twiceU()
	}
	below, above := tailsOf(blocks, func(b *block) []int { return b.ties() }, observed)
	return min(1, 2*min(below, above))
}

// tailsOf are the probabilities of a statistic of at most at, and of at least at, under the
// hypothesis that base and head do not differ within any block. tiesOf returns a block's ties.
func tailsOf(blocks []block, tiesOf func(*block) []int, at int) (below, above float64) {
	values := 0
	for i := range blocks {
		values += blocks[i].size()
	}
	if values > exactValues {
		mean, deviation := moments(blocks, tiesOf)
		if deviation == 0 {
			return 1, 1
		}
		// The continuity correction is half a step: a pair that is no tie moves the statistic
		// by two units of the smallest weight.
		step := float64(slices.MinFunc(blocks, func(a, b block) int {
			return a.weight - b.weight
		}).weight)
		return normalCDF((float64(at) - mean + step) / deviation),
			normalCDF((mean - float64(at) + step) / deviation)
	}
	for value, p := range distribution(blocks, tiesOf) {
		if value <= at {
			below += p
		}
		if value >= at {
			above += p
		}
	}
	return below, above
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// moments are the mean and the standard deviation of the statistic.
func moments(blocks []block, tiesOf func(*block) []int) (mean, deviation float64) {
	variance := 0.0
	for i := range blocks {
		b := &blocks[i]
		pairs, n, w := float64(len(b.base)*len(b.head)), float64(b.size()), float64(b.weight)
		tied := 0.0
		for _, t := range tiesOf(b) {
			tied += float64(t*t*t - t)
		}
		mean += w * pairs
		// Of twice U: four times the variance of U, with the correction for ties.
		variance += w * w * pairs * (n + 1 - tied/(n*(n-1))) / 3
	}
	return mean, math.Sqrt(variance)
}

// distribution is the exact distribution of the statistic: element v is the probability of v.
func distribution(blocks []block, tiesOf func(*block) []int) []float64 {
	sum := []float64{1}
	for i := range blocks {
		b := &blocks[i]
		own := distributionOfU(tiesOf(b), len(b.head))
		next := make([]float64, len(sum)+b.weight*(len(own)-1))
		for u, p := range own {
			if p == 0 {
				continue
			}
			for v, q := range sum {
				next[v+b.weight*u] += p * q
			}
		}
		sum = next
	}
	return sum
}

// distributionOfU is the exact distribution of twice the Mann-Whitney statistic of one block,
// in which the values occur as often as ties says and head has so many of them. It goes
// through the values in ascending order: state [k][u] is the number of ways in which k of the
// values so far are head's, with twice the statistic u.
func distributionOfU(ties []int, head int) []float64 {
	values := 0
	for _, t := range ties {
		values += t
	}
	most := 2 * head * (values - head)
	ways := make([][]float64, head+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	seen := 0
	for _, t := range ties {
		for k := min(head, seen+t); k >= 0; k-- { // in place: from the largest k down
			fresh := make([]float64, most+1)
			for r := 0; r <= min(t, k); r++ { // of the t equal values, r are head's
				before := k - r // of head, of the values seen
				if before > seen {
					continue
				}
				larger := 2*r*(seen-before) + r*(t-r)
				c := binomial(t, r)
				for u, n := range ways[before] {
					if n > 0 && u+larger <= most {
						fresh[u+larger] += c * n
					}
				}
			}
			ways[k] = fresh
		}
		seen += t
	}
	all := binomial(values, head)
	out := ways[head]
	for u := range out {
		out[u] /= all
	}
	return out
}

func binomial(n, k int) float64 { return math.Round(math.Exp(logChoose(n, k))) }

func logChoose(n, k int) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(k) - lg(n-k)
}

// weighted is head to base of one pair, with its block's weight.
type weighted struct {
	quotient float64
	weight   int
}

// pairsOf are all pairs within blocks, sorted by quotient, and the sum of their weights.
func pairsOf(blocks []block) (pairs []weighted, total int) {
	for _, b := range blocks {
		for _, x := range b.base {
			for _, y := range b.head {
				pairs = append(pairs, weighted{quotient(y, x), b.weight})
				total += b.weight
			}
		}
	}
	slices.SortFunc(pairs, func(a, b weighted) int { return cmp.Compare(a.quotient, b.quotient) })
	return pairs, total
}

// weightedMedian is the quotient with half of the weight on either side; the geometric mean of
// two, if half of the weight lies between them.
func weightedMedian(pairs []weighted, total int) float64 {
	below := 0
	for i, p := range pairs {
		below += p.weight
		switch {
		case 2*below == total && p.quotient > 0 && pairs[i+1].quotient < FromZero:
			return math.Sqrt(p.quotient * pairs[i+1].quotient)
		case 2*below >= total:
			return p.quotient
		}
	}
	return math.NaN()
}

// invert is the interval of the ratios that the test does not reject at Confidence. If head is
// divided by a ratio, the statistic is twice the weight of the pairs whose quotient is larger.
func invert(blocks []block, pairs []weighted) (lo, hi float64) {
	reject := largestRejected(blocks)
	lo, hi = 0, FromZero
	for i, sum := 0, 0; i < len(pairs); i++ {
		if sum += 2 * pairs[i].weight; sum > reject {
			lo = pairs[i].quotient
			break
		}
	}
	for i, sum := len(pairs)-1, 0; i >= 0; i-- {
		if sum += 2 * pairs[i].weight; sum > reject {
			hi = pairs[i].quotient
			break
		}
	}
	if reject < 0 {
		return 0, FromZero
	}
	return lo, hi
}

// largestRejected is the largest statistic whose lower tail has at most half of what
// Confidence leaves; -1 if there is none. Without ties, as inverted tests are.
func largestRejected(blocks []block) int {
	untied := func(b *block) []int { return slices.Repeat([]int{1}, b.size()) }
	tail := (1 - Confidence) / 2
	values, most := 0, 0
	for i := range blocks {
		values += blocks[i].size()
		most += 2 * blocks[i].weight * len(blocks[i].base) * len(blocks[i].head)
	}
	if values > exactValues {
		return sort.Search(most+1, func(at int) bool {
			below, _ := tailsOf(blocks, untied, at)
			return below > tail
		}) - 1
	}
	below := 0.0
	for value, p := range distribution(blocks, untied) {
		if below += p; below > tail {
			return value - 1
		}
	}
	return most
}

// SameInBlocks is the probability that the means of blocks lie as far apart as they do, or
// farther, if all come from one normal distribution: the F test of a one-way analysis of
// variance. It is 1 for fewer than two blocks, and where no block has two values. A small one
// says that the machines disagree: a mean over them is one of these machines, and not of their
// class.
func SameInBlocks(blocks [][]float64) float64 {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b []float64) bool { return len(b) == 0 })
	all := slices.Concat(blocks...)
	between, within := float64(len(blocks)-1), float64(len(all)-len(blocks))
	if between < 1 || within < 1 {
		return 1
	}
	mean := stat.Mean(all, nil)
	apart, inside := 0.0, 0.0
	for _, b := range blocks {
		own := stat.Mean(b, nil)
		apart += float64(len(b)) * (own - mean) * (own - mean)
		for _, v := range b {
			inside += (v - own) * (v - own)
		}
	}
	switch {
	case apart == 0:
		return 1
	case inside == 0:
		return 0
	}
	return distuv.F{D1: between, D2: within}.Survival(apart / between / (inside / within))
}
