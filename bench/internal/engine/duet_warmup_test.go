package engine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// cached is a crew whose operations take longer while its data are not in the caches. Its own
// operations bring them in, and the other's drive them out. Time is only reckoned.
type cached struct {
	actors
	here, there *float64 // the share of the data that is in the caches: its own, the other's
}

func (c *cached) round(before, n int, _ bool) (total spent, _ error) {
	const data = 50_000 // operations until nearly all are there
	one := func() float64 {
		*c.here += (1 - *c.here) / data
		*c.there -= *c.there / data
		return 100 * (1.5 - 0.5**c.here)
	}
	for range before {
		one()
	}
	for range n {
		total.Costs[wallTime] += one()
	}
	total.Ops = uint64(n)
	return total, nil
}

// A side does not find more of its data in the caches than the other because of what went before
// the measured turns, though a first sitting of long turns has few of them.
func TestWarmUpFavoursNoSide(t *testing.T) {
	t.Parallel()
	gc := newCollector()
	defer gc.release()
	var logs []float64
	for seed := range uint64(200) {
		d := newDuet(seed)
		var shares [2]float64
		crews := make([]crew, 2)
		for i := range crews {
			crews[i] = &cached{actors{[]Actor{{Deferred: 1000}}, gc, &meter{}}, &shares[i], &shares[1-i]}
		}
		if err := d.sit(crews, 0); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, d.logs[wallTime]...)
	}
	mean, deviation := stat.MeanStdDev(logs, nil)
	if bound := 4 * stat.StdErr(deviation, float64(len(logs))); math.Abs(mean) > bound {
		t.Errorf("the first sitting of equal sides has the ratio %.4f, want 1 within %.4f",
			math.Exp(mean), bound)
	}
}
