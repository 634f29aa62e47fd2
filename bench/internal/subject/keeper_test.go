package subject

import (
	"runtime"
	"testing"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Each cold read decodes, though the cache is small enough for all of it to stay decoded.
func TestColdReadsDecode(t *testing.T) {
	const objects, reads = 100, 10
	e, err := catalog.Lookup(contract.ComponentObjects, "packed")
	if err != nil {
		t.Fatal(err)
	}
	w := load.Workload{Name: "cold", Component: contract.ComponentObjects,
		Objects: synthetic.ObjectSpec{Count: objects}, Ops: []load.Op{load.OpGetCold}}.WithDefaults()
	k := NewKeeper(e, generate(w), w)
	k.Fill()
	a, err := k.Actor(load.OpGetCold, load.Group{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	a.Begin()
	for i := range 4 * objects / reads {
		var before, after runtime.MemStats
		a.Prepare(reads)
		runtime.ReadMemStats(&before)
		a.Loop(reads)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; made < reads*10_000 {
			t.Fatalf("reads %d to %d allocated %d bytes, less than so many pods take", i*reads,
				(i+1)*reads, made)
		}
	}
}
