package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// aRecording is a recording of two resources: initial objects, changes, deletions, and
// objects that are recreated under the same name.
func aRecording(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	resources := []load.TraceResource{{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true},
		{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Namespaced: true}}
	w, err := load.NewTraceWriter(f, load.TraceHeader{Source: "a test", Resources: resources})
	if err != nil {
		t.Fatal(err)
	}
	object := func(r, i, life, version int) *unstructured.Unstructured {
		u := &unstructured.Unstructured{
			Object: map[string]any{"spec": map[string]any{"nodeName": fmt.Sprint("node-", i%7)}}}
		u.SetGroupVersionKind(resources[r].GVK())
		u.SetNamespace("a")
		u.SetName(fmt.Sprint("object-", i))
		u.SetUID(types.UID(fmt.Sprint(i, "-", life)))
		u.SetResourceVersion(fmt.Sprint(version))
		return u
	}
	version := 0
	for i := range 30 {
		for r := range resources {
			if version++; w.Initial(r, object(r, i, 0, version)) != nil {
				t.Fatal("not written")
			}
		}
	}
	for n := range 900 {
		r, i := n%2, n%43
		version++
		at := time.Duration(n) * 100 * time.Microsecond
		if n%11 == 0 {
			err = w.Gone(at, r, fmt.Sprint("a/object-", i))
		} else {
			err = w.Changed(at, r, object(r, i, n/300, version))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(time.Second, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A trace leads every store, every FIFO and every informer of the catalog to the same state.
func TestReplay(t *testing.T) {
	path := aRecording(t)
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, component := range TraceComponents() {
		entries, err := catalog.Select([]string{string(component)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		states, did := map[string][]string{}, map[string]float64{}
		for _, e := range entries {
			groups := []load.Group{{Name: "lister", Op: load.OpList, Goroutines: 2},
				{Name: "getters", Op: load.OpGet, Goroutines: 1, Rate: 1000},
				{Name: "node", Op: load.OpByIndex, Goroutines: 1, Think: time.Millisecond}}
			checks, consumer := 1, ""
			switch component {
			case contract.ComponentInformer:
				groups = append(
					groups, load.Group{Name: "namespace", Op: load.OpListNamespace, Goroutines: 2,
						Think: time.Millisecond},
					load.Group{Name: "replay", Op: load.OpUpdate, Goroutines: 1},
					load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 2})
				groups[2].Index = synthetic.IndexNode
				checks, consumer = 2, "handlers:handle"
			case contract.ComponentFIFO:
				consumer = "consumer:pop"
				groups = []load.Group{{Name: "replay", Op: load.OpAdd, Goroutines: 1},
					{Name: "consumer", Op: load.OpPop, Goroutines: 1}}
			}
			w := load.Workload{Name: "w", Component: component, Objects: synthetic.ObjectSpec{Count: 43},
				Groups: groups, Duration: 30 * time.Millisecond}.WithDefaults()
			if err := w.Validate(); err != nil {
				t.Fatal(err)
			}
			f := record.Fork{Process: map[string]float64{}}
			if err := Run(t.Context(), e, w, path, 1, &f, nil); err != nil {
				t.Fatalf("%s: %v", e.ID(), err)
			}
			if len(f.Checks) != checks {
				t.Errorf("%s: %d checks, want %d", e.ID(), len(f.Checks), checks)
			}
			for _, c := range f.Checks {
				if !c.Passed || !strings.Contains(c.Detail, fmt.Sprintf("after %d events", len(trace.Events))) {
					t.Errorf("%s: %+v", e.ID(), c)
				}
			}
			// These do not merge waiting events: each event reaches each handler.
			if component == contract.ComponentInformer &&
				(e.Name == "clientgo" || e.Name == "informerbench") &&
				!strings.Contains(f.Checks[1].Detail, fmt.Sprintf("; at least %d told", len(trace.Events))) {
				t.Errorf("%s: %s", e.ID(), f.Checks[1].Detail)
			}
			states[f.StateDigest] = append(states[f.StateDigest], e.Name)
			for _, s := range f.Series {
				did[s.Name()] += s.Values[metrics.Achieved]
			}
			if n := f.Series[0].Values[metrics.Number(metrics.Delay)]; int(n) != len(trace.Events) {
				t.Errorf("%s: %g of %d events applied", e.ID(), n, len(trace.Events))
			}
			if consumer != "" {
				// Each handler, and the consumer of a FIFO, sees every event or a newer one.
				last, consumers := f.Series[len(f.Series)-1], 1
				if component == contract.ComponentInformer {
					consumers = 2
				}
				n, unseen := last.Values[metrics.Number(metrics.Stale)], last.Values[metrics.Unseen]
				if last.Name() != consumer || int(n) != consumers*len(trace.Events) || unseen != 0 {
					t.Errorf("%s: %s followed %g events of %d, %g of them unseen", e.ID(), last.Name(), n,
						consumers*len(trace.Events), unseen)
				}
				// No implementation of the catalog merges two states of an object.
				if merged, ok := last.Values[metrics.Merged]; !ok || merged != 0 {
					t.Errorf("%s: %s: %g events were merged", e.ID(), last.Name(), merged)
				}
			}
		}
		// On a busy machine a single reader may get no turn in 30 ms, but not all of them.
		for name, n := range did {
			if n <= 0 {
				t.Errorf("%s: %s did nothing", component, name)
			}
		}
		if len(states) != 1 || len(entries) < 3 {
			t.Errorf("%s: the states of %d differ: %v", component, len(entries), states)
		}
	}
	if _, err := newTraceTarget(t.Context(),
		catalog.Entry{Component: contract.ComponentQueue, Name: "q"}, trace,
		load.Workload{}); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("through a queue: %v", err)
	}
}

// newest is a FIFO that returns only the newest of the events waiting under a key.
type newest struct{ contract.FIFO }

func (f newest) Pop(process contract.PopProcessFunc) (any, error) {
	return f.FIFO.Pop(func(obj any, isInInitialList bool) error {
		deltas := obj.(contract.Deltas)
		return process(deltas[len(deltas)-1:], isInInitialList)
	})
}

// stuck is a FIFO that loses the changes of an object.
type stuck struct {
	contract.FIFO
	key string
}

func (f stuck) Update(obj any) error {
	if synthetic.Key(obj) == f.key {
		return nil
	}
	return f.FIFO.Update(obj)
}

// A trace several times over leads the reference of each component to the state of all copies.
func TestReplaySeveralTimesOver(t *testing.T) {
	path := aRecording(t)
	one, err := load.ReadTraceFile(path)
	if err != nil {
		t.Fatal(err)
	}
	three, err := one.Times(3)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, objects := range three.FinalState() {
		all += len(objects)
	}
	for _, component := range TraceComponents() {
		entries, err := catalog.Select([]string{string(component)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		entry := entries[slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Reference })]
		groups := map[contract.Component][]load.Group{
			contract.ComponentStore: {{Name: "lister", Op: load.OpList, Goroutines: 1}},
			contract.ComponentFIFO: {{Name: "replay", Op: load.OpAdd, Goroutines: 1},
				{Name: "consumer", Op: load.OpPop, Goroutines: 1}},
			contract.ComponentInformer: {{Name: "replay", Op: load.OpUpdate, Goroutines: 1},
				{Name: "handlers", Op: load.OpHandle, Goroutines: 1}},
		}
		w := load.Workload{Name: "w", Component: component, Objects: synthetic.ObjectSpec{Count: 43},
			Groups: groups[component], Duration: 30 * time.Millisecond}.WithDefaults()
		f := record.Fork{Process: map[string]float64{}}
		if err := Run(t.Context(), entry, w, path, 3, &f, nil); err != nil {
			t.Fatalf("%s: %v", entry.ID(), err)
		}
		for _, c := range f.Checks {
			if want := fmt.Sprintf("%d objects after %d events", all, 3*len(one.Events)); !c.Passed ||
				!strings.Contains(c.Detail, want) {
				t.Errorf("%s: %+v, want %s", entry.ID(), c, want)
			}
		}
	}
}

// A merged state is seen with the newer one; a lost state is unseen.
func TestReplayTellsMergedFromLost(t *testing.T) {
	path := aRecording(t)
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := catalog.Lookup(contract.ComponentFIFO, "coalescing")
	if err != nil {
		t.Fatal(err)
	}
	replayed := func(through func(contract.FIFO) contract.FIFO) (record.Series, bool) {
		merging := e
		merging.NewFIFO = func(c contract.FIFOConfig) contract.FIFO { return through(e.NewFIFO(c)) }
		// The consumer is so slow that most events find one of their object waiting.
		groups := []load.Group{{Name: "replay", Op: load.OpAdd, Goroutines: 1},
			{Name: "consumer", Op: load.OpPop, Goroutines: 1, Work: time.Millisecond}}
		w := load.Workload{Name: "w", Component: contract.ComponentFIFO,
			Objects: synthetic.ObjectSpec{Count: 43}, Groups: groups,
			Duration: time.Millisecond}.WithDefaults()
		f := record.Fork{Process: map[string]float64{}}
		if err := Run(t.Context(), merging, w, path, 1, &f, nil); err != nil {
			t.Fatal(err)
		}
		return f.Series[len(f.Series)-1], f.Checks[0].Passed
	}
	all := float64(len(trace.Events))
	s, whole := replayed(func(f contract.FIFO) contract.FIFO { return newest{f} })
	if n, unseen, merged := s.Values[metrics.Number(metrics.Stale)], s.Values[metrics.Unseen],
		s.Values[metrics.Merged]; !whole || n != all || unseen != 0 || merged < all/2 || merged >= all {
		t.Errorf("one that merges: %g events of %g followed, %g unseen, %g merged; whole: %t", n, all,
			unseen, merged, whole)
	}
	i := slices.IndexFunc(trace.Events, func(e load.TraceEvent) bool {
		// nothing comes after it
		return e.Type == watch.Modified && trace.FinalState()[e.Resource][e.Key] == e.Object
	})
	s, whole = replayed(func(f contract.FIFO) contract.FIFO { return stuck{f, trace.Events[i].Key} })
	if n, unseen := s.Values[metrics.Number(metrics.Stale)], s.Values[metrics.Unseen]; whole ||
		n != all || unseen == 0 {
		t.Errorf("one that loses: %g events of %g followed, %g unseen; whole: %t", n, all, unseen, whole)
	}
}

// first is a target that only calls look at each event.
type first struct {
	traceTarget
	look func()
}

func (t first) apply(context.Context, *load.TraceEvent, time.Time, time.Duration) error {
	t.look()
	return nil
}
func (t first) settle(context.Context) error           { return nil }
func (t first) consumed(time.Duration) []record.Series { return nil }

// The replay does not begin with the garbage from reading the trace.
func TestReplayBeginsCollected(t *testing.T) {
	var before, then runtime.MemStats
	runtime.ReadMemStats(&before)
	trace := &load.Trace{Events: make([]load.TraceEvent, 1)}
	if _, err := feed(t.Context(), first{look: func() {
		runtime.ReadMemStats(&then)
	}}, trace, load.Workload{}, nil, map[string]float64{}); err != nil {
		t.Fatal(err)
	}
	if then.NumForcedGC == before.NumForcedGC {
		t.Error("no collection before the first event")
	}
}

// A FIFO that loses an event, or returns one twice too late, is found.
func TestReplayFindsALoss(t *testing.T) {
	path := aRecording(t)
	e, err := catalog.Lookup(contract.ComponentFIFO, "coalescing")
	if err != nil {
		t.Fatal(err)
	}
	honest := e.NewFIFO
	e.NewFIFO = func(c contract.FIFOConfig) contract.FIFO { return &lossy{FIFO: honest(c)} }
	w := load.Workload{Name: "w", Component: contract.ComponentFIFO,
		Objects: synthetic.ObjectSpec{Count: 43}, Duration: time.Millisecond}.WithDefaults()
	f := record.Fork{Process: map[string]float64{}}
	if err := Run(t.Context(), e, w, path, 1, &f, nil); err != nil {
		t.Fatal(err)
	}
	if len(f.Checks) != 1 || f.Checks[0].Passed {
		t.Errorf("%+v", f.Checks)
	}
}

// lossy loses one deletion in ten, of those in the trace.
type lossy struct {
	contract.FIFO
	deletions int
}

func (l *lossy) Delete(obj any) error {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil && key == markName {
		return l.FIFO.Delete(obj)
	}
	if l.deletions++; l.deletions%10 == 0 {
		return nil
	}
	return l.FIFO.Delete(obj)
}

// An informer that loses an event, and one that does not report it, are found.
func TestReplayFindsALossInAnInformer(t *testing.T) {
	path := aRecording(t)
	for _, c := range []struct {
		loses       string
		newInformer contract.NewInformer
		passes      []bool // state, handlers
	}{
		{"deletions in its FIFO", informer.Func(
			informer.Options{NewFIFO: func(c contract.FIFOConfig) contract.FIFO {
				return &lossy{FIFO: deltafifo.NewInOrder(c, deltafifo.Options{})}
			}}), []bool{false, false}},
		{"updates on the way to handlers",
			func(lw cache.ListerWatcher, example kruntime.Object, resync time.Duration,
				indexers contract.Indexers) cache.SharedIndexInformer {
				return &silent{SharedIndexInformer: cache.NewSharedIndexInformer(lw, example, resync, indexers)}
			}, []bool{true, false}},
	} {
		e := catalog.Entry{Component: contract.ComponentInformer, Name: c.loses,
			NewInformer: c.newInformer}
		w := load.Workload{Name: "w", Component: contract.ComponentInformer,
			Objects: synthetic.ObjectSpec{Count: 43}, Duration: time.Millisecond}.WithDefaults()
		f := record.Fork{Process: map[string]float64{}}
		if err := Run(t.Context(), e, w, path, 1, &f, nil); err != nil {
			t.Fatal(err)
		}
		if len(f.Checks) != 2 || f.Checks[0].Passed != c.passes[0] || f.Checks[1].Passed != c.passes[1] {
			t.Errorf("loses %s: %+v", c.loses, f.Checks)
		}
	}
}

// silent does not report the tenth update to its handlers.
type silent struct{ cache.SharedIndexInformer }

func (s *silent) AddEventHandler(h cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error) {
	n := 0
	return s.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: h.OnAdd, DeleteFunc: h.OnDelete,
		UpdateFunc: func(old, obj any) {
			if n++; n != 10 {
				h.OnUpdate(old, obj)
			}
		},
	})
}

// A handler detects a notification that does not follow from the one before. A change that
// keeps the version need not be reported.
func TestFollower(t *testing.T) {
	at := func(version string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetName("a")
		u.SetResourceVersion(version)
		return u
	}
	for _, c := range []struct {
		name   string
		tell   func(f *follower)
		broken string
	}{
		{"one after the other", func(f *follower) {
			f.OnAdd(at("1"), true)
			f.OnUpdate(at("1"), at("2"))
			f.OnDelete(at("3"))
			f.OnAdd(at("4"), false)
			f.OnDelete(cache.DeletedFinalStateUnknown{Key: "a", Obj: at("4")})
		}, ""},
		{"added twice", func(f *follower) {
			f.OnAdd(at("1"), true)
			f.OnAdd(at("1"), true)
		}, "a is added"},
		{"one between is missing", func(f *follower) {
			f.OnAdd(at("1"), true)
			f.OnUpdate(at("2"), at("3"))
		}, "a is changed from version 2, and the last one told was 1"},
		{"the addition is missing", func(f *follower) {
			f.OnUpdate(at("1"), at("2"))
		}, "a is changed, and was not there"},
		{"deleted twice", func(f *follower) {
			f.OnAdd(at("1"), true)
			f.OnDelete(at("2"))
			f.OnDelete(at("2"))
		}, "a is deleted"},
	} {
		f := newFollower(load.Group{Name: "g"}, staleness.NewTimeline(&load.Trace{}), 0)
		c.tell(f)
		if !strings.HasPrefix(f.broken, c.broken) || c.broken == "" && f.broken != "" {
			t.Errorf("%s: %q, want %q", c.name, f.broken, c.broken)
		}
	}
}
