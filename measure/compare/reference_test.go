package compare

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/measure/stats"
)

func threeStores(seed uint64, duets bool) *record.Run {
	return recordtest.Run(
		recordtest.Spec{Forks: 8, Seed: seed, Duets: duets,
			Impls: []recordtest.Impl{{Name: "first", NsPerOp: 100}, {Name: "half", NsPerOp: 50},
				{Name: "quarter", NsPerOp: 25}}})
}

// comparedWith compares a metric of the series get with another reference.
func comparedWith(t *testing.T, r *record.Run, reference, impl string) *Comparison {
	t.Helper()
	chosen, err := AgainstReference(r, "store", reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Judged(Within(chosen)) {
		if c.Name.Series == "get" && c.Name.Metric == metrics.NsPerOp && c.Name.Impl == impl {
			return c
		}
	}
	t.Fatalf("%s is not compared with %s", impl, reference)
	return nil
}

// Ratios against any reference have their true values within their intervals, whether the
// implementations took turns or not.
func TestAgainstAnotherReference(t *testing.T) {
	t.Parallel()
	for _, duets := range []bool{false, true} {
		r := threeStores(1, duets)
		for _, c := range []struct {
			reference, impl string
			want            float64
			verdict         stats.Verdict
		}{
			{"first", "half", 0.5, stats.Better}, {"half", "first", 2, stats.Worse},
			{"half", "quarter", 0.5, stats.Better}, {"quarter", "half", 2, stats.Worse},
			{"quarter", "first", 4, stats.Worse},
		} {
			got := comparedWith(t, r, c.reference, c.impl)
			if math.Abs(got.Ratio.Estimate/c.want-1) > 0.02 || got.Ratio.Lo > c.want*1.02 ||
				got.Ratio.Hi < c.want*0.98 || got.Verdict != c.verdict || got.Ratio.Paired != duets {
				t.Errorf("duets %v, %s to %s: %+v %s, want %g and %s", duets, c.impl, c.reference, got.Ratio,
					got.Verdict, c.want, c.verdict)
			}
		}
	}
}

// The run's own reference gives what Within gives, to the last digit.
func TestAgainstTheOwnReferenceChangesNothing(t *testing.T) {
	t.Parallel()
	for _, duets := range []bool{false, true} {
		r := threeStores(1, duets)
		same, err := AgainstReference(r, "store", "first")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(Within(same), Within(r)) {
			t.Errorf("duets %v: the comparisons differ", duets)
		}
	}
}

// One component alone gets the verdicts that it gets within the whole run.
func TestWithinAgainstIsWithin(t *testing.T) {
	t.Parallel()
	r := threeStores(1, true)
	for i, c := range r.Cells[:3] { // a second component, whose verdicts are in the family
		c.Component = "fifo"
		r.Impls = append(r.Impls, record.Implementation{Component: "fifo", Name: c.Impl,
			Reference: i == 0})
		r.Cells = append(r.Cells, c)
		for _, f := range r.Measured(r.Cells[i]) {
			other := f
			other.Cell = c
			r.Forks = append(r.Forks, other)
		}
	}
	own := Within(r)
	before := len(Judged(own))
	got, err := WithinAgainst(r, own, "store", "quarter")
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := AgainstReference(r, "store", "quarter")
	if err != nil {
		t.Fatal(err)
	}
	if want := Within(chosen)[:1]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !reflect.DeepEqual(own, Within(r)) || len(Judged(own)) != before {
		t.Error("the run's own comparisons have changed")
	}
}

// The interval between two that both took turns with a third covers the truth as often as it
// says: it has the noise of both.
func TestIntervalOfAThirdCoversTheTruth(t *testing.T) {
	t.Parallel()
	const runs = 400
	covered := 0
	rng := rand.New(rand.NewPCG(1, 2))
	logs := func(mean float64) (out []float64) {
		for range 8 {
			out = append(out, mean+0.1*rng.NormFloat64())
		}
		return out
	}
	r := threeStores(1, true)
	for range runs {
		for impl, values := range map[string][]float64{"half": logs(math.Log(0.5)),
			"quarter": logs(math.Log(0.25))} {
			for i := range r.Forks {
				if f := &r.Forks[i]; f.Cell.Impl == impl {
					f.Series[0].Duet.Ratios[metrics.NsPerOp] = record.LogRatio{Log: values[f.Index]}
				}
			}
		}
		reference := number{r, r.Cells[1], "get", metrics.NsPerOp}
		ratio, twice, err := reference.of(r.Cells[2]).turnsWith(reference)
		if err != nil || !twice {
			t.Fatal(err, twice)
		}
		if ratio.Lo <= 0.5 && 0.5 <= ratio.Hi {
			covered++
		}
	}
	// 95 percent of 400 are 380, with a standard deviation of 4.4.
	if covered < 380-4*5 {
		t.Errorf("%d of %d intervals cover the truth, want some 380", covered, runs)
	}
}

// A ratio by way of a third contains what two subjects of one process do to each other twice,
// so its noise floor is wider. That to the run's reference is not.
func TestFloorOfAThirdIsWider(t *testing.T) {
	t.Parallel()
	r := threeStores(3, true)
	direct, inverse, third := comparedWith(t, r, "first", "half").Floor,
		comparedWith(t, r, "half", "first").Floor, comparedWith(t, r, "half", "quarter").Floor
	if direct <= 0 || inverse != direct || math.Abs((1+third)/(1+direct)-(1+direct)) > 1e-12 {
		t.Errorf("floors: direct %g, inverse %g, by way of a third %g", direct, inverse, third)
	}
	if twice := twiceFloor(stats.FromZero); twice != stats.FromZero {
		t.Errorf("twice the widest floor is %g, want %g: JSON has no infinite numbers", twice,
			stats.FromZero)
	}
}

func TestAgainstReferenceOfNothing(t *testing.T) {
	t.Parallel()
	r := threeStores(1, false)
	for _, c := range []struct{ component, impl, want string }{
		{"store", "nowhere", "first, half, quarter"}, {"fifo", "first", "it has store"},
	} {
		if _, err := AgainstReference(r, c.component, c.impl); !errors.Is(err, ErrNoReference) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %q", c.component, c.impl, err, c.want)
		}
	}
	before := r.Cells[0].Impl
	chosen, err := AgainstReference(r, "store", "quarter")
	if err != nil {
		t.Fatal(err)
	}
	if chosen.Cells[0].Impl != "quarter" || len(chosen.Cells) != len(r.Cells) ||
		r.Cells[0].Impl != before || !r.Impls[0].Reference {
		t.Errorf("the cells are %v; the run's own %v", chosen.Cells, r.Cells)
	}
}
