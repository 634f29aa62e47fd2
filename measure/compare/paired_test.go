package compare

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

func duetRun(forks int) *record.Run {
	return recordtest.Run(
		recordtest.Spec{Forks: forks, Seed: 1, Duets: true, Noise: 0.03, Impls: []recordtest.Impl{
			{Name: "reference", NsPerOp: 100}, {Name: "slow", NsPerOp: 106}, {Name: "same", NsPerOp: 101},
		}})
}

// Where implementations took turns with the reference, the verdict comes from the ratios of
// the turns, from few forks, though the times differ more from fork to fork.
func TestDuetsDecide(t *testing.T) {
	t.Parallel()
	row := rowOf(t, duetRun(stats.FewestDuets), "get", metrics.NsPerOp)
	want := map[string]stats.Verdict{"slow": stats.Worse, "same": stats.Same,
		"reference@aa": stats.NotComparable}
	for _, v := range row.Values {
		if v.Against == nil {
			continue
		}
		if !v.Against.Ratio.Paired || v.Against.Verdict != want[v.Impl] {
			t.Errorf("%s: %+v, %s; want %s from paired ratios", v.Impl, v.Against.Ratio, v.Against.Verdict,
				want[v.Impl])
		}
		if r := v.Against; math.Abs(r.Head.Median/r.Base.Median/r.Ratio.Estimate-1) > 0.02 {
			t.Errorf("%s: base %g and head %g are not those of the ratio %g", v.Impl, r.Base.Median,
				r.Head.Median, r.Ratio.Estimate)
		}
	}
	if row.Floor < 0 || row.Floor > 0.01 {
		t.Errorf("the noise floor is %g, want that of the duets of the same code", row.Floor)
	}
}

// A metric that was not measured in turns, and a cell of which a fork lacks its duet, are
// compared as samples.
func TestWithoutDuetsSamplesDecide(t *testing.T) {
	t.Parallel()
	r := duetRun(8)
	if v := rowOf(t, r, "writer:update",
		metrics.Percentile(metrics.Delay, 99)).Values[1]; v.Against.Ratio.Paired {
		t.Errorf("%s of a group: %+v", v.Impl, v.Against.Ratio)
	}
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "slow" && f.Index == 3 {
			f.Series[0].Duet = nil
		}
	}
	for _, v := range rowOf(t, r, "get", metrics.NsPerOp).Values {
		if v.Against != nil && v.Against.Ratio.Paired != (v.Impl != "slow") {
			t.Errorf("%s: %+v", v.Impl, v.Against.Ratio)
		}
	}
}

// Two runs on a machine that became a third slower in between: the ratios to the reference
// tell what changed, and the reference gets no verdict.
func TestRunsCompareRatiosToTheReference(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, machine, slow float64) *record.Run {
		return recordtest.Run(
			recordtest.Spec{Forks: 6, Seed: seed, Duets: true, Noise: 0.03, Impls: []recordtest.Impl{
				{Name: "reference", NsPerOp: 100 * machine}, {Name: "slow", NsPerOp: slow * machine},
				{Name: "same", NsPerOp: 101 * machine},
			}})
	}
	base, head := run(1, 1, 106), run(2, 1.3, 117)
	r, err := Runs(base, head, false)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := ParseGate("store/*/get/slow/ns/op <= +5%")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge([]Gate{gate}); err != nil {
		t.Fatal(err)
	}
	if r.Outcome() != Regression {
		t.Errorf("a tenth slower: %s, %+v", r.Outcome(), r.Gates)
	}
	want := map[string]stats.Verdict{"slow": stats.Worse, "same": stats.Same,
		"reference": stats.NotComparable}
	for _, c := range r.Comparisons {
		if c.Name.Series == "get" && c.Name.Metric == metrics.NsPerOp && c.Verdict != want[c.Name.Impl] {
			t.Errorf("%s: %s, want %s: %+v", c.Name, c.Verdict, want[c.Name.Impl], c.Ratio)
		}
	}
	// A reference that was slowed down on purpose is no control.
	for _, side := range []*record.Run{base, head} {
		side.Settings.Plant = &record.Plant{Impl: "reference", Share: 0.1}
		if r, err = Runs(base, head, false); err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Comparisons {
			if c.Ratio != nil && c.Ratio.Paired {
				t.Errorf("%s is compared by ratios to a reference that is another", c.Name)
			}
		}
		side.Settings.Plant = nil
	}
}

