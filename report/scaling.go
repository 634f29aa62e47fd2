package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

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
	// Growth is that of the cost: of the metric itself, or of its reciprocal where more is
	// better (see rateWhole). It always says how the work grows.
	Growth stats.Growth
}

// SizePoint is the value measured at one size.
type SizePoint struct {
	Size     float64
	Estimate stats.Estimate
}

// Scalings evaluates the sweeps of a run, in measuring order. It is empty for a run without
// sweeps.
func Scalings(r *record.Run) []Scaling {
	var out []Scaling
	for _, cells := range byWorkload(r) {
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

// byWorkload groups the cells by workload. A workload has one sweep, so its cells differ in
// the swept parameter and in the implementation only.
func byWorkload(r *record.Run) [][]record.Cell {
	var out [][]record.Cell
	for _, c := range r.Cells {
		if c.Role != "" {
			continue
		}
		i := slices.IndexFunc(out, func(have []record.Cell) bool {
			return have[0].Component == c.Component && have[0].Workload == c.Workload
		})
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], c)
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
	if severalProcs(cells) {
		return varyProcs
	}
	return ""
}

func severalProcs(cells []record.Cell) bool {
	return slices.ContainsFunc(cells, func(c record.Cell) bool { return c.Procs != cells[0].Procs })
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
	fits := map[string][]stats.Point{}
	for _, c := range cells {
		values := valuesOf(r, c, series, metric)
		if len(values) == 0 {
			continue
		}
		i := slices.IndexFunc(out.Lines, func(l Line) bool { return l.Impl == c.Label() })
		if i < 0 {
			i, out.Lines = len(out.Lines), append(out.Lines, Line{Impl: c.Label()})
		}
		size := sizeOf(c, vary)
		out.Lines[i].Points = append(out.Lines[i].Points,
			SizePoint{size, compare.EstimateOf(r, c, series, metric)})
		for _, v := range values {
			fits[c.Label()] = append(fits[c.Label()], stats.Point{N: size, Y: cost(metric, v)})
		}
	}
	for i := range out.Lines {
		l := &out.Lines[i]
		slices.SortFunc(l.Points, func(a, b SizePoint) int { return cmp.Compare(a.Size, b.Size) })
		l.Growth = stats.GrowthOf(fits[l.Impl])
	}
	return out
}

// rateWhole is the dividend that turns a metric of which more is better into a cost:
// operations per second become ns per operation, and a share of the offered operations
// becomes the missing factor. 0 means that the metric is a cost already.
func rateWhole(metric string) float64 {
	switch {
	case metrics.Of(metric).Better != metrics.HigherIsBetter:
		return 0
	case metrics.Of(metric).Unit == metrics.Percent:
		return 100
	}
	return 1e9
}

func cost(metric string, v float64) float64 {
	if whole := rateWhole(metric); whole > 0 {
		return whole / v
	}
	return v
}

// formula formats a fit in the unit of its metric.
func formula(metric, vary string, g stats.Growth) string {
	whole := rateWhole(metric)
	switch {
	case whole == 0:
		return g.Formula(vary, func(v float64) string { return NumberText(metric, v) })
	case g.Model == stats.Flat:
		return NumberText(metric, whole/g.A)
	case whole == 100:
		return fmt.Sprintf("100%% / (%s)", g.Formula(vary, func(v float64) string {
			return fmt.Sprintf("%.3g", v)
		}))
	}
	return fmt.Sprintf("1s / (%s)", g.Formula(vary, duration))
}

// growth is the model and the ratio of the cost at the last size to that at the first: "log, 1.4x".
// Where the line has no number at the first or the last of all sizes, it says from which to which:
// "log, 1.2x from 1,000 to 100,000".
func (l Line) growth(metric string, sizes []float64) string {
	model := cmp.Or(string(l.Growth.Model), "no fit")
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	rise := cost(metric, last.Estimate.Median) / cost(metric, first.Estimate.Median)
	if math.IsNaN(rise) || math.IsInf(rise, 0) {
		return model
	}
	text := fmt.Sprintf("%s, %sx", model, NumberText("", rise))
	if first.Size != sizes[0] || last.Size != sizes[len(sizes)-1] {
		text += fmt.Sprintf(" from %s to %s", sizeText(first.Size), sizeText(last.Size))
	}
	return text
}

// fit is the formula and the quality of the fit, or the reason why there is none.
func (l Line) fit(metric, vary string) string {
	g := l.Growth
	if g.Model == "" {
		return "no fit: " + g.Reason
	}
	s := formula(metric, vary, g)
	if g.Model != stats.Flat {
		s += fmt.Sprintf("; R² %.3f", g.R2)
	}
	s += "; spread " + PercentText(g.Spread)
	if !math.IsNaN(g.Noise) {
		s += ", of forks " + PercentText(g.Noise)
	}
	if len(g.AlsoFits) > 0 {
		var names []string
		for _, m := range g.AlsoFits {
			names = append(names, string(m))
		}
		s += "; also fits: " + strings.Join(names, ", ")
	}
	return s
}

const scalingLegend = "Growth is the law that the cost follows within the sizes measured, and " +
	"how many times that of the first size the last one costs. " +
	"Of what is better when it is more (ops/s, achieved-%), the cost is the reciprocal."

// writeScaling writes a table and the curves for each workload that is swept.
func writeScaling(w *writer, scalings []Scaling) {
	if len(scalings) == 0 {
		return
	}
	w.printf("## Scaling\n\n%s The fit is least squares of the relative residuals over all forks, "+
		"the model chosen by AICc: "+
		"R² is against the flat model, the spread is that of the residuals. Much more spread than "+
		"among the forks of one size means that the curve has another shape, "+
		"such as a step where a cache is full. The bars are the medians' intervals.\n\n", scalingLegend)
	for _, s := range scalings {
		w.printf("### %s over %s\n\n", s.Workload, s.Vary)
		t, notes := table.NewWriter(), &footnotes{}
		header := table.Row{"operation", "metric", "implementation"}
		for _, n := range s.Sizes {
			header = append(header, sizeText(n))
		}
		t.AppendHeader(append(header, "growth", "fit"))
		for _, c := range s.Curves {
			name, metric := cmp.Or(c.Series, compare.ProcessSeries), c.Metric
			for _, l := range c.Lines {
				row := table.Row{name, metric, l.Impl}
				for _, n := range s.Sizes {
					row = append(row, l.at(n, c.Metric, notes))
				}
				t.AppendRow(append(row, l.growth(c.Metric, s.Sizes), l.fit(c.Metric, s.Vary)))
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

func (l Line) at(size float64, metric string, notes *footnotes) string {
	for _, p := range l.Points {
		if p.Size == size {
			return NumberText(metric, p.Estimate.Median) + notes.mark(p.Estimate.Warnings)
		}
	}
	return "no value"
}

func sizeText(n float64) string { return humanize.Commaf(n) }

// writeScalingText writes the growth alone, for a terminal.
func writeScalingText(w *writer, scalings []Scaling, to Terminal) {
	for _, s := range scalings {
		t := to.growth(s)
		forTerminal(t, fmt.Sprintf("%s: growth over %s from %s to %s", s.Workload, s.Vary,
			sizeText(s.Sizes[0]), sizeText(s.Sizes[len(s.Sizes)-1])))
		w.printf("%s\n\n", t.Render())
	}
	if len(scalings) > 0 {
		w.printf("%s\n\n", to.wrapped(strings.ReplaceAll(scalingLegend, ". ", ".\n")))
	}
}

// growth has a line for each implementation.
func (to Terminal) growth(s Scaling) table.Writer {
	t := table.NewWriter()
	impls := s.impls()
	t.AppendHeader(table.Row{"operation", "implementation", "growth"})
	t.SetColumnConfigs(
		[]table.ColumnConfig{{Number: 1, WidthMax: to.width() * 2 / 5, WidthMaxEnforcer: text.WrapSoft}})
	for i, c := range s.Curves {
		if i > 0 {
			t.AppendSeparator()
		}
		names := make([]string, max(2, len(impls)))
		names[0], names[1] = cmp.Or(c.Series, compare.ProcessSeries), c.Metric
		for j, name := range names {
			im := ""
			if j < len(impls) {
				im = impls[j]
			}
			t.AppendRow(table.Row{name, im, c.growthOf(im, s.Sizes)})
		}
	}
	return t
}

// growthOf is the growth of an implementation's line, "" without one.
func (c Curve) growthOf(impl string, sizes []float64) string {
	for _, l := range c.Lines {
		if l.Impl == impl {
			return l.growth(c.Metric, sizes)
		}
	}
	return ""
}

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
