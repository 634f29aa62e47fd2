package inturns

import (
	"slices"
	"testing"
	"time"
)

// What a turn of twelve takes longer counts, a stop of the machine does not.
func TestSeldomWorkCounts(t *testing.T) {
	t.Parallel()
	turns := slices.Repeat([]time.Duration{time.Millisecond}, 11)
	for longer, want := range map[time.Duration]time.Duration{
		time.Millisecond: 12 * time.Millisecond, 9 * time.Millisecond: 20 * time.Millisecond,
		time.Second: 21 * time.Millisecond,
	} {
		if got := total(append(slices.Clone(turns), longer)); got != want {
			t.Errorf("with a turn of %s: %s, want %s", longer, got, want)
		}
	}
	if got := total([]time.Duration{time.Second}); got != time.Second {
		t.Errorf("one turn: %s", got)
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
