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
		{"slower", metrics.NsPerOp, Ratio{1.2, 1.1, 1.3, sure, sure, 6, false, 0}, 0, Worse},
		{"faster", metrics.NsPerOp, Ratio{0.8, 0.7, 0.9, sure, sure, 6, false, 0}, 0, Better},
		{"more done", metrics.Achieved, Ratio{1.2, 1.1, 1.3, sure, sure, 6, false, 0}, 0, Better},
		{"less done", metrics.Achieved, Ratio{0.8, 0.7, 0.9, sure, sure, 6, false, 0}, 0, Worse},
		{"within the threshold", metrics.NsPerOp, Ratio{1.01, 0.99, 1.02, unsure, unsure, 6, false, 0}, 0, Same},
		{"significant and small", metrics.NsPerOp, Ratio{1.01, 1.005, 1.02, sure, sure, 6, false, 0}, 0, Same},
		{"wide", metrics.NsPerOp, Ratio{1.2, 0.9, 1.5, unsure, unsure, 6, false, 0}, 0, Inconclusive},
		{"beyond the threshold, not significant", metrics.NsPerOp, Ratio{1.2, 1.1, 1.3, unsure, unsure, 6, false, 0}, 0, Inconclusive},
		{"within the floor", metrics.NsPerOp, Ratio{1.2, 1.1, 1.3, sure, sure, 6, false, 0}, 0.4, Inconclusive},
		{"the same on a noisy machine", metrics.NsPerOp, Ratio{1.01, 0.97, 1.04, unsure, unsure, 6, false, 0}, 0.4, Same},
		{"interval reaches into the floor", metrics.NsPerOp, Ratio{1.2, 1.05, 1.3, sure, sure, 6, false, 0}, 0.1, Inconclusive},
		{"too few forks", metrics.NsPerOp, Ratio{1, 0.999, 1, sure, sure, 5, false, 0}, 0, Inconclusive},
		{"a count that is equal in few forks", metrics.AllocsPerOp, Ratio{1, 1, 1, 1, 1, 2, false, 0}, 0.2, Same},
		{"a count of one fork", metrics.AllocsPerOp, Ratio{1, 1, 1, 1, 1, 1, false, 0}, 0, Inconclusive},
		{"few forks that took turns", metrics.NsPerOp, Ratio{1.2, 1.1, 1.3, sure, sure, FewestDuets, true, 3}, 0, Worse},
		{"too few of them", metrics.NsPerOp, Ratio{1.2, 1.1, 1.3, sure, sure, FewestDuets - 1, true, 2}, 0, Inconclusive},
		{"a condition", metrics.Offered, Ratio{2, 2, 2, sure, sure, 6, false, 0}, 0, NotComparable},
	} {
		if got := DefaultRule.Judge(metrics.Of(c.metric).Better, c.ratio, c.floor); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The tails of the same code differ between processes by more than its times.
func TestPercentilesAreTheSameWithinMore(t *testing.T) {
	t.Parallel()
	near := Ratio{1.1, 0.85, 1.2, 0.2, 0.2, 6, false, 0}
	for metric, want := range map[string]Verdict{metrics.NsPerOp: Inconclusive, metrics.Usual(metrics.Delay): Same, metrics.Percentile(metrics.Stale, 99): Same} {
		m := metrics.Of(metric)
		if got := DefaultRule.For(m).Judge(m.Better, near, 0); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
	// A difference that is proved is one, however small.
	proved := Ratio{1.15, 1.1, 1.2, 0.001, 0.001, 6, false, 0}
	if got := DefaultRule.For(metrics.Of(metrics.Usual(metrics.Delay))).Judge(metrics.LowerIsBetter, proved, 0); got != Worse {
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
