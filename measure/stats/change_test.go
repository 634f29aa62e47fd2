package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// changeNoises are what the number of a run varies by, as logarithms. Their size is 1.
var changeNoises = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"normal", (*rand.Rand).NormFloat64},
	{"t3-of-six", func(rng *rand.Rand) float64 { // the mean of six forks with heavy tails
		t, sum := distuv.StudentsT{Sigma: 1, Nu: 3, Src: rng}, 0.0
		for range 6 {
			sum += t.Rand()
		}
		return sum / math.Sqrt(6*3)
	}},
	{"t2", func(rng *rand.Rand) float64 { // tails without a variance
		return distuv.StudentsT{Sigma: 0.5, Nu: 2, Src: rng}.Rand()
	}},
	{"disturbed", func(rng *rand.Rand) float64 { // one run in 20 disturbed tenfold
		if rng.IntN(20) == 0 {
			return 10 * rng.NormFloat64()
		}
		return rng.NormFloat64()
	}},
}

// levels is a series whose run i has the level of(i), with noise.
func levels(seed uint64, n int, size float64, draw func(*rand.Rand) float64, of func(i int) float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 41))
	out := make([]float64, n)
	for i := range out {
		out[i] = of(i) + size*draw(rng)
	}
	return out
}

func flat(int) float64 { return 0 }

const changeAlpha = 0.01

// flatRuns are the lengths of flat series.
var flatRuns = []int{8, 20, 40}

// changedFlat counts the flat series of n runs, those of them that get a change, and those in which
// a t-test at p <= 0.001, Hunter's and Otava's default, sees one at the place that splits the series
// best.
func changedFlat(n int, draw func(*rand.Rand) float64) (trials, changed, byTTest int) {
	trials = 40_000 / n
	for seed := range trials {
		values := levels(uint64(seed), n, 1, draw, flat)
		if len(ChangesIn(values, changeAlpha)) > 0 {
			changed++
		}
		if b, ok := bestSplit(values); ok && shiftOf(values[:b.at], values[b.at:b.end]).P <= 0.001 {
			byTTest++
		}
	}
	return trials, changed, byTTest
}

// A flat series gets a change no more often than alpha says.
func TestFalseChanges(t *testing.T) {
	t.Parallel()
	for _, noise := range changeNoises {
		for _, n := range flatRuns {
			trials, changed, _ := changedFlat(n, noise.draw)
			// Three standard errors of the count, above the bound.
			if most := changeAlpha*float64(trials) + 3*math.Sqrt(changeAlpha*float64(trials)); float64(changed) > most {
				t.Errorf("%s: %d of %d flat series of %d runs get a change, want at most %.0f", noise.name, changed, trials, n, most)
			}
		}
	}
}

