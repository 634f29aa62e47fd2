package stats

import (
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
	{"six forks with heavy tails (t3)", func(rng *rand.Rand) float64 {
		t, sum := distuv.StudentsT{Sigma: 1, Nu: 3, Src: rng}, 0.0
		for range 6 {
			sum += t.Rand()
		}
		return sum / math.Sqrt(6*3)
	}},
	{"tails without a variance (t2)", func(rng *rand.Rand) float64 {
		return distuv.StudentsT{Sigma: 0.5, Nu: 2, Src: rng}.Rand()
	}},
	{"one run in 20 disturbed tenfold", func(rng *rand.Rand) float64 {
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

// TestFalseChanges measures how often a flat series gets a change. docs/history.md quotes it.
func TestFalseChanges(t *testing.T) {
	t.Parallel()
	const alpha = 0.01
	for _, noise := range changeNoises {
		for _, n := range []int{8, 20, 40} {
			trials := 40_000 / n
			found, hunter := 0, 0
			for seed := range trials {
				values := levels(uint64(seed), n, 1, noise.draw, flat)
				if len(ChangesIn(values, alpha)) > 0 {
					found++
				}
				if b, ok := bestSplit(values); ok && shiftOf(values[:b.at], values[b.at:b.end]).P <= 0.001 {
					hunter++ // the p of Hunter and Otava, at their default
				}
			}
			t.Logf("%s, %d runs: %.2f%% of %d flat series get a change; %.1f%% by p <= 0.001 as it is", noise.name, n, 100*float64(found)/float64(trials), trials, 100*float64(hunter)/float64(trials))
			// Three standard errors of the count, above the bound.
			if most := alpha*float64(trials) + 3*math.Sqrt(alpha*float64(trials)); float64(found) > most {
				t.Errorf("%s: %d of %d flat series of %d runs get a change, want at most %.0f", noise.name, found, trials, n, most)
			}
		}
	}
}

// TestPlantedSteps measures how often a step of 3 percent is found, and after how many runs.
// docs/history.md quotes it.
func TestPlantedSteps(t *testing.T) {
	t.Parallel()
	const trials, before = 300, 20
	step := math.Log(1.03)
	for _, c := range []struct {
		fork   float64 // standard deviation of a fork's ratio
		alpha  float64 // 0.01 for one series, and what remains of it in a history of 100
		after  int
		atMost int // missed of all trials
	}{
		{0.01, 0.01, 3, 6},
		{0.01, 0.0001, 5, 15},
		{0.02, 0.01, 9, 15},
		{0.02, 0.0001, 15, 30},
		{0.03, 0.01, 20, 30},
	} {
		for _, noise := range changeNoises[:2] {
			missed, off := 0, 0
			for seed := range trials {
				values := levels(uint64(seed), before+c.after, c.fork/math.Sqrt(6), noise.draw, func(i int) float64 {
					if i < before {
						return 0
					}
					return step
				})
				changes := ChangesIn(values, c.alpha)
				switch {
				case len(changes) == 0:
					missed++
				case len(changes) > 1 || abs(changes[0].At-before) > 2:
					off++
				case changes[0].Lo <= 0:
					t.Fatalf("a step up with the interval [%g, %g]", changes[0].Lo, changes[0].Hi)
				}
			}
			t.Logf("forks of %.0f%%, %s, p <= %g: 3%% found in %.0f%% of series, %d runs after 20, %.1f%% elsewhere", 100*c.fork, noise.name, c.alpha, 100*float64(trials-missed)/trials, c.after, 100*float64(off)/trials)
			if missed > c.atMost || off > trials/10 {
				t.Errorf("forks of %g, %s: %d of %d steps missed, want at most %d; %d elsewhere", c.fork, noise.name, missed, trials, c.atMost, off)
			}
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
