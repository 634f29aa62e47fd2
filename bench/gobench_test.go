package bench

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/deltafifo"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// onceEach makes testing.Benchmark do a single iteration for the rest of the test.
func onceEach(t *testing.T) {
	t.Helper()
	benchtime := flag.Lookup("test.benchtime")
	before := benchtime.Value.String()
	if err := benchtime.Value.Set("1x"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := benchtime.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
}

func newQueue(c clock.WithTicker) *workqueue.DelayingQueue[string] {
	heap := func() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }
	return workqueue.NewDelaying(heap, workqueue.Config[string]{Clock: c})
}

// oneLines measure an implementation of each component, by constructors that return types of
// their own.
var oneLines = map[string]func(b *testing.B){
	"store": func(b *testing.B) { Store(b, mutexmap.New) },
	"fifo": func(b *testing.B) {
		FIFO(b, func(cfg contract.FIFOConfig) *deltafifo.InOrder {
			return deltafifo.NewInOrder(cfg, deltafifo.Options{})
		}, catalog.Class(contract.InOrder))
	},
	"delay":    func(b *testing.B) { DelayHeap(b, delay.NewQuadHeap[string]) },
	"queue":    func(b *testing.B) { Queue(b, newQueue) },
	"informer": func(b *testing.B) { Informer(b, informer.NewSharedIndexInformer) },
}

// oneLineEnv is set in the processes of TestOneLineMeasures.
const oneLineEnv = "INFORMERBENCH_TEST_ONE_LINE"

// oneOfEach matches an operation of each component, and all loads.
const oneOfEach = "^(op=(get|add-pop|mixed|add-get-done|deliver)|workload=.*)$"

// BenchmarkOneLine is what TestOneLineMeasures runs.
func BenchmarkOneLine(b *testing.B) {
	if os.Getenv(oneLineEnv) == "" {
		b.Skip("run by TestOneLineMeasures; the benchmarks of this package measure more")
	}
	for name, line := range oneLines {
		b.Run(name, line)
	}
}

// One line measures an implementation beside the reference. It runs as go test -bench runs it,
// in a process of its own: what is printed there is all that says why a benchmark failed.
func TestOneLineMeasures(t *testing.T) {
	for name := range oneLines {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$",
				"-test.bench=^BenchmarkOneLine$/^"+name+"$/"+oneOfEach, "-test.benchtime=1x")
			cmd.Env = append(os.Environ(), oneLineEnv+"=1")
			out, err := cmd.CombinedOutput()
			measured := map[string]bool{}
			for _, impl := range regexp.MustCompile(`/impl=([^/]+)/\S+\s+1\s+\d`).FindAllSubmatch(out, -1) {
				measured[string(impl[1])] = true
			}
			if err != nil || len(measured) != 2 {
				t.Errorf("the benchmark ended with %v and measured %v, want the reference and %s:\n%s", err,
					slices.Collect(maps.Keys(measured)), name, out)
			}
		})
	}
}

// vague is a store whose errors say nothing (STORE-52), which one short case finds.
type vague struct{ *mutexmap.Store }

func (v vague) ByIndex(index, value string) ([]any, error) {
	found, err := v.Store.ByIndex(index, value)
	if err != nil {
		err = errors.New("no")
	}
	return found, err
}

// What is broken is not measured.
func TestOneLineRefuses(t *testing.T) {
	onceEach(t)
	broken := func(ix contract.Indexers) vague { return vague{mutexmap.New(ix)} }
	for name, line := range map[string]func(b *testing.B){
		"panics": func(b *testing.B) {
			Store(b, func(contract.Indexers) *mutexmap.Store { panic("no") })
		},
		"is nil": func(b *testing.B) {
			Store(b, func(contract.Indexers) *mutexmap.Store { return nil })
		},
		"has the reference's name": func(b *testing.B) {
			Store(b, mutexmap.New, func(e *catalog.Entry) { e.Name = "clientgo" })
		},
		"has no name": func(b *testing.B) {
			Store(b, mutexmap.New, func(e *catalog.Entry) { e.Name = "a/b" })
		},
		"waives what is no rule": func(b *testing.B) {
			Store(b, mutexmap.New, catalog.Waive("STORE-999", "why not"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			returned := false
			testing.Benchmark(func(b *testing.B) {
				line(b)
				returned = true
			})
			if returned {
				t.Error("it was measured")
			}
		})
	}
	measured := false
	testing.Benchmark(func(b *testing.B) {
		if err := verify(b, catalog.Store("", broken)); err == nil ||
			!strings.Contains(err.Error(), "STORE-") {
			t.Errorf("the error names no clause: %v", err)
		}
		Store(b, broken) // asks verify the same
		measured = true
	})
	if measured {
		t.Error("what breaks clauses was measured")
	}
}

// The numbers of a group have its name before them, so that those of several groups fit into
// one line.
func TestJudged(t *testing.T) {
	t.Parallel()
	got := map[told]bool{}
	for _, t := range judged(record.Fork{
		Process: map[string]float64{metrics.HeapPerObject: 1, metrics.PeakRSS: 2},
		Series: []record.Series{
			{Group: "writer", Op: "update",
				Values: map[string]float64{metrics.AchievedPct: 1, metrics.Achieved: 2, metrics.Offered: 3}},
			{Group: "listers", Op: "list", Values: map[string]float64{metrics.Achieved: 4}},
		},
	}) {
		got[t] = true
	}
	want := []told{{"", metrics.HeapPerObject, metrics.HeapPerObject},
		{"writer:update", metrics.AchievedPct, "writer-achieved-%"},
		{"listers:list", metrics.Achieved, "listers-ops/s"}}
	for _, w := range want {
		if !got[w] {
			t.Errorf("%v is missing from %v", w, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d numbers, want %d: %v", len(got), len(want), got)
	}
}
