package report

import (
	"cmp"
	"html"
	"math"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Scaling is a workload measured at several values of one parameter.
type Scaling struct {
	Workload string
	Vary     string    // "objects", "listers" or another key of a name, or "procs"
	Sizes    []float64 // the values, rising
	Curves   []Curve
}

// Curve is one metric of one series along the sizes, for every implementation.
type Curve struct {
	Series string // "get", "writer:update", or "" for the process
	Metric string
	Lines  []Line
}

// Line is one implementation's numbers along the sizes.
type Line struct {
	Impl   string
	Points []SizePoint // rising; a size without values is left out
}

// SizePoint is the value measured at one size.
type SizePoint struct {
	Size     float64
	Estimate stats.Estimate
}

// Scalings evaluates the sweeps of a run, in measuring order. It is empty for a run without
// sweeps.
func Scalings(r *record.Run) []Scaling {
	// A workload has one sweep, so its cells differ in the swept parameter and in the
	// implementation only.
	workloads := inGroups(slices.DeleteFunc(slices.Clone(r.Cells), func(c record.Cell) bool {
		return c.Role != ""
	}), func(c record.Cell) [2]string { return [2]string{string(c.Component), c.Workload} })
	var out []Scaling
	for _, cells := range workloads {
		vary := varying(cells)
		if vary == "" {
			continue
		}
		s := Scaling{Workload: cells[0].Workload, Vary: vary}
		for _, c := range cells {
			s.Sizes = append(s.Sizes, sizeOf(c, vary))
		}
		slices.Sort(s.Sizes)
		s.Sizes = slices.Compact(s.Sizes)
		for _, series := range compare.SeriesOf(r, cells) {
			forks := compare.ValuesOf(r, cells, series)
			for _, metric := range compare.MetricsOf(r, cells, series) {
				if metrics.JudgedIn(metric, forks) {
					s.Curves = append(s.Curves, curve(r, cells, vary, series, metric))
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// inGroups are the elements of each key, in the order of the first of them.
func inGroups[T any, K comparable](all []T, key func(T) K) (out [][]T) {
	at := map[K]int{}
	for _, v := range all {
		i, ok := at[key(v)]
		if !ok {
			i, out = len(out), append(out, nil)
			at[key(v)] = i
		}
		out[i] = append(out[i], v)
	}
	return out
}

const varyProcs = "procs"

// varying names the parameter in which the cells differ, "" if there is none. It is the
// last such parameter in the name. The number of objects comes first, and may have to grow
// with that of the waiting items.
func varying(cells []record.Cell) string {
	for i := len(cells[0].Params) - 1; i >= 0; i-- {
		key := cells[0].Params[i].Key
		if slices.ContainsFunc(cells, func(c record.Cell) bool {
			return sizeOf(c, key) != sizeOf(cells[0], key)
		}) {
			return key
		}
	}
	if slices.ContainsFunc(cells, func(c record.Cell) bool { return c.Procs != cells[0].Procs }) {
		return varyProcs
	}
	return ""
}

func sizeOf(c record.Cell, vary string) float64 {
	for _, p := range c.Params {
		if p.Key == vary {
			n, _ := strconv.ParseFloat(p.Value, 64) // benchrun wrote them, and all are numbers
			return n
		}
	}
	return float64(c.Procs)
}

func curve(r *record.Run, cells []record.Cell, vary, series, metric string) Curve {
	out := Curve{Series: series, Metric: metric}
	for _, c := range cells {
		e := compare.EstimateOf(r, c, series, metric)
		if math.IsNaN(e.Median) {
			continue
		}
		i := slices.IndexFunc(out.Lines, func(l Line) bool { return l.Impl == c.Label() })
		if i < 0 {
			i, out.Lines = len(out.Lines), append(out.Lines, Line{Impl: c.Label()})
		}
		out.Lines[i].Points = append(out.Lines[i].Points, SizePoint{sizeOf(c, vary), e})
	}
	for _, l := range out.Lines {
		slices.SortFunc(l.Points, func(a, b SizePoint) int { return cmp.Compare(a.Size, b.Size) })
	}
	return out
}

// writeScaling writes a table and the curves for each workload that is swept.
func writeScaling(w *writer, scalings []Scaling) {
	if len(scalings) == 0 {
		return
	}
	w.printf("## Scaling\n\nThe medians at each size. In the pictures the bars are their " +
		"intervals.\n\n")
	for _, s := range scalings {
		w.printf("### %s over %s\n\n", s.Workload, s.Vary)
		t, notes := table.NewWriter(), &footnotes{}
		header := table.Row{"operation", "metric", "implementation"}
		for _, n := range s.Sizes {
			header = append(header, sizeText(n))
		}
		t.AppendHeader(header)
		for _, c := range s.Curves {
			name, metric := cmp.Or(c.Series, compare.ProcessSeries), Heading(c.Metric)
			for _, l := range c.Lines {
				row := table.Row{name, metric, l.Impl}
				for _, n := range s.Sizes {
					text := "no value"
					if e, ok := l.at(n); ok {
						text = NumberText(c.Metric, e.Median) + notes.mark(e.Warnings)
					}
					row = append(row, text)
				}
				t.AppendRow(row)
				name, metric = "", ""
			}
		}
		w.printf("%s\n\n%s\n", t.RenderMarkdown(), markdownLines(notes.text()))
		for _, c := range s.Curves {
			if c.drawable() {
				w.printf("![%s over %s](%s)\n", s.title(c), s.Vary, pictureFile(s, c, html.UnescapeString))
			}
		}
		w.printf("\n")
	}
}

// at is the value at a size; ok is false if there is none.
func (l Line) at(size float64) (e stats.Estimate, ok bool) {
	for _, p := range l.Points {
		if p.Size == size {
			return p.Estimate, true
		}
	}
	return e, false
}

func sizeText(n float64) string { return humanize.Commaf(n) }

// impls are the implementations in the order of the run.
func (s Scaling) impls() []string {
	var out []string
	for _, c := range s.Curves {
		for _, l := range c.Lines {
			if !slices.Contains(out, l.Impl) {
				out = append(out, l.Impl)
			}
		}
	}
	return out
}
