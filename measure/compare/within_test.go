package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

func sampleRun(forks int, seed uint64, impls ...recordtest.Impl) *record.Run {
	return recordtest.Run(
		recordtest.Spec{Forks: forks, Seed: seed,
			Impls: append([]recordtest.Impl{{Name: "reference", NsPerOp: 100}}, impls...)})
}

func rowOf(t *testing.T, r *record.Run, series, metric string) Row {
	t.Helper()
	for _, row := range Within(r)[0].Rows {
		if row.Series == series && row.Metric == metric {
			return row
		}
	}
	t.Fatalf("no row %s %s", series, metric)
	return Row{}
}

func TestWithinComparesWithTheReference(t *testing.T) {
	t.Parallel()
	r := sampleRun(10, 1, recordtest.Impl{Name: "slow", NsPerOp: 150})
	// A fork with profiles is an extra one: if its number counted, it would show.
	r.Forks = append(r.Forks, record.Fork{Cell: r.Cells[0], Index: 10, Profiles: []string{"cpu.pb.gz"},
		Series: []record.Series{{Op: "get", Values: map[string]float64{metrics.NsPerOp: 1e9}}}})
	if n := len(Within(r)); n != 1 {
		t.Fatalf("%d groups, want 1", n)
	}
	row := rowOf(t, r, "get", metrics.NsPerOp)
	if len(row.Values) != 3 || row.Harness != 0.5 {
		t.Fatalf("%+v", row)
	}
	if row.Floor < 0 || row.Floor > 0.03 {
		t.Errorf("noise floor %g, want about 1 percent", row.Floor)
	}
	for _, v := range row.Values {
		switch v.Impl {
		case "reference":
			if v.Against != nil || v.Estimate.Median > 110 {
				t.Errorf("the reference: %+v (does the profiled fork count?)", v)
			}
		case "slow":
			if a := v.Against; a.Verdict != stats.Worse || a.Ratio.Estimate < 1.4 ||
				a.Ratio.Estimate > 1.6 || a.Detectable <= 0.03 || a.Detectable > 0.2 {
				t.Errorf("slow: %+v", a)
			}
		case "reference@aa":
			if v.Against.Verdict != stats.NotComparable {
				t.Errorf("the A/A copy belongs to the noise, not to the verdicts: %s", v.Against.Verdict)
			}
		}
	}
	if heap := rowOf(t, r, "", metrics.HeapPerObject); heap.Values[1].Against.Verdict != stats.Same {
		t.Errorf("equal heaps are called %s", heap.Values[1].Against.Verdict)
	}
}

// A number's own warnings are beside it, with the number of forks that have them. The
// warnings of one series do not taint another.
func TestWarningsTravelWithNumbers(t *testing.T) {
	t.Parallel()
	r := sampleRun(6, 1, recordtest.Impl{Name: "other", NsPerOp: 100})
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "other" && f.Index < 2 {
			f.Series[0].Warnings = []string{"no steady state after warm-up"}
		} else if f.Cell.Label() == "reference" && f.Index == 0 {
			f.Warnings = []string{"others used 12% of the CPU time"}
		}
	}
	warnings := func(series, metric, impl string) []string {
		for _, v := range rowOf(t, r, series, metric).Values {
			if v.Impl == impl {
				return v.Estimate.Warnings
			}
		}
		return nil
	}
	if got := warnings("get", metrics.NsPerOp, "other"); !slices.Equal(got,
		[]string{"no steady state after warm-up (2 of 6 forks)"}) {
		t.Errorf("get: %q", got)
	}
	if got := warnings("writer:update", metrics.AchievedPct, "other"); len(got) != 0 {
		t.Errorf("the writer has no warning of its own: %q", got)
	}
	for _, series := range []string{"get", ""} {
		metric := map[string]string{"get": metrics.NsPerOp, "": metrics.HeapPerObject}[series]
		if got := warnings(series, metric, "reference"); !slices.Equal(got,
			[]string{"others used 12% of the CPU time (1 of 6 forks)"}) {
			t.Errorf("%q: %q", series, got)
		}
	}
	few := sampleRun(3, 1, recordtest.Impl{Name: "other", NsPerOp: 100})
	if got := rowOf(t, few, "get", metrics.NsPerOp).Values[1].Estimate.Warnings; len(got) == 0 {
		t.Error("three forks carry no warning")
	}
}

// Where the A/A copy differs significantly from the reference, the row says so.
func TestDriftIsWarnedOf(t *testing.T) {
	t.Parallel()
	r := sampleRun(10, 1, recordtest.Impl{Name: "other", NsPerOp: 100})
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Role == record.AARole {
			f.Series[0].Values[metrics.NsPerOp] *= 1.3
		}
	}
	row := rowOf(t, r, "get", metrics.NsPerOp)
	if a := row.Values[1].Against; len(a.Warnings) != 1 ||
		!strings.Contains(a.Warnings[0], "drifts") || row.Floor < 0.25 {
		t.Errorf("floor %g, warnings %q", row.Floor, a.Warnings)
	}
	if a := rowOf(t, r, "writer:update",
		metrics.Percentile(metrics.Delay, 99)).Values[1].Against; len(a.Warnings) != 0 {
		t.Errorf("another row: %q", a.Warnings)
	}
}

