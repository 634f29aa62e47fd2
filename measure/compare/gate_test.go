package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

func TestGates(t *testing.T) {
	t.Parallel()
	base := sampleRun(12, 1, recordtest.Impl{Name: "slower", NsPerOp: 100},
		recordtest.Impl{Name: "faster", NsPerOp: 100})
	head := sampleRun(12, 2, recordtest.Impl{Name: "slower", NsPerOp: 120},
		recordtest.Impl{Name: "faster", NsPerOp: 80})
	for _, c := range []struct {
		gate string
		want Outcome
	}{
		{"store/*/slower/ns/op <= +5%", Regression},
		{"store/*/slower/ns/op <= +30%", Pass},
		{"store/*/slower/ns/op <= +20%", Undetermined}, // it lies on the bound
		{"store/*/faster/ns/op <= +5%", Pass},
		{"store/*/faster/ns/op <= -10%", Pass},
		{"store/*/faster/ns/op <= -30%", Regression},
		{"store/*/slower/p99 <= +5%", Regression},
		{"store/*/slower/delay-p99 <= +5%", Regression},
		{"store/*/slower/delay-p99-ns <= +5%", Regression},
		{"store/store-ops/*/slower/p99 <= 2us", Pass},
		{"store/store-ops/*/slower/p99 <= 1.1us", Regression},
		{"*/slower/achieved-% >= -5%", Regression},
		{"*/slower/achieved-% >= -40%", Pass},
		{"*/slower/achieved-% >= 95", Regression},
		{"*/slower/achieved-% >= 50", Pass},
		{"store/*/allocs/op <= +0%", Pass},
		{"store/*/get/*/ns/op <= +5%", Regression}, // one of several is enough
	} {
		r := judged(t, base, head, c.gate)
		if got := r.Outcome(); got != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.gate, got, c.want, r.Gates)
		}
		for _, g := range r.Gates {
			if g.Gate != c.gate || g.Name == "" || g.Detail == "" {
				t.Errorf("%+v", g)
			}
		}
	}
}

// A gate says nothing of fewer forks than a verdict needs: their interval is only the range.
func TestAGateNeedsAsManyForksAsAVerdict(t *testing.T) {
	t.Parallel()
	for _, forks := range []int{1, 3, stats.FewestForks - 1, stats.FewestForks} {
		base, head := sampleRun(forks, 1), sampleRun(forks, 2)
		for _, gate := range []string{"store/*/get/*/ns/op <= +50%", "store/*/get/*/ns/op <= 10ms",
			"store/*/p99 <= 10ms"} {
			want := Undetermined
			if forks == stats.FewestForks {
				want = Pass
			}
			if r := judged(t, base, head, gate); r.Outcome() != want {
				t.Errorf("%d forks, %s: %s, want %s", forks, gate, r.Outcome(), want)
			}
		}
	}
}

// A short run has a usual p99, which is judged in place of the p99. A gate on p99 means it.
func TestAGateOnP99MeansTheJudgedOne(t *testing.T) {
	t.Parallel()
	usual, p99 := metrics.Usual(metrics.Delay),
		metrics.Percentile(metrics.Delay, metrics.JudgedPercentile)
	short := func(seed uint64, ns float64) *record.Run {
		r := sampleRun(12, seed)
		for i, fork := range r.Forks {
			for _, s := range fork.Series {
				if _, has := s.Values[p99]; has {
					s.Values[usual] = ns + float64(i)
				}
			}
		}
		return r
	}
	base, head := short(1, 500), short(2, 900)
	r := judged(t, base, head, "*/p99 <= +5%")
	if r.Outcome() != Regression {
		t.Errorf("the usual p99 is worse: %+v", r.Gates)
	}
	for _, g := range r.Gates {
		if !strings.HasSuffix(g.Name, usual) {
			t.Errorf("%s is not judged", g.Name)
		}
	}
}

