package informer

import (
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// strange is a selector that says less in Requirements than it asks in Matches.
type strange struct{ labels.Selector }

func (strange) Matches(l labels.Labels) bool { return l.Get("a") == "1" && !l.Has("b") }

// A matcher gives the answers of its selector.
func TestMatcherAnswersAsItsSelector(t *testing.T) {
	t.Parallel()
	keys, values := []string{"a", "b", "c"}, []string{"", "1", "2", "10"}
	operators := []selection.Operator{
		selection.In, selection.NotIn, selection.Equals, selection.DoubleEquals, selection.NotEquals,
		selection.Exists, selection.DoesNotExist, selection.GreaterThan, selection.LessThan,
	}
	selectors := []labels.Selector{
		labels.Everything(), labels.Nothing(), labels.NewSelector(), strange{labels.NewSelector()},
		labels.SelectorFromSet(nil), labels.SelectorFromSet(labels.Set{"a": "1"}),
		labels.SelectorFromValidatedSet(labels.Set{"a": "1", "b": ""}),
	}
	rng := rand.New(rand.NewPCG(1, 1))
	made := map[selection.Operator]bool{}
	for range 500 {
		selector := labels.NewSelector()
		for range 1 + rng.IntN(3) {
			operator := operators[rng.IntN(len(operators))]
			some := []string{values[rng.IntN(len(values))], values[rng.IntN(len(values))]}
			switch operator {
			case selection.Exists, selection.DoesNotExist:
				some = nil
			case selection.In, selection.NotIn:
			default:
				some = some[:1]
			}
			// The error is for a comparison with what is no number.
			if r, err := labels.NewRequirement(keys[rng.IntN(len(keys))], operator, some); err == nil {
				selector = selector.Add(*r)
				made[operator] = true
			}
		}
		selectors = append(selectors, selector)
	}
	if len(made) != len(operators) {
		t.Fatalf("selectors with %d of %d operators", len(made), len(operators))
	}
	yes := 0
	for _, selector := range selectors {
		m := newMatcher(selector)
		sets := []map[string]string{nil} // no labels
		for range 50 {
			set := map[string]string{}
			for _, key := range keys {
				if rng.IntN(3) > 0 {
					set[key] = values[rng.IntN(len(values))]
				}
			}
			sets = append(sets, set)
		}
		want := []int{}
		for i, set := range sets {
			if selector.Matches(labels.Set(set)) {
				want = append(want, i)
			}
		}
		if got := m.matching(sets, []int{}); !slices.Equal(got, want) {
			t.Fatalf("%q (%T) of %q: %v, want %v", selector, selector, sets, got, want)
		}
		yes += len(want)
	}
	if yes < 1000 || yes > 50*len(selectors)-1000 {
		t.Errorf("%d of %d answers are yes: the test sees little", yes, 50*len(selectors))
	}
}

// A lister asks for the memory of its answer once, however many objects match.
func TestAnAnswerIsAllocatedOnce(t *testing.T) {
	var (
		objects []any
		room    = new(room)
		lister  = NewLister[*corev1.Pod](nil, corev1.Resource("pods"))
	)
	for i := range 1_000 {
		chosen := map[bool]string{true: "one", false: "most"}[i == 500]
		objects = append(objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"chosen": chosen}}})
	}
	allocations := func(value string, want int) float64 {
		selector := labels.SelectorFromSet(labels.Set{"chosen": value})
		return testing.AllocsPerRun(100, func() {
			if got, err := lister.matching(room, objects, selector); err != nil || len(got) != want {
				t.Fatal(len(got), err)
			}
		})
	}
	if most, one := allocations("most", 999), allocations("one", 1); most != one {
		t.Errorf("%v allocations for 999 objects, %v for one", most, one)
	}
}
