package report

import (
	"bytes"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file draws what a logarithmic axis has no place for. A point of 0 stands on a row of
// its own below the break of the axis. A size without a value interrupts the line, and its
// mark stands at the axis of the sizes.

const (
	zeroRow    = 0     // of the plot's height
	aboveBreak = 0.14  // of the plot's height: where the logarithmic part begins
	dodge      = 7     // between the marks of lines that share a place
	missingGap = 12    // between the plot and its axis, where the marks of missing values stand
	markRadius = 3     // of a mark
	lineWidth  = 1.4   // of a curve
	thinLine   = 0.8   // of intervals and open marks
	zeroText   = "0"   // the label of the row
	belowText  = "≤ 0" // where some values are negative
)

// hasZero reports whether a median or an end of an interval is 0 or less.
func (c Curve) hasZero() bool {
	return c.any(func(p SizePoint) bool { return p.Estimate.Median <= 0 || p.Estimate.Lo <= 0 })
}

func (c Curve) hasNegative() bool {
	return c.any(func(p SizePoint) bool { return p.Estimate.Median < 0 || p.Estimate.Lo < 0 })
}

func (c Curve) any(f func(SizePoint) bool) bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.valued(), f)
	})
}

// valued are the points that have a number.
func (l Line) valued() []SizePoint {
	return slices.DeleteFunc(slices.Clone(l.Points), func(p SizePoint) bool {
		return math.IsNaN(p.Estimate.Median)
	})
}

// missing are the sizes at which the line has no number.
func (l Line) missing(sizes []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(sizes), func(n float64) bool {
		return slices.ContainsFunc(l.valued(), func(p SizePoint) bool { return p.Size == n })
	})
}

// brokenLog is a logarithmic scale from a value on, with a row for 0 and less below it.
type brokenLog struct{ from float64 }

// Normalize implements plot.Normalizer.
func (s brokenLog) Normalize(_, hi, v float64) float64 {
	if v <= 0 {
		return zeroRow
	}
	return aboveBreak + (1-aboveBreak)*math.Log(v/s.from)/math.Log(hi/s.from)
}

// brokenTicks are those of valueTicks from a value on, and that of the row of zeros.
type brokenTicks struct {
	values valueTicks
	from   float64
	zero   string
}

// Ticks implements plot.Ticker.
func (t brokenTicks) Ticks(_, hi float64) []plot.Tick {
	return append([]plot.Tick{{Value: 0, Label: t.zero}}, t.values.Ticks(t.from, hi)...)
}

// lineThrough draws a line through its points: solid above the break, dashed to a 0, and
// interrupted where a size has no value.
type lineThrough struct {
	line    Line
	sizes   []float64
	style   int         // of the implementation
	zeroAt  map[int]int // how many lines before this one are 0 at a size, by its index
	missing map[int]int // likewise without a value
}

// Plot implements plot.Plotter.
func (l lineThrough) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	ink := palette[l.style%len(palette)]
	solid := draw.LineStyle{Color: ink, Width: vg.Points(lineWidth)}
	dashed := draw.LineStyle{Color: ink, Width: vg.Points(thinLine),
		Dashes: []vg.Length{vg.Points(3), vg.Points(3)}}
	full := draw.GlyphStyle{Color: ink, Radius: vg.Points(markRadius),
		Shape: marks[l.style%len(marks)]}
	var last *vg.Point
	lastZero := false
	for i, size := range l.sizes {
		at := slices.IndexFunc(l.line.valued(), func(p SizePoint) bool { return p.Size == size })
		if at < 0 {
			// Beside the data, where Canvas.DrawGlyph would leave it out.
			draw.CrossGlyph{}.DrawGlyph(&c, full,
				vg.Point{X: l.beside(x(size), i, l.missing), Y: c.Min.Y - missingGap/2})
			last = nil
			continue
		}
		median := l.line.valued()[at].Estimate.Median
		here, zero := vg.Point{X: x(size), Y: y(median)}, median <= 0
		if zero {
			here.X = l.beside(here.X, i, l.zeroAt)
		}
		if last != nil {
			style := solid
			if zero || lastZero {
				style = dashed
			}
			c.StrokeLine2(style, last.X, last.Y, here.X, here.Y)
		}
		if zero {
			zeroGlyph{}.DrawGlyph(&c, full, here)
		} else {
			c.DrawGlyph(full, here)
		}
		last, lastZero = &here, zero
	}
}

