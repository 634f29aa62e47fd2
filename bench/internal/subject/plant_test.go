package subject

import (
	"math"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
)

func newMutexMap(ix contract.Indexers) contract.Store { return mutexmap.New(ix) }

// A planted store keeps the contract of a store.
func TestPlantedStoreKeepsTheContract(t *testing.T) {
	storetest.Run(t, Plant(newMutexMap, 0.1), suite.WithEffort(0.1))
}

// Each operation, timed or not, is followed by the share of its estimated cost.
func TestPlantAddsItsShare(t *testing.T) {
	t.Parallel()
	const cost, perNs = 1000.0, 2.0
	for _, share := range []float64{0, 0.1, 1} {
		turns := 0
		p := &planted{Store: newMutexMap(nil), share: share, perNs: perNs, clock: 1e18, idle: func(n int) uint64 { turns = n; return 0 }}
		p.cost[plantedGet].Store(math.Float64bits(cost))
		p.end(plantedGet, time.Time{})
		if want := int(share * cost * perNs); turns != want {
			t.Errorf("a share of %g: %d turns, want %d", share, turns, want)
		}
		// A timed operation that took next to nothing moves the estimate by a sixteenth.
		p.end(plantedGet, time.Now())
		if want := int(share * (cost - (cost-0.1)/plantedMemory) * perNs); turns != want {
			t.Errorf("a share of %g after a timed one: %d turns, want %d", share, turns, want)
		}
		p.Get("")
		if p.begin(plantedList).IsZero() {
			t.Error("the first operation of a kind must be timed: nothing is known of it")
		}
	}
}
