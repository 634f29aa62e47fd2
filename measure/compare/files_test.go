package compare

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/stats"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Medians, intervals and p-values are benchstat's, on the same samples.
func TestAgreesWithBenchstat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var texts [2]strings.Builder
	for i := range texts {
		for n := 6; n <= 20; n += 7 {
			for range n {
				for _, mean := range []float64{50, 1e6} {
					v := mean * (1 + 0.04*float64(i)) * (1 + 0.05*rng.NormFloat64())
					fmt.Fprintf(&texts[i], "BenchmarkStore/op=get/mean=%g/n=%d-2 1000 %.2f ns/op %.0f B/op %d "+
						"allocs/op\n", mean, n, v, 100*v, 3)
				}
			}
		}
	}
	base, head := write(t, "base.txt", texts[0].String()), write(t, "head.txt", texts[1].String())
	ours, err := Files(base, head, stats.DefaultRule)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "benchstat", "-format", "csv", base, head).Output()
	if err != nil {
		t.Fatalf("benchstat: %v", err)
	}
	theirs := benchstatRows(t, out)
	if len(theirs) != len(ours.Comparisons) {
		t.Fatalf("benchstat has %d rows, we have %d:\n%s", len(theirs), len(ours.Comparisons), out)
	}
	for _, c := range ours.Comparisons {
		want, ok := theirs[c.Name.Benchmark+" "+map[string]string{"ns/op": "sec/op"}[c.Name.Metric]]
		scale := 1e-9
		if !ok {
			want, scale = theirs[c.Name.Benchmark+" "+c.Name.Metric], 1
		}
		for i, e := range []stats.Estimate{c.Base, c.Head} {
			if !near(e.Median*scale, want.median[i], 1e-9) {
				t.Errorf("%s: median %g, benchstat has %g", c.Name, e.Median*scale, want.median[i])
			}
			// benchstat shows the farther end of the interval, in whole percent.
			far := 100 * max(e.Hi/e.Median-1, 1-e.Lo/e.Median)
			if math.Abs(far-want.percent[i]) > 0.5 {
				t.Errorf("%s: interval of ±%.2f%%, benchstat has ±%g%%", c.Name, far, want.percent[i])
			}
		}
		if math.Abs(c.Ratio.P-want.p) > 0.0005 {
			t.Errorf("%s: p=%g, benchstat has p=%.3f", c.Name, c.Ratio.P, want.p)
		}
	}
}

type benchstatRow struct {
	median, percent [2]float64
	p               float64
}

// benchstatRows reads benchstat's CSV: a table per unit, with a median and an
// interval in percent per file, then the delta and the p-value.
func benchstatRows(t *testing.T, out []byte) map[string]benchstatRow {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows, unit := map[string]benchstatRow{}, ""
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
		if err != nil {
			t.Fatalf("%q in benchstat's output: %v", s, err)
		}
		return v
	}
	for _, rec := range records {
		switch {
		case len(rec) > 2 && rec[0] == "" && rec[2] == "CI":
			unit = rec[1]
		case len(rec) == 7 && unit != "" && rec[0] != "" && rec[0] != "geomean":
			p, _, _ := strings.Cut(strings.TrimPrefix(rec[6], "p="), " ")
			rows[rec[0]+" "+unit] = benchstatRow{[2]float64{number(rec[1]), number(rec[3])},
				[2]float64{number(rec[2]), number(rec[4])}, number(p)}
		}
	}
	return rows
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

