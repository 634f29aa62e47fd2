package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// simulated gives a value per fork at each n: the law, times one with noise.
func simulated(rng *rand.Rand, sizes []float64, forks int, noise float64,
	law func(n float64) float64) []Point {
	var points []Point
	for _, n := range sizes {
		for range forks {
			// Bounded away from zero, as a time is.
			points = append(points, Point{n, law(n) * max(0.1, 1+noise*rng.NormFloat64())})
		}
	}
	return points
}

// Each law is recognised through the noise, in a stated number of 200 simulated runs, and
// the law that generated the data is almost never ruled out.
func TestGrowthFindsTheLaw(t *testing.T) {
	t.Parallel()
	const runs, forks = 200, 6
	sizes := []float64{1e3, 1e4, 1e5, 1e6}
	laws := []struct {
		model Model
		law   func(n float64) float64
	}{
		{Flat, func(float64) float64 { return 50 }},
		{Logarithmic, func(n float64) float64 { return 20 + 8*math.Log2(n) }},
		{Linear, func(n float64) float64 { return 500 + 0.6*n }},
		{Linearithmic, func(n float64) float64 { return 500 + 0.05*n*math.Log2(n) }},
	}
	for _, c := range []struct {
		noise         float64
		found, listed int // at least, of the runs
	}{{0, 200, 200}, {0.05, 196, 196}, {0.20, 180, 190}} {
		for _, l := range laws {
			t.Run(fmt.Sprintf("%s with %g percent", l.model, 100*c.noise), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(7, uint64(100*c.noise)))
				found, listed := 0, 0
				for range runs {
					g := GrowthOf(simulated(rng, sizes, forks, c.noise, l.law))
					if g.Model == l.model {
						found++
					}
					if g.Model == l.model || slices.Contains(g.AlsoFits, l.model) {
						listed++
					}
				}
				t.Logf("found in %d of %d, found or listed in %d", found, runs, listed)
				if found < c.found || listed < c.listed {
					t.Errorf("found in %d, want %d; found or listed in %d, want %d", found, c.found, listed,
						c.listed)
				}
			})
		}
	}
}

