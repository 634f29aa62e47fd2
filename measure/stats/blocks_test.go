package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"

	"github.com/informerbench/informerbench/measure/metrics"
)

// Of one block the exact distribution gives the p-values of benchmath's Mann-Whitney test.
// Without ties: with them benchmath takes the distribution for symmetric, which it is not.
func TestOneBlockIsMannWhitney(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		base, head := normal(rng, 3+rng.IntN(6), 100, 5), normal(rng, 3+rng.IntN(6), 103, 5)
		want := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(base), &benchmath.DefaultThresholds),
			benchmath.NewSample(slices.Clone(head), &benchmath.DefaultThresholds)).P
		if got := vanElteren([]block{{base, head, 1}}); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v against %v: p %g, benchmath says %g", base, head, got, want)
		}
	}
	base, head := normal(rng, 8, 100, 5), normal(rng, 8, 120, 5)
	whole, err := RatioOf(base, head)
	if err != nil {
		t.Fatal(err)
	}
	one, err := RatioWithin([][]float64{base, nil}, [][]float64{head, {1, 2, 3}})
	if err != nil || one != whole {
		t.Errorf("one block: %+v, %v; want that of two samples, %+v", one, err, whole)
	}
}

// The distribution over blocks is that of all exchanges of base and head within blocks.
func TestVanElterenIsExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		var blocks []block
		for range 1 + rng.IntN(3) {
			b := block{base: normal(rng, 1+rng.IntN(3), 10, 3), head: normal(rng, 1+rng.IntN(3), 12, 3)}
			if trial%2 == 0 {
				for _, s := range [][]float64{b.base, b.head} {
					for i := range s {
						s[i] = math.Round(s[i] / 3)
					}
				}
			}
			blocks = append(blocks, b)
		}
		setWeights(blocks)
		observed := 0
		for i := range blocks {
			observed += blocks[i].weight * blocks[i].twiceU()
		}
		// below and above count the exchanges whose statistic is at most, and at least, that.
		below, above, all := 0, 0, 0
		var exchange func(i, sum int)
		exchange = func(i, sum int) {
			if i == len(blocks) {
				all++
				if sum <= observed {
					below++
				}
				if sum >= observed {
					above++
				}
				return
			}
			values := slices.Concat(blocks[i].base, blocks[i].head)
			for mask := range 1 << len(values) {
				var b block
				for j, v := range values {
					if mask>>j&1 == 1 {
						b.head = append(b.head, v)
					} else {
						b.base = append(b.base, v)
					}
				}
				if len(b.head) == len(blocks[i].head) {
					exchange(i+1, sum+blocks[i].weight*b.twiceU())
				}
			}
		}
		exchange(0, 0)
		want := min(1, 2*float64(min(below, above))/float64(all))
		if got := vanElteren(blocks); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%+v: p %g, of %d exchanges %g", blocks, got, all, want)
		}
	}
}

// machines are blocks of machines: the number of forks that each measured of either side.
var machines = map[string][]int{
	"16 machines, 1 fork each": slices.Repeat([]int{1}, 16),
	"6 and 1":                  {6, 1},
	"3 and 3":                  {3, 3},
	"5, 8 and 3":               {5, 8, 3},
	"40 machines, 3 each":      slices.Repeat([]int{3}, 40), // more than exactValues
}

// blockShapes draw the factor of one fork, with a median of 1.
var blockShapes = map[string]func(*rand.Rand) float64{
	"normal, 4 percent": func(rng *rand.Rand) float64 { return 1 + 0.04*rng.NormFloat64() },
	"two modes": func(rng *rand.Rand) float64 {
		return (1 + 0.03*rng.NormFloat64()) * float64(1+rng.IntN(2))
	},
	"a long tail": func(rng *rand.Rand) float64 {
		return math.Exp(0.2 * math.Abs(rng.NormFloat64()/rng.NormFloat64()))
	},
}

// onMachines draws base and head on machines whose speeds differ up to fourfold, and whose
// noise differs threefold. head takes effect times as long.
func onMachines(rng *rand.Rand, forks []int, effect float64, draw func(*rand.Rand) float64) (base,
	head [][]float64) {
	for _, n := range forks {
		speed, noise := math.Exp(rng.Float64()*math.Log(4)), 0.5+rng.Float64()
		side := func(effect float64) (out []float64) {
			for range n {
				out = append(out, 100*speed*effect*math.Pow(draw(rng), noise))
			}
			return out
		}
		base, head = append(base, side(1)), append(head, side(effect))
	}
	return base, head
}

// A/A between machines of different speed: a p-value of at most 0.01 in at most 1 of 100
// comparisons, an interval without 1 in at most 5, and a false verdict in at most 1 of 1,000.
func TestNoFalseAlarmBetweenMachines(t *testing.T) {
	t.Parallel()
	for shape, draw := range blockShapes {
		for name, forks := range machines {
			t.Run(shape+", "+name, func(t *testing.T) {
				t.Parallel()
				trials := 1000
				if len(forks) == 40 {
					trials = 300 // it takes longer
				}
				rng := rand.New(rand.NewPCG(5, 6))
				significant, missed, alarms := 0, 0, 0
				for range trials {
					base, head := onMachines(rng, forks, 1, draw)
					r, err := RatioWithin(base, head)
					if err != nil {
						t.Fatal(err)
					}
					if r.P <= 0.01 {
						significant++
					}
					if r.Lo > 1 || r.Hi < 1 {
						missed++
					}
					if v := DefaultRule.Judge(metrics.LowerIsBetter, r, 0); v == Better || v == Worse {
						alarms++
					}
				}
				n := float64(trials)
				most := func(p float64) float64 { return n*p + 4*math.Sqrt(n*p*(1-p)) }
				if float64(significant) > most(0.01) || float64(missed) > most(0.05) {
					t.Errorf("of %d comparisons of the same code: p <= 0.01 in %d, an interval without 1 in %d",
						trials, significant, missed)
				}
				if float64(alarms) > most(0.01) {
					t.Errorf("%d false verdicts in %d", alarms, trials)
				}
			})
		}
	}
}

