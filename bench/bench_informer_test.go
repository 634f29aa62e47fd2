package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/presets"
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

// informerRuns are loads of presets that are not a single operation on 10,000 objects, and the
// numbers that they report. BenchmarkInformer has the others.
var informerRuns = []struct {
	preset, workload string
	tells            []told
}{
	{"informer-contended", "informer-events", []told{
		{"deliver", metrics.NsPerOp, "ns/op"}, {"deliver", metrics.BytesPerOp, "B/op"},
		{"deliver", metrics.AllocsPerOp, "allocs/op"},
		{"x10:deliver", metrics.NsPerOp, "x10-ns/op"},
		{"x10:deliver", metrics.AllocsPerOp, "x10-allocs/op"},
		{"", metrics.HeapPerObject, metrics.HeapPerObject},
	}},
	{"informer-staleness", "informer-staleness", slices.Concat(
		percentiles("writer:update", metrics.Stale, "visible"),
		percentiles("handlers:handle", metrics.Stale, "told"), []told{
			{"handlers:handle", metrics.Unseen, metrics.Unseen},
			{"writer:update", metrics.Percentile(metrics.Late, 99), "late-p99-ns"},
		})},
	{"informer-sync", "informer-sync", []told{
		{"sync", metrics.NsPerOp, "ns/op"}, {"sync", metrics.Synced, metrics.Synced},
		{"sync", metrics.PeakHeap, metrics.PeakHeap},
		{"sync", metrics.BytesPerOp, "B/op"}, {"sync", metrics.AllocsPerOp, "allocs/op"},
		{"", metrics.HeapPerObject, metrics.HeapPerObject},
	}},
	{"informer-sync", "informer-relist", []told{
		{"relister:relist", metrics.Percentile(metrics.Service, 50), "relist-p50-ns"},
		{"listers:list", metrics.Percentile(metrics.Service, 99), "reader-p99-ns"},
		{"listers:list", metrics.Max(metrics.Service), "reader-max-ns"},
	}},
}

// informerRun is a preset's workload.
func informerRun(tb testing.TB, preset, workload string) load.Workload {
	p, err := presets.Lookup(preset)
	if err != nil {
		tb.Fatal(err)
	}
	i := slices.IndexFunc(p.Workloads, func(w load.Workload) bool { return w.Name == workload })
	if i < 0 {
		tb.Fatalf("the preset %s has no %s", preset, workload)
	}
	return p.Workloads[i]
}

// BenchmarkInformerRun measures whole informers as benchrun does; each run is one
// iteration. It reports staleness to p99.99, the initial sync with its
// peak memory, a relist under readers, one and ten handlers, and memory per object. ns/op
// is reported where the run has one operation.
func BenchmarkInformerRun(b *testing.B) {
	var compared []catalog.Entry
	for _, e := range entries(b, contract.ComponentInformer) {
		if !e.Study {
			compared = append(compared, e)
		}
	}
	for _, r := range informerRuns {
		loads(b, compared, informerRun(b, r.preset, r.workload),
			func(record.Fork) []told { return r.tells })
	}
}

// Every row of BenchmarkInformerRun is measured briefly and reports its numbers.
func TestBenchmarkInformerRun(t *testing.T) {
	e, err := catalog.Lookup(contract.ComponentInformer, "informerbench")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range informerRuns {
		variants := informerRun(t, r.preset, r.workload).Variants()
		w := variants[len(variants)-1].Workload // the one with listers
		w.Objects.Count = 5_000                 // the memory of a few objects does not show
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
