package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the template
	"fmt"
	"html/template"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
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
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.Points) > 1 })
}

func (s Scaling) title(c Curve) string {
	return fmt.Sprintf("%s, %s: %s", s.Workload, cmp.Or(c.Series, compare.ProcessSeries),
		Heading(c.Metric))
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

// extent is the range of the medians and of the interval ends above 0, and 1 where there are
// none.
func (c Curve) extent() (lo, hi float64) {
	lo = math.Inf(1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
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

// The curves are drawn in the palette of Okabe and Ito ("Color Universal Design", 2008),
// distinguishable with any colour vision, without the yellow, which is too pale for a line.
// Further lines are dashed.
const curveHues = 7

// The plot within a picture, in its units. A logarithmic axis has no place for 0, which has a
// row of its own below a break of the axis.
const (
	plotLeft, plotWidth, plotHeight = 64, 380, 220
	textHeight                      = 14
	missingGap                      = 14   // below the plot, for the marks of missing values
	aboveBreak                      = 0.14 // of the height: where the logarithmic part begins
	dodge                           = 8    // between the marks of lines that share a place
	labelColumns                    = 85   // of the values' label
	zeroText                        = "0"  // the label of the row
	belowText                       = "≤ 0"
)

var (
	//go:embed curve.gotmpl
	curveText     string
	curveTemplate = template.Must(template.New("curve").Parse(curveText))
)

// picture is what the template draws of a curve.
type picture struct {
	Title, Over, Legend      string
	Label                    []gridLine // of the values
	X, Y                     []gridLine
	Left, Right, Top, Bottom float64 // of the plot
	Width, Height, Break     float64
	Lines                    []pictureLine
}

// Places of the texts beside the plot.
func (p picture) UnderAxis() float64  { return p.Bottom + missingGap + textHeight }
func (p picture) UnderSizes() float64 { return p.UnderAxis() + textHeight + 3 }
func (p picture) UnderAll() float64   { return p.Height - 6 }
func (p picture) BesideAxis() float64 { return p.Left - 6 }
func (p picture) Middle() float64     { return (p.Left + p.Right) / 2 }
func (p picture) Names() float64      { return p.Right + 15 }

// pictureLine is one implementation's: a mark for each size, and the parts between them, which
// a missing size interrupts.
type pictureLine struct {
	Name, Colour, Dash     string
	Bars, Parts            []stroke
	Values, Zeros, Missing []point
	End                    *stroke // from the line's end to its name
}

type point struct{ X, Y float64 }

type stroke struct {
	point
	X2, Y2 float64
	Zero   bool // an end is 0
}

func (s Scaling) draw(c Curve) ([]byte, error) {
	label := strings.Split(trimmed(text.WrapSoft(axisOf(c.Metric), labelColumns)), "\n")
	p := picture{Title: s.title(c), Over: axisOf(s.Vary), Legend: s.markLegend(c), Left: plotLeft,
		Right: plotLeft + plotWidth, Top: float64(34 + textHeight*len(label))}
	for i, line := range label {
		p.Label = append(p.Label, gridLine{float64(36 + textHeight*i), line})
	}
	longest := 0
	for _, l := range c.Lines {
		longest = max(longest, utf8.RuneCountInString(l.Impl))
	}
	p.Bottom = p.Top + plotHeight
	p.Width, p.Height = p.Names()+float64(7*longest+6), p.UnderSizes()+8
	if p.Legend != "" {
		p.Height += textHeight
	}
	lo, hi := axisRange(c.extent())
	zero := c.hasZero()
	y := func(v float64) float64 { return round(p.Bottom - plotHeight*heightOf(v, lo, hi, zero)) }
	x := s.across
	for _, n := range s.Sizes {
		p.X = append(p.X, gridLine{x(n), sizeText(n)})
	}
	for _, v := range valueTicks(lo, hi) {
		p.Y = append(p.Y, gridLine{y(v), NumberText(c.Metric, v)})
	}
	if zero {
		p.Y = append(p.Y, gridLine{y(0), c.zeroLabel()})
		p.Break = p.Bottom - plotHeight*aboveBreak/2
	}
	impls := s.impls()
	zeros, missing := map[float64]int{}, map[float64]int{} // marks of the lines so far
	for _, l := range c.Lines {
		style := slices.Index(impls, l.Impl)
		d := pictureLine{Name: l.Impl, Colour: fmt.Sprintf("c%d", style%curveHues),
			Dash: fmt.Sprintf("d%d", style/curveHues%3)}
		var last *point
		lastZero := false
		for _, size := range s.Sizes {
			e, ok := l.at(size)
			if !ok {
				d.Missing = append(d.Missing,
					point{s.beside(size, missing[size]), p.Bottom + missingGap/2})
				missing[size]++
				last = nil
				continue
			}
			here, none := point{x(size), y(e.Median)}, e.Median <= 0
			d.Bars = append(d.Bars, stroke{point{here.X, y(e.Lo)}, here.X, y(e.Hi), false})
			if none {
				here.X = s.beside(size, zeros[size])
				zeros[size]++
				d.Zeros = append(d.Zeros, here)
			} else {
				d.Values = append(d.Values, here)
			}
			if last != nil {
				d.Parts = append(d.Parts, stroke{*last, here.X, here.Y, none || lastZero})
			}
			last, lastZero = &here, none
			d.End = &stroke{point{here.X + 5, here.Y}, p.Right + 12, here.Y, false}
		}
		p.Lines = append(p.Lines, d)
	}
	p.spaceNames()
	var b bytes.Buffer
	err := curveTemplate.Execute(&b, p)
	return b.Bytes(), err
}

// spaceNames moves the names beside the lines' ends apart: downwards, and from the bottom
// upwards again where that leaves the picture.
func (p *picture) spaceNames() {
	var ends []*stroke
	for _, l := range p.Lines {
		if l.End != nil {
			ends = append(ends, l.End)
		}
	}
	slices.SortStableFunc(ends, func(a, b *stroke) int { return cmp.Compare(a.Y2, b.Y2) })
	for i := 1; i < len(ends); i++ {
		ends[i].Y2 = max(ends[i].Y2, ends[i-1].Y2+textHeight)
	}
	limit := p.Height - textHeight
	for _, e := range slices.Backward(ends) {
		e.Y2 = min(e.Y2, limit)
		limit = e.Y2 - textHeight
	}
}

// across is the place of a size on its logarithmic axis; for sizes from 0 on, that of 1+n.
func (s Scaling) across(size float64) float64 {
	log := math.Log
	if s.Sizes[0] < 1 {
		log = math.Log1p
	}
	first, last := log(s.Sizes[0]), log(s.Sizes[len(s.Sizes)-1])
	return round(plotLeft + plotWidth*(0.02+0.96*(log(size)-first)/(last-first)))
}

// beside is the place of a mark beside those of other lines, at the last size to the left, away
// from the lines' names.
func (s Scaling) beside(size float64, others int) float64 {
	if size == s.Sizes[len(s.Sizes)-1] {
		others = -others
	}
	return s.across(size) + float64(dodge*others)
}

// heightOf is the height of a value as a share of the plot's, whose axis is broken for a zero.
func heightOf(v, lo, hi float64, zero bool) float64 {
	share := func() float64 { return math.Log(v/lo) / math.Log(hi/lo) }
	switch {
	case !zero:
		return share()
	case v <= 0:
		return 0
	}
	return aboveBreak + (1-aboveBreak)*share()
}

// valueTicks are round values.
func valueTicks(lo, hi float64) (out []float64) {
	digits := []float64{1}
	if hi/lo < 300 {
		digits = []float64{1, 2, 5}
	}
	for decade := math.Floor(math.Log10(lo)); decade <= math.Ceil(math.Log10(hi)); decade++ {
		for _, d := range digits {
			if v := d * math.Pow(10, decade); v >= lo && v <= hi {
				out = append(out, v)
			}
		}
	}
	return out
}

// hasZero reports whether a median or an end of an interval is 0 or less.
func (c Curve) hasZero() bool {
	return c.any(func(e stats.Estimate) bool { return e.Median <= 0 || e.Lo <= 0 })
}

func (c Curve) any(f func(stats.Estimate) bool) bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Points, func(p SizePoint) bool { return f(p.Estimate) })
	})
}

// markLegend explains the marks that a picture has beside its lines, "" if it has none.
func (s Scaling) markLegend(c Curve) string {
	var out []string
	if c.hasZero() {
		out = append(out, "open triangle on the lowest row: "+c.zeroLabel())
	}
	if slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.Points) < len(s.Sizes) }) {
		out = append(out, "× at the axis: no value for this size")
	}
	return strings.Join(out, "; ")
}

func (c Curve) zeroLabel() string {
	if c.any(func(e stats.Estimate) bool { return e.Median < 0 || e.Lo < 0 }) {
		return belowText
	}
	return zeroText
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
		return fmt.Sprintf("%s (%s)", help, Heading(what))
	}
	if group, ok := strings.CutSuffix(what, "-rate"); ok {
		return group + " (operations offered per second)"
	}
	if group, ok := strings.CutSuffix(what, "-batch"); ok {
		return group + " (objects per operation)"
	}
	return what + " (goroutines)"
}
