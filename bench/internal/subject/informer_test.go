package subject

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// informerWorkload is small enough for the race detector.
func informerWorkload(groups ...load.Group) load.Workload {
	return load.Workload{
		Name: "w", Component: contract.ComponentInformer,
		Objects: synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 200, Namespaces: 2},
		Groups:  groups, Duration: 200 * time.Millisecond, Warmup: 20 * time.Millisecond,
	}.WithDefaults()
}

// eachInformer runs a test for every informer of the catalog.
func eachInformer(t *testing.T, test func(*testing.T, catalog.Entry)) {
	t.Helper()
	entries, err := catalog.Select([]string{string(contract.ComponentInformer)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name, func(t *testing.T) { test(t, e) })
	}
}

// measuredInformer does what a fork does.
func measuredInformer(t *testing.T, e catalog.Entry, w load.Workload) record.Fork {
	t.Helper()
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	f := record.Fork{Process: map[string]float64{}}
	if err := Perform(t.Context(), Side{Entry: e}, nil, w, &f, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Checks {
		if !c.Passed {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
	return f
}

func seriesOf(t *testing.T, f record.Fork, name string) record.Series {
	t.Helper()
	i := slices.IndexFunc(f.Series, func(s record.Series) bool { return s.Name() == name })
	if i < 0 {
		t.Fatalf("no series %s in %+v", name, f.Series)
	}
	return f.Series[i]
}

// In a closed loop the writer is at most window events ahead of the handler, so the handler
// gets all writes. Readers read the namespace.
func TestInformerContended(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		f := measuredInformer(t, e, informerWorkload(
			load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1},
			load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 2},
			load.Group{Name: "listers", Op: load.OpListNamespace, Goroutines: 2, Think: time.Millisecond},
			load.Group{Name: "finders", Op: load.OpByIndex, Goroutines: 1, Index: synthetic.IndexNode,
				Think: time.Millisecond},
			load.Group{Name: "getters", Op: load.OpGet, Goroutines: 1, Think: time.Millisecond},
		))
		for _, name := range []string{"writer:update", "handlers:handle", "listers:list-namespace",
			"finders:by-index", "getters:get"} {
			if n := seriesOf(t, f, name).Values[metrics.Achieved]; n == 0 {
				t.Errorf("%s did nothing", name)
			}
		}
		if f.Process[metrics.HeapPerObject] == 0 {
			t.Error("an informer keeps something for each object")
		}
	})
}

// The writer stops at its window when the handler stops.
func TestInformerWindow(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		w := informerWorkload(
			load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1},
			load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 1, Work: 20 * time.Millisecond},
		)
		f := measuredInformer(t, e, w)
		// At most ten events are handled in 200 ms. The writer begins the measured time
		// with its window full, or close to it.
		for _, name := range []string{"writer:update", "handlers:handle"} {
			if n := seriesOf(t, f, name).Values[metrics.Achieved] * w.Duration.Seconds(); n > 10+window+2 {
				t.Errorf("%s: %g events in %s past a handler that takes 20 ms", name, n, w.Duration)
			}
		}
	})
}

// Every event of an open loop is followed to the store and to the handler, and reaches the
// store first.
func TestInformerStaleness(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		f := measuredInformer(t, e, informerWorkload(
			load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 500},
			load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 1},
			load.Group{Name: "listers", Op: load.OpList, Goroutines: 1, Think: time.Millisecond},
		))
		visible, told := seriesOf(t, f, "writer:update"), seriesOf(t, f, "handlers:handle")
		p50 := metrics.Percentile(metrics.Stale, 50)
		// A machine that delays the writer leaves events unsent. Each of the others is
		// followed, once per waiting object.
		done := visible.Values[metrics.Achieved] * 0.2
		for _, s := range []record.Series{visible, told} {
			if n := s.Values[metrics.Number(metrics.Stale)]; n < 0.5*done || n > 100 || n == 0 {
				t.Errorf("%s: %g events followed of %g done", s.Name(), n, done)
			}
		}
		if visible.Values[p50] > told.Values[p50] {
			t.Errorf("the store shows an event after %s, the handler is told after %s",
				time.Duration(visible.Values[p50]), time.Duration(told.Values[p50]))
		}
	})
}

