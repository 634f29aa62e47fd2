package report

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure"
)

// sampleRun has three cells of one workload: a reference of about 100 ns, its
// second copy, and an implementation of about 150 ns.
func sampleRun(forks int) *measure.Run {
	rng := rand.New(rand.NewPCG(1, 2))
	cell := func(impl, role string) measure.Cell {
		return measure.Cell{Component: contract.ComponentStore, Impl: impl, Role: role, Workload: "store-ops", Procs: 2, Params: []measure.Param{{Key: "objects", Value: "10"}}}
	}
	r := &measure.Run{
		Schema: measure.Schema, Name: "sample", Preset: "quick", Command: []string{"benchrun", "run"}, Complete: true,
		Started: time.Unix(0, 0), Finished: time.Unix(60, 0),
		Settings:    measure.Settings{Forks: forks, Seed: 1, Rule: measure.DefaultRule},
		Environment: measure.Environment{OS: "linux", Arch: "amd64", CPU: "Test CPU", Cores: 2, GoVersion: "go1.26"},
		Impls: []measure.Implementation{
			{Component: "store", Name: "reference", Module: "m", Reference: true, Verified: measure.VerifyPassed, CasesPassed: 9, Waivers: []measure.Waiver{{Clause: "STORE-21", Reason: "it keeps the nil map"}}},
			{Component: "store", Name: "slow", Module: "m", Verified: measure.VerifyPassed, CasesPassed: 9},
		},
		Cells: []measure.Cell{cell("reference", ""), cell("slow", ""), cell("reference", measure.AARole)},
	}
	r.Workloads = []measure.WorkloadText{{Key: r.Cells[0].WorkloadKey(), Name: "store-ops", Source: "a test", YAML: "name: store-ops\n"}}
	for _, c := range r.Cells {
		mean := 100.0
		if c.Impl == "slow" {
			mean = 150
		}
		for i := range forks {
			r.Forks = append(r.Forks, measure.Fork{
				Cell: c, Index: i, Process: map[string]float64{measure.HeapPerObject: 100},
				Series: []measure.Series{{Op: "get", Goroutines: 1, Values: map[string]float64{measure.NsPerOp: mean + rng.NormFloat64(), measure.AllocsPerOp: 0}}},
			})
		}
	}
	// A fork with profiles is an extra one: if its number counted, it would show.
	r.Forks = append(r.Forks, measure.Fork{Cell: r.Cells[0], Index: forks, Profiles: []string{"cpu.pb.gz"},
		Series: []measure.Series{{Op: "get", Values: map[string]float64{measure.NsPerOp: 1e9}}}})
	return r
}

func rowOf(t *testing.T, r *measure.Run, series, metric string) Row {
	t.Helper()
	for _, row := range Groups(r)[0].Rows {
		if row.Series == series && row.Metric == metric {
			return row
		}
	}
	t.Fatalf("no row %s %s", series, metric)
	return Row{}
}

func TestGroupsCompareWithTheReference(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	if n := len(Groups(r)); n != 1 {
		t.Fatalf("%d groups, want 1", n)
	}
	row := rowOf(t, r, "get", measure.NsPerOp)
	if len(row.Values) != 3 {
		t.Fatalf("%+v", row)
	}
	if row.Floor < 0 || row.Floor > 0.03 {
		t.Errorf("noise floor %g, want about 1 percent", row.Floor)
	}
	for _, v := range row.Values {
		switch v.Impl {
		case "reference":
			if v.Ratio != nil || v.Estimate.Median > 110 {
				t.Errorf("the reference: %+v (does the profiled fork count?)", v)
			}
		case "slow":
			if v.Verdict != measure.Worse || v.Ratio.Estimate < 1.4 || v.Ratio.Estimate > 1.6 {
				t.Errorf("slow: %+v", v)
			}
		case "reference@aa":
			if v.Verdict == measure.Better || v.Verdict == measure.Worse {
				t.Errorf("the same code is called %s", v.Verdict)
			}
		}
	}
	if heap := rowOf(t, r, "", measure.HeapPerObject); heap.Values[1].Verdict != measure.Same {
		t.Errorf("equal heaps are called %s", heap.Values[1].Verdict)
	}
}

