package bench_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// told is a number of a whole run, with its unit in go test -bench. series "" is the
// process.
type told struct{ series, metric, unit string }

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
		{"deliver", metrics.NsPerOp, "ns/op"}, {"deliver", metrics.BytesPerOp, "B/op"}, {"deliver", metrics.AllocsPerOp, "allocs/op"},
		{"x10:deliver", metrics.NsPerOp, "x10-ns/op"}, {"x10:deliver", metrics.AllocsPerOp, "x10-allocs/op"},
		{"", metrics.HeapPerObject, metrics.HeapPerObject},
	}},
	{"informer-staleness-brief", slices.Concat(percentiles("writer:update", metrics.Stale, "visible"), percentiles("handlers:handle", metrics.Stale, "told"), []told{
		{"handlers:handle", metrics.Unseen, metrics.Unseen}, {"writer:update", metrics.Percentile(metrics.Late, 99), "late-p99-ns"},
	})},
	{"informer-sync-brief", []told{
		{"sync", metrics.NsPerOp, "ns/op"}, {"sync", metrics.Synced, metrics.Synced}, {"sync", metrics.PeakHeap, metrics.PeakHeap},
		{"sync", metrics.BytesPerOp, "B/op"}, {"sync", metrics.AllocsPerOp, "allocs/op"},
		{"", metrics.HeapPerObject, metrics.HeapPerObject},
	}},
	{"informer-relist-brief", []told{
		{"relister:relist", metrics.Percentile(metrics.Service, 50), "relist-p50-ns"},
		{"listers:list", metrics.Percentile(metrics.Service, 99), "reader-p99-ns"}, {"listers:list", metrics.Max(metrics.Service), "reader-max-ns"},
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
	for _, r := range informerRuns {
		i := slices.IndexFunc(preset.Workloads, func(w load.Workload) bool { return w.Name == r.workload })
		if i < 0 {
			b.Fatalf("the preset informer has no %s", r.workload)
		}
		for _, v := range preset.Workloads[i].Variants() {
			for _, e := range entries(b, contract.ComponentInformer) {
				if e.Study {
					continue
				}
				name := fmt.Sprintf("workload=%s/impl=%s/objects=%d", strings.TrimSuffix(v.Workload.Name, "-brief"), e.Name, v.Workload.Objects.Count)
				if v.Key != "" && v.Key != "objects" {
					name += fmt.Sprintf("/%s=%d", v.Key, v.Value)
				}
				b.Run(name, func(b *testing.B) { wholeRun(b, e, v.Workload, r.tells) })
			}
		}
	}
}

// wholeRun does b.N runs and reports the median of each number.
func wholeRun(b *testing.B, e catalog.Entry, w load.Workload, tells []told) {
	var text strings.Builder
	if err := load.WriteWorkload(&text, w); err != nil {
		b.Fatal(err)
	}
	values := make([][]float64, len(tells))
	for range b.N {
		f, err := bench.Run(b.Context(), bench.Request{
			Cell:     record.Cell{Component: e.Component, Impl: e.Name, Workload: w.Name, Procs: runtime.GOMAXPROCS(0)},
			Workload: text.String(),
		})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range f.Checks {
			if !c.Passed {
				b.Errorf("%s: %s", c.Name, c.Detail)
			}
		}
		for i, t := range tells {
			of := f.Process
			if t.series != "" {
				j := slices.IndexFunc(f.Series, func(s record.Series) bool { return s.Name() == t.series })
				if j < 0 {
					b.Fatalf("the run has no series %s", t.series)
				}
				of = f.Series[j].Values
			}
			value, ok := of[t.metric]
			if !ok {
				b.Fatalf("%s has no %s", t.series, t.metric)
			}
			values[i] = append(values[i], value)
		}
	}
	b.ReportMetric(0, "ns/op") // of a run, which says nothing; 0 leaves it out
	for i, t := range tells {
		b.ReportMetric(stats.MedianOf(values[i]), t.unit)
		if t.unit == metrics.AllocsPerOp {
			b.ReportAllocs() // or it would not be printed
		}
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
		i := slices.IndexFunc(preset.Workloads, func(w load.Workload) bool { return w.Name == r.workload })
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
			w.Duration = 4 * time.Second // a reflector waits for up to 1.6 s before it lists again, which takes a second under the race detector
		}
		result := testing.Benchmark(func(b *testing.B) { wholeRun(b, e, w, r.tells) })
		for _, tell := range r.tells {
			if got, ok := result.Extra[tell.unit]; !ok || got <= 0 && tell.unit != metrics.Unseen && tell.unit != "late-p99-ns" {
				t.Errorf("%s: %s of %s is %g: %v", r.workload, tell.unit, tell.series, got, result)
			}
		}
	}
}
