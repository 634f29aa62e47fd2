package bench

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Store measures a store beside client-go's, as the package comment says. b fails, and nothing
// is measured, if the store breaks a clause or newStore panics or returns nil; the message
// names the clauses. All of it takes some minutes; -bench selects parts.
func Store[S contract.Store](b *testing.B, newStore func(contract.Indexers) S,
	opts ...catalog.Option) {
	b.Helper()
	besideReference(b, catalog.Store("", newStore, opts...))
}

// FIFO measures a FIFO beside client-go's DeltaFIFO, as Store does a store. Its class is
// contract.Coalescing, unless catalog.Class says otherwise.
func FIFO[F contract.FIFO](b *testing.B, newFIFO func(contract.FIFOConfig) F,
	opts ...catalog.Option) {
	b.Helper()
	besideReference(b, catalog.FIFO("", newFIFO, opts...))
}

// DelayHeap measures a delay heap beside the one in client-go's queue, as Store does a store.
func DelayHeap[H contract.DelayHeap[string]](b *testing.B, newHeap func() H,
	opts ...catalog.Option) {
	b.Helper()
	besideReference(b, catalog.DelayHeap("", newHeap, opts...))
}

// Queue measures a workqueue beside client-go's, as Store does a store.
func Queue[Q contract.DelayingQueue[string]](b *testing.B, newQueue func(clock.WithTicker) Q,
	opts ...catalog.Option) {
	b.Helper()
	besideReference(b, catalog.Queue("", newQueue, opts...))
}

// Informer measures an informer beside client-go's, as Store does a store.
func Informer[I cache.SharedIndexInformer](b *testing.B,
	newInformer func(cache.ListerWatcher, apiruntime.Object, time.Duration, contract.Indexers) I,
	opts ...catalog.Option) {
	b.Helper()
	besideReference(b, catalog.Informer("", newInformer, opts...))
}

// besideReference measures an entry from outside and the reference of its component.
func besideReference(b *testing.B, e catalog.Entry) {
	b.Helper()
	all := catalog.All()
	reference := all[slices.IndexFunc(all, func(r catalog.Entry) bool {
		return r.Component == e.Component && r.Reference
	})]
	if err := e.Try(); err != nil {
		b.Fatal(err)
	}
	if e.Description == "" {
		e.Description = "measured by go test -bench" // reports print it, and there is none here
	}
	if err := e.Check(); err != nil {
		b.Fatal(err)
	}
	if strings.EqualFold(e.Name, reference.Name) {
		b.Fatalf("%s is the name of the reference: give another, func(e *catalog.Entry) { e.Name = %q }",
			e.ID(), "mine")
	}
	measure(b, []catalog.Entry{reference, e})
}

// measure verifies entries of one component and measures them, each operation and load of one
// after that of the other.
func measure(b *testing.B, entries []catalog.Entry) {
	b.Helper()
	preset, err := presets.Lookup(presets.Default)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		if err := verify(b, e); err != nil {
			b.Fatalf("%s does not keep the contract and is not measured:\n%v", e.ID(), err)
		}
	}
	for _, w := range preset.Workloads {
		if w.Component != entries[0].Component {
			continue
		}
		if len(w.Ops) > 0 {
			operations(b, entries, w)
		}
		if len(w.Groups) > 0 {
			w.Ops = nil
			loads(b, entries, w, judged)
		}
	}
}

// verified holds the outcomes of verify, which calls a suite once for -count=6.
var verified sync.Map // of "benchmark entry" to func() error

// verify runs the conformance suite of an entry, once in this process for each benchmark, and
// prints what the entry waives.
func verify(b *testing.B, e catalog.Entry) error {
	once, _ := verified.LoadOrStore(b.Name()+" "+e.ID(), sync.OnceValue(func() error {
		for _, w := range e.Waivers {
			// To standard output, where the numbers go: a line that readers of the format skip.
			fmt.Printf("# %s waives %s: %s\n", e.ID(), w.Clause, w.Reason)
		}
		defer klog.CaptureState().Restore()
		klog.SetLogger(logr.Discard()) // client-go logs the errors that cases provoke
		return catalog.Verify(e, suite.WithEffort(catalog.BriefEffort))
	}))
	return once.(func() error)()
}

// operations measures each operation of the component alone.
func operations(b *testing.B, entries []catalog.Entry, w load.Workload) {
	objects := synthetic.Generate(w.Objects, w.Seed)
	for _, op := range load.Operations(w.Component) {
		if !op.Single {
			continue
		}
		for _, e := range entries {
			for _, goroutines := range widths(w.Component) {
				name := fmt.Sprintf("op=%s/impl=%s/objects=%d/goroutines=%d", op.Op, e.Name, w.Objects.Count,
					goroutines)
				b.Run(name, func(b *testing.B) { operation(b, filled(b, e, objects, w), op.Op, goroutines) })
			}
		}
	}
}

