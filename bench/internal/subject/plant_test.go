package subject

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// A slowed actor does the same operations and takes longer by the share.
func TestSlowedTakesItsShare(t *testing.T) {
	t.Parallel()
	const work = 5 * time.Millisecond
	var inside time.Duration
	a := slowed(engine.Actor{Loop: func(n int) int {
		start := time.Now()
		for time.Since(start) < work {
		}
		inside = time.Since(start)
		return n
	}}, 0.5)
	start := time.Now()
	if got := a.Loop(7); got != 7 {
		t.Errorf("did %d of 7", got)
	}
	if took := time.Since(start); took < inside*3/2 {
		t.Errorf("it took %s, want at least half more than %s", took, inside)
	}
}

// The candidate of a planted cell is slower than the same store beside it, which has the
// clock readings and not the slowdown.
func TestPlantedCellIsSlower(t *testing.T) {
	reference := referenceOf(t, contract.ComponentStore)
	w := load.Workload{Name: "w", Component: contract.ComponentStore,
		Objects: synthetic.ObjectSpec{Count: 300}, Ops: []load.Op{load.OpList},
		Duration: 24 * time.Millisecond}
	f := record.Fork{Process: map[string]float64{}}
	share, none := 20.0, 0.0 // so much that no noise can hide it
	if err := Perform(t.Context(), Side{reference, &share}, &Side{reference, &none}, w.WithDefaults(),
		&f, nil); err != nil {
		t.Fatal(err)
	}
	if d := f.Series[0].Duet.Ratios[metrics.NsPerOp]; d.Log < 1 {
		t.Errorf("the logarithm of the ratio is %g, want that of 21", d.Log)
	}
}