// asPair makes two runs the halves of a pair.
func asPair(base, head *record.Run) (*record.Run, *record.Run) {
	base.Name, head.Name = "pair/base", "pair/head"
	base.Settings.Pair, head.Settings.Pair = true, true
	return base, head
}

// Of two builds that took turns, the ratios of the turns decide, though the times of the forks
// say nothing. The reference, the same code in both, shows what the machine did.
func TestTurnsOfTwoBuildsDecide(t *testing.T) {
	t.Parallel()
	impls := func(reference, slow, same float64) []recordtest.Impl {
		return []recordtest.Impl{{Name: "reference", NsPerOp: reference}, {Name: "slow", NsPerOp: slow},
			{Name: "same", NsPerOp: same}}
	}
	before := map[string]float64{"reference": 100, "slow": 100, "same": 120}
	base := recordtest.Run(recordtest.Spec{Forks: 6, Seed: 1, Noise: 0.1, Impls: impls(100, 100, 120)})
	for _, c := range []struct {
		what      string
		reference float64 // head's
		want      map[string]stats.Verdict
	}{
		{"only slow is slower", 100,
			map[string]stats.Verdict{"slow": stats.Worse, "same": stats.Same,
				"reference": stats.NotComparable}},
		{"so is the reference: head's process was at a disadvantage", 108,
			map[string]stats.Verdict{"slow": stats.Inconclusive, "same": stats.Same,
				"reference": stats.NotComparable}},
	} {
		head := recordtest.Run(
			recordtest.Spec{Forks: 6, Seed: 2, Noise: 0.1, Base: before,
				Impls: impls(c.reference, 108, 120)})
		base, head := asPair(base, head)
		r := judged(t, base, head)
		for impl, want := range c.want {
			got := find(t, r, "get", impl, metrics.NsPerOp)
			truth := map[string]float64{"slow": 1.08, "same": 1, "reference": c.reference / 100}[impl]
			if got.Ratio == nil || !got.Ratio.Paired || math.Abs(got.Ratio.Estimate/truth-1) > 0.02 {
				t.Fatalf("%s, %s: %+v, want the ratio of the turns, %g", c.what, impl, got.Ratio, truth)
			}
			if got.Verdict != want {
				t.Errorf("%s, %s: %s, want %s: %+v", c.what, impl, got.Verdict, want, got.Ratio)
			}
		}
	}
	// A series of which a fork has no ratio is compared as samples.
	head := recordtest.Run(
		recordtest.Spec{Forks: 6, Seed: 2, Noise: 0.1, Base: before, Impls: impls(100, 108, 120)})
	for i := range head.Forks {
		if f := &head.Forks[i]; f.Cell.Impl == "slow" && f.Index == 3 {
			f.Series[0].Base = nil
		}
	}
	base, head = asPair(base, head)
	if got := find(t, judged(t, base, head), "get", "slow", metrics.NsPerOp); got.Ratio != nil &&
		got.Ratio.Paired {
		t.Errorf("a fork lacks its ratio: %+v", got.Ratio)
	}
	// Where there is nothing but the reference, it is judged.
	only := []recordtest.Impl{{Name: "reference", NsPerOp: 108}}
	head = recordtest.Run(recordtest.Spec{Forks: 6, Seed: 2, Noise: 0.1, Base: before, Impls: only})
	base = recordtest.Run(recordtest.Spec{Forks: 6, Seed: 1, Noise: 0.1, Impls: impls(100, 0, 0)[:1]})
	base, head = asPair(base, head)
	if got := find(t, judged(t, base, head), "get", "reference",
		metrics.NsPerOp); got.Verdict != stats.Worse {
		t.Errorf("the reference alone: %s, want worse: %+v", got.Verdict, got.Ratio)
	}
}

// withoutReference makes no implementation of a run the catalog's reference, as where --impl
// leaves that out. The first is then what the others take turns with.
func withoutReference(r *record.Run) *record.Run {
	for i := range r.Impls {
		r.Impls[i].Reference = false
	}
	return r
}

