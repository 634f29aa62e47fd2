package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normal(rng *rand.Rand, n int, mean, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + sd*rng.NormFloat64()
	}
	return out
}

func TestEstimateOf(t *testing.T) {
	t.Parallel()
	// For six values the distribution-free interval of the median is the range
	// (coverage 96.9 percent: 1 - 2*0.5^6).
	e := EstimateOf([]float64{6, 1, 3, 2, 5, 4})
	if e.Median != 3.5 || e.Lo != 1 || e.Hi != 6 || len(e.Warnings) != 0 {
		t.Errorf("six values: %+v", e)
	}
	few := EstimateOf([]float64{1, 2, 3})
	if few.Median != 2 || few.Lo != 1 || few.Hi != 3 || len(few.Warnings) == 0 {
		t.Errorf("three values must carry a warning: %+v", few)
	}
	if none := EstimateOf(nil); !math.IsNaN(none.Median) || len(none.Warnings) == 0 {
		t.Errorf("no values: %+v", none)
	}
}

func TestOutliersAreMarkedNotDropped(t *testing.T) {
	t.Parallel()
	values := []float64{10, 11, 10, 12, 11, 10, 50}
	if got := OutliersOf(values); !slices.Equal(got, []int{6}) {
		t.Errorf("outliers %v, want position 6", got)
	}
	if e := EstimateOf(values); e.Outliers != 1 || e.N != 7 || e.Median != 11 {
		t.Errorf("%+v", e)
	}
	if OutliersOf([]float64{1, 100, 1}) != nil {
		t.Error("three values have no quartiles to speak of")
	}
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

// The bootstrap interval of the ratio of medians must cover the true ratio about
// as often as it says.
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
	// 95 percent claimed; below 90 would be more than three standard errors off.
	if share := float64(covered) / trials; share < 0.90 {
		t.Errorf("covered the truth in %.1f%% of the trials, want about 95%%", 100*share)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	sure, unsure := 0.001, 0.2
	for _, c := range []struct {
		name   string
		metric string
		ratio  Ratio
		floor  float64
		want   Verdict
	}{
		{"slower", NsPerOp, Ratio{1.2, 1.1, 1.3, sure, sure, 6}, 0, Worse},
		{"faster", NsPerOp, Ratio{0.8, 0.7, 0.9, sure, sure, 6}, 0, Better},
		{"more done", Achieved, Ratio{1.2, 1.1, 1.3, sure, sure, 6}, 0, Better},
		{"less done", Achieved, Ratio{0.8, 0.7, 0.9, sure, sure, 6}, 0, Worse},
		{"within the threshold", NsPerOp, Ratio{1.01, 0.99, 1.02, unsure, unsure, 6}, 0, Same},
		{"significant and small", NsPerOp, Ratio{1.01, 1.005, 1.02, sure, sure, 6}, 0, Same},
		{"wide", NsPerOp, Ratio{1.2, 0.9, 1.5, unsure, unsure, 6}, 0, Inconclusive},
		{"beyond the threshold, not significant", NsPerOp, Ratio{1.2, 1.1, 1.3, unsure, unsure, 6}, 0, Inconclusive},
		{"within the floor", NsPerOp, Ratio{1.2, 1.1, 1.3, sure, sure, 6}, 0.4, Inconclusive},
		{"the same on a noisy machine", NsPerOp, Ratio{1.01, 0.97, 1.04, unsure, unsure, 6}, 0.4, Same},
		{"interval reaches into the floor", NsPerOp, Ratio{1.2, 1.05, 1.3, sure, sure, 6}, 0.1, Inconclusive},
		{"too few forks", NsPerOp, Ratio{1, 1, 1, sure, sure, 5}, 0, Inconclusive},
		{"a condition", Offered, Ratio{2, 2, 2, sure, sure, 6}, 0, NotComparable},
	} {
		if got := DefaultRule.Judge(DirectionOf(c.metric), c.ratio, c.floor); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Two samples of the same code must practically never be told apart.
func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	const trials = 1000
	alarms := 0
	for range trials {
		r, err := RatioOf(normal(rng, 6, 100, 4), normal(rng, 6, 100, 4))
		if err != nil {
			t.Fatal(err)
		}
		if v := DefaultRule.Judge(LowerIsBetter, r, 0); v == Better || v == Worse {
			alarms++
		}
	}
	if alarms > trials/100 {
		t.Errorf("%d false verdicts in %d comparisons of the same code, want 1 percent or fewer", alarms, trials)
	}
}