// Where a slower head does too few operations for the percentile that base judged, a lower one is
// judged. A gate that means the higher one must not pass on other series alone.
func TestAGateOnAPercentileOfTooFewOperations(t *testing.T) {
	t.Parallel()
	p99, p90 := metrics.Percentile(metrics.Delay, 99), metrics.Percentile(metrics.Delay, 90)
	run := func(seed uint64, operations float64) *record.Run {
		r := sampleRun(12, seed, recordtest.Impl{Name: "reference", NsPerOp: 100},
			recordtest.Impl{Name: "mine", NsPerOp: 100})
		for _, fork := range r.Forks {
			for _, s := range fork.Series {
				if _, has := s.Values[p99]; has && fork.Cell.Impl == "mine" {
					s.Values[metrics.Number(metrics.Delay)], s.Values[p90] = operations, s.Values[p99]/2
				}
			}
		}
		return r
	}
	base, head := run(1, 1_040), run(2, 998)
	if r := judged(t, base, head, "store/*/p99 <= +50%"); r.Outcome() != Undetermined ||
		!slices.ContainsFunc(r.Gates, func(g GateResult) bool {
			return strings.HasSuffix(g.Name, "/mine/"+p99) &&
				strings.Contains(g.Detail, "too few operations")
		}) {
		t.Errorf("%s, %+v", r.Outcome(), r.Gates)
	}
	// as they are named in full
	for _, gate := range []string{"store/*/mine/p90 <= +50%", "store/*/mine/" + p99 + " <= +50%"} {
		if r := judged(t, base, head, gate); r.Outcome() != Pass || len(r.Gates) != 1 {
			t.Errorf("%s: %s, %+v", gate, r.Outcome(), r.Gates)
		}
	}
	if r := judged(t, base, head); r.Outcome() != Pass {
		t.Errorf("without gates: %s, %+v", r.Outcome(), r.Gates)
	}
}

// If head did none of the operations of a percentile that is judged in base, the comparison is
// inconclusive.
func TestAGateOnAPercentileOfNoOperations(t *testing.T) {
	t.Parallel()
	p99 := metrics.Percentile(metrics.Delay, 99)
	base, head := sampleRun(12, 1, recordtest.Impl{Name: "mine", NsPerOp: 100}),
		sampleRun(12, 2, recordtest.Impl{Name: "mine", NsPerOp: 100})
	for _, fork := range head.Forks {
		if s := fork.Series[1]; fork.Cell.Impl == "mine" {
			delete(s.Values, p99)
			s.Values[metrics.Number(metrics.Delay)] = 0
		}
	}
	for _, gates := range [][]string{nil, {"store/*/p99 <= +50%"}} {
		if r := judged(t, base, head, gates...); r.Outcome() != Undetermined {
			t.Errorf("gates %q: %s, %+v", gates, r.Outcome(), r.Gates)
		}
	}
}

func TestAnAllocationWhereThereWasNone(t *testing.T) {
	t.Parallel()
	base, head := sampleRun(10, 1), sampleRun(10, 2)
	for i := range head.Forks {
		head.Forks[i].Series[0].Values[metrics.AllocsPerOp] = 1
	}
	if r := judged(t, base, head, "store/*/allocs/op <= +0%"); r.Outcome() != Regression {
		t.Errorf("%+v", r.Gates)
	}
}

