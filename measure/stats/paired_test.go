package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
)

func TestMidMean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{1, 3}, 2},
		{[]float64{1, 2, 3, 4}, 2.5},
		{[]float64{1000, 2, 3, -1000}, 2.5},
		{[]float64{1, 2, 3, 4, 1000}, 3}, // a quarter of five: 2 and 4 count for three quarters
		{[]float64{5, 1, 3, 2, 4, 8, 6, 7}, 4.5},
	} {
		if got := MidMean(c.values); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("of %v: %g, want %g", c.values, got, c.want)
		}
	}
	if !math.IsNaN(MidMean(nil)) {
		t.Error("of nothing it is a number")
	}
	// A fifth of the values is disturbed by a factor, all in one direction.
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 1000)
	for i := range values {
		values[i] = 0.01 * rng.NormFloat64()
		if i%5 == 0 {
			values[i] += 1
		}
	}
	if got := MidMean(values); got > 0.006 || got < 0 {
		t.Errorf("disturbed: %g, want almost 0", got)
	}
}

// Student's t from tables (Abramowitz and Stegun 1964, table 26.10).
func TestStudentT(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p       float64
		degrees int
		want    float64
	}{{0.975, 1, 12.706}, {0.975, 3, 3.182}, {0.975, 7, 2.365}, {0.995, 5, 4.032},
		{0.975, 30, 2.042}} {
		if got := studentT(float64(c.degrees)).Quantile(c.p); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%g of %d degrees: %.4f, want %.3f", c.p, c.degrees, got, c.want)
		}
	}
}

