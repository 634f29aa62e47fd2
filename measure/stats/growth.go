package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Model is a law by which a cost y may grow with n.
type Model string

// The models, slowest growth first.
const (
	Flat         Model = "flat"    // y = a
	Logarithmic  Model = "log"     // y = a + b log2 n
	Linear       Model = "linear"  // y = a + b n
	Linearithmic Model = "n log n" // y = a + b n log2 n
)

var models = []Model{Flat, Logarithmic, Linear, Linearithmic}

// Point is one value, such as that of one fork, at one n.
type Point struct{ N, Y float64 }

// Growth is the model that a cost follows over the measured range of n. It claims nothing
// beyond that range.
type Growth struct {
	// Model is "" where none was fitted; Reason then says why.
	Model  Model  `json:"model"`
	Reason string `json:"reason,omitempty"`
	// A and B are the model's coefficients, in the unit of y; B is 0 or more.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Shifted means that log2(1+n) stands for log2(n), because an n below 1 was measured.
	Shifted bool `json:"shifted,omitempty"`
	// R2 is the share of the flat model's squared relative residuals that this model
	// explains; 0 for the flat model itself.
	R2 float64 `json:"r2"`
	// Spread is the standard deviation of the residuals, and Noise that of the values about
	// the mean at their n. Both are relative (of logarithms), in percent. Much more spread
	// than noise means that the curve has another shape. Noise is NaN where no n has two
	// values.
	Spread float64 `json:"spread"`
	Noise  float64 `json:"-"`
	// AlsoFits are the models that the data does not rule out, other than Model.
	AlsoFits []Model `json:"alsoFits,omitempty"`
	// Rise is the ratio of the model's value at the greatest n to that at the least.
	Rise float64 `json:"rise"`
}

const (
	// fewestSizes is the least number of different n for a fit: two points lie on
	// a curve of every model.
	fewestSizes = 3
	// alike and distinct are differences of the criterion. Within alike, two models are not
	// told apart; above distinct, the worse has little support (Burnham and Anderson,
	// "Model Selection and Multimodel Inference", 2002, section 2.6). Growth is claimed
	// only above distinct: with three rising models, a lower bound would find growth too
	// often where there is none.
	alike, distinct = 2, 4
	// enoughForAICc is the number of points from which the small-sample correction is used.
	// Below it, the correction exceeds any difference that the data could show; with four
	// points it is undefined.
	enoughForAICc = 10
	// resolution is the relative deviation below which values count as equal: no timing
	// repeats better.
	resolution = 0.001
	// slight is the rise over all sizes up to which growth counts as none. It equals the
	// difference within which two implementations are the same (Rule.Equivalence).
	slight = 1.05
	// level is the ratio of the greatest to the least median up to which a cost without a
	// clear model counts as flat.
	level = 1.5
	// The steps of the search for a rise, of its logarithm.
	widestStep, smallestStep = 1.0, 1e-12
	// lackOfFit is the level of the test for lack of fit: whether the residuals depend on
	// n.
	lackOfFit = 0.01
)

// GrowthOf finds how the values grow with n. It fits each model by least squares of the
// relative residuals, because the noise of a timing is proportional to it (see fitter.fit). A
// model with b < 0 is left out.
//
// The models are compared by Akaike's criterion, from 10 points on with the correction for
// small samples (AICc). The points are the values, unless an F-test (1 percent) finds that
// the residuals of the best model exceed the scatter of values at the same n. The values at
// one n then share an error, and repeating them proves nothing about the curve: the points
// are then the different n.
//
// Flat is taken unless another model is better by more than 4 and rises by 5 percent or
// more; else the best one is taken. Models within 2 of the best are listed too. No model is
// taken if none is clear although the medians differ by more than half, and by more than
// the scatter.
//
// The cost is below a millisecond for a hundred points.
func GrowthOf(points []Point) Growth {
	sizes := sizesOf(points)
	if len(sizes) < fewestSizes {
		return Growth{Reason: fmt.Sprintf("%d sizes: a fit needs %d", len(sizes), fewestSizes)}
	}
	f := fitter{sizes: sizes, shifted: sizes[0].n < 1}
	for _, s := range sizes {
		for _, v := range s.values {
			if !(v > 0) || math.IsInf(v, 0) || s.n < 0 {
				return Growth{Reason: fmt.Sprintf("a value at %g is %g: a relative fit needs values above 0",
					s.n, v)}
			}
		}
		f.y = append(f.y, s.values...)
	}
	candidates := make([]candidate, len(models))
	for i, m := range models {
		candidates[i] = f.fit(m)
	}
	best := slices.MinFunc(candidates, bySquares)
	f.count(best)
	rising := slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool { return c.b < 0 })
	flat := candidates[0]
	if chosen := slices.MinFunc(rising, f.byCriterion); f.rise(best) < 1/slight &&
		f.criterion(chosen) > f.criterion(best)+distinct {
		return Growth{Reason: "it falls as n grows: none of the models does"}
	}
	g := f.growth(flat, rising)
	if g.Model == Flat && f.counted == len(sizes) && f.contrast() > level {
		return Growth{Reason: "it changes with n, by none of the models clearly"}
	}
	return g
}