// The fit returns the true coefficients, spread, noise, R2 and rise.
func TestGrowthDescribesTheFit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	g := GrowthOf(simulated(rng, []float64{1e3, 1e4, 1e5, 1e6}, 50, 0.05, func(n float64) float64 {
		return 500 + 0.6*n
	}))
	for _, c := range []struct {
		what      string
		got, want float64
		within    float64 // of want
	}{
		{"a", g.A, 500, 0.05}, {"b", g.B, 0.6, 0.02}, {"spread", g.Spread, 5, 0.15},
		{"noise", g.Noise, 5, 0.15},
		{"rise", g.Rise, 600_500.0 / 1_100, 0.05}, {"at 10,000", g.At(1e4), 6_500, 0.02},
	} {
		if math.Abs(c.got/c.want-1) > c.within {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	if g.Model != Linear || g.R2 < 0.98 || g.R2 > 1 {
		t.Errorf("%+v", g)
	}
	if got := g.Formula("objects", func(v float64) string {
		return fmt.Sprintf("%.1fns", v)
	}); !strings.HasSuffix(got, "ns + 0.6ns × objects") {
		t.Error(got)
	}
}

func TestGrowthSaysWhatItCannotTell(t *testing.T) {
	t.Parallel()
	noisy := func(y ...float64) []Point { // two forks at each of 1, 2, 3 ..., 2 percent apart
		var points []Point
		for i, v := range y {
			points = append(points, Point{float64(i + 1), 0.99 * v}, Point{float64(i + 1), 1.01 * v})
		}
		return points
	}
	rng := rand.New(rand.NewPCG(3, 3))
	short := GrowthOf(simulated(rng, []float64{1000, 1100, 1200}, 6, 0.05, func(n float64) float64 {
		return 8 * math.Log2(n)
	}))
	if short.Model != Flat || !slices.Contains(short.AlsoFits, Logarithmic) {
		t.Errorf("log over a fifth of its range: %+v; want flat, which log also fits", short)
	}
	for _, c := range []struct {
		name   string
		points []Point
		want   string // in the reason
	}{
		{"nothing", nil, "0 sizes"},
		{"two sizes", noisy(1, 2), "2 sizes: a fit needs 3"},
		{"no time at all", noisy(0, 1, 2), "a value at 1 is 0"},
		{"below nothing", []Point{{-1, 1}, {0, 1}, {1, 1}}, "-1"},
		{"faster with more", noisy(400, 200, 100, 50), "it falls"},
		{"up and down", noisy(100, 300, 100, 300), "by none of the models clearly"},
	} {
		if g := GrowthOf(c.points); g.Model != "" || !strings.Contains(g.Reason, c.want) ||
			!math.IsNaN(g.At(1)) || g.Formula("n", nil) != "" {
			t.Errorf("%s: %+v; want no model, and %q", c.name, g, c.want)
		}
	}
	// One step up halfway, as when a cache is full: the forks agree with each other and
	// with no curve, so repeating them does not make log certain.
	step := GrowthOf(noisy(100, 100, 150, 150))
	if step.Spread < 3*step.Noise || len(step.AlsoFits) == 0 {
		t.Errorf("a step: %+v; want a spread far above the noise, and more than one model", step)
	}
}

// A cost that grows much, and not quite along any curve, is not called flat for lack of a
// better model. The example is List of 1,000 to 1,000,000 pods, whose cost per pod rises
// with every cache that they outgrow.
func TestGrowthOfMuchIsNotFlat(t *testing.T) {
	t.Parallel()
	var points []Point
	for n, y := range map[float64]float64{1e3: 17.8e3, 1e4: 86.2e3, 1e5: 1.5e6, 1e6: 57.1e6} {
		points = append(points, Point{n, 0.95 * y}, Point{n, y}, Point{n, 1.05 * y})
	}
	g := GrowthOf(points)
	if g.Model != Linearithmic || !slices.Contains(g.AlsoFits, Linear) ||
		slices.Contains(g.AlsoFits, Flat) {
		t.Errorf("%+v; want n log n, or linear, and nothing slower", g)
	}
}

// With zero readers among the sizes, the logarithm is that of 1+n.
func TestGrowthFromZero(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	g := GrowthOf(simulated(rng, []float64{0, 1, 10, 80}, 6, 0.02, func(n float64) float64 {
		return 10 + 5*math.Log2(1+n)
	}))
	if g.Model != Logarithmic || !g.Shifted || math.Abs(g.B/5-1) > 0.05 ||
		math.Abs(g.At(0)/10-1) > 0.05 {
		t.Errorf("%+v", g)
	}
	if got := g.Formula("readers", func(float64) string {
		return "x"
	}); got != "x + x × log2(1+readers)" {
		t.Error(got)
	}
}

// The regression under the fits, against the certified values of NIST's data set
// Norris (https://www.itl.nist.gov/div898/strd/lls/data/Norris.shtml); and with
// weights, which must act as repeated points do.
func TestLeastSquaresAgainstNIST(t *testing.T) {
	t.Parallel()
	y := []float64{0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1,
		778.1, 668.8, 339.3, 448.9, 10.8,
		557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6,
		228.9, 668.4, 449.2, 0.2}
	x := []float64{0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6,
		775.5, 666.9, 338.0, 447.5, 11.6,
		556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3,
		229.2, 669.1, 448.9, 0.5}
	a, b := stat.LinearRegression(x, y, nil, false)
	near(t, "intercept", a, -0.262323073774029)
	near(t, "slope", b, 1.00211681802045)

	weights := make([]float64, len(x))
	var xs, ys []float64
	for i := range x {
		weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			xs, ys = append(xs, x[i]), append(ys, y[i])
		}
	}
	a, b = stat.LinearRegression(x, y, weights, false)
	wantA, wantB := stat.LinearRegression(xs, ys, nil, false)
	near(t, "weighted intercept", a, wantA)
	near(t, "weighted slope", b, wantB)
}

// The whole fit against one worked out by hand: y = 2, 3, 5, 9 at n = 1, 2, 4, 8
// lies on y = 1 + n, whatever the weights.
func TestGrowthOfAnExactLine(t *testing.T) {
	t.Parallel()
	g := GrowthOf([]Point{{1, 2}, {2, 3}, {4, 5}, {8, 9}})
	near(t, "a", g.A, 1)
	near(t, "b", g.B, 1)
	near(t, "R2", g.R2, 1)
	if g.Model != Linear || !math.IsNaN(g.Noise) {
		t.Errorf("%+v", g)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %.15g, want %.15g", what, got, want)
	}
}