func TestPairedRatioOf(t *testing.T) {
	t.Parallel()
	r, err := PairedRatioOf([]float64{math.Log(0.8), math.Log(0.82), math.Log(0.81), math.Log(0.79)})
	if err != nil || math.Abs(r.Estimate-0.805) > 0.001 || r.Lo > 0.79 || r.Hi < 0.82 || r.Lo < 0.77 ||
		r.Hi > 0.84 || r.P > 1e-3 || r.N != 4 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := PairedRatioOf([]float64{0, 0, 0, 0}); err != nil || r.Estimate != 1 || r.Lo != 1 ||
		r.Hi != 1 || r.P != 1 {
		t.Errorf("equal counts: %+v, %v; want 1 [1, 1]", r, err)
	}
	if r, err := PairedRatioOf([]float64{math.Log(2), math.Log(2)}); err != nil ||
		math.Abs(r.Lo-2) > 1e-9 || r.P > 1e-9 {
		t.Errorf("twice, always: %+v, %v", r, err)
	}
	if r, err := PairedRatioOf([]float64{0.1}); err != nil || r.Lo != 0 || r.Hi != FromZero ||
		r.P != 1 {
		t.Errorf("one fork says nothing of the noise: %+v, %v", r, err)
	}
	for _, bad := range [][]float64{nil, {math.NaN()}, {0, math.Inf(1)}} {
		if _, err := PairedRatioOf(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func TestRelativeRatioOf(t *testing.T) {
	t.Parallel()
	base, head := []float64{0.10, 0.11, 0.09, 0.10}, []float64{0.20, 0.21, 0.19, 0.20, 0.20}
	r, err := RelativeRatioOf(base, head)
	if err != nil || math.Abs(math.Log(r.Estimate)-0.1) > 1e-9 || r.Lo < math.Exp(0.08) ||
		r.Hi > math.Exp(0.12) || r.P > 1e-4 || r.N != 4 || !r.Enough() {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := RelativeRatioOf([]float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}); err != nil ||
		r.Estimate != 1 || r.Lo != 1 || r.Hi != 1 || r.P != 1 {
		t.Errorf("equal: %+v, %v", r, err)
	}
	if r, err := RelativeRatioOf([]float64{0}, head); err != nil || r.Lo != 0 || r.Hi != FromZero ||
		r.P != 1 || r.Enough() {
		t.Errorf("one fork says nothing of the noise: %+v, %v", r, err)
	}
	if _, err := RelativeRatioOf(base, nil); err == nil {
		t.Error("a side without values is taken")
	}
}

// Of intervals at 95 percent, 95 in 100 contain the truth, and of p-values 1 in 100 is at
// most 0.01, from few forks too. Welch's test approximates, and one side is five times as
// noisy as the other.
func TestIntervalsOfDuetsCover(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		draw        func(rng *rand.Rand, n int) (Ratio, error)
		approximate float64 // how far the shares may be off beyond chance
	}{
		{"paired", func(rng *rand.Rand, n int) (Ratio, error) {
			return PairedRatioOf(normal(rng, n, 0, 0.003))
		}, 0},
		{"relative", func(rng *rand.Rand, n int) (Ratio, error) {
			return RelativeRatioOf(normal(rng, n, 0.3, 0.01), normal(rng, n, 0.3, 0.05))
		}, 0.01},
	} {
		const runs = 20_000
		rng := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{FewestDuets, 8, 20} {
			missed, significant := 0, 0
			for range runs {
				r, err := c.draw(rng, n)
				if err != nil {
					t.Fatal(err)
				}
				if r.Lo > 1 || r.Hi < 1 {
					missed++
				}
				if r.P <= 0.01 {
					significant++
				}
			}
			for _, count := range []struct {
				what string
				got  int
				want float64
			}{{"intervals that miss the truth", missed, 0.05},
				{"p-values of at most 0.01", significant, 0.01}} {
				// Four standard deviations of a binomial on either side.
				share := float64(count.got) / runs
				if math.Abs(share-count.want) > 4*math.Sqrt(count.want*(1-count.want)/runs)+c.approximate {
					t.Errorf("%s, %d forks: %.4f %s, want %g", c.name, n, share, count.what, count.want)
				}
			}
		}
	}
}

// ratioShapes draw the logarithms of the ratios of n forks, of one of several shapes.
var ratioShapes = map[string]func(rng *rand.Rand, n int) []float64{
	"normal, 0.3 percent": func(rng *rand.Rand, n int) []float64 { return normal(rng, n, 0, 0.003) },
	"normal, 3 percent":   func(rng *rand.Rand, n int) []float64 { return normal(rng, n, 0, 0.03) },
	"one fork in ten is a tenth off": func(rng *rand.Rand, n int) []float64 {
		out := normal(rng, n, 0, 0.003)
		for i := range out {
			if rng.IntN(10) == 0 {
				out[i] += 0.1
			}
		}
		return out
	},
}

// Of comparisons of the same code at most 1 in 1,000 is called better or worse.
func TestPairedNoFalseAlarm(t *testing.T) {
	t.Parallel()
	const trials = 20_000
	for name, draw := range ratioShapes {
		for _, n := range []int{FewestDuets, 6, 12} {
			rng := rand.New(rand.NewPCG(5, uint64(n)))
			alarms := 0
			for range trials {
				aa, err := PairedRatioOf(draw(rng, n))
				if err != nil {
					t.Fatal(err)
				}
				r, err := PairedRatioOf(draw(rng, n))
				if err != nil {
					t.Fatal(err)
				}
				if v := DefaultRule.Judge(metrics.LowerIsBetter, r, FloorOf(aa)); v == Better || v == Worse {
					alarms++
				}
			}
			if alarms > trials/1000 {
				t.Errorf("%s, %d forks: %d false verdicts in %d", name, n, alarms, trials)
			}
		}
	}
}

// Where the processes fall into two modes that lie 10 percent apart, all of a comparison's lie in
// one mode with probability 2^(1-n), and its verdict is then that of the mode. It is wrong no more
// often than that.
func TestPairedFalseAlarmsOfTwoModes(t *testing.T) {
	t.Parallel()
	const trials = 20_000
	for _, n := range []int{FewestDuets, 6, 12} {
		rng := rand.New(rand.NewPCG(5, uint64(n)))
		alarms := 0
		for range trials {
			logs := normal(rng, n, -0.05, 0.001)
			for i := range logs {
				logs[i] += 0.1 * float64(rng.IntN(2))
			}
			r, err := PairedRatioOf(logs)
			if err != nil {
				t.Fatal(err)
			}
			if v := DefaultRule.Judge(metrics.LowerIsBetter, r, 0); v == Better || v == Worse {
				alarms++
			}
		}
		p := math.Pow(2, float64(1-n))
		if got, most := float64(alarms), trials*p+4*math.Sqrt(trials*p*(1-p)); got > most ||
			n == FewestDuets && got < trials*p/2 {
			t.Errorf("%d forks: %d false verdicts in %d, want %.0f at most, and with few forks half of "+
				"that at least", n, alarms, trials, most)
		}
	}
}

// A true change of 5 percent is found in at least 95 percent of the comparisons that claim
// to detect one of that size.
func TestPairedPowerIsAsClaimed(t *testing.T) {
	t.Parallel()
	for _, noise := range []float64{0.001, 0.003, 0.006, 0.01} {
		for _, n := range []int{FewestDuets, 6, 12, 24} {
			rng := rand.New(rand.NewPCG(6, uint64(n)))
			claimed, found := 0, 0
			for range 1000 {
				aa, err := PairedRatioOf(normal(rng, n, 0, noise))
				if err != nil {
					t.Fatal(err)
				}
				r, err := PairedRatioOf(normal(rng, n, math.Log(1.05), noise))
				if err != nil {
					t.Fatal(err)
				}
				if p := DefaultRule.Prospect(r, FloorOf(aa), DefaultRule.Alpha); p.Detectable > 0 &&
					p.Detectable <= 0.05 {
					claimed++
					if DefaultRule.Judge(metrics.LowerIsBetter, r, FloorOf(aa)) == Worse {
						found++
					}
				}
			}
			if claimed > 100 && float64(found) < 0.95*float64(claimed) {
				t.Errorf("noise %g, %d forks: found %d of %d that it claims to find", noise, n, found, claimed)
			}
		}
	}
}
