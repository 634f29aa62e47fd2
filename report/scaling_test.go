package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// sweptRun has one workload at several sizes: an operation whose cost follows law, for a
// reference and for an implementation of twice its cost, with 2 percent of noise and six
// forks.
func sweptRun(vary string, sizes []int, law func(n float64) float64) *record.Run {
	rng := rand.New(rand.NewPCG(9, 9))
	r := sampleRun(6)
	r.Cells, r.Forks, r.Workloads = nil, nil, nil
	for _, n := range sizes {
		for i, impl := range []string{"reference", "slow", "reference"} {
			c := record.Cell{Component: contract.ComponentStore, Impl: impl, Workload: "swept", Procs: 2}
			c.Params = []record.Param{{Key: "objects", Value: strconv.Itoa(max(10, n))}}
			switch vary {
			case "objects":
			case varyProcs:
				c.Procs, c.Params[0].Value = n, "10"
			default:
				c.Params = append(c.Params, record.Param{Key: vary, Value: strconv.Itoa(n)})
			}
			factor := 1.0
			if impl == "slow" {
				factor = 2
			}
			if i == 2 {
				c.Role, factor = record.AARole, 50 // would show, if it were taken for an implementation
			}
			r.Cells = append(r.Cells, c)
			for fork := range 6 {
				y := factor * law(float64(n)) * (1 + 0.02*rng.NormFloat64())
				r.Forks = append(
					r.Forks, record.Fork{Cell: c, Index: fork, Started: time.Unix(0, 0),
						Process: map[string]float64{metrics.HeapPerObject: 100},
						Series: []record.Series{
							{Op: "get", Values: map[string]float64{metrics.NsPerOp: y, metrics.Achieved: 1e9 / y,
								metrics.AllocsPerOp: 3}}}})
			}
		}
		w := record.WorkloadText{Key: r.Cells[len(r.Cells)-1].WorkloadKey(), Name: "swept",
			YAML: "name: swept\n"}
		r.Workloads = append(r.Workloads, w)
	}
	return r
}

func TestScalings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vary  string
		sizes []int
		law   func(n float64) float64
		want  stats.Model
	}{
		{"objects", []int{1000, 10_000, 100_000}, func(n float64) float64 {
			return 100 + 2*n
		}, stats.Linear},
		{"waiting", []int{1000, 10_000, 100_000}, func(n float64) float64 {
			return 20 * math.Log2(n)
		}, stats.Logarithmic},
		{"listers", []int{0, 1, 10, 80}, func(n float64) float64 { return 100 + 50*n }, stats.Linear},
		{varyProcs, []int{1, 2, 4}, func(float64) float64 { return 40 }, stats.Flat},
	} {
		t.Run(c.vary, func(t *testing.T) {
			t.Parallel()
			scalings := Scalings(sweptRun(c.vary, c.sizes, c.law))
			if len(scalings) != 1 || scalings[0].Vary != c.vary || len(scalings[0].Sizes) != len(c.sizes) {
				t.Fatalf("%+v", scalings)
			}
			if len(scalings[0].Curves) != 3 {
				t.Fatalf("%d curves, want ns/op, ops/s and heap", len(scalings[0].Curves))
			}
			for _, curve := range scalings[0].Curves {
				if len(curve.Lines) != 2 {
					t.Errorf("%s: %d implementations, want 2", curve.Metric, len(curve.Lines))
				}
				want := c.want
				if curve.Series == "" {
					want = stats.Flat
				}
				for _, l := range curve.Lines {
					if l.Growth.Model != want {
						t.Errorf("%s %s: %+v, want %s", curve.Metric, l.Impl, l.Growth, want)
					}
					if len(l.Points) != len(c.sizes) || l.Points[0].Size != float64(c.sizes[0]) {
						t.Errorf("%s %s: points %+v", curve.Metric, l.Impl, l.Points)
					}
				}
			}
		})
	}
	if s := Scalings(sampleRun(6)); len(s) != 0 {
		t.Errorf("a run that sweeps nothing scales: %+v", s)
	}
}

// The rate of an operation that takes 100 ns + 2 ns x objects is one second divided by
// that.
func TestFormulas(t *testing.T) {
	t.Parallel()
	g := stats.Growth{Model: stats.Linear, A: 100, B: 2}
	flat := stats.Growth{Model: stats.Flat, A: 2}
	for _, c := range []struct {
		metric string
		g      stats.Growth
		want   string
	}{
		{metrics.NsPerOp, g, "100ns + 2ns × objects"},
		{metrics.Achieved, g, "1s / (100ns + 2ns × objects)"},
		{metrics.AchievedPct, g, "100% / (100 + 2 × objects)"},
		{metrics.AchievedPct, flat, "50%"},
		{metrics.HeapPerObject, g, "100 B + 2 B × objects"},
	} {
		if got := formula(c.metric, "objects", c.g); got != c.want {
			t.Errorf("%s: %q, want %q", c.metric, got, c.want)
		}
	}
}