func TestBadGates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ gate, want string }{
		{"", "not a pattern"},
		{"store/*/p99", "not a pattern"},
		{"store/*/p99 < +5%", "not a pattern"},
		{"store/*/p99 <= 5%", "sign"},
		{"store/*/p99 <= +5ms", "sign stands before"},
		{"store/*/p99 <= 5 parsecs", "unit"},
		{"store/*/p99 <= 1.2.3", "no number"},
		{"store/*/p99 >= -100%", "100%"},
	} {
		if _, err := ParseGate(c.gate); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "+5%") {
			t.Errorf("%q: %v, want %q and an example", c.gate, err, c.want)
		}
	}
	for _, c := range []struct{ gate, want string }{
		{"store/*/p98 <= +5%", "matches nothing; there are " +
			"store/store-ops/objects=10/get/reference/ns/op"},
		{"stroe/* <= +5%", "matches nothing"},
		{"*/achieved-% <= +5%", "write >= -5%"},
		{"*/achieved-% <= 50ms", "achieved-% is not in nanoseconds"},
		{"*/heap-B/object <= 50ms", "heap-B/object is not in nanoseconds"},
		{"*/ns/op >= -5%", "write <= +5%"},
		{"*/offered/s <= +5%", "matches nothing"},
	} {
		r, err := Runs(sampleRun(6, 1), sampleRun(6, 2), false)
		if err != nil {
			t.Fatal(err)
		}
		g, err := ParseGate(c.gate)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Judge([]Gate{g}); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), c.gate) {
			t.Errorf("%q: %v, want %q", c.gate, err, c.want)
		}
	}
}

// A pattern that matches metrics of both directions bounds those on its side, as the check
// before a run says.
func TestAGateOnBothDirections(t *testing.T) {
	t.Parallel()
	r := judged(t, sampleRun(12, 1), sampleRun(12, 2), "* <= +50%")
	for _, g := range r.Gates {
		if g.of.direction == metrics.HigherIsBetter {
			t.Errorf("bounds %s", g.Name)
		}
	}
	if len(r.Gates) == 0 || r.Outcome() == Regression {
		t.Errorf("%s: %+v", r.Outcome(), r.Gates)
	}
}

// What a gate can match is known before anything is measured, except for the series.
func TestGatesAreCheckedBeforeARun(t *testing.T) {
	t.Parallel()
	planned := &record.Run{Cells: sampleRun(6, 1, recordtest.Impl{Name: "mine", NsPerOp: 100}).Cells}
	for _, c := range []struct{ gate, want string }{
		{"store/*/mine/ns/op <= +5%", ""},
		{"store/store-ops/objects=10/get/mine/ns/op <= +5%", ""},
		{"*/any-series/*/delay-p99 <= 50ms", ""},
		{"*/p99 <= +5%", ""},
		{"*/achieved-% >= -5%", ""},
		{"*/offered/s <= 5", ""},
		{"* <= +5%", ""},
		{"store/*/mien/ns/op <= +5%",
			"matches nothing of what is to be measured; there are " +
				"store/store-ops/objects=10/*/reference/*, store/store-ops/objects=10/*/mine/*"},
		{"store/store-ops/objects=100/*/ns/op <= +5%", "matches nothing"},
		{"queue/* <= +5%", "matches nothing"},
		{"*/p98 <= +5%", "matches nothing"},
		{"*/offered/s <= +5%", "matches nothing"},
		{"*/ns/op >= -5%", "write <= +5%"},
		{"*/achieved-% <= +5%", "write >= -5%"},
	} {
		g, err := ParseGate(c.gate)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckGates(planned, []Gate{g})
		if wrong := (*GateError)(nil); (err == nil) != (c.want == "") || err != nil &&
			(!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.gate, err, c.want)
		}
	}
}

// A metric of the user's own in milliseconds is not bounded by a duration, which would be one of
// nanoseconds and always pass.
func TestADurationBoundsNanoseconds(t *testing.T) {
	t.Parallel()
	for unit, ok := range map[string]bool{"wait-ns": true, "ns/op": true, "wait-ms": false,
		"us/op": false, "sec/op": false} {
		text := strings.Repeat("BenchmarkX 1 80 "+unit+"\n", 8)
		r, err := Files(write(t, "base.txt", text), write(t, "head.txt", text), stats.DefaultRule)
		if err != nil {
			t.Fatal(err)
		}
		g, err := ParseGate("*/" + unit + " <= 50ms")
		if err != nil {
			t.Fatal(err)
		}
		err = r.Judge([]Gate{g})
		if wrong := (*GateError)(nil); (err == nil) != ok || err != nil && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", unit, err)
		}
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"", "*", true}, {"", "a", false}, {"a*c", "abc", true}, {"a*c", "ac", true},
		{"a*c", "abcd", false},
		{"a*", "*b", true}, {"a*c", "*d", false}, {"*/x/*", "store/*/y/z", true}, {"**", "a", true},
		{"*b*", "aaa", false},
	} {
		if overlap(c.a, c.b) != c.want || overlap(c.b, c.a) != c.want {
			t.Errorf("%q and %q overlap: want %v either way", c.a, c.b, c.want)
		}
	}
}

