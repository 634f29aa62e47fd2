package subject

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/synthetic"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
)

// Items that wait before the run begins are followed too, from their ready time: only those
// that come due within the measured time.
func TestLatenessOfWhatWaited(t *testing.T) {
	for _, impl := range []string{"clientgo", "workqueue", "priority"} {
		e, err := catalog.Lookup(contract.ComponentQueue, impl)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			w := load.Workload{
				Name: "w", Component: contract.ComponentQueue, Objects: synthetic.ObjectSpec{Count: 4000}, Waiting: 4000, Ahead: 4 * time.Second,
				Groups:   []load.Group{{Name: "workers", Op: load.OpGetDone, Goroutines: 2}},
				Duration: time.Second, Warmup: 2500 * time.Millisecond,
			}.WithDefaults()
			s, err := New(e, synthetic.Generate(w.Objects, 1), w)
			if err != nil {
				t.Fatal(err)
			}
			s.Fill()
			series, err := engine.Contend(t.Context(), s, w, nil, map[string]float64{})
			if err != nil {
				t.Fatal(err)
			}
			values := series[0].Values
			if n := values[metrics.Number(metrics.Stale)]; n < 1800 || n > 2200 {
				t.Errorf("%s: %g items were due within the second, want about 2,000", impl, n)
			}
			if early, known := values[metrics.Early]; !known || early > 0 {
				t.Errorf("%s: %g items came early (known: %t)", impl, early, known)
			}
			if got := time.Duration(values[metrics.Max(metrics.Stale)]); got > 10*time.Microsecond {
				t.Errorf("%s: the latest came %s late in a bubble, where work takes no time", impl, got)
			}
		})
	}
}