// Runs whose operations took turns with different implementations have no ratios in common:
// they are refused, and forced, they are compared by their values.
func TestRunsWithDifferentReferences(t *testing.T) {
	t.Parallel()
	base := recordtest.Run(
		recordtest.Spec{Forks: 12, Seed: 1, Duets: true,
			Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "mine", NsPerOp: 150},
				{Name: "other", NsPerOp: 100}}})
	head := withoutReference(
		recordtest.Run(recordtest.Spec{Forks: 12, Seed: 2, Duets: true,
			Impls: []recordtest.Impl{{Name: "mine", NsPerOp: 150}, {Name: "other", NsPerOp: 100}}}))
	if _, err := Runs(base, head, false); err == nil ||
		!strings.Contains(err.Error(),
			"store took turns with reference in base and with mine in head, so measure both with the "+
				"same reference in --impl") {
		t.Errorf("%v, want the two references", err)
	}
	r, err := Runs(base, head, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(nil); err != nil {
		t.Fatal(err)
	}
	for _, impl := range []string{"mine", "other"} {
		if c := find(t, r, "get", impl, metrics.NsPerOp); c.Ratio.Paired || c.Verdict != stats.Same {
			t.Errorf("%s, whose code is the same: %s, %+v", impl, c.Verdict, c.Ratio)
		}
	}
}

// The first implementation of a run without the catalog's reference is no control: it may be
// the one that became slower. So it is judged like the others.
func TestOnlyTheReferenceIsAControl(t *testing.T) {
	t.Parallel()
	impls := func(mine float64) []recordtest.Impl {
		return []recordtest.Impl{{Name: "mine", NsPerOp: mine}, {Name: "other", NsPerOp: 100}}
	}
	for _, c := range []struct {
		what       string
		base, head recordtest.Spec
	}{
		{"a pair", recordtest.Spec{},
			recordtest.Spec{Base: map[string]float64{"mine": 100, "other": 100}}},
		{"two runs", recordtest.Spec{Duets: true}, recordtest.Spec{Duets: true}},
	} {
		c.base.Forks, c.base.Seed, c.base.Impls = 12, 1, impls(100)
		c.head.Forks, c.head.Seed, c.head.Impls = 12, 2, impls(130)
		base, head := withoutReference(recordtest.Run(c.base)), withoutReference(recordtest.Run(c.head))
		if c.head.Base != nil {
			base, head = asPair(base, head)
		}
		r := judged(t, base, head)
		for impl, want := range map[string]stats.Verdict{"mine": stats.Worse, "other": stats.Same} {
			if got := find(t, r, "get", impl, metrics.NsPerOp); got.Verdict != want {
				t.Errorf("%s, %s: %s, want %s: %+v", c.what, impl, got.Verdict, want, got.Ratio)
			}
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "no control: the reference of store") {
			t.Errorf("%s: warnings %q", c.what, r.Warnings)
		}
	}
}

// Head's ratios are to the base of its own pair. Against any other run, and against itself, its
// values are compared.
func TestTurnsWithAnotherBaseDoNotCount(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, of map[string]float64) *record.Run {
		return recordtest.Run(
			recordtest.Spec{Forks: 12, Seed: seed, Base: of,
				Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "mine", NsPerOp: 110}}})
	}
	_, head := asPair(run(1, nil), run(2, map[string]float64{"reference": 100, "mine": 100}))
	another, _ := asPair(run(3, nil), run(4, nil)) // with the code of head
	another.Started = another.Started.Add(time.Second)
	for what, base := range map[string]*record.Run{"the base of another pair": another,
		"itself": head} {
		r := judged(t, base, head)
		c := find(t, r, "get", "mine", metrics.NsPerOp)
		if c.Ratio.Paired || c.Verdict != stats.Same || r.Pair {
			t.Errorf("%s: %s, %+v, a pair: %v", what, c.Verdict, c.Ratio, r.Pair)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"),
			"head took turns with the base of its pair") {
			t.Errorf("%s: warnings %q", what, r.Warnings)
		}
	}
}