func TestFilesHonourTheirUnits(t *testing.T) {
	t.Parallel()
	line := func(mb, wins int) string {
		return strings.Repeat(fmt.Sprintf("BenchmarkX 1 %d MB/s %d wins %d ns/op\n", mb, wins, mb), 10)
	}
	base := write(t, "base.txt", "Unit wins better=higher\n"+line(100, 100))
	head := write(t, "head.txt", "Unit wins better=higher\n"+line(50, 50)+"BenchmarkNew 1 1 ns/op\n")
	r, err := Files(base, head, stats.DefaultRule)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Judge(nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]stats.Verdict{"MB/s": stats.Worse, "wins": stats.Worse, "ns/op": stats.Better}
	for _, c := range r.Comparisons {
		if c.Verdict != want[c.Name.Metric] {
			t.Errorf("half the %s is called %s", c.Name.Metric, c.Verdict)
		}
	}
	if len(r.Left) != 1 || !strings.Contains(r.Left[0], "New") {
		t.Errorf("left out: %q", r.Left)
	}
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "no A/A") {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

// Whether more or less of a unit is better is told by its name, or by a Unit line of a file. If
// neither tells, the unit is shown without a verdict, and a warning says which line to add.
func TestUnitsWithoutADirection(t *testing.T) {
	t.Parallel()
	files := func(unit string) (base, head string) {
		lines := func(v int) string {
			return strings.Repeat(fmt.Sprintf("BenchmarkX 1 %[1]d ops/sec %[1]d rps %[1]d hit-ratio\n", v),
				10)
		}
		return write(t, "base.txt", lines(100)), write(t, "head.txt", unit+lines(50))
	}
	for _, c := range []struct {
		unit, gate string
		want       stats.Verdict // of the hit ratio, which fell
		outcome    Outcome
	}{
		{"", "", stats.NotComparable, Regression}, // of the others
		{"Unit hit-ratio better=higher\n", "", stats.Worse, Regression},
		{"Unit hit-ratio better=lower\n", "", stats.Better, Regression},
		{"", "X/hit-ratio >= -5%", stats.Worse, Regression},
		{"", "X/hit-ratio <= +5%", stats.Better, Pass},
		{"", "X/hit-ratio <= +5%; X/hit-ratio >= -5%", stats.Better, Regression},
	} {
		base, head := files(c.unit)
		r, err := Files(base, head, stats.DefaultRule)
		if err != nil {
			t.Fatal(err)
		}
		var gates []Gate
		for text := range strings.SplitSeq(c.gate, "; ") {
			if text == "" {
				continue
			}
			g, err := ParseGate(text)
			if err != nil {
				t.Fatal(err)
			}
			gates = append(gates, g)
		}
		if err := r.Judge(gates); err != nil {
			t.Fatal(err)
		}
		want := map[string]stats.Verdict{"ops/sec": stats.Worse, "rps": stats.Worse, "hit-ratio": c.want}
		for _, v := range r.Comparisons {
			if v.Verdict != want[v.Name.Metric] {
				t.Errorf("%q, gate %q: half the %s is called %s", c.unit, c.gate, v.Name.Metric, v.Verdict)
			}
		}
		if r.Outcome() != c.outcome || c.gate == "" && c.unit == "" && len(r.Gates) != 2 {
			t.Errorf("%q, gate %q: %s, %+v", c.unit, c.gate, r.Outcome(), r.Gates)
		}
		if warned := strings.Contains(strings.Join(r.Warnings, "\n"),
			`add a line "Unit hit-ratio better=higher"`); warned != (c.unit == "") {
			t.Errorf("%q: warnings %q", c.unit, r.Warnings)
		}
	}
}

// TestPackagesAreKeptApart: two packages have a benchmark of the same name, and one of the two
// becomes slower.
func TestPackagesAreKeptApart(t *testing.T) {
	t.Parallel()
	file := func(name string, fast, slow int) string {
		text := ""
		for pkg, ns := range map[string]int{"example.com/fast": fast, "example.com/slow": slow} {
			text += "pkg: " + pkg + "\n" + strings.Repeat(fmt.Sprintf("BenchmarkGet 1 %d ns/op\n", ns), 6)
		}
		return write(t, name, text)
	}
	r, err := Files(file("base.txt", 10, 1000), file("head.txt", 20, 1000), stats.DefaultRule)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"example.com/fast/Get/ns/op": 2, "example.com/slow/Get/ns/op": 1}
	for _, c := range r.Comparisons {
		if ratio, there := want[c.Name.String()]; !there || c.Ratio.Estimate != ratio {
			t.Errorf("%s: %g", c.Name, c.Ratio.Estimate)
		}
	}
	if len(r.Comparisons) != len(want) {
		t.Errorf("%d comparisons, want %d", len(r.Comparisons), len(want))
	}
	// One package is not named, also if only one of the files does.
	named, bare := write(t, "named.txt", "pkg: example.com/fast\nBenchmarkGet 1 10 ns/op\n"),
		write(t, "bare.txt", "BenchmarkGet 1 10 ns/op\n")
	if r, err = Files(named, bare, stats.DefaultRule); err != nil ||
		r.Comparisons[0].Name.String() != "Get/ns/op" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	good := write(t, "good.txt", "BenchmarkX 1 5 ns/op\n")
	for _, c := range []struct{ name, path, want string }{
		{"missing", "nowhere.txt", "nowhere.txt"},
		{"no benchmark", write(t, "prose.txt", "hello\n"), "no benchmark"},
		{"broken line", write(t, "broken.txt", "BenchmarkX 1 ns/op\n"), "broken.txt:1"},
		{"negative", write(t, "negative.txt", "\nBenchmarkX 1 -5 ns/op\n"), "negative.txt:2"},
		{"not a number", write(t, "nan.txt", "BenchmarkX 1 NaN ns/op\n"), "nan.txt:1"},
		{"without end", write(t, "inf.txt", "BenchmarkX 1 +Inf ns/op\n"), "inf.txt:1"},
		{"nothing in common", write(t, "other.txt", "BenchmarkY 1 5 ns/op\n"), "nothing to compare"},
	} {
		if _, err := Files(good, c.path, stats.DefaultRule); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Lines that cannot be compared are left out by name, and the rest is compared.
func TestBadLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("BenchmarkX 1 5 ns/op\n", 6)
	bad := "BenchmarkLogs 1 a line of its log\nBenchmarkY 1 -5 ns/op 3 B/op\n"
	r, err := Files(write(t, "base.txt", bad+good), write(t, "head.txt", good), stats.DefaultRule)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(r.Warnings, "\n")
	if len(r.Comparisons) != 1 || !strings.Contains(said, "base.txt:1") ||
		!strings.Contains(said, "base.txt:2") {
		t.Errorf("%d comparisons, warnings:\n%s", len(r.Comparisons), said)
	}
}
