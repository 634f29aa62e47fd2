package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
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
	}{
		{"objects", []int{1000, 10_000, 100_000}},
		{"waiting", []int{1000, 10_000, 100_000}},
		{"listers", []int{0, 1, 10, 80}},
		{varyProcs, []int{1, 2, 4}},
	} {
		t.Run(c.vary, func(t *testing.T) {
			t.Parallel()
			scalings := Scalings(sweptRun(c.vary, c.sizes, func(n float64) float64 { return 100 + n }))
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
				for _, l := range curve.Lines {
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
	for _, want := range []string{"## Scaling", "swept over listers", "| 0 | 1 | 10 | 80 |",
		"](" + file + ")"} {
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
}

// A sweep without values has a section, and no picture.
func TestScalingOfLittle(t *testing.T) {
	t.Parallel()
	r := sweptRun("objects", []int{1000, 10_000}, func(n float64) float64 { return n })
	r.Forks = nil
	if pictures, err := pictures(Scalings(clean(r))); err != nil || len(pictures) != 0 {
		t.Errorf("%d pictures of nothing, %v", len(pictures), err)
	}
	var md bytes.Buffer
	if err := of(t, r).WriteMarkdown(&md); err != nil || !strings.Contains(md.String(), "## Scaling") {
		t.Errorf("%v:\n%s", err, md.String())
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
