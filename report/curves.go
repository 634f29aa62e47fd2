package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"image/color"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
)

// CurvesDir is the folder, within a run's, that holds the pictures of report.md.
const CurvesDir = "curves"

// pictures draws every curve of a run as SVG, keyed by its path within the run's folder.
// Equal runs give equal bytes.
func pictures(scalings []Scaling) (map[string][]byte, error) {
	pictures := map[string][]byte{}
	for _, s := range scalings {
		for _, c := range s.Curves {
			if !c.drawable() {
				continue
			}
			svg, err := s.draw(c)
			if err != nil {
				return nil, fmt.Errorf("drawing %s: %w", s.title(c), err)
			}
			pictures[pictureFile(s, c, plain)] = svg
		}
	}
	return pictures, nil
}

// drawable reports whether a line has two or more points.
func (c Curve) drawable() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.valued()) > 1 })
}

func (s Scaling) title(c Curve) string {
	return fmt.Sprintf("%s, %s: %s", s.Workload, cmp.Or(c.Series, compare.ProcessSeries), c.Metric)
}

// pictureFile is the picture's path within the run's folder. It is unique, because
// benchrun's own names and keys have no underscore. A name with characters that do not
// belong in a file name or a link is replaced by its digest. raw undoes the escaping of
// names.
func pictureFile(s Scaling, c Curve, raw func(string) string) string {
	parts := []string{s.Workload, s.Vary, cmp.Or(c.Series, "process"), c.Metric}
	for i, p := range parts {
		parts[i] = strings.Join(strings.Fields(raw(p)), "") // forMarkdown has collapsed spaces
	}
	name := strings.Join(parts, "_")
	safe := strings.NewReplacer("/", "-", ":", "_", "%", "percent").Replace(name)
	if odd := notInFiles.ReplaceAllString(safe, "-"); odd != safe || len(safe) > longestName {
		safe = fmt.Sprintf("%.*s-%.6x", longestName, odd, sha256.Sum256([]byte(name)))
	}
	return path.Join(CurvesDir, safe+".svg")
}

func plain(name string) string { return name }

const longestName = 150

var notInFiles = regexp.MustCompile(`[^A-Za-z0-9._=+-]`)

// The palette of Okabe and Ito ("Color Universal Design", 2008), distinguishable with any
// colour vision, without the yellow, which is too pale for a line. The numbers of colours
// and marks have no common factor, so 56 lines differ.
var (
	palette = []color.Color{rgb(0x0072B2), rgb(0xD55E00), rgb(0x009E73), rgb(0xCC79A7), rgb(0x000000),
		rgb(0xE69F00), rgb(0x56B4E9)}
	marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
		draw.CrossGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{}}
)

func rgb(hex uint32) color.Color {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

const (
	pictureWidth  = 5.8 * vg.Inch
	pictureHeight = 3.4 * vg.Inch
	fontSize      = 9
	labelSpacing  = 12 // between the lines' names
	labelColumns  = 85 // of the values' label
)

func (s Scaling) draw(c Curve) ([]byte, error) {
	p := plot.New()
	p.X.Label.Text = axisOf(s.Vary)
	for _, style := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font} {
		style.Variant, style.Size = "Sans", fontSize
	}
	p.X.Scale, p.Y.Scale = logFrom(s.Sizes[0]), plot.LogScale{}
	p.X.Tick.Marker = sizeTicks(s.Sizes)
	p.X.Padding, p.Y.Padding = missingGap, 0
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xe4}, color.Gray{0xe4}
	p.Add(grid)
	lo, hi := c.extent()
	impls := s.impls()
	if err := s.addLines(p, c, impls, lo); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = s.Sizes[0], s.Sizes[len(s.Sizes)-1]
	p.Y.Min, p.Y.Max = axisRange(lo, hi)
	p.Y.Tick.Marker = valueTicks(c.Metric)
	if c.hasZero() {
		p.Y.Scale, p.Y.Tick.Marker = brokenLog{p.Y.Min},
			brokenTicks{valueTicks(c.Metric), p.Y.Min, c.zeroLabel()}
		p.Y.Min = 0
	}

	canvas := vgsvg.New(pictureWidth, pictureHeight)
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	names := p.X.Tick.Label
	names.YAlign, names.XAlign = draw.YCenter, draw.XLeft
	margin := vg.Length(0)
	for _, l := range c.Lines {
		margin = max(margin, names.Width(l.Impl))
	}
	inner := draw.Crop(whole, 4, -margin-24, s.writeLegend(whole, names, c),
		-s.writeTitle(whole, p.Title.TextStyle, c))
	p.Draw(inner)
	if c.hasZero() {
		data := p.DataCanvas(inner)
		drawBreak(data, data.Min.X)
	}
	nameLines(p, whole, inner, names, c, impls)

	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	// The layout uses the widths of Liberation Sans, which are Arial's; without either, any
	// other font will do.
	return bothSchemes(
		bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
			[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))), nil
}