// size is one n and the values measured there.
type size struct {
	n, median float64
	values    []float64
}

func sizesOf(points []Point) []size {
	var sizes []size
	for _, p := range points {
		i, found := slices.BinarySearchFunc(sizes, p.N, func(s size, n float64) int {
			return cmp.Compare(s.n, n)
		})
		if !found {
			sizes = slices.Insert(sizes, i, size{n: p.N})
		}
		sizes[i].values = append(sizes[i].values, p.Y)
	}
	for i := range sizes {
		sizes[i].median = MedianOf(sizes[i].values)
	}
	return sizes
}

type fitter struct {
	sizes   []size
	shifted bool
	y       []float64 // all values, by rising n
	counted int       // number of points for the criterion
}

// candidate is a model with its coefficients and its sum of squared relative residuals.
type candidate struct {
	model   Model
	a, b    float64
	squares float64
}

func bySquares(a, b candidate) int { return cmp.Compare(a.squares, b.squares) }

// coefficients is the model's number of coefficients, without the residuals' variance.
func (c candidate) coefficients() int {
	if c.model == Flat {
		return 1
	}
	return 2
}

// fit minimises the squares of ln(y/fitted), the relative residuals. The usual weights 1/y^2
// would not do: a value far above the curve would have a residual of 1 at most, and a flat line
// along the fastest sizes would pass for a fit. With its rise from the least n to the greatest
// given, the best curve is known, and above 0 everywhere: the residuals' mean is 0. The rise is
// found by a compass search (Kolda, Lewis and Torczon, SIAM Review 45, 2003).
func (f *fitter) fit(m Model) candidate {
	x := f.column(m)
	first, span := x[0], x[len(x)-1]-x[0]
	logs := make([]float64, len(x))
	with := func(logRise float64) candidate {
		slope := 0.0 // of the curve that begins at 1
		if m != Flat {
			slope = math.Expm1(logRise) / span
		}
		for i, y := range f.y {
			logs[i] = math.Log(y / (1 + slope*(x[i]-first)))
		}
		mean, variance := stat.PopMeanVariance(logs, nil)
		b := math.Exp(mean) * slope
		return candidate{m, math.Exp(mean) - b*first, b, variance * float64(len(logs))}
	}
	at, best := 0.0, with(0)
	if m == Flat {
		return best
	}
	for step := widestStep; step > smallestStep; {
		better := false
		for _, to := range []float64{at - step, at + step} {
			if c := with(to); c.squares < best.squares {
				at, best, better = to, c, true
				break
			}
		}
		if !better {
			step /= 2
		}
	}
	return best
}

// column returns the factor of b for each value.
func (f *fitter) column(m Model) []float64 {
	x := make([]float64, 0, len(f.y))
	for _, s := range f.sizes {
		for range s.values {
			x = append(x, transformed(m, s.n, f.shifted))
		}
	}
	return x
}

// transformed returns the factor of b.
func transformed(m Model, n float64, shifted bool) float64 {
	log := math.Log2(n)
	if shifted {
		log = math.Log2(1 + n)
	}
	switch m {
	case Logarithmic:
		return log
	case Linear:
		return n
	case Linearithmic:
		return n * log
	}
	return 0
}