// An inconclusive gate says how many more forks would decide it: more where the number lies
// nearer to the bound, on either side of it. Its verdict has been given long since.
func TestAnOpenGateSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	base, head := sampleRun(12, 1, recordtest.Impl{Name: "mine", NsPerOp: 100}),
		sampleRun(12, 2, recordtest.Impl{Name: "mine", NsPerOp: 200})
	c := find(t, judged(t, base, head), "get", "mine", metrics.NsPerOp)
	if c.Verdict != stats.Worse {
		t.Fatalf("twice as slow: %s", c.Verdict)
	}
	between := func(a, b, share float64) float64 { return a + share*(b-a) }
	for _, kind := range []struct {
		what string
		// with a bound that is that far from the estimate to an end of its interval
		gate func(share float64) string
	}{
		{"a change within the bound", func(share float64) string {
			return fmt.Sprintf("store/*/get/mine/ns/op <= +%.6f%%",
				100*(between(c.Ratio.Estimate, c.Ratio.Hi, share)-1))
		}},
		{"a change beyond the bound", func(share float64) string {
			return fmt.Sprintf("store/*/get/mine/ns/op <= +%.6f%%",
				100*(between(c.Ratio.Estimate, c.Ratio.Lo, share)-1))
		}},
		{"a value", func(share float64) string {
			return fmt.Sprintf("store/*/get/mine/ns/op <= %.6f", between(c.Head.Median, c.Head.Hi, share))
		}},
	} {
		needs := func(share float64) int {
			r := judged(t, base, head, kind.gate(share))
			if len(r.Gates) != 1 || r.Gates[0].Outcome != Undetermined || r.Gates[0].Comparison() == nil {
				t.Fatalf("%s: %+v", kind.what, r.Gates)
			}
			return r.Gates[0].MoreForks
		}
		if far, near := needs(0.6), needs(0.3); far <= 0 || near <= far {
			t.Errorf("%s: %d more forks, and %d for a bound nearer to the estimate", kind.what, far, near)
		}
	}
	few := judged(t, sampleRun(4, 1), sampleRun(4, 2), "store/*/get/*/ns/op <= 10ms")
	if got := few.Gates[0].MoreForks; got != stats.FewestForks-4 {
		t.Errorf("four forks: %d more, want %d", got, stats.FewestForks-4)
	}
}

func TestReadGates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gates.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# what CI holds\nstore/*/p99 <= +5% # of every store\n\nqueue/*/ns/op <= +10%\n")
	gates, err := ReadGates(path)
	if err != nil || len(gates) != 2 || gates[0].Text != "store/*/p99 <= +5%" {
		t.Errorf("%+v, %v", gates, err)
	}
	write("store/*/p99 <= +5%\nstore/* about 5\n")
	if _, err := ReadGates(path); err == nil || !strings.Contains(err.Error(), "gates.txt:2:") {
		t.Errorf("%v, want the file and the line", err)
	}
	write("\ufeffstore/*/p99 <= +5%\n") // as some editors begin a file
	if gates, err := ReadGates(path); err != nil || gates[0].Text != "store/*/p99 <= +5%" {
		t.Errorf("a byte order mark: %+v, %v", gates, err)
	}
	write("# nothing\n")
	if _, err := ReadGates(path); err == nil || !strings.Contains(err.Error(), "no gate") {
		t.Errorf("an empty file: %v", err)
	}
}