// A slowdown of 30 percent on machines whose speeds differ up to fourfold is found, which a
// comparison that mixes the machines finds hardly ever, unless there are dozens. The estimate is
// the slowdown.
func TestASlowdownIsFoundBetweenMachines(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	const trials = 100
	for name, forks := range machines {
		within, mixed := 0, 0
		var estimates []float64
		for range trials {
			base, head := onMachines(rng, forks, 1.3, blockShapes["normal, 4 percent"])
			r, err := RatioWithin(base, head)
			if err != nil {
				t.Fatal(err)
			}
			estimates = append(estimates, r.Estimate)
			if DefaultRule.Judge(metrics.LowerIsBetter, r, 0) == Worse {
				within++
			}
			if r, err = RatioOf(slices.Concat(base...), slices.Concat(head...)); err != nil {
				t.Fatal(err)
			}
			if DefaultRule.Judge(metrics.LowerIsBetter, r, 0) == Worse {
				mixed++
			}
		}
		if within < trials*95/100 || mixed > within/2 && len(forks) < 40 {
			t.Errorf("%s: %d of %d found within machines, %d with machines mixed", name, within, trials,
				mixed)
		}
		if m := MedianOf(estimates); math.Abs(m-1.3) > 0.01 {
			t.Errorf("%s: the median estimate is %g, want 1.3", name, m)
		}
	}
}

// A comparison within machines that claims to detect a difference of some size finds it.
func TestPowerWithinMachinesIsAsClaimed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	claimed, found := 0, 0
	for name, forks := range machines {
		for range 300 {
			base, head := onMachines(rng, forks, 1.12, blockShapes["normal, 4 percent"])
			r, err := RatioWithin(base, head)
			if err != nil {
				t.Fatal(err)
			}
			if p := DefaultRule.Prospect(r, 0, DefaultRule.Alpha); p.Detectable > 0 && p.Detectable <= 0.12 {
				claimed++
				if DefaultRule.Judge(metrics.LowerIsBetter, r, 0) == Worse {
					found++
				}
			} else if p.MoreForks == 0 && r.SmallestP > DefaultRule.Alpha {
				t.Fatalf("%s: no number of forks is said to be enough: %+v", name, r)
			}
		}
	}
	t.Logf("found %d of %d", found, claimed)
	if claimed < 200 || float64(found) < Power*float64(claimed) {
		t.Errorf("found %d of %d that it claims to find", found, claimed)
	}
}

func TestRatioWithinAtTheEdges(t *testing.T) {
	t.Parallel()
	ones := func(n int) [][]float64 { return slices.Repeat([][]float64{{1}}, n) }
	if r, err := RatioWithin(ones(8), ones(8)); err != nil || r.Estimate != 1 || r.Lo != 1 ||
		r.Hi != 1 || r.P != 1 {
		t.Errorf("equal counts: %+v, %v; want 1 [1, 1]", r, err)
	}
	if r, err := RatioWithin(slices.Repeat([][]float64{{0}}, 8), ones(8)); err != nil ||
		r.Estimate != FromZero || r.P > 0.01 {
		t.Errorf("from zero: %+v, %v", r, err)
	}
	if r, err := RatioWithin(ones(2), [][]float64{{2}, {3}}); err != nil || r.Lo != 0 ||
		r.Hi != FromZero || r.P != 0.5 || r.SmallestP != 0.5 || r.Enough() {
		t.Errorf("two pairs say nothing: %+v, %v", r, err)
	}
	for _, bad := range [][2][][]float64{{}, {{{1}}, {{1}, {2}}}, {{{1}, nil}, {nil, {2}}}} {
		if r, err := RatioWithin(bad[0], bad[1]); err == nil {
			t.Errorf("%v is taken: %+v", bad, r)
		}
	}
}

// Machines that agree are said to disagree as often as the probability says; those whose means
// lie three standard deviations apart always are.
func TestSameInBlocks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	const trials = 5000
	false1, found := 0, 0
	for range trials {
		same := [][]float64{normal(rng, 4, 0, 0.01), normal(rng, 2, 0, 0.01), normal(rng, 6, 0, 0.01)}
		if SameInBlocks(same) <= 0.01 {
			false1++
		}
		if SameInBlocks([][]float64{normal(rng, 6, 0, 0.01), normal(rng, 6, 0.03, 0.01)}) <= 0.01 {
			found++
		}
	}
	if p := float64(false1) / trials; math.Abs(p-0.01) > 0.006 {
		t.Errorf("machines that agree: p <= 0.01 in %g of the trials", p)
	}
	if found < trials*9/10 {
		t.Errorf("machines that disagree are found in %d of %d", found, trials)
	}
	for _, c := range []struct {
		blocks [][]float64
		want   float64
	}{
		{nil, 1}, {[][]float64{{1, 2}}, 1}, {[][]float64{{1}, {2}}, 1}, {[][]float64{{0, 0}, {0, 0}}, 1},
		{[][]float64{{0, 0}, {1, 1}, nil}, 0},
	} {
		if got := SameInBlocks(c.blocks); got != c.want {
			t.Errorf("%v: %g, want %g", c.blocks, got, c.want)
		}
	}
}