// count sets the number of points for the criterion, by the test for lack of fit (Draper
// and Smith, "Applied Regression Analysis", 1998, section 2.1).
func (f *fitter) count(best candidate) {
	f.counted = len(f.y)
	within, lack := f.scatter(), float64(len(f.sizes)-best.coefficients())
	free := float64(len(f.y) - len(f.sizes))
	if free == 0 || lack == 0 {
		return
	}
	within = max(within, free*resolution*resolution)
	ratio := max(0, best.squares-f.scatter()) / lack / (within / free)
	if (distuv.F{D1: lack, D2: free}).Survival(ratio) < lackOfFit {
		f.counted = len(f.sizes)
	}
}

// scatter is the sum of squared relative deviations from the mean at the same n.
func (f *fitter) scatter() float64 {
	sum := 0.0
	for _, s := range f.sizes {
		logs := make([]float64, len(s.values))
		for i, v := range s.values {
			logs[i] = math.Log(v)
		}
		_, variance := stat.PopMeanVariance(logs, nil)
		sum += variance * float64(len(logs))
	}
	return sum
}

// contrast is the ratio of the greatest median to the least.
func (f *fitter) contrast() float64 {
	by := func(a, b size) int { return cmp.Compare(a.median, b.median) }
	return slices.MaxFunc(f.sizes, by).median / slices.MinFunc(f.sizes, by).median
}

func (f *fitter) criterion(c candidate) float64 {
	n, p := float64(f.counted), float64(c.coefficients()+1)
	aic := n*math.Log(c.squares/float64(len(f.y))+resolution*resolution) + 2*p
	if f.counted < enoughForAICc {
		return aic
	}
	return aic + 2*p*(p+1)/(n-p-1)
}

func (f *fitter) byCriterion(a, b candidate) int {
	return cmp.Compare(f.criterion(a), f.criterion(b))
}

// growth describes the model that is taken.
func (f *fitter) growth(flat candidate, rising []candidate) Growth {
	best := slices.MinFunc(rising, f.byCriterion)
	c := best
	if f.criterion(flat) <= f.criterion(best)+distinct || f.rise(best) < slight {
		c = flat
	}
	n := float64(len(f.y))
	g := Growth{
		Model: c.model, A: c.a, B: c.b, Shifted: f.shifted,
		Spread: 100 * math.Sqrt(c.squares/(n-float64(c.coefficients()))),
		Noise:  100 * math.Sqrt(f.scatter()/(n-float64(len(f.sizes)))),
	}
	if flat.squares > 0 {
		g.R2 = 1 - c.squares/flat.squares
	}
	for _, other := range rising {
		if other.model != c.model && f.criterion(other) <= f.criterion(best)+alike {
			g.AlsoFits = append(g.AlsoFits, other.model)
		}
	}
	g.Rise = f.rise(c)
	return g
}

// rise is the ratio of the fitted value at the greatest n to that at the least.
func (f *fitter) rise(c candidate) float64 {
	at := func(s size) float64 { return c.a + c.b*transformed(c.model, s.n, f.shifted) }
	return at(f.sizes[len(f.sizes)-1]) / at(f.sizes[0])
}

// At is the fitted model's value, in the unit of the values; NaN without a model.
func (g Growth) At(n float64) float64 {
	if g.Model == "" {
		return math.NaN()
	}
	if g.B == 0 {
		return g.A
	}
	return g.A + g.B*transformed(g.Model, n, g.Shifted)
}

// Formula formats the model, such as "41.2ns + 3.1ns × log2(objects)". quantity formats a
// value of 0 or more with its unit. Formula is "" without a model.
func (g Growth) Formula(variable string, quantity func(float64) string) string {
	log := "log2(" + variable + ")"
	if g.Shifted {
		log = "log2(1+" + variable + ")"
	}
	factor := map[Model]string{Logarithmic: log, Linear: variable,
		Linearithmic: variable + " × " + log}[g.Model]
	switch {
	case g.Model == "":
		return ""
	case g.Model == Flat:
		return quantity(g.A)
	case g.A < 0: // the logarithm has another base, or the cost begins later
		return fmt.Sprintf("%s × %s - %s", quantity(g.B), factor, quantity(-g.A))
	}
	return fmt.Sprintf("%s + %s × %s", quantity(g.A), quantity(g.B), factor)
}
