package report

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// The marks of the reference, whose colour is the first of the palette, in a picture.
var (
	circles   = regexp.MustCompile(`<circle class="c0"`)
	triangles = regexp.MustCompile(`class="c0 open"`)
	crosses   = regexp.MustCompile(`class="c0 cross"`)
	dashes    = regexp.MustCompile(`class="zero c0"`)
	lines     = regexp.MustCompile(`class="line c0 d0"`)
)

// Every size has a mark of every line: a value, a 0 or a missing one.
func TestCurvesLoseNoPoint(t *testing.T) {
	t.Parallel()
	const gone = -1 // no value
	for _, c := range []struct {
		name string
		// of the reference at 1, 10, 100 and 1,000 objects
		values                                      []float64
		circles, triangles, missing, dashes, solids int
		texts, none                                 []string
	}{
		{"all there", []float64{5, 6, 7, 8}, 4, 0, 0, 0, 3, nil,
			[]string{"0", "open triangle on the lowest row: 0", "× at the axis: no value for this size"}},
		{"a zero at the end", []float64{5, 6, 7, 0}, 3, 1, 0, 1, 2,
			[]string{"0", "open triangle on the lowest row: 0"}, nil},
		{"a zero between", []float64{5, 0, 7, 8}, 3, 1, 0, 2, 1, []string{"0"}, nil},
		{"all zero", []float64{0, 0, 0, 0}, 0, 4, 0, 3, 0, []string{"0"}, nil},
		{"a gap", []float64{5, gone, 7, 8}, 3, 0, 1, 0, 1,
			[]string{"× at the axis: no value for this size"}, []string{"0"}},
		{"a gap at the end", []float64{5, 6, 7, gone}, 3, 0, 1, 0, 2,
			[]string{"× at the axis: no value for this size"}, nil},
		{"a zero and a gap", []float64{0, gone, 7, 8}, 2, 1, 1, 0, 1,
			[]string{"open triangle on the lowest row: 0; × at the axis: no value for this size"}, nil},
		{"one value alone", []float64{gone, 6, gone, gone}, 1, 0, 3, 0, 0, nil, nil},
	} {
		r := sweptRun("objects", []int{10, 100, 1000, 10_000}, func(n float64) float64 { return 100 + n })
		sizes := []string{"10", "100", "1000", "10000"}
		for i := range r.Forks {
			f := &r.Forks[i]
			if f.Cell.Impl != "reference" || f.Cell.Role != "" {
				continue
			}
			v := c.values[slices.Index(sizes, f.Cell.Params[0].Value)]
			f.Series[0].Values[metrics.Achieved] = v
			if v == gone {
				delete(f.Series[0].Values, metrics.Achieved)
			}
		}
		pictures, err := pictures(Scalings(clean(r)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		svg := string(pictures["curves/swept_objects_get_ops-s.svg"])
		texts := textsOf(t, svg)
		for _, want := range c.texts {
			if !texts[want] {
				t.Errorf("%s: the picture lacks the text %q: %v", c.name, want, texts)
			}
		}
		for _, no := range c.none {
			if texts[no] {
				t.Errorf("%s: the picture has the text %q", c.name, no)
			}
		}
		for what, n := range map[string][2]int{
			"circles":        {len(circles.FindAllString(svg, -1)), c.circles},
			"open triangles": {len(triangles.FindAllString(svg, -1)), c.triangles},
			"crosses":        {len(crosses.FindAllString(svg, -1)), c.missing},
			"dashed parts":   {len(dashes.FindAllString(svg, -1)), c.dashes},
			"solid parts":    {len(lines.FindAllString(svg, -1)), c.solids},
		} {
			if n[0] != n[1] {
				t.Errorf("%s: %d %s, want %d", c.name, n[0], what, n[1])
			}
		}
	}
}

// Lines that share a 0 or a gap have their marks beside each other.
func TestMarksOfOnePlaceLieApart(t *testing.T) {
	t.Parallel()
	r := sweptRun("objects", []int{10, 100, 1000}, func(n float64) float64 { return 100 + n })
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Params[0].Value == "1000" {
			f.Series[0].Values[metrics.Achieved] = 0
		}
	}
	pictures, err := pictures(Scalings(clean(r)))
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]bool{}
	for _, m := range regexp.MustCompile(`open" d="M([0-9.]+),`).FindAllStringSubmatch(string(pictures["curves/swept_objects_get_ops-s.svg"]), -1) {
		at[m[1]] = true
	}
	if len(at) != 2 {
		t.Errorf("two lines end at 0 and have their triangles at %v, want two places", at)
	}
}

func TestBrokenScale(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{-3: 0, 0: 0, 10: aboveBreak, 1000: 1,
		100: (1 + aboveBreak) / 2} {
		if got := heightOf(v, 10, 1000, true); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g lies at %g of the height, want %g", v, got, want)
		}
	}
	for _, tick := range valueTicks(10, 1000) {
		if tick < 10 {
			t.Errorf("a tick at %g lies within the break", tick)
		}
	}
}

// A value below 0, such as memory that a component gave back, is on the lowest row, which
// then says so.
func TestNegativeValuesAreDrawn(t *testing.T) {
	t.Parallel()
	r := sweptRun("objects", []int{10, 100, 1000}, func(float64) float64 { return 100 })
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Params[0].Value == "100" {
			f.Process = map[string]float64{metrics.HeapPerObject: -8}
		}
	}
	pictures, err := pictures(Scalings(clean(r)))
	if err != nil {
		t.Fatal(err)
	}
	if texts := textsOf(
		t, string(pictures["curves/swept_objects_process_heap-B-object.svg"])); !texts[belowText] {
		t.Errorf("the lowest row is not labelled %q: %v", belowText, texts)
	}
}

// Each colour that pictures use has one for dark pages, and the style changes nothing else.
func TestPicturesFollowTheColourScheme(t *testing.T) {
	t.Parallel()
	r := sweptRun("objects", []int{10, 100}, func(n float64) float64 { return n })
	for i, c := range slices.Clone(r.Cells) { // a line in each colour
		for k := range curveHues {
			c.Impl = "reference" + strings.Repeat("x", k)
			r.Cells = append(r.Cells, c)
			f := r.Forks[6*i]
			f.Cell = c
			r.Forks = append(
				r.Forks, record.Fork{Cell: c, Index: f.Index, Process: f.Process, Series: f.Series})
		}
	}
	pictures, err := pictures(Scalings(clean(r)))
	if err != nil || len(pictures) == 0 {
		t.Fatal(err)
	}
	for path, svg := range pictures {
		style, drawing, ok := strings.Cut(string(svg), "</style>")
		light, dark, both := strings.Cut(style, "@media (prefers-color-scheme: dark)")
		if !ok || !both {
			t.Fatalf("%s has no style for dark pages", path)
		}
		for _, class := range regexp.MustCompile(`\bc[0-9]+\b|paper|grid|axis`).FindAllString(drawing, -1) {
			if !strings.Contains(light, "."+class+" {") || !strings.Contains(dark, "."+class+" {") {
				t.Errorf("%s: %s has no colour for dark pages, or none for light ones", path, class)
			}
		}
	}
}