// A percentile of few operations gets no verdict: the next lower one does that every fork of
// every implementation has enough for, or none.
func TestPercentilesOfFewOperationsAreNotJudged(t *testing.T) {
	t.Parallel()
	const p99, p90 = "delay-p99-ns", "delay-p90-ns"
	for slowest, want := range map[float64]string{2: "", 120: p90, 1_200: p99} {
		r := sampleRun(6, 1, recordtest.Impl{Name: "slow", NsPerOp: 150})
		for i := range r.Forks {
			values := r.Forks[i].Series[1].Values
			values[p90], values[metrics.Number(metrics.Delay)] = values[p99], 2_000
			if r.Forks[i].Cell.Impl == "slow" && i%2 == 0 {
				values[metrics.Number(metrics.Delay)] = slowest
			}
		}
		got := ""
		for _, row := range Within(r)[0].Rows {
			if row.Key && strings.HasPrefix(row.Metric, "delay-") {
				got += row.Metric
			}
		}
		if got != want {
			t.Errorf("%g operations in the slowest: %q is judged, want %q", slowest, got, want)
		}
		if shown := slices.ContainsFunc(Within(r)[0].Rows, func(row Row) bool {
			return row.Metric == p99
		}); shown != (want == p99) {
			t.Errorf("%g operations in the slowest: the p99 is shown: %t", slowest, shown)
		}
	}
}

// Six forks against six have no p below 2/924, which is more than a tenth of alpha. Two samples
// that do not overlap are a drift all the same; two that overlap in one value are none.
func TestDriftIsWarnedOfAtSixForks(t *testing.T) {
	t.Parallel()
	base := []float64{100, 101, 102, 103, 104, 105}
	for _, c := range []struct {
		again []float64
		want  int
	}{
		{[]float64{120, 121, 122, 123, 124, 125}, 1},
		{[]float64{80, 81, 82, 83, 84, 85}, 1},
		{[]float64{104.5, 121, 122, 123, 124, 125}, 0},
		{[]float64{100.5, 101.5, 102.5, 103.5, 104.5, 105.5}, 0},
	} {
		if _, warnings := floorOf(stats.DefaultRule, sample{values: base},
			sample{values: c.again}); len(warnings) != c.want {
			t.Errorf("%v after %v: warnings %q, want %d", c.again, base, warnings, c.want)
		}
	}
}

// A comparison stands on the forks that its own looks added: those that the reference got for
// the sake of another implementation change nothing of it, and it pays for no further look.
func TestForksForOthersChangeNothing(t *testing.T) {
	t.Parallel()
	r := sampleRun(12, 1, recordtest.Impl{Name: "settled", NsPerOp: 150},
		recordtest.Impl{Name: "open", NsPerOp: 98})
	r.Settings.Forks, r.Settings.Budget = 6, 1
	r.Looks = []record.Look{
		{Workload: r.Cells[0].WorkloadKey(), Forks: 12, Impls: []string{"open", "reference"}}}
	grew := func(f record.Fork) bool { return f.Index < r.ForksOf(f.Cell) }
	r.Forks = slices.DeleteFunc(r.Forks, func(f record.Fork) bool { return !grew(f) })
	before := *r
	before.Looks = nil
	before.Forks = slices.DeleteFunc(slices.Clone(r.Forks), func(f record.Fork) bool {
		return f.Index >= 6
	})
	const p99 = "delay-p99-ns"
	of := func(r *record.Run, impl string) *Comparison {
		for _, v := range rowOf(t, r, "writer:update", p99).Values {
			if v.Impl == impl {
				return v.Against
			}
		}
		t.Fatalf("no %s", impl)
		return nil
	}
	then, now := of(&before, "settled"), of(r, "settled")
	then.Ratio.Q, now.Ratio.Q = 0, 0 // a family's, in which the others count too
	if *then.Ratio != *now.Ratio || now.Base.N != 12 || now.look != 1 {
		t.Errorf("settled: %+v at look %d, of %d forks of the reference; was %+v, of 12 (its second "+
			"copy is the same code)", *now.Ratio, now.look, now.Base.N, *then.Ratio)
	}
	if open := of(r, "open"); open.Base.N != 24 || open.Head.N != 12 || open.look != 2 {
		t.Errorf("open: %d and %d forks at look %d, want 24 (12 of the second copy), 12 and 2",
			open.Base.N, open.Head.N, open.look)
	}
	if again := of(r, "reference@aa"); again.Base.N != 12 {
		t.Errorf("the second copy is compared with %d forks, want the 12 of the first", again.Base.N)
	}
}
