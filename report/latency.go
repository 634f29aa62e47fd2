package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// The picture of percentile curves, in its own units.
const (
	curveWidth  = 640
	curveHeight = 260
	curveLeft   = 62 // of the plot, where the labels of durations stand
	curveRight  = 612
	curveTop    = 10
	curveBottom = 228
	// curveColours is how many colours the style sheet has; further lines are dashed.
	curveColours = 6
	// pointStep is how many times fewer operations are left at the next point of a curve.
	pointStep = 1.25
)

// latency is a picture of one distribution of one series: for each implementation, or each of
// two runs, the durations that p percent of its operations do not exceed.
type latency struct {
	distribution string // metrics.Delay or the like

	ID, Title string
	Of        string // what the distribution measures
	Curves    []tail
	X, Y      []gridLine
	Columns   []string // of the numbers below the picture; the first says what a curve is of
}

// tail is one curve.
type tail struct {
	Name    string
	Class   string // of its colour and dashes
	Points  string // of an SVG polyline
	Numbers []string
}

type gridLine struct {
	At   float64
	Text string
}

// drawnPercentiles are those of the labels, in percent.
var drawnPercentiles = []float64{50, 90, 99, 99.9, 99.99}

// source is a cell of a run whose curve is drawn under a name.
type source struct {
	run  *record.Run
	cell record.Cell
	name string
}

// latenciesOf draws the distributions of a group, an implementation a curve.
func latenciesOf(r *record.Run, g compare.Group, reference string, ids anchors) (out []latency,
	err error) {
	var sources []source
	for _, c := range g.Cells {
		if c.Role == "" {
			sources = append(sources, source{r, c, c.Label()})
		}
	}
	for _, series := range compare.SeriesOf(r, g.Cells) {
		drawn, err := curvesOf(sources, series, g.Title, "implementation", reference, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, drawn...)
	}
	return out, nil
}

// curvesOf draws the distributions of a series that get a verdict, and service, each a picture
// with a curve for each source that has the distribution. title is what the pictures are of,
// column what a curve is of.
func curvesOf(sources []source, series, title, column, reference string,
	ids anchors) (out []latency, err error) {
	drawn := metrics.Distributions(func(d string) bool {
		return d != metrics.Service && slices.ContainsFunc(sources, func(s source) bool {
			h, err := merged(s.run, s.cell, series, d)
			return err != nil || h.Count() > 0 // the loop below reports the error
		})
	})
	for _, distribution := range append(drawn, metrics.Service) {
		histograms, names := []*stats.Histogram{}, []string{}
		for _, s := range sources {
			h, err := merged(s.run, s.cell, series, distribution)
			if err != nil {
				return nil, err
			}
			if h.Count() > 0 {
				histograms, names = append(histograms, h), append(names, s.name)
			}
		}
		if len(histograms) == 0 {
			continue
		}
		l := latency{
			ID:           ids.of(title + " " + series + " " + distribution + " curves"),
			Title:        title + ", " + series + ": " + distribution,
			distribution: distribution,
			Of:           metrics.Distribution(distribution),
			Columns:      []string{column},
		}
		l.draw(histograms, names, reference)
		out = append(out, l)
	}
	return out, nil
}

// merged adds up a distribution over the forks of a cell.
func merged(r *record.Run, c record.Cell, series, distribution string) (*stats.Histogram, error) {
	sum := stats.NewHistogram()
	for _, f := range r.Measured(c) {
		for _, s := range f.Series {
			text, ok := s.Histograms[distribution]
			if !ok || s.Name() != series {
				continue
			}
			h, err := stats.DecodeHistogram(text)
			if err != nil {
				return nil, fmt.Errorf("fork %d of %s, %s: %w", f.Index, c.ID(), series, err)
			}
			sum.Merge(h)
		}
	}
	return sum, nil
}

// draw lays the curves over each other. A curve ends where less than one operation is left,
// so that none shows a percentile that was not measured.
func (l *latency) draw(histograms []*stats.Histogram, names []string, reference string) {
	lo, hi := math.Inf(1), 0.0
	for _, h := range histograms {
		lo, hi = min(lo, float64(h.Percentile(50))), max(hi, float64(h.Percentile(lastPercentile(h))))
	}
	lo = math.Floor(math.Log10(max(lo, 1)))
	hi = max(math.Ceil(math.Log10(max(hi, 1))), lo+1)
	x := func(p float64) float64 {
		share := math.Log10(50/(100-p)) / math.Log10(50/0.01)
		return round(curveLeft + share*(curveRight-curveLeft))
	}
	y := func(ns float64) float64 {
		return round(curveBottom - (math.Log10(max(ns, 1))-lo)/(hi-lo)*(curveBottom-curveTop))
	}
	for _, p := range drawnPercentiles {
		l.X = append(l.X, gridLine{x(p), fmt.Sprintf("p%g", p)})
		l.Columns = append(l.Columns, fmt.Sprintf("p%g", p))
	}
	l.Columns = append(l.Columns, "longest", "count")
	for e := lo; e <= hi; e++ {
		l.Y = append(l.Y, gridLine{y(math.Pow(10, e)), duration(math.Pow(10, e))})
	}
	for i, h := range histograms {
		c := tail{Name: names[i], Class: fmt.Sprintf("c%d d%d", i%curveColours, i/curveColours%3)}
		if names[i] == reference {
			c.Class += " reference"
		}
		var points strings.Builder
		last := lastPercentile(h)
		for left := 50.0; left > 100-last; left /= pointStep {
			fmt.Fprintf(&points, "%g,%g ", x(100-left), y(float64(h.Percentile(100-left))))
		}
		fmt.Fprintf(&points, "%g,%g", x(last), y(float64(h.Percentile(last))))
		c.Points = points.String()
		for _, p := range drawnPercentiles {
			text := "too few"
			if p <= last {
				text = duration(float64(h.Percentile(p)))
			}
			c.Numbers = append(c.Numbers, text)
		}
		c.Numbers = append(c.Numbers, duration(float64(h.Max()/time.Nanosecond)),
			NumberText(metrics.Number(metrics.Delay), float64(h.Count())))
		l.Curves = append(l.Curves, c)
	}
}

// lastPercentile is the highest percentile of which an operation is left, at most the last of
// drawnPercentiles.
func lastPercentile(h *stats.Histogram) float64 {
	return min(drawnPercentiles[len(drawnPercentiles)-1], max(50, 100-100/float64(h.Count())))
}