// make instruments keeps what it reports for docs/history.md.
func BenchmarkHowOftenFlatSeriesChange(b *testing.B) {
	for _, noise := range changeNoises {
		for _, n := range flatRuns {
			b.Run(fmt.Sprintf("noise=%s/runs=%d", noise.name, n), func(b *testing.B) {
				var trials, changed, byTTest int
				for b.Loop() {
					trials, changed, byTTest = changedFlat(n, noise.draw)
				}
				b.ReportMetric(percent(changed, trials), "changed-%")
				b.ReportMetric(percent(byTTest, trials), "t-test-%")
			})
		}
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }

// plantedStep is a step of 3 percent, with so many runs before it and after it.
type plantedStep struct {
	fork   float64 // standard deviation of a fork's ratio
	alpha  float64 // 0.01 for one series, and what remains of it in a history of 100
	after  int
	atMost int // missed of all trials
}

const stepTrials, runsBefore = 300, 20

var plantedSteps = []plantedStep{
	{0.01, 0.01, 3, 6},
	{0.01, 0.0001, 5, 15},
	{0.02, 0.01, 9, 15},
	{0.02, 0.0001, 15, 30},
	{0.03, 0.01, 20, 30},
}

// trials counts the steps that are missed, and those that are found more than two runs from their
// place.
func (c plantedStep) trials(tb testing.TB, draw func(*rand.Rand) float64) (missed, elsewhere int) {
	step := math.Log(1.03)
	for seed := range stepTrials {
		values := levels(uint64(seed), runsBefore+c.after, c.fork/math.Sqrt(6), draw, func(i int) float64 {
			if i < runsBefore {
				return 0
			}
			return step
		})
		changes := ChangesIn(values, c.alpha)
		switch {
		case len(changes) == 0:
			missed++
		case len(changes) > 1 || abs(changes[0].At-runsBefore) > 2:
			elsewhere++
		case changes[0].Lo <= 0:
			tb.Fatalf("a step up with the interval [%g, %g]", changes[0].Lo, changes[0].Hi)
		}
	}
	return missed, elsewhere
}

// A step of 3 percent is found after a few runs.
func TestPlantedSteps(t *testing.T) {
	t.Parallel()
	for _, c := range plantedSteps {
		for _, noise := range changeNoises[:2] {
			missed, elsewhere := c.trials(t, noise.draw)
			if missed > c.atMost || elsewhere > stepTrials/10 {
				t.Errorf("forks of %g, %s: %d of %d steps missed, want at most %d; %d elsewhere", c.fork, noise.name, missed, stepTrials, c.atMost, elsewhere)
			}
		}
	}
}

// make instruments keeps what it reports for docs/history.md.
func BenchmarkHowOftenStepsAreFound(b *testing.B) {
	for _, c := range plantedSteps {
		for _, noise := range changeNoises[:2] {
			b.Run(fmt.Sprintf("fork=%g/alpha=%g/after=%d/noise=%s", c.fork, c.alpha, c.after, noise.name), func(b *testing.B) {
				var missed, elsewhere int
				for b.Loop() {
					missed, elsewhere = c.trials(b, noise.draw)
				}
				b.ReportMetric(percent(stepTrials-missed, stepTrials), "found-%")
				b.ReportMetric(percent(stepTrials-missed-elsewhere, stepTrials), "near-%")
			})
		}
	}
}

func abs(i int) int { return max(i, -i) }

func TestChangesIn(t *testing.T) {
	t.Parallel()
	normal := changeNoises[0].draw
	const noise = 0.006
	disturbed := levels(3, 24, noise, normal, func(i int) float64 { return 0.03 * float64(i/12) })
	disturbed[4], disturbed[17] = 0.4, -0.3
	pair := levels(4, 24, noise, normal, flat)
	pair[10], pair[11] = 0.4, 0.4
	for _, c := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"none", nil, nil},
		{"too few", []float64{1, 1, 1, 9, 9}, nil},
		{"six counts", []float64{4, 4, 4, 5, 5, 5}, []int{3}},
		{"all the same", make([]float64, 30), nil},
		{"two steps up", levels(1, 36, noise, normal, func(i int) float64 { return 0.03 * float64(i/12) }), []int{12, 24}},
		{"up, and down again", levels(2, 36, noise, normal, func(i int) float64 { return 0.03 * float64(i/12%2) }), []int{12, 24}},
		{"a step among disturbed runs", disturbed, []int{12}},
		{"two disturbed runs in a row", pair, nil},
		{"in the second window", levels(5, 320, noise, normal, func(i int) float64 { return 0.03 * float64(i/260) }), []int{260}},
		{"where windows overlap", levels(6, 320, noise, normal, func(i int) float64 { return 0.03 * float64(i/150) }), []int{150, 300}},
	} {
		got := ChangesIn(c.values, 0.001)
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && abs(got[i].At-c.want[i]) <= 1
		}
		if !ok {
			t.Errorf("%s: %+v, want changes at %v", c.name, got, c.want)
		}
		if p := ClearestChange(c.values); (p <= 0.001) != (len(c.want) > 0) {
			t.Errorf("%s: the clearest change has p %g", c.name, p)
		}
	}
}

// TestRoundingIsNoChange: means of one value over different counts differ in their last digit
// for some values, as this one; with no noise that must not be a certain change.
func TestRoundingIsNoChange(t *testing.T) {
	t.Parallel()
	const v = 1.5 + 0x1p-51
	series := make([]float64, 30)
	for i := range series {
		series[i] = v
	}
	series[15], series[24] = v+1, v+1 // two disturbed runs, which are trimmed
	if p := ClearestChange(series); p < 0.5 {
		t.Errorf("P is %g", p)
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	if mean, lo, hi := Level([]float64{7}); mean != 7 || lo != 7 || hi != 7 {
		t.Errorf("one value: %g [%g, %g]", mean, lo, hi)
	}
	if mean, lo, hi := Level([]float64{1, 2, 3, 4, 1000}); mean != 3 || !(lo < 3 && hi > 3 && hi < 10) {
		t.Errorf("one disturbed value: %g [%g, %g]", mean, lo, hi)
	}
}

func BenchmarkChangesIn(b *testing.B) {
	values := levels(1, 200, 0.006, changeNoises[0].draw, func(i int) float64 { return 0.03 * float64(i/100) })
	for _, n := range []int{30, 200} {
		b.Run(map[int]string{30: "30", 200: "200"}[n], func(b *testing.B) {
			for b.Loop() {
				ChangesIn(values[100-n/2:100+n/2], 0.01)
			}
		})
	}
}
