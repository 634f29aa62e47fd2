package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
)

// measuredNoise is the variation of the forks of single operations on the build machine:
// per row of a kept run, the ratio of each fork's ns/op to the row's median.
type measuredNoise struct {
	Run     string    `json:"run"`
	Row     string    `json:"row"`
	Factors []float64 `json:"factors"`
}

func readNoise(t *testing.T) []measuredNoise {
	t.Helper()
	b, err := os.ReadFile("testdata/noise.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []measuredNoise
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 10 {
		t.Fatalf("%d rows of noise", len(rows))
	}
	return rows
}

// draw makes a sample of n forks with the row's noise. It draws with replacement and
// smooths by a tenth of the noise, so that the few values do not repeat.
func (m measuredNoise) draw(rng *rand.Rand, n int, median float64) []float64 {
	spread := 0.0
	for _, f := range m.Factors {
		spread += math.Abs(f-1) / float64(len(m.Factors))
	}
	out := make([]float64, n)
	for i := range out {
		f := m.Factors[rng.IntN(len(m.Factors))] * (1 + 0.1*spread*rng.NormFloat64())
		out[i] = median * f
	}
	return out
}

// aaFloor is the noise floor that a run would have measured beside these samples.
func aaFloor(t *testing.T, base, again []float64) float64 {
	t.Helper()
	aa, err := RatioOf(base, again)
	if err != nil {
		t.Fatal(err)
	}
	return FloorOf(aa)
}

// The default rule finds a difference between samples of the same code in at most 1 percent
// of 1,000 comparisons, with the noise of the build machine and with worse.
func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	rows := readNoise(t)
	shapes := []struct {
		name string
		draw func(rng *rand.Rand, n int) []float64
	}{
		{"normal, 4 percent", func(rng *rand.Rand, n int) []float64 { return normal(rng, n, 100, 4) }},
		{"the build machine", func(rng *rand.Rand, n int) []float64 {
			return rows[rng.IntN(len(rows))].draw(rng, n, 100)
		}},
		{"two modes, a factor of two apart", func(rng *rand.Rand, n int) []float64 {
			out := normal(rng, n, 100, 3)
			for i := range out {
				out[i] *= float64(1 + rng.IntN(2))
			}
			return out
		}},
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 8))
			const trials = 1000
			alarms := 0
			for range trials {
				all := shape.draw(rng, 2*FewestForks)
				base, head := all[:FewestForks], all[FewestForks:]
				r, err := RatioOf(base, head)
				if err != nil {
					t.Fatal(err)
				}
				if v := DefaultRule.Judge(metrics.LowerIsBetter, r, 0); v == Better || v == Worse {
					alarms++
				}
			}
			t.Logf("%d false verdicts in %d comparisons of the same code", alarms, trials)
			if alarms > trials/100 {
				t.Errorf("%d false verdicts in %d comparisons of the same code, want 1 percent or fewer",
					alarms, trials)
			}
		})
	}
}

// A true change of 5 percent, at the noise of the build machine, is found in at least 95
// percent of the comparisons that claim to detect one of that size. The number of forks
// decides whether a comparison claims it.
func TestPowerIsAsClaimed(t *testing.T) {
	t.Parallel()
	rows := readNoise(t)
	rng := rand.New(rand.NewPCG(9, 10))
	claimed, found, trials := 0, 0, 0
	for _, row := range rows {
		for _, n := range []int{20, 80, 320, 1280} {
			base, again, head := row.draw(rng, n, 100), row.draw(rng, n, 100), row.draw(rng, n, 105)
			floor := aaFloor(t, base, again)
			r, err := RatioOf(base, head)
			if err != nil {
				t.Fatal(err)
			}
			trials++
			if p := DefaultRule.Prospect(r, floor, DefaultRule.Alpha); p.Detectable > 0 &&
				p.Detectable <= 0.05 {
				claimed++
				if DefaultRule.Judge(metrics.LowerIsBetter, r, floor) == Worse {
					found++
				}
			}
		}
	}
	t.Logf("of %d comparisons of 5 percent the tool claims power for %d, and finds %d", trials,
		claimed, found)
	if claimed < trials/10 {
		t.Errorf("power is claimed in %d of %d comparisons: too few to show anything", claimed, trials)
	}
	if float64(found) < Power*float64(claimed) {
		t.Errorf("%d of %d found, want %g percent", found, claimed, 100*Power)
	}
}

// The number of further forks that Prospect returns does settle a comparison.
func TestMoreForksSettle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	asked, settled := 0, 0
	for range 300 {
		effect := []float64{1, 1.1, 1.2}[rng.IntN(3)]
		base, head := normal(rng, 8, 100, 6), normal(rng, 8, 100*effect, 6)
		r, err := RatioOf(base, head)
		if err != nil {
			t.Fatal(err)
		}
		p := DefaultRule.Prospect(r, 0, DefaultRule.Alpha)
		if DefaultRule.Judge(metrics.LowerIsBetter, r, 0) != Inconclusive || p.MoreForks == 0 ||
			p.MoreForks > 300 {
			continue
		}
		asked++
		more, err := RatioOf(append(base, normal(rng, p.MoreForks, 100, 6)...),
			append(head, normal(rng, p.MoreForks, 100*effect, 6)...))
		if err != nil {
			t.Fatal(err)
		}
		if DefaultRule.Judge(metrics.LowerIsBetter, more, 0) != Inconclusive {
			settled++
		}
	}
	t.Logf("%d of %d settled", settled, asked)
	// The medians change with more forks; the promise assumes that they do not.
	if asked < 50 || settled < asked*2/3 {
		t.Errorf("%d of %d were settled by the forks that were said to do it", settled, asked)
	}
}

func TestProspect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		ratio Ratio
		floor float64
		can   bool
		more  bool
	}{
		{"clear", Ratio{Estimate: 1.2, Lo: 1.19, Hi: 1.21, N: 20}, 0, true, true},
		{"too few forks", Ratio{Estimate: 1.2, Lo: 1.19, Hi: 1.21, N: 5}, 0, false, true},
		{"a ratio of nothing", Ratio{Estimate: FromZero, Lo: FromZero, Hi: FromZero, N: 20}, 0, false,
			false},
		{"all noise", Ratio{Estimate: 1.04, Lo: 0.1, Hi: 9, N: 6}, 2, true, false},
	} {
		p := DefaultRule.Prospect(c.ratio, c.floor, DefaultRule.Alpha)
		if (p.Detectable > 0) != c.can || (p.MoreForks > 0) != c.more {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	if got := smallestP(6, 6); math.Abs(got-2.0/924) > 1e-12 {
		t.Errorf("the least p of six against six is %g, want 2/924", got)
	}
	// Six values against twelve can find what six against six cannot.
	rng := rand.New(rand.NewPCG(1, 2))
	twelve, err := RatioOf(normal(rng, 12, 100, 1), normal(rng, 6, 150, 1))
	if err != nil {
		t.Fatal(err)
	}
	const critical = 0.001
	if least := 2.0 / 18564; math.Abs(twelve.P/least-1) > 1e-6 ||
		math.Abs(twelve.LeastP()/least-1) > 1e-6 ||
		DefaultRule.Prospect(twelve, 0, critical).Detectable == 0 {
		t.Errorf("six against twelve, with a least p of %g: %+v, %+v", least, twelve,
			DefaultRule.Prospect(twelve, 0, critical))
	}
}
