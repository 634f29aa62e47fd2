package inturns

import (
	"math"
	"slices"
	"testing"
)

func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{1, 3}, 2},
		{[]float64{100, 2, 4, -100}, 3},
		{[]float64{9, 1, 2, 3, 4, 5, 6, -9}, 3.5},
	} {
		if got := middle(slices.Clone(c.values)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("middle(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

// TestEachGoesFirstAndLast: no implementation always follows the same other one.
func TestEachGoesFirstAndLast(t *testing.T) {
	t.Parallel()
	for round, want := range map[int][]int{1: {0, 1, 2}, 2: {2, 1, 0}, 3: {0, 1, 2}} {
		if got := slices.Collect(order(3, round)); !slices.Equal(got, want) {
			t.Errorf("round %d in the order %v, want %v", round, got, want)
		}
	}
}