// widths are the numbers of goroutines with which each operation is measured: a delay heap
// has one owner, and a FIFO one consumer.
func widths(c contract.Component) []int {
	if n := runtime.GOMAXPROCS(0); n > 1 && c != contract.ComponentDelay &&
		c != contract.ComponentFIFO {
		return []int{1, n}
	}
	return []int{1}
}

// operation does b.N operations on each goroutine. ns/op therefore stays the same if the
// goroutines do not hinder each other.
func operation(b *testing.B, s engine.Subject, op load.Op, goroutines int) {
	var actors []engine.Actor
	for who := range goroutines {
		a, err := s.Actor(op, load.Group{Goroutines: goroutines}, who)
		if errors.Is(err, engine.ErrUnsupported) {
			b.Skip(err)
		}
		if err != nil {
			b.Fatal(err)
		}
		actors = append(actors, a)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		n := b.N - done
		for _, a := range actors {
			n = a.Batch(n)
		}
		b.StopTimer()
		for _, a := range actors {
			if a.Prepare != nil {
				a.Prepare(n)
			}
		}
		b.StartTimer()
		var wg sync.WaitGroup
		for _, a := range actors[1:] {
			wg.Go(func() { a.Loop(n) })
		}
		actors[0].Loop(n)
		wg.Wait()
		done += n
	}
}

func filled(b *testing.B, e catalog.Entry, objects *synthetic.Objects,
	w load.Workload) engine.Subject {
	b.Helper()
	s, err := subject.New(e, objects, w)
	if err != nil {
		b.Fatal(err)
	}
	s.Fill()
	b.Cleanup(s.Stop)
	return s
}

// told is a number of a run, with its unit in go test -bench. series "" is the process.
type told struct{ series, metric, unit string }

// loads measures a workload and its variants, as processes of benchrun do; each run is one
// iteration. tell says which numbers of a run to report.
func loads(b *testing.B, entries []catalog.Entry, w load.Workload, tell func(record.Fork) []told) {
	for _, v := range w.Variants() {
		for _, e := range entries {
			name := fmt.Sprintf("workload=%s/impl=%s/objects=%d", strings.TrimSuffix(w.Name, "-brief"),
				e.Name, v.Workload.Objects.Count)
			if v.Key != "" && v.Key != "objects" {
				name += fmt.Sprintf("/%s=%d", v.Key, v.Value)
			}
			b.Run(name, func(b *testing.B) { runs(b, e, v.Workload, tell) })
		}
	}
}

// runs does b.N runs and reports the median of each number.
func runs(b *testing.B, e catalog.Entry, w load.Workload, tell func(record.Fork) []told) {
	values := map[string][]float64{}
	for range b.N {
		f := record.Fork{Process: map[string]float64{}}
		if err := subject.Perform(b.Context(), subject.Side{Entry: e}, nil, w, &f, nil); err != nil {
			b.Fatal(err)
		}
		if len(f.Unsupported) > 0 {
			b.Skip(f.Unsupported[0])
		}
		for _, c := range f.Checks {
			if !c.Passed {
				b.Errorf("%s: %s", c.Name, c.Detail)
			}
		}
		for _, t := range tell(f) {
			of := f.Process
			if t.series != "" {
				i := slices.IndexFunc(f.Series, func(s record.Series) bool { return s.Name() == t.series })
				if i < 0 {
					b.Fatalf("the run has no series %s", t.series)
				}
				of = f.Series[i].Values
			}
			value, ok := of[t.metric]
			if !ok {
				b.Fatalf("series %q has no %s", t.series, t.metric)
			}
			values[t.unit] = append(values[t.unit], value)
		}
	}
	b.ReportMetric(0, "ns/op") // of a run, which says nothing; 0 leaves it out
	for unit, all := range values {
		b.ReportMetric(stats.MedianOf(all), unit)
		if unit == metrics.AllocsPerOp {
			b.ReportAllocs() // or it would not be printed
		}
	}
}

// judged are the numbers of a run that get verdicts in benchrun's reports. Those of a group
// begin with its name: "writer-achieved-%".
func judged(f record.Fork) (out []told) {
	add := func(series, prefix string, values map[string]float64) {
		for name := range values {
			if metrics.JudgedIn(name, []map[string]float64{values}) {
				out = append(out, told{series, name, prefix + name})
			}
		}
	}
	add("", "", f.Process)
	for _, s := range f.Series {
		add(s.Name(), s.Group+"-", s.Values)
	}
	return out
}