func TestTextAndMarkdown(t *testing.T) {
	t.Parallel()
	r := sampleRun(6)
	var text, md bytes.Buffer
	if err := WriteText(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"store-ops objects=10", "get", "slow", "worse", "[", "noise"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "@aa") {
		t.Error("the second copy of the reference is shown as an implementation")
	}
	r.Complete = false
	r.Settings.SkipVerify = true
	r.Forks[0].Warnings = []string{"replace: no steady state after warm-up"}
	r.Checks = []measure.CheckResult{{Name: "final state", Passed: false, Detail: "ns-1/pod is missing"}}
	if err := WriteMarkdown(&md, r, "flat flat% main.loop"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Interrupted", "--resume", "Not verified", "no steady state", "**failed**", "ns-1/pod is missing", "STORE-21", "it keeps the nil map", "main.loop", "Test CPU", "name: store-ops"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

func TestBenchText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteBenchText(&b, sampleRun(3)); err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for r := benchfmt.NewReader(&b, "bench.txt"); r.Scan(); {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", r.Result())
		}
		lines[string(res.Name.Full())]++
		if v, ok := res.Value("ns/op"); !ok && v == 0 {
			if v, ok = res.Value("sec/op"); !ok || v <= 0 || v > 1e-6 {
				t.Errorf("%s: %v", res.Name.Full(), res.Values)
			}
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
		{measure.NsPerOp, 45.23, "45.2ns"},
		{measure.NsPerOp, 845, "845ns"},
		{measure.NsPerOp, 1845, "1.84µs"},
		{measure.NsPerOp, 95e6, "95ms"},
		{"delay-p99.99-ns", 3.04e9, "3.04s"},
		{measure.AchievedPct, 0.523, "0.523%"},
		{measure.Achieved, 9958.4, "9,958"},
		{measure.BytesPerOp, 16, "16 B"},
		{measure.PeakRSS, 3 << 20, "3.0 MiB"},
		{measure.AllocsPerOp, 4, "4"},
	} {
		if got := number(c.metric, c.v); got != c.want {
			t.Errorf("%s %g: %q, want %q", c.metric, c.v, got, c.want)
		}
	}
}

// A profile with one function in it comes out of pprof's own list by name.
func TestTopNamesTheFunctions(t *testing.T) {
	t.Parallel()
	f := &profile.Function{ID: 1, Name: "github.com/example/store.(*Store).List"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1,
		Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{5e9}}}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
	}
	dir, run := t.TempDir(), &measure.Run{}
	for _, impl := range []string{"a", "b"} {
		c := measure.Cell{Component: contract.ComponentStore, Impl: impl, Workload: "w", Procs: 2}
		run.Forks = append(run.Forks, measure.Fork{Cell: c, Profiles: []string{"cpu.pb.gz"}})
		if err := os.MkdirAll(filepath.Join(dir, "profiles", c.FileName()), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(dir, "profiles", c.FileName(), "cpu.pb.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	merged, unreadable, err := MergedCPU(dir, run)
	if err != nil || len(unreadable) > 0 {
		t.Fatal(err, unreadable)
	}
	top, err := Top(merged, 5)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(top, "(*Store).List") || !strings.Contains(top, "10s") {
		t.Errorf("the list lacks the function or the sum of both profiles:\n%s", top)
	}
	// A profile that was being written when the machine stopped costs itself only.
	spoilt := filepath.Join(dir, "profiles", run.Forks[1].Cell.FileName(), "cpu.pb.gz")
	if err := os.WriteFile(spoilt, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if merged, unreadable, err = MergedCPU(dir, run); merged == nil || err != nil || len(unreadable) != 1 || !strings.Contains(unreadable[0], spoilt) {
		t.Errorf("a broken profile: %v, %v; want its name, and the other profile", unreadable, err)
	}
	if none, _, err := MergedCPU(t.TempDir(), &measure.Run{}); none != nil || err != nil {
		t.Errorf("no profiles: %v, %v", none, err)
	}
}
