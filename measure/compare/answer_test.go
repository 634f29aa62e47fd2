package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

func answerOf(t *testing.T, r *record.Run) Answer {
	t.Helper()
	all := Answers(r, Within(r))
	if len(all) != 1 {
		t.Fatalf("%d answers, want one for the one component: %+v", len(all), all)
	}
	return all[0]
}

// The answer is the implementation that gains most by what is proved, and says what it gains,
// what it costs and what is open.
func TestAnswerIsTheProvedBest(t *testing.T) {
	t.Parallel()
	r := sampleRun(12, 1, recordtest.Impl{Name: "reference", NsPerOp: 100},
		recordtest.Impl{Name: "better", NsPerOp: 80}, recordtest.Impl{Name: "best", NsPerOp: 50},
		recordtest.Impl{Name: "worse", NsPerOp: 300})
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "best" {
			f.Process[metrics.HeapPerObject] *= 1.3
		}
	}
	a := answerOf(t, r)
	if a.Component != "store" || a.Reference != "reference" || a.Use != "best" || a.Rejected != "" {
		t.Fatalf("%+v", a)
	}
	want := map[metrics.Concern]float64{metrics.ConcernTime: 0.5, metrics.ConcernDelay: 0.5,
		metrics.ConcernDone: 1, metrics.ConcernMemory: 1.3}
	for _, c := range a.Concerns {
		if truth := want[c.Concern]; math.Abs(c.Ratio.Estimate/truth-1) > 0.05 ||
			c.Ratio.Lo > c.Ratio.Estimate || c.Ratio.Hi < c.Ratio.Estimate {
			t.Errorf("%s: %+v, want about %g within its interval", c.Concern, c.Ratio, truth)
		}
		delete(want, c.Concern)
	}
	if len(want) > 0 || a.Concerns[len(a.Concerns)-1].Concern != metrics.ConcernDone {
		t.Errorf("%+v: want all concerns, and last the one that differs least", a.Concerns)
	}
	if len(a.Worse) != 1 || a.Worse[0].Name.Metric != metrics.HeapPerObject || a.Judged != 4 ||
		a.Inconclusive != 0 {
		t.Errorf("worse %+v, %d of %d inconclusive; want the memory, and none of 4", a.Worse,
			a.Inconclusive, a.Judged)
	}
}

// Where others took 60% of the processors, a gain of a factor of 2 may be theirs, and one of 5 is
// not. The run says so first, and recommends accordingly.
func TestDisturbanceRecommendsNothing(t *testing.T) {
	t.Parallel()
	for ns, want := range map[float64]string{50: "reference", 20: "other"} {
		r := sampleRun(12, 1, recordtest.Impl{Name: "reference", NsPerOp: 100},
			recordtest.Impl{Name: "other", NsPerOp: ns})
		if a := answerOf(t, r); a.Use != "other" {
			t.Errorf("undisturbed: use %s, want other", a.Use)
		}
		r.Environment.OthersMedian, r.Environment.OthersMax = 60, 80
		if a := answerOf(t, r); a.Use != want {
			t.Errorf("%g ns to 100, disturbed: use %s, want %s", ns, a.Use, want)
		}
		r.Warnings = []string{"another warning"}
		if first := RunWarnings(r)[0]; !strings.HasPrefix(first, "DISTURBED: others took 60%") ||
			!strings.Contains(first, "factor of 2.5") {
			t.Errorf("the first warning is %q", first)
		}
	}
}

// Ratios of more than 1,000 count alike against the reference. A direct comparison tells those
// apart
// that have them.
func TestAnswerComparesCandidatesDirectly(t *testing.T) {
	t.Parallel()
	r := sampleRun(12, 1, recordtest.Impl{Name: "reference", NsPerOp: 1e6},
		recordtest.Impl{Name: "small", NsPerOp: 100}, recordtest.Impl{Name: "fast", NsPerOp: 25})
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "small" {
			f.Process[metrics.HeapPerObject] *= 0.9
		}
	}
	if a := answerOf(t, r); a.Use != "fast" || len(a.Level) > 0 {
		t.Errorf("%s is recommended, not told apart %q; want fast alone", a.Use, a.Level)
	}
}

