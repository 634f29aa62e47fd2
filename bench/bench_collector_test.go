package bench_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/objects"
)

var collectorObjects = flag.Int("collector.objects", 2_000, "pods of BenchmarkCollector")

// BenchmarkCollector updates a cache of pods, each decoded from bytes of its own, and reports the
// collector's CPU time for an update. Run it with -benchtime=80000x: some collections must happen.
func BenchmarkCollector(b *testing.B) {
	source := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod,
		Count: *collectorObjects}, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	encoded := make([][]byte, source.Len())
	for i := range encoded {
		encoded[i] = synthetic.KindPod.Encode(synthetic.Own(source.At(i), rng))
	}
	for _, name := range []string{"clientgo", "plain", "interned", "packed"} {
		entry, err := catalog.Lookup(contract.ComponentObjects, name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("impl=%s/objects=%d", name, source.Len()), func(b *testing.B) {
			keeper, store := entry.NewKeeper(), entry.Under(contract.Indexers{})
			keep := objects.Transform(nil, keeper)
			put := func(i int) {
				kept, _ := keep(synthetic.KindPod.Decode(encoded[i])) // a keeper's never fails
				store.Update(source.Key(i), kept)
			}
			for i := range encoded {
				put(i)
			}
			before := collectorCPU()
			b.ResetTimer()
			for i := range b.N {
				put(i % len(encoded))
			}
			b.StopTimer()
			b.ReportMetric((collectorCPU()-before)*1e9/float64(b.N), "gc-ns/op")
			runtime.KeepAlive(store)
		})
	}
}

// collectorCPU is the CPU time of the collector so far, in seconds, after a collection.
func collectorCPU() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	runtime.GC()
	metrics.Read(sample)
	return sample[0].Value.Float64()
}
