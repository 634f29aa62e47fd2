package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

var notInIDs = regexp.MustCompile(`[^a-z0-9]+`)

// The pictures of the page are drawn in these units; the style sheet sets their size.
const (
	forestWidth = 160 // of a ratio's picture
	forestEdge  = 8   // free at both ends
	stripWidth  = 400 // of the picture of a strip
)

// farthest bounds what a forest plot shows: a factor of a thousand either way.
const farthest = 1000

// axis is the logarithmic axis of ratios that the pictures of a table share. It always has 1
// and the two factors of 2 beside it.
type axis struct {
	lo, hi float64 // logarithms
	Ticks  []tick
}

type tick struct {
	X    float64
	Text string
	One  bool // the line of no difference
}

func axisFor(ratios []stats.Ratio) axis {
	a := axis{lo: math.Log(0.5), hi: math.Log(2)}
	for _, r := range ratios {
		a.lo, a.hi = min(a.lo, logWithin(r.Lo)), max(a.hi, logWithin(r.Hi))
	}
	step := math.Log(2)
	for (a.hi-a.lo)/step > 5 {
		step *= 2 // 2, 4, 16, 256
	}
	for k := math.Ceil(a.lo/step - 1e-9); k*step <= a.hi+1e-9; k++ {
		v := math.Exp(k * step)
		text := fmt.Sprintf("%.0f", v)
		if v < 1 {
			text = fmt.Sprintf("1/%.0f", 1/v)
		}
		a.Ticks = append(a.Ticks, tick{a.x(k * step), text, k == 0})
	}
	return a
}

// logWithin is the logarithm of a ratio, at most that of farthest either way.
func logWithin(ratio float64) float64 {
	most := math.Log(farthest)
	if math.IsNaN(ratio) {
		return 0
	}
	return max(-most, min(most, math.Log(max(ratio, 0))))
}

func (a axis) x(log float64) float64 {
	return round(forestEdge + (log-a.lo)/(a.hi-a.lo)*(forestWidth-2*forestEdge))
}

func round(v float64) float64 { return math.Round(10*v) / 10 }

// mark is a ratio with its interval on an axis. The verdict gives colour and shape.
type mark struct {
	Name       string
	To         string // the id of its row
	Verdict    stats.Verdict
	Lo, At, Hi float64 // units of the picture
	Text       string  // the ratio with its interval
	Ticks      []tick
}

func (a axis) mark(name string, r stats.Ratio, v stats.Verdict) mark {
	m := mark{
		Name: name, Verdict: v, Lo: a.x(logWithin(r.Lo)), At: a.x(logWithin(r.Estimate)),
		Hi:   a.x(logWithin(r.Hi)),
		Text: RatioText(r), Ticks: a.Ticks,
	}
	if r.Estimate == stats.FromZero {
		m.Text = "from 0"
	}
	return m
}

// Diamond are the corners of the shape of a worse number.
func (m mark) Diamond() string {
	return fmt.Sprintf("%g,3 %g,8 %g,13 %g,8", m.At, m.At+5, m.At, m.At-5)
}

// Length is that of the interval's line.
func (m mark) Length() float64 { return round(max(m.Hi-m.Lo, 1)) }

// strips are the values of a row, each a dot, on one axis, so that two modes show.
type strips struct {
	Strips []strip
	Scale  string // from where to where the axis goes
	Dot    string // what a dot is
}

// strip is the values of an implementation, or of one of two runs.
type strip struct {
	Name string
	Dots []dot
}

type dot struct {
	X    float64
	Text string
}

// forkStrips draws each fork of each implementation.
func forkStrips(r *record.Run, g compare.Group, row compare.Row) strips {
	var names []string
	var values [][]float64
	for _, c := range g.Cells {
		names, values = append(names, c.Label()), append(values, valuesOf(r, c, row.Series, row.Metric))
	}
	return stripsOf("process", row.Metric, names, values)
}

// stripsOf draws the values of each name. Without any there is nothing to draw.
func stripsOf(dotIs, metric string, names []string, values [][]float64) strips {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range slices.Concat(values...) {
		lo, hi = min(lo, v), max(hi, v)
	}
	if math.IsInf(lo, 1) {
		return strips{}
	}
	at, kind := func(v float64) float64 { return v }, "linear"
	if lo > 0 && hi > 4*lo {
		at, kind = math.Log, "logarithmic"
	}
	width := max(at(hi)-at(lo), math.SmallestNonzeroFloat64)
	out := strips{Scale: fmt.Sprintf("%s to %s, %s", NumberText(metric, lo), NumberText(metric, hi),
		kind), Dot: dotIs}
	for i, name := range names {
		s := strip{Name: name}
		for _, v := range values[i] {
			s.Dots = append(s.Dots, dot{round(forestEdge + (at(v)-at(lo))/width*(stripWidth-2*forestEdge)),
				NumberText(metric, v)})
		}
		if len(s.Dots) > 0 {
			out.Strips = append(out.Strips, s)
		}
	}
	return out
}

func valuesOf(r *record.Run, c record.Cell, series, metric string) []float64 {
	if series == "" {
		return r.ProcessValues(c, metric)
	}
	return r.Values(c, series, metric)
}
