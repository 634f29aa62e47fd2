package stats

import (
	"math"
	"slices"
	"testing"
)

func TestEstimateOf(t *testing.T) {
	t.Parallel()
	// For six values the distribution-free interval of the median is the range
	// (coverage 96.9 percent: 1 - 2*0.5^6).
	e := EstimateOf([]float64{6, 1, 3, 2, 5, 4})
	if e.Median != 3.5 || e.Lo != 1 || e.Hi != 6 || len(e.Warnings) != 0 {
		t.Errorf("six values: %+v", e)
	}
	few := EstimateOf([]float64{1, 2, 3})
	if few.Median != 2 || few.Lo != 1 || few.Hi != 3 || len(few.Warnings) == 0 {
		t.Errorf("three values must carry a warning: %+v", few)
	}
	if none := EstimateOf(nil); !math.IsNaN(none.Median) || len(none.Warnings) == 0 {
		t.Errorf("no values: %+v", none)
	}
}

func TestOutliersAreMarkedNotDropped(t *testing.T) {
	t.Parallel()
	values := []float64{10, 11, 10, 12, 11, 10, 50}
	if got := OutliersOf(values); !slices.Equal(got, []int{6}) {
		t.Errorf("outliers %v, want position 6", got)
	}
	if e := EstimateOf(values); e.Outliers != 1 || e.N != 7 || e.Median != 11 {
		t.Errorf("%+v", e)
	}
	if OutliersOf([]float64{1, 100, 1}) != nil {
		t.Error("three values have no quartiles to speak of")
	}
}