// Deliver counts correctly: each handler gets every event, and the events of one crew do
// not count for the next.
func TestInformerDeliver(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		w := informerWorkload()
		w.Ops, w.Parallel = []load.Op{load.OpDeliver}, []int{1, 3}
		s := NewInformer(e.NewInformer, synthetic.Generate(w.Objects, 1), w)
		s.Fill()
		defer s.Stop()
		for _, n := range []int{1, 3, 2} {
			actors, err := engine.Crew(s, load.OpDeliver, n)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range actors {
				a.Begin()
			}
			before := make([]int64, n)
			for i, h := range s.handlers {
				before[i] = h.updates.n.Load()
			}
			for range 3 {
				var g sync.WaitGroup
				for _, a := range actors {
					g.Go(func() {
						if a.Loop(100) < 100 {
							t.Error("a handler has not had all")
						}
					})
				}
				g.Wait()
			}
			if len(s.handlers) != n {
				t.Errorf("%d handlers, want %d", len(s.handlers), n)
			}
			for i, h := range s.handlers {
				if got := h.updates.n.Load() - before[i]; got != 300 {
					t.Errorf("handler %d of %d had %d events, want 300", i, n, got)
				}
				if got := h.adds.n.Load(); got != 200 {
					t.Errorf("handler %d of %d had %d initial adds, want 200", i, n, got)
				}
			}
			if got := s.Main.Informer.GetStore().List(); len(got) != 200 {
				t.Errorf("%d objects in the store", len(got))
			}
		}
		// The store has the version that was sent last.
		a, err := s.deliverer(load.Group{Goroutines: 1, Keys: 1}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []any{s.second[0], s.first[0]} {
			a.Loop(1)
			if got, _, _ := s.Main.Informer.GetStore().GetByKey(s.Objects.Key(0)); got != want {
				t.Errorf("the store has %v, want %v", got, want)
			}
		}
	})
}

func TestInformerDeliverAlone(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		// The groups are measured on an informer of their own.
		w := informerWorkload(load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 1000})
		w.Ops, w.Parallel, w.Duration = []load.Op{load.OpDeliver, load.OpSync}, []int{1, 3},
			10*time.Millisecond
		f := measuredInformer(t, e, w)
		for _, name := range []string{"deliver", "x3:deliver"} {
			s := seriesOf(t, f, name)
			// An informer may allocate for many events at once: the few of this test need not
			// allocate.
			if _, counted := s.Values[metrics.AllocsPerOp]; s.Values[metrics.NsPerOp] == 0 || !counted {
				t.Errorf("%s: %+v", name, s.Values)
			}
		}
		if len(f.Unsupported) != 1 {
			t.Errorf("left out: %q, want the sync by three goroutines", f.Unsupported)
		}
	})
}

// A sync lists, or uses a streaming list on request, and reports memory.
func TestInformerSync(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		w := informerWorkload()
		// the memory of a few objects does not show: the runtime counts by the span
		w.Objects.Count = 1_000
		w.Ops, w.Parallel, w.Duration = []load.Op{load.OpSync, load.OpSyncStream}, []int{1},
			5*time.Millisecond
		f := measuredInformer(t, e, w)
		for _, name := range []string{"sync", "sync-stream"} {
			v := seriesOf(t, f, name).Values
			if v[metrics.PeakHeap] == 0 || v[metrics.Synced] == 0 || v[metrics.Synced] > 1e10 ||
				v[metrics.BytesPerOp] == 0 {
				t.Errorf("%s: %+v", name, v)
			}
		}
		if len(f.Checks) != 1 || !f.Checks[0].Passed {
			t.Errorf("checks: %+v, want that every sync was complete", f.Checks)
		}
	})
}

// The two kinds of sync send the right requests to the source.
func TestInformerFeedListsOrStreams(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		w := informerWorkload()
		s := NewInformer(e.NewInformer, synthetic.Generate(w.Objects, 1), w)
		defer s.Stop()
		for stream, want := range map[bool]int64{false: 1, true: 0} {
			a := s.syncer(stream)
			h := newNotified()
			f := NewEventSource(s.first, "200", stream)
			l := s.Start(f, h)
			l.Watches(s.stopping)
			h.adds.await(200, s.stopping)
			if got := f.lists.Load(); got != want {
				t.Errorf("stream=%t: %d lists, want %d", stream, got, want)
			}
			a.Prepare(1)
			s.end(l)
		}
	})
}

// A relist is timed from the answer to its list, and leads to the source's objects.
func TestInformerRelist(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		w := informerWorkload(
			load.Group{Name: "relister", Op: load.OpRelist, Goroutines: 1},
			load.Group{Name: "listers", Op: load.OpList, Goroutines: 1, Think: time.Millisecond},
		)
		// client-go waits up to 1.6 s before it lists again.
		w.Duration = 2 * time.Second
		f := measuredInformer(t, e, w)
		v := seriesOf(t, f, "relister:relist").Values
		if n := v[metrics.Number(metrics.Service)]; n < 1 {
			t.Errorf("%g relists", n)
		}
		// A rate would get a verdict, and be that of the reflector's back-off.
		if rate, ok := v[metrics.Achieved]; ok {
			t.Errorf("%g relists a second", rate)
		}
		if len(f.Checks) != 1 || f.Checks[0].Detail == "no relist" {
			t.Errorf("checks: %+v", f.Checks)
		}
	})
}