// beside moves a mark away from those of other lines in its place, at the last size to the
// left, away from the lines' names.
func (l lineThrough) beside(x vg.Length, size int, before map[int]int) vg.Length {
	step := vg.Length(dodge)
	if size == len(l.sizes)-1 {
		step = -dodge
	}
	return x + step*vg.Length(before[size])
}

// zeroGlyph is an open triangle that stands on its tip. No implementation has this mark.
type zeroGlyph struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (zeroGlyph) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := style.Radius
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: vg.Points(thinLine)})
	var p vg.Path
	p.Move(at)
	p.Line(vg.Point{X: at.X - r, Y: at.Y + 1.8*r})
	p.Line(vg.Point{X: at.X + r, Y: at.Y + 1.8*r})
	p.Close()
	c.Stroke(p)
}

// drawBreak interrupts the axis of the values above the row of zeros.
func drawBreak(c draw.Canvas, at vg.Length) {
	y := c.Min.Y + (c.Max.Y-c.Min.Y)*aboveBreak/2
	var gap vg.Path
	for i, corner := range []vg.Point{{X: at - 4, Y: y - 3}, {X: at + 4, Y: y - 1},
		{X: at + 4, Y: y + 3}, {X: at - 4, Y: y + 1}} {
		if i == 0 {
			gap.Move(corner)
		} else {
			gap.Line(corner)
		}
	}
	gap.Close()
	c.SetColor(color.White)
	c.Fill(gap)
	edge := draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}
	c.StrokeLine2(edge, at-4, y-3, at+4, y-1)
	c.StrokeLine2(edge, at-4, y+1, at+4, y+3)
}

// markLegend explains the marks that a picture has beside its lines, "" if it has none.
func (s Scaling) markLegend(c Curve) string {
	var out []string
	if c.hasZero() {
		out = append(out, "open triangle on the lowest row: "+c.zeroLabel())
	}
	if slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.missing(s.Sizes)) > 0 }) {
		out = append(out, "× at the axis: no value for this size")
	}
	return strings.Join(out, "; ")
}

func (c Curve) zeroLabel() string {
	if c.hasNegative() {
		return belowText
	}
	return zeroText
}

// inTheDark are the colours that a picture has where the reader prefers dark pages, by those
// that it is drawn in. The background is that of report.html.
var inTheDark = map[string]string{
	"#FFFFFF": "#16181c", "#000000": "#e4e6ea", "#E4E4E4": "#3d434d",
	"#0072B2": "#4da3e0", "#D55E00": "#ff8a3d", "#009E73": "#3fcf9f", "#CC79A7": "#ec9ac6",
	"#E69F00": "#f0b63c", "#56B4E9": "#8fd0f7",
}

// bothSchemes adds a style to a picture, by which it follows the reader's colour scheme, alone
// and within a page. A program that knows no such styles shows the light one.
func bothSchemes(svg []byte) []byte {
	var css strings.Builder
	css.WriteString("<style>@media (prefers-color-scheme: dark) { text { fill: " +
		inTheDark["#000000"] + " }")
	for _, light := range slices.Sorted(maps.Keys(inTheDark)) {
		for _, property := range []string{"fill", "stroke"} {
			fmt.Fprintf(&css, ` [style*="%s:%s"] { %[1]s: %[3]s !important }`, property, light,
				inTheDark[light])
		}
	}
	css.WriteString(" }</style>\n")
	end := bytes.Index(svg, []byte(">\n<g"))
	if end < 0 {
		return svg
	}
	return slices.Concat(svg[:end+2], []byte(css.String()), svg[end+2:])
}
