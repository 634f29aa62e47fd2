package report

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

// sampleRun has three cells of one workload: a reference of about 100 ns, its
// second copy, and an implementation of about 150 ns.
func sampleRun(forks int) *record.Run {
	r := recordtest.Run(
		recordtest.Spec{Forks: forks,
			Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100}, {Name: "slow", NsPerOp: 150}}})
	r.Impls[0].Waivers = []record.Waiver{{Clause: "STORE-21", Reason: "it keeps the nil map"}}
	return r
}

func TestTextAndMarkdown(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	var text, md bytes.Buffer
	if err := of(t, r).WriteText(&text, Terminal{Wide: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"store-ops/objects=10", "get", "slow", "worse", "[", "noise",
		"harness 0.5ns", "Benjamini"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "@aa") {
		t.Error("the second copy of the reference is shown as an implementation")
	}
	r.Complete = false
	r.Settings.SkipVerify = true
	r.Forks[0].Series[0].Warnings = []string{"no steady state after warm-up"}
	r.Forks[1].Unsupported = []string{"store: transaction: not supported"}
	r.Checks = []record.CheckResult{
		{Name: "final state", Passed: false, Detail: "ns-1/pod is missing"}}
	if err := of(t, r).WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"interrupted", "--resume", "not verified",
		"(a) no steady state after warm-up (1 of 6 forks)", "transaction: not supported", "**failed**",
		"ns-1/pod is missing", "STORE-21", "it keeps the nil map", "Test CPU", "name: store-ops"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// What counts as the same within more than the rule says so.
func TestVerdictNamesTheMetricsMargin(t *testing.T) {
	t.Parallel()
	for metric, want := range map[string]string{
		metrics.NsPerOp: "same", metrics.Usual(metrics.Delay): "same within 1.25x",
		metrics.Percentile(metrics.Stale, 99): "same within 1.25x",
	} {
		c := &compare.Comparison{Name: compare.Name{Metric: metric}, Verdict: stats.Same}
		if got := verdict(c); got != want {
			t.Errorf("%s: %q, want %q", metric, got, want)
		}
	}
}

func TestBenchText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := of(t, sampleRun(3)).WriteBench(&b); err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	better := map[string]string{}
	for r := benchfmt.NewReader(&b, "bench.txt"); r.Scan(); {
		if unit, ok := r.Result().(*benchfmt.UnitMetadata); ok {
			better[unit.OrigUnit] = unit.Value
			continue
		}
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", r.Result())
		}
		lines[string(res.Name.Full())]++
		unit := "sec/op"
		if strings.Contains(res.Name.String(), "group=") {
			unit = "delay-p99-sec"
		}
		if v, ok := res.Value(unit); !ok || v <= 0 || v > 1e-5 {
			t.Errorf("%s: %v", res.Name.Full(), res.Values)
		}
	}
	for unit, want := range map[string]string{metrics.NsPerOp: "lower", metrics.AchievedPct: "higher",
		metrics.Offered: ""} {
		if better[unit] != want {
			t.Errorf("%s: better=%q, want %q", unit, better[unit], want)
		}
	}
	for _, impl := range []string{"reference", "slow", "reference@aa"} {
		name := "Store/workload=store-ops/objects=10/op=get/impl=" + impl + "-2"
		if lines[name] != 3 {
			t.Errorf("%d lines of %s, want 3: %v", lines[name], name, lines)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		metric string
		v      float64
		want   string
	}{
		{metrics.NsPerOp, 45.23, "45.2ns"},
		{metrics.NsPerOp, 845, "845ns"},
		{metrics.NsPerOp, 1845, "1.84µs"},
		{metrics.NsPerOp, 95e6, "95ms"},
		{"delay-p99.99-ns", 3.04e9, "3.04s"},
		{metrics.AchievedPct, 0.523, "0.523%"},
		{metrics.Achieved, 9958.4, "9,958"},
		{metrics.BytesPerOp, 16, "16 B"},
		{metrics.PeakRSS, 3 << 20, "3 MiB"},
		{metrics.BytesPerOp, 1008, "1008 B"},
		{metrics.BytesPerOp, 1023.8, "1 KiB"},
		{metrics.PeakHeap, 10_700, "10.4 KiB"},
		{metrics.NsPerOp, 999_700, "1ms"},
		{metrics.NsPerOp, 999.7e6, "1s"},
		{metrics.NsPerOp, 1_234e9, "1230s"},
		{metrics.AchievedPct, 1234, "1230%"},
		{metrics.Achieved, 999.7, "1000"},
		{metrics.AllocsPerOp, 4, "4"},
		{metrics.AllocsPerOp, 4.001, "4.001"}, // rounded, it would look equal to 4
	} {
		if got := NumberText(c.metric, c.v); got != c.want {
			t.Errorf("%s %g: %q, want %q", c.metric, c.v, got, c.want)
		}
	}
}

// of is the report of a run that has one.
func of(t testing.TB, r *record.Run, chosen ...Reference) *Report {
	t.Helper()
	out, err := Of(r, chosen...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func withProfiles(r *Report, p *Profiles) *Report {
	r.Profiles = p
	return r
}

func write(dir string) error {
	_, err := Write(dir)
	return err
}