// The harness finds an informer whose objects differ from the source's.
func TestInformerCheckFinds(t *testing.T) {
	t.Parallel()
	w := informerWorkload()
	s := NewInformer(cache.NewSharedIndexInformer, synthetic.Generate(w.Objects, 1), w)
	defer s.Stop()
	s.Fill()
	if missing := s.differs(s.Main, s.first); missing != "" {
		t.Error(missing)
	}
	if missing := s.differs(s.Main, s.later()); missing == "" {
		t.Error("other versions pass for the same")
	}
	if err := s.Main.Informer.GetStore().Delete(s.first[7]); err != nil {
		t.Fatal(err)
	}
	if missing := s.differs(s.Main, s.first); missing == "" {
		t.Error("a missing object is not missed")
	}
}

// The memory that a sync allocates and keeps shows in the peak, also when the meter reads
// for the first time after a collection. (Not parallel: other tests would release memory
// meanwhile.)
func TestHeapMeter(t *testing.T) {
	m := newHeapMeter()
	m.rebase()
	m.begin()
	kept := make([]byte, 8<<20)
	runtime.GC()
	peak := m.end()
	runtime.KeepAlive(kept) // or it would be garbage at once
	if peak < 8<<20 || peak != m.end() {
		t.Errorf("a peak of %g bytes with %d allocated", peak, len(kept))
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	c := newTally()
	stop := make(chan struct{})
	go func() {
		for range 1000 {
			c.add()
		}
	}()
	for _, target := range []int64{1, 10, 500, 1000} {
		if !c.await(target, stop) || c.n.Load() < target {
			t.Errorf("%d of %d", c.n.Load(), target)
		}
	}
	close(stop)
	if c.await(1001, stop) {
		t.Error("1,001 of 1,000")
	}
}

// Stop frees a writer that waits for a stopped handler, at any moment.
func TestInformerStopFreesWriters(t *testing.T) {
	eachInformer(t, func(t *testing.T, e catalog.Entry) {
		w := informerWorkload(
			load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 2},
			load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 1, Work: 10 * time.Millisecond},
		)
		s := NewInformer(e.NewInformer, synthetic.Generate(w.Objects, 1), w)
		s.Fill()
		done := make(chan int)
		for i, g := range w.Groups {
			for who := range g.Goroutines {
				a, err := s.Actor(g.Op, g, who)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					go func() { done <- a.Loop(1_000_000) }()
				}
			}
		}
		for s.writing.Load() < 2 || len(s.window) < window {
			time.Sleep(time.Millisecond)
		}
		s.Stop()
		for range 2 {
			if n := <-done; n == 1_000_000 {
				t.Error("the handler cannot have had so many")
			}
		}
	})
}

// Where a client decodes what it gets, each keeper holds objects of its own, and events are
// followed by their resource versions.
func TestInformerDecoded(t *testing.T) {
	for _, name := range []string{"clientgo", "informerbench", "interned", "packed"} {
		t.Run(name, func(t *testing.T) {
			e, err := catalog.Lookup(contract.ComponentInformer, name)
			if err != nil {
				t.Fatal(err)
			}
			w := informerWorkload(
				load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 500},
				load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 1},
				load.Group{Name: "getters", Op: load.OpGet, Goroutines: 1, Think: time.Millisecond},
			)
			w.Objects.Kind, w.Objects.Decoded = synthetic.KindPod, true
			f := measuredInformer(t, e, w)
			for _, group := range []string{"writer:update", "handlers:handle"} {
				v := seriesOf(t, f, group).Values
				seen := v[metrics.Number(metrics.Stale)] - v[metrics.Unseen]
				if done := v[metrics.Achieved] * 0.2; seen < 0.5*done || seen <= 0 {
					t.Errorf("%s: %g events seen of %g done", group, seen, done)
				}
			}
			// The objects that the source lists from share the parts of templates.
			kept := f.Process[metrics.HeapPerObject]
			if own := name == "clientgo" || name == "informerbench"; own && kept < 15_000 {
				t.Errorf("%g bytes are kept for an object: it is not the informer's own", kept)
			}
		})
	}
}

// An object and its later version reach a client as the bytes made beforehand say, and differ in
// the resource version alone.
func TestInformerDecodesVersions(t *testing.T) {
	t.Parallel()
	w := informerWorkload()
	w.Objects.Kind, w.Objects.Decoded = synthetic.KindPod, true
	s := NewInformer(cache.NewSharedIndexInformer, generate(w), w)
	defer s.Stop()
	for i, obj := range s.later() {
		first, second := s.decode(s.first[i]), s.decode(obj)
		if s.version(first) != s.version(s.first[i]) || s.version(second) != s.version(obj) ||
			s.version(first) == s.version(second) {
			t.Fatalf("%s: versions %v and %v", s.Objects.Key(i), s.version(first), s.version(second))
		}
		synthetic.Accessor(second).SetResourceVersion(synthetic.Accessor(first).GetResourceVersion())
		if !equality.Semantic.DeepEqual(first, second) {
			t.Fatalf("%s: the later version differs in more than its resource version", s.Objects.Key(i))
		}
	}
}
