package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
)

func normal(rng *rand.Rand, n int, mean, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + sd*rng.NormFloat64()
	}
	return out
}

func TestRatioOf(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	base, head := normal(rng, 20, 100, 2), normal(rng, 20, 150, 3)
	r, err := RatioOf(base, head)
	if err != nil {
		t.Fatal(err)
	}
	if r.Estimate < 1.45 || r.Estimate > 1.55 || r.Lo > r.Estimate || r.Hi < r.Estimate || r.P > 1e-6 {
		t.Errorf("%+v", r)
	}
	again, _ := RatioOf(base, head)
	if again != r {
		t.Error("the same samples gave another interval")
	}
	for _, c := range []struct {
		name       string
		base, head []float64
		ok         bool
	}{
		{"no base", nil, []float64{1}, false},
		{"zero base", []float64{0, 0}, []float64{1, 1}, true},
		{"both zero", []float64{0, 0}, []float64{0, 0}, true},
	} {
		if _, err := RatioOf(c.base, c.head); (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// The bootstrap interval of the ratio of medians must cover the true ratio about as often
// as claimed.
func TestBootstrapCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const trials, n = 300, 20
	covered := 0
	for range trials {
		r, err := RatioOf(normal(rng, n, 100, 5), normal(rng, n, 120, 6))
		if err != nil {
			t.Fatal(err)
		}
		if r.Lo <= 1.2 && 1.2 <= r.Hi {
			covered++
		}
	}
	// 95 percent is claimed; below 90 would be off by more than three standard errors.
	if share := float64(covered) / trials; share < 0.90 {
		t.Errorf("covered the truth in %.1f%% of the trials, want about 95%%", 100*share)
	}
}

// The bootstrap's standard error of a median, against Efron and Tibshirani (1993),
// table 2.2: 37.83 for the survival times of the treated mice, as the number of
// draws grows without bound.
func TestBootstrapAgainstPublishedValue(t *testing.T) {
	t.Parallel()
	treated := []float64{94, 197, 16, 38, 99, 141, 23}
	medians := bootstrapRatios([]float64{1}, treated, 200_000)
	mean, square := 0.0, 0.0
	for _, m := range medians {
		mean += m / float64(len(medians))
	}
	for _, m := range medians {
		square += (m - mean) * (m - mean) / float64(len(medians)-1)
	}
	if se := math.Sqrt(square); math.Abs(se-37.83) > 0.3 {
		t.Errorf("the standard error of the median is %.2f, published is 37.83", se)
	}
}

// With ties and sizes that differ, P is that of all exchanges of base and head: of the 18 values
// here seven are 90, and 231 + 7 of 18,564 choices of six have five or six of them.
func TestPWithTiesAndUnequalSizes(t *testing.T) {
	t.Parallel()
	base := append(slices.Repeat([]float64{100}, 10), 90, 90)
	head := []float64{90, 90, 90, 90, 90, 100}
	for _, sides := range [][2][]float64{{base, head}, {head, base}} {
		r, err := RatioOf(sides[0], sides[1])
		if want := 2 * (231 + 7) / 18564.0; err != nil || math.Abs(r.P-want) > 1e-9 {
			t.Errorf("%v against %v: p %g, %v; want %g", sides[0], sides[1], r.P, err, want)
		}
	}
}

// Of families of 40 comparisons of the same code, at most 1 in 100 has a false verdict. Without
// the correction for their number there are many.
func TestFamiliesOfTheSameCode(t *testing.T) {
	t.Parallel()
	const families, size = 40, 40
	rng := rand.New(rand.NewPCG(8, 9))
	falsely, uncorrected := 0, 0
	for range families {
		ratios := make([]*Ratio, size)
		for i := range ratios {
			r, err := RatioOf(normal(rng, 12, 100, 15), normal(rng, 12, 100, 15))
			if err != nil {
				t.Fatal(err)
			}
			ratios[i] = &r
		}
		anyFalse := func() bool {
			return slices.ContainsFunc(ratios, func(r *Ratio) bool {
				v := DefaultRule.Judge(metrics.LowerIsBetter, *r, 0)
				return v == Better || v == Worse
			})
		}
		if anyFalse() {
			uncorrected++
		}
		if Adjust(ratios); anyFalse() {
			falsely++
		}
	}
	if falsely > 2 { // 0.4 are expected at most; 3 come by chance once in 130 such tests
		t.Errorf("%d of %d families have a false verdict", falsely, families)
	}
	if uncorrected < 5 {
		t.Errorf("%d of %d families have one without the correction: this tests little", uncorrected,
			families)
	}
}

// The distribution of the bootstrap's median is known without drawing: it is at
// most the k-th value when at least four of seven draws are (Efron, "Bootstrap
// Methods", Ann. Statist. 7(1), 1979, section 3).
func TestBootstrapAgainstExactDistribution(t *testing.T) {
	t.Parallel()
	sample := []float64{16, 23, 38, 94, 99, 141, 197}
	const draws = 200_000
	medians := bootstrapRatios([]float64{1}, sample, draws)
	for k := 1; k <= 7; k++ {
		p, exact := float64(k)/7, 0.0
		for j := 4; j <= 7; j++ {
			exact += choose(7, j) * math.Pow(p, float64(j)) * math.Pow(1-p, float64(7-j))
		}
		below := 0
		for _, m := range medians {
			if m <= sample[k-1] {
				below++
			}
		}
		if got := float64(below) / draws; math.Abs(got-exact) > 0.005 {
			t.Errorf("P(median <= %g) is %.4f, exactly %.4f", sample[k-1], got, exact)
		}
	}
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}

// The example of Benjamini and Hochberg (1995), section 3.3: of 15 p-values four
// pass at 0.05, where Bonferroni's correction lets three pass.
func TestAdjustAgainstPublishedExample(t *testing.T) {
	t.Parallel()
	ps := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
		0.4262, 0.5719, 0.6528, 0.7590, 1.0000}
	family := make([]*Ratio, len(ps))
	for i, j := range rand.New(rand.NewPCG(1, 1)).Perm(len(ps)) {
		family[i] = &Ratio{P: ps[j]}
	}
	Adjust(family)
	passed := 0
	for _, r := range family {
		if r.Q <= 0.05 {
			passed++
		}
		if r.Q < r.P || r.Q > 1 {
			t.Errorf("p=%g has q=%g", r.P, r.Q)
		}
		if r.P == 0.0095 && math.Abs(r.Q-0.0095*15/4) > 1e-12 {
			t.Errorf("p=0.0095 has q=%g, want %g", r.Q, 0.0095*15/4)
		}
	}
	if passed != 4 {
		t.Errorf("%d pass at 0.05, published are 4", passed)
	}
	Adjust(nil)
}
