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

// Each implementation comes after each of the others equally often, and after itself as often as
// they do after themselves.
func TestEachFollowsEachOtherEquallyOften(t *testing.T) {
	t.Parallel()
	const n, rounds = 3, 9000
	var follows [n][n]int
	order, last := orders(n), 0
	for range rounds {
		for _, i := range order() {
			follows[last][i]++
			last = i
		}
	}
	for i := range n {
		for j := range n {
			want := rounds * 4 / 9 // 2 of the 6 pairs within a round, and each of the 9 pairs between rounds
			if i == j {
				want = rounds / 9
			}
			if got := follows[i][j]; got < want*9/10 || got > want*11/10 {
				t.Errorf("%d comes after %d %d times, want about %d", j, i, got, want)
			}
		}
	}
}