// Others that a direct comparison does not prove to lose are not told apart from the one to use:
// those that take the same time, and not those that take longer.
func TestAnswerNamesWhatIsLevel(t *testing.T) {
	t.Parallel()
	impls := []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "one", NsPerOp: 50},
		{Name: "two", NsPerOp: 50}, {Name: "slower", NsPerOp: 70}}
	a := answerOf(t, sampleRun(12, 1, impls...))
	if want := map[string]string{"one": "two", "two": "one"}[a.Use]; want == "" ||
		!slices.Equal(a.Level, []string{want}) {
		t.Errorf("%s is recommended, not told apart %q; want one of two that are alike, and the other",
			a.Use, a.Level)
	}
	r := sampleRun(12, 1, impls...)
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "two" {
			f.Process[metrics.HeapPerObject] *= 1.3
		}
	}
	if a := answerOf(t, r); a.Use != "one" || len(a.Level) > 0 {
		t.Errorf("%s is recommended, not told apart %q; want one alone, which is proved to keep less",
			a.Use, a.Level)
	}
	for i := range r.Impls {
		if r.Impls[i].Name == "one" {
			r.Impls[i].Waivers = []record.Waiver{{Clause: "STORE-12", Reason: "it is faster"}}
		}
	}
	if a := answerOf(t, r); a.Use != "two" || a.Rejected != "one" || len(a.Level) > 0 {
		t.Errorf("%+v, want two, why not one, and nothing level", a)
	}
}

// Without the catalog's reference, the implementation that stands in for it in the comparisons
// does so in the answer, with what it waives.
func TestAnswerWithoutTheReference(t *testing.T) {
	t.Parallel()
	r := withoutReference(
		recordtest.Run(recordtest.Spec{Forks: 12, Seed: 1,
			Impls: []recordtest.Impl{{Name: "mine", NsPerOp: 100}, {Name: "other", NsPerOp: 80}}}))
	for i := range r.Impls {
		r.Impls[i].Waivers = []record.Waiver{{Clause: "STORE-21", Reason: "it is faster"}}
	}
	if a := answerOf(t, r); a.Reference != "mine" || a.Use != "other" || a.Rejected != "" {
		t.Errorf("%+v, want other in place of mine", a)
	}
	r.Impls[0].Waivers = nil
	if a := answerOf(t, r); a.Reference != "mine" || a.Use != "mine" || a.Rejected != "other" {
		t.Errorf("%+v, want mine, and why not other", a)
	}
}

// Who waives a clause that the reference keeps is no drop-in, however fast.
func TestAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	r := sampleRun(12, 1, recordtest.Impl{Name: "reference", NsPerOp: 100},
		recordtest.Impl{Name: "sound", NsPerOp: 80}, recordtest.Impl{Name: "loose", NsPerOp: 50})
	waive := func(impl, clause string) {
		i := slices.IndexFunc(r.Impls, func(im record.Implementation) bool { return im.Name == impl })
		r.Impls[i].Waivers = append(r.Impls[i].Waivers,
			record.Waiver{Clause: clause, Reason: "it is faster"})
	}
	waive("reference", "STORE-21")
	waive("loose", "STORE-21")
	if a := answerOf(t, r); a.Use != "loose" {
		t.Errorf("%+v: what the reference waives too counts as kept", a)
	}
	waive("loose", "STORE-12")
	if a := answerOf(t, r); a.Use != "sound" || a.Rejected != "loose" ||
		a.Why != "waives STORE-12, which reference keeps" {
		t.Errorf("%+v, want sound, and why not loose", a)
	}
}

// An implementation that was given up in one workload is not recommended for what it gains in
// others.
func TestAnswerIsNotWhatWasGivenUp(t *testing.T) {
	t.Parallel()
	r := sampleRun(12, 1, recordtest.Impl{Name: "reference", NsPerOp: 100},
		recordtest.Impl{Name: "sound", NsPerOp: 80}, recordtest.Impl{Name: "hangs", NsPerOp: 50})
	if a := answerOf(t, r); a.Use != "hangs" {
		t.Fatalf("%+v, want the fastest where all processes ended", a)
	}
	last := func(f record.Fork) bool { return f.Cell.Impl == "hangs" && f.Index == 11 }
	r.Forks = slices.DeleteFunc(r.Forks, last)
	if a := answerOf(t, r); a.Use != "sound" || a.Rejected != "hangs" ||
		a.Why != "did not complete store-ops/objects=10" {
		t.Errorf("%+v, want sound, and why not hangs", a)
	}
	r.Complete = false // it was interrupted before the last process
	if a := answerOf(t, r); a.Use != "hangs" {
		t.Errorf("%+v, want the fastest by what was measured", a)
	}
	r.Warnings = []string{record.GivenUp(r.Cells[slices.IndexFunc(r.Cells, func(c record.Cell) bool {
		return c.Impl == "hangs"
	})]) + "it hung"}
	if a := answerOf(t, r); a.Use != "sound" || a.Rejected != "hangs" {
		t.Errorf("%+v, want sound: the run was interrupted after a process of hangs had crashed", a)
	}
}

