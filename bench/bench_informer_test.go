package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// percentiles are a distribution's p50 to p99.99 and its maximum.
func percentiles(series, distribution, name string) []told {
	out := []told{{series, metrics.Max(distribution), name + "-max-ns"}}
	for _, p := range metrics.Percentiles {
		out = append(out, told{series, metrics.Percentile(distribution, p), metrics.Percentile(name, p)})
	}
	return out
}

// informerRuns are the rows of the preset informer that are not a single operation on
// 10,000 objects, and the numbers that they report. BenchmarkInformer has the others.
var informerRuns = []struct {
	workload string
	tells    []told
}{
	{"informer-events-brief", []told{
		{"deliver", metrics.NsPerOp, "ns/op"}, {"deliver", metrics.BytesPerOp, "B/op"},
		{"deliver", metrics.AllocsPerOp, "allocs/op"},
		{"x10:deliver", metrics.NsPerOp, "x10-ns/op"},
		{"x10:deliver", metrics.AllocsPerOp, "x10-allocs/op"},
		{"", metrics.HeapPerObject, metrics.HeapPerObject},
	}},
	{"informer-staleness-brief", slices.Concat(percentiles("writer:update", metrics.Stale, "visible"),
		percentiles("handlers:handle", metrics.Stale, "told"), []told{
			{"handlers:handle", metrics.Unseen, metrics.Unseen},
			{"writer:update", metrics.Percentile(metrics.Late, 99), "late-p99-ns"},
		})},
	{"informer-sync-brief", []told{
		{"sync", metrics.NsPerOp, "ns/op"}, {"sync", metrics.Synced, metrics.Synced},
		{"sync", metrics.PeakHeap, metrics.PeakHeap},
		{"sync", metrics.BytesPerOp, "B/op"}, {"sync", metrics.AllocsPerOp, "allocs/op"},
		{"", metrics.HeapPerObject, metrics.HeapPerObject},
	}},
	{"informer-relist-brief", []told{
		{"relister:relist", metrics.Percentile(metrics.Service, 50), "relist-p50-ns"},
		{"listers:list", metrics.Percentile(metrics.Service, 99), "reader-p99-ns"},
		{"listers:list", metrics.Max(metrics.Service), "reader-max-ns"},
	}},
}

// BenchmarkInformerRun measures whole informers as benchrun does; each run is one
// iteration. It reports staleness to p99.99, the initial sync of 100,000 objects with its
// peak memory, a relist under readers, one and ten handlers, and memory per object. ns/op
// is reported where the run has one operation.
func BenchmarkInformerRun(b *testing.B) {
	preset, err := load.LookupPreset("informer")
	if err != nil {
		b.Fatal(err)
	}
	var brief []catalog.Entry
	for _, e := range entries(b, contract.ComponentInformer) {
		if !e.Study {
			brief = append(brief, e)
		}
	}
	for _, r := range informerRuns {
		i := slices.IndexFunc(preset.Workloads, func(w load.Workload) bool {
			return w.Name == r.workload
		})
		if i < 0 {
			b.Fatalf("the preset informer has no %s", r.workload)
		}
		loads(b, brief, preset.Workloads[i], func(record.Fork) []told { return r.tells })
	}
}

// Every row of BenchmarkInformerRun is measured briefly and reports its numbers.
func TestBenchmarkInformerRun(t *testing.T) {
	preset, err := load.LookupPreset("informer")
	if err != nil {
		t.Fatal(err)
	}
	e, err := catalog.Lookup(contract.ComponentInformer, "informerbench")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range informerRuns {
		i := slices.IndexFunc(preset.Workloads, func(w load.Workload) bool {
			return w.Name == r.workload
		})
		if i < 0 {
			t.Fatalf("the preset informer has no %s", r.workload)
		}
		w := preset.Workloads[i].Variants()[0].Workload
		w.Objects.Count = 5_000 // the memory of a few objects does not show
		w.Duration, w.Warmup = min(w.Duration, 100*time.Millisecond), min(w.Warmup, 10*time.Millisecond)
		for i := range w.Groups { // a variant's groups are its own
			w.Groups[i].Goroutines = min(w.Groups[i].Goroutines, 2)
		}
		if strings.Contains(w.Name, "relist") {
			// a reflector waits for up to 1.6 s before it lists again, which takes a second under the race
			// detector
			w.Duration = 4 * time.Second
		}
		result := testing.Benchmark(func(b *testing.B) {
			runs(b, e, w, func(record.Fork) []told { return r.tells })
		})
		for _, tell := range r.tells {
			if got, ok := result.Extra[tell.unit]; !ok || got <= 0 && tell.unit != metrics.Unseen &&
				tell.unit != "late-p99-ns" {
				t.Errorf("%s: %s of %s is %g: %v", r.workload, tell.unit, tell.series, got, result)
			}
		}
	}
}
