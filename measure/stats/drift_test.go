package stats

import (
	"math"
	"testing"
)

func TestDriftIsToldFromSteps(t *testing.T) {
	t.Parallel()
	const trials, n = 200, 40
	for _, noise := range changeNoises[:2] {
		for _, c := range []struct {
			name  string
			of    func(i int) float64
			drift bool
		}{
			{"a drift of 6 percent", func(i int) float64 { return 0.06 * float64(i) / (n - 1) }, true},
			{"a step of 3 percent", func(i int) float64 { return 0.03 * float64(i/(n/2)) }, false},
			{"a step of 3 percent late", func(i int) float64 { return 0.03 * float64(i/(n-8)) }, false},
			{"up and down by 3 percent", func(i int) float64 { return 0.03 * float64(i/14%2) }, false},
		} {
			found, drifts, covered := 0, 0, 0
			for seed := range trials {
				values := levels(uint64(seed), n, 0.01/math.Sqrt(6), noise.draw, c.of)
				changes := ChangesIn(values, 0.001)
				if len(changes) == 0 {
					continue
				}
				found++
				d, ok := DriftOf(values, changes)
				if !ok {
					continue
				}
				drifts++
				if d.Lo <= 0.06 && 0.06 <= d.Hi {
					covered++
				}
			}
			t.Logf("%s, %s: %d of %d have changes, %d drift", noise.name, c.name, found, trials, drifts)
			if found < trials*95/100 {
				t.Errorf("%s: only %d of %d found", c.name, found, trials)
			}
			if c.drift && covered < drifts*90/100 {
				t.Errorf("%s: the interval has the truth in %d of %d", c.name, covered, drifts)
			}
			if right := map[bool]int{true: drifts, false: found - drifts}[c.drift]; right < found*95/100 {
				t.Errorf("%s: %d of %d told rightly", c.name, right, found)
			}
		}
	}
}

func TestNoDriftInExactCounts(t *testing.T) {
	t.Parallel()
	counts := []float64{4, 4, 4, 4, 5, 5, 5, 5}
	if d, ok := DriftOf(counts, ChangesIn(counts, 0.01)); ok {
		t.Errorf("a step of a count is a drift: %+v", d)
	}
	if d, ok := DriftOf(make([]float64, 9), nil); ok {
		t.Errorf("a constant is a drift: %+v", d)
	}
}

// TestFalseTrends measures how often a flat series has a trend.
func TestFalseTrends(t *testing.T) {
	t.Parallel()
	for _, noise := range changeNoises {
		for _, n := range []int{8, 40} {
			const trials = 4000
			found := 0
			for seed := range trials {
				if TrendP(levels(uint64(seed), n, 1, noise.draw, flat)) <= 0.01 {
					found++
				}
			}
			t.Logf("%s, %d runs: %.2f%% of flat series have a trend", noise.name, n, 100*float64(found)/trials)
			if found > 40+19 { // three standard errors
				t.Errorf("%s, %d runs: %d of %d flat series have a trend, want 1 percent at most", noise.name, n, found, trials)
			}
		}
	}
}