// The report has the tables and refers to the curves. The page embeds them, and the folder
// has their files.
func TestScalingInTheReports(t *testing.T) {
	t.Parallel()
	r := sweptRun("listers", []int{0, 1, 10, 80}, func(n float64) float64 { return 100 + 50*n })
	dir := t.TempDir()
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir); err != nil {
		t.Fatal(err)
	}
	const file = "curves/swept_listers_get_ns-op.svg"
	md, page := read(t, dir, MarkdownFile), read(t, dir, HTMLFile)
	for _, want := range []string{"## Scaling", "swept over listers", "linear, ", "ns × listers; R² ",
		"1s / (", "](" + file + ")"} {
		if !strings.Contains(md, want) {
			t.Errorf("report.md lacks %q", want)
		}
	}
	if strings.Contains(page, "curves/") || strings.Count(page, "data:image/svg+xml;base64,") != 3 {
		t.Error("report.html does not hold its three curves itself")
	}
	svg := read(t, dir, filepath.FromSlash(file))
	texts := textsOf(t, svg)
	for _, want := range []string{"reference", "slow", "0", "1", "10", "80", "listers (goroutines)",
		"time per operation (ns/op)", "1µs", "swept, get: ns/op"} {
		if !texts[want] {
			t.Errorf("the curve lacks the text %q: %v", want, texts)
		}
	}
	if texts["reference@aa"] {
		t.Error("the second copy of the reference is drawn")
	}
	again, err := pictures(Scalings(clean(r)))
	if err != nil || string(again[file]) != svg {
		t.Errorf("the same run gives another picture: %v", err)
	}
	var text bytes.Buffer
	if err := of(t, r).WriteText(&text, Terminal{Wide: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"growth over listers from 0 to 80", "linear, 4"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
}

// A terminal of 80 columns has a line for each implementation, with the same words.
func TestGrowthFitsTheTerminal(t *testing.T) {
	t.Parallel()
	r := sweptRun("listers", []int{0, 1, 10, 80}, func(n float64) float64 { return 1 + n })
	for _, impls := range []string{"all", "one"} {
		if impls == "one" {
			r.Cells = slices.DeleteFunc(r.Cells, func(c record.Cell) bool { return c.Impl != "reference" })
		}
		text := textOf(t, r, Terminal{})
		_, growth, found := strings.Cut(text, "growth over listers from 0 to 80")
		if !found || !strings.Contains(growth, "ns/op") || !strings.Contains(growth, "reference") ||
			strings.Contains(growth, "slow") != (impls == "all") {
			t.Errorf("%s: the growth is not told:\n%s", impls, text)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%s: a line has %d columns: %s", impls, n, line)
			}
		}
	}
}

// Two sizes give no fit, and say so; a size without values is left out.
func TestScalingOfLittle(t *testing.T) {
	t.Parallel()
	r := sweptRun("objects", []int{1000, 10_000}, func(n float64) float64 { return n })
	var md bytes.Buffer
	if err := of(t, r).WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(md.String(), "no fit: 2 sizes") {
		t.Error("two sizes are fitted")
	}
	r.Forks = nil
	if pictures, err := pictures(Scalings(clean(r))); err != nil || len(pictures) != 0 {
		t.Errorf("%d pictures of nothing, %v", len(pictures), err)
	}
	if err := of(t, r).WriteMarkdown(&md); err != nil {
		t.Error(err)
	}
}

// A run over procs has a table for each value, under different titles.
func TestTitlesOfProcs(t *testing.T) {
	t.Parallel()
	titles := map[string]bool{}
	for _, g := range compare.Within(sweptRun(varyProcs, []int{1, 2, 4}, func(float64) float64 {
		return 1
	})) {
		titles[g.Title] = true
	}
	if len(titles) != 3 || !titles["swept/objects=10/procs=4"] {
		t.Errorf("%v", titles)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// textsOf parses an SVG and returns what its text elements say.
func textsOf(t *testing.T, svg string) map[string]bool {
	t.Helper()
	texts := map[string]bool{}
	inText := false
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts[string(e)] = true
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// The ratio of an implementation that has no number at the last size, because it was given up
// there,
// is over its own sizes, and says so.
func TestGrowthNamesItsOwnSizes(t *testing.T) {
	t.Parallel()
	at := func(size, ns float64) SizePoint {
		return SizePoint{Size: size, Estimate: stats.Estimate{Median: ns, N: 6}}
	}
	l := Line{Impl: "a", Points: []SizePoint{at(1000, 100), at(100_000, 140)}}
	for last, want := range map[float64]string{100_000: "no fit, 1.4x",
		1_000_000: "no fit, 1.4x from 1,000 to 100,000"} {
		if got := l.growth(metrics.NsPerOp, []float64{1000, last}); got != want {
			t.Errorf("up to %g: %q, want %q", last, got, want)
		}
	}
}
