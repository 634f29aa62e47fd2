package stats

import (
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
)

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
		{"slower", metrics.NsPerOp, Ratio{Estimate: 1.2, Lo: 1.1, Hi: 1.3, P: sure, Q: sure, N: 6}, 0,
			Worse},
		{"faster", metrics.NsPerOp, Ratio{Estimate: 0.8, Lo: 0.7, Hi: 0.9, P: sure, Q: sure, N: 6}, 0,
			Better},
		{"more done", metrics.Achieved, Ratio{Estimate: 1.2, Lo: 1.1, Hi: 1.3, P: sure, Q: sure, N: 6}, 0,
			Better},
		{"less done", metrics.Achieved, Ratio{Estimate: 0.8, Lo: 0.7, Hi: 0.9, P: sure, Q: sure, N: 6}, 0,
			Worse},
		{"within the threshold", metrics.NsPerOp,
			Ratio{Estimate: 1.01, Lo: 0.99, Hi: 1.02, P: unsure, Q: unsure, N: 6}, 0, Same},
		{"significant and small", metrics.NsPerOp,
			Ratio{Estimate: 1.01, Lo: 1.005, Hi: 1.02, P: sure, Q: sure, N: 6}, 0, Same},
		{"wide", metrics.NsPerOp, Ratio{Estimate: 1.2, Lo: 0.9, Hi: 1.5, P: unsure, Q: unsure, N: 6}, 0,
			Inconclusive},
		{"beyond the threshold, not significant", metrics.NsPerOp,
			Ratio{Estimate: 1.2, Lo: 1.1, Hi: 1.3, P: unsure, Q: unsure, N: 6}, 0, Inconclusive},
		{"within the floor", metrics.NsPerOp,
			Ratio{Estimate: 1.2, Lo: 1.1, Hi: 1.3, P: sure, Q: sure, N: 6}, 0.4, Inconclusive},
		{"the same on a noisy machine", metrics.NsPerOp,
			Ratio{Estimate: 1.01, Lo: 0.97, Hi: 1.04, P: unsure, Q: unsure, N: 6}, 0.4, Same},
		{"interval reaches into the floor", metrics.NsPerOp,
			Ratio{Estimate: 1.2, Lo: 1.05, Hi: 1.3, P: sure, Q: sure, N: 6}, 0.1, Inconclusive},
		{"too few forks", metrics.NsPerOp, Ratio{Estimate: 1, Lo: 0.999, Hi: 1, P: sure, Q: sure, N: 5},
			0, Inconclusive},
		{"a count that is equal in few forks", metrics.AllocsPerOp,
			Ratio{Estimate: 1, Lo: 1, Hi: 1, P: 1, Q: 1, N: 2}, 0.2, Same},
		{"a count of one fork", metrics.AllocsPerOp, Ratio{Estimate: 1, Lo: 1, Hi: 1, P: 1, Q: 1, N: 1},
			0, Inconclusive},
		{"few forks that took turns", metrics.NsPerOp,
			Ratio{Estimate: 1.2, Lo: 1.1, Hi: 1.3, P: sure, Q: sure, N: FewestDuets, Paired: true,
				Degrees: 3}, 0, Worse},
		{"too few of them", metrics.NsPerOp,
			Ratio{Estimate: 1.2, Lo: 1.1, Hi: 1.3, P: sure, Q: sure, N: FewestDuets - 1, Paired: true,
				Degrees: 2}, 0, Inconclusive},
		{"a condition", metrics.Offered, Ratio{Estimate: 2, Lo: 2, Hi: 2, P: sure, Q: sure, N: 6}, 0,
			NotComparable},
	} {
		if got := DefaultRule.Judge(metrics.Of(c.metric).Better, c.ratio, c.floor); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The tails of the same code differ between processes by more than its times.
func TestPercentilesAreTheSameWithinMore(t *testing.T) {
	t.Parallel()
	near := Ratio{Estimate: 1.1, Lo: 0.85, Hi: 1.2, P: 0.2, Q: 0.2, N: 6}
	for metric, want := range map[string]Verdict{metrics.NsPerOp: Inconclusive,
		metrics.Usual(metrics.Delay): Same, metrics.Percentile(metrics.Stale, 99): Same} {
		m := metrics.Of(metric)
		if got := DefaultRule.For(m).Judge(m.Better, near, 0); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
	// A difference that is proved is one, however small.
	proved := Ratio{Estimate: 1.15, Lo: 1.1, Hi: 1.2, P: 0.001, Q: 0.001, N: 6}
	if got := DefaultRule.For(metrics.Of(metrics.Usual(metrics.Delay))).Judge(metrics.LowerIsBetter,
		proved, 0); got != Worse {
		t.Errorf("%+v: %s, want worse", proved, got)
	}
}

// All looks together spend alpha once.
func TestLooksShareAlpha(t *testing.T) {
	t.Parallel()
	if got := DefaultRule.AtLook(0); got != DefaultRule {
		t.Errorf("a number of forks that was settled beforehand costs nothing: %+v", got)
	}
	spent := 0.0
	for look := 1; look <= 1000; look++ {
		spent += DefaultRule.AtLook(look).Alpha
	}
	if spent > DefaultRule.Alpha || spent < 0.99*DefaultRule.Alpha {
		t.Errorf("a thousand looks spend %g of %g", spent, DefaultRule.Alpha)
	}
}

// The same code may measure 0 once and not the other time, as for waits for a lock. JSON has no
// infinite numbers, so what is made of such a floor has none either.
func TestFloorFromZero(t *testing.T) {
	t.Parallel()
	zeros, some := []float64{0, 0, 0, 0, 0, 2e7}, []float64{0, 24e3, 24e3, 24e3, 24e3, 8e5}
	for _, aa := range [][2][]float64{{zeros, some}, {some, zeros}} {
		ratio, err := RatioOf(aa[0], aa[1])
		if err != nil {
			t.Fatal(err)
		}
		floor := FloorOf(ratio)
		if floor != FromZero {
			t.Errorf("the medians of %v and %v: floor %g, want FromZero", aa[0], aa[1], floor)
		}
		doubled, err := RatioOf([]float64{1, 1.01, 1.02, 1.03, 1.04, 1.05},
			[]float64{2, 2.01, 2.02, 2.03, 2.04, 2.05})
		if err != nil {
			t.Fatal(err)
		}
		if v := DefaultRule.Judge(metrics.LowerIsBetter, doubled, floor); v != Inconclusive {
			t.Errorf("twice as much is called %s beside such a floor", v)
		}
		if p := DefaultRule.Prospect(doubled, floor, DefaultRule.Alpha); p != (Prospect{}) {
			t.Errorf("%+v: no difference can be found beside such a floor", p)
		}
	}
	ratio, err := RatioOf(zeros, zeros)
	if floor := FloorOf(ratio); err != nil || floor != 0 {
		t.Errorf("zeros: floor %g, %v; want none", floor, err)
	}
}