// An implementation that did something wrong while it was measured is not recommended for its
// speed.
func TestAnswerIsNotWhatFailedACheck(t *testing.T) {
	t.Parallel()
	r := sampleRun(12, 1, recordtest.Impl{Name: "reference", NsPerOp: 100},
		recordtest.Impl{Name: "sound", NsPerOp: 80}, recordtest.Impl{Name: "wrong", NsPerOp: 50})
	for i := range r.Forks {
		r.Forks[i].Checks = []record.CheckResult{
			{Name: "ends as the trace says", Passed: r.Forks[i].Cell.Impl != "wrong" ||
				r.Forks[i].Index != 7}}
	}
	if a := answerOf(t, r); a.Use != "sound" || a.Rejected != "wrong" ||
		a.Why != "failed a check in store-ops/objects=10: ends as the trace says" {
		t.Errorf("%+v, want sound, and why not wrong", a)
	}
}

// Where nothing is proved better, the reference stays, and the answer says how much is open.
func TestAnswerWithoutProof(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		forks int
		slow  float64
		open  bool
	}{{12, 130, false}, {3, 70, true}} {
		a := answerOf(t, sampleRun(c.forks, 1, recordtest.Impl{Name: "reference", NsPerOp: 100},
			recordtest.Impl{Name: "other", NsPerOp: c.slow}))
		if a.Use != "reference" || len(a.Concerns) > 0 || a.Judged == 0 ||
			(a.Inconclusive > 0) != c.open {
			t.Errorf("%d forks, %g ns: %+v, want the reference, inconclusive %v", c.forks, c.slow, a, c.open)
		}
	}
	alone := sampleRun(6, 1, recordtest.Impl{Name: "reference", NsPerOp: 100})
	if all := Answers(alone, Within(alone)); len(all) != 0 {
		t.Errorf("nothing to choose from: %+v", all)
	}
}

// TestAGainIsTheSameEachTime: to the last digit, or implementations that gain alike would change
// places.
func TestAGainIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	var own []*Comparison
	for metric, ratio := range map[string]float64{metrics.NsPerOp: 0.1, metrics.AchievedPct: 3.3,
		metrics.Percentile(metrics.Delay, metrics.JudgedPercentile): 0.07, metrics.HeapPerObject: 0.7} {
		own = append(own, &Comparison{Name: Name{Metric: metric}, Verdict: stats.Better,
			Ratio: &stats.Ratio{Estimate: ratio, Lo: ratio, Hi: ratio}})
	}
	first := gain(own)
	for range 1000 {
		if again := gain(own); again != first {
			t.Fatalf("the gain is %v and then %v", first, again)
		}
	}
}

// A writer that is starved makes one ratio of thousands; it must not drown all else, nor make
// an answer that is no number.
func TestAnswerBoundsWhatOneRowGains(t *testing.T) {
	t.Parallel()
	c := &Comparison{Verdict: stats.Better, Ratio: &stats.Ratio{Estimate: 1e-9, Lo: 0, Hi: 1e-8}}
	if got := c.Proved(); math.Abs(got-math.Log(mostGain)) > 1e-9 {
		t.Errorf("it gains %g, want at most %g", got, math.Log(mostGain))
	}
	c = &Comparison{Name: Name{Metric: metrics.NsPerOp}, Verdict: stats.Worse,
		Ratio: &stats.Ratio{Estimate: stats.FromZero, Lo: 2, Hi: stats.FromZero}}
	if got := c.Proved(); math.Abs(got+math.Log(2)) > 1e-9 {
		t.Errorf("it loses %g, want the nearer bound", got)
	}
	w := weighed([]*Comparison{c})
	if len(w) != 1 || math.IsInf(w[0].Ratio.Hi, 0) || math.IsNaN(w[0].Ratio.Estimate) {
		t.Errorf("%+v", w)
	}
}