// Texts beside the plot begin at textLeft.
const textLeft, lineHeight = 8, 12

// writeTitle writes what a picture shows above it, and returns the height of that. The label of
// the values stands there too: beside its axis, gonum would make the plot as small as a long
// label asks for.
func (s Scaling) writeTitle(whole draw.Canvas, style draw.TextStyle, c Curve) vg.Length {
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	label := trimmed(text.WrapSoft(axisOf(c.Metric), labelColumns))
	whole.FillText(style, vg.Point{X: textLeft, Y: whole.Max.Y - 4 - lineHeight - 4}, label)
	style.Font.Size = fontSize + 2
	whole.FillText(style, vg.Point{X: textLeft, Y: whole.Max.Y - 4}, s.title(c))
	return vg.Length(2+strings.Count(label, "\n"))*lineHeight + 14
}

// writeLegend explains the marks below a picture, and returns the height of that.
func (s Scaling) writeLegend(whole draw.Canvas, style draw.TextStyle, c Curve) vg.Length {
	legend := s.markLegend(c)
	if legend == "" {
		return 4
	}
	style.YAlign = draw.YBottom
	whole.FillText(style, vg.Point{X: textLeft, Y: 4}, legend)
	return 4 + lineHeight + 2
}

// extent is the range of the medians and of the interval ends above 0, and 1 where there are
// none.
func (c Curve) extent() (lo, hi float64) {
	lo = math.Inf(1)
	for _, l := range c.Lines {
		for _, p := range l.valued() {
			for _, v := range []float64{p.Estimate.Lo, p.Estimate.Median, p.Estimate.Hi} {
				if v > 0 {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	if hi == 0 {
		return 1, 1
	}
	return lo, hi
}

// axisRange adds a margin, and spans at least a factor of four, so that noise does not look
// like growth.
func axisRange(lo, hi float64) (from, to float64) {
	const margin, least = 1.2, 4
	from, to = lo/margin, hi*margin
	if widen := math.Sqrt(least * from / to); widen > 1 {
		from, to = from/widen, to*widen
	}
	return from, to
}

// bars are points with their intervals.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// addLines adds the intervals, and then the lines over them. Lines that are 0 or missing at
// the same size have their marks beside each other.
func (s Scaling) addLines(p *plot.Plot, c Curve, impls []string, lowest float64) error {
	zeros, missing := map[int]int{}, map[int]int{}
	for _, l := range c.Lines {
		style := slices.Index(impls, l.Impl)
		bars, err := intervals(l, lowest, c.hasZero())
		if err != nil {
			return err
		}
		bars.Color, bars.Width = palette[style%len(palette)], vg.Points(thinLine)
		p.Add(bars, lineThrough{l, s.Sizes, style, maps.Clone(zeros), maps.Clone(missing)})
		for i, size := range s.Sizes {
			at := slices.IndexFunc(l.valued(), func(p SizePoint) bool { return p.Size == size })
			switch {
			case at < 0:
				missing[i]++
			case l.valued()[at].Estimate.Median <= 0:
				zeros[i]++
			}
		}
	}
	return nil
}

// intervals are the bars of a line. Without a row for 0 they end at the lowest value.
func intervals(l Line, lowest float64, zero bool) (*plotter.YErrorBars, error) {
	if zero {
		lowest = 0
	}
	var b bars
	for _, pt := range l.valued() {
		e := pt.Estimate
		median := max(e.Median, 0)
		b.XYs = append(b.XYs, plotter.XY{X: pt.Size, Y: median})
		b.YErrors = append(b.YErrors, struct {
			Low, High float64
		}{max(0, median-max(e.Lo, lowest)), max(0, e.Hi-median)})
	}
	if len(b.XYs) == 0 {
		return &plotter.YErrorBars{}, nil
	}
	return plotter.NewYErrorBars(b)
}

// nameLines writes each implementation's name beside the end of its line, moved
// apart where the lines end close together.
func nameLines(p *plot.Plot, whole, inner draw.Canvas, style draw.TextStyle, c Curve,
	impls []string) {
	data := p.DataCanvas(inner)
	x, y := p.Transforms(&data)
	type label struct {
		end   vg.Point
		at    vg.Length
		name  string
		style int
	}
	var labels []label
	for _, l := range c.Lines {
		if points := l.valued(); len(points) > 0 {
			last := points[len(points)-1]
			end := vg.Point{X: x(last.Size), Y: y(last.Estimate.Median)}
			labels = append(labels, label{end, end.Y, l.Impl, slices.Index(impls, l.Impl)})
		}
	}
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.end.Y, b.end.Y) })
	// Upwards, each label keeps its distance from the one below. If that leaves the
	// picture, the labels are spaced downwards from the top again.
	for i := 1; i < len(labels); i++ {
		labels[i].at = max(labels[i].at, labels[i-1].at+labelSpacing)
	}
	top := whole.Max.Y - 2*labelSpacing
	for i := len(labels) - 1; i >= 0; i-- {
		labels[i].at = min(labels[i].at, top)
		top = labels[i].at - labelSpacing
	}
	for _, l := range labels {
		style.Color = palette[l.style%len(palette)]
		to := vg.Point{X: inner.Max.X + 12, Y: l.at}
		whole.StrokeLine2(draw.LineStyle{Color: style.Color, Width: vg.Points(0.5)}, l.end.X+4, l.end.Y,
			to.X-3, to.Y)
		whole.FillText(style, to, l.name)
	}
}

// logFrom is a logarithmic scale; for sizes from 0 on, that of 1+n.
func logFrom(smallest float64) plot.Normalizer {
	if smallest >= 1 {
		return plot.LogScale{}
	}
	return onePlus{}
}

type onePlus struct{}

func (onePlus) Normalize(lo, hi, x float64) float64 {
	return (math.Log1p(x) - math.Log1p(lo)) / (math.Log1p(hi) - math.Log1p(lo))
}

// sizeTicks are the measured sizes.
type sizeTicks []float64

func (t sizeTicks) Ticks(_, _ float64) []plot.Tick {
	var out []plot.Tick
	for _, n := range t {
		out = append(out, plot.Tick{Value: n, Label: sizeText(n)})
	}
	return out
}

// valueTicks are round values, written in the unit of the metric.
type valueTicks string

func (metric valueTicks) Ticks(lo, hi float64) []plot.Tick {
	labelled := []int{1}
	if hi/lo < 300 {
		labelled = []int{1, 2, 5}
	}
	var out []plot.Tick
	for decade := math.Floor(math.Log10(lo)); decade <= math.Ceil(math.Log10(hi)); decade++ {
		for d := 1; d < 10; d++ {
			tick := plot.Tick{Value: float64(d) * math.Pow(10, decade)}
			if slices.Contains(labelled, d) {
				tick.Label = NumberText(string(metric), tick.Value)
			}
			if tick.Value >= lo && tick.Value <= hi {
				out = append(out, tick)
			}
		}
	}
	return out
}

// sizeNames label the axis of what a sweep varies.
var sizeNames = map[string]string{
	"objects": "objects (count)",
	"waiting": "waiting items (count)",
	varyProcs: "GOMAXPROCS (count)",
}

// axisOf labels an axis, with its unit.
func axisOf(what string) string {
	if name, ok := sizeNames[what]; ok {
		return name
	}
	if help := metrics.Of(what).Help; help != "" {
		return fmt.Sprintf("%s (%s)", help, what)
	}
	if group, ok := strings.CutSuffix(what, "-rate"); ok {
		return group + " (operations offered per second)"
	}
	if group, ok := strings.CutSuffix(what, "-batch"); ok {
		return group + " (objects per operation)"
	}
	return what + " (goroutines)"
}
