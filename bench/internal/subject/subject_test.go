package subject

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// Every operation of every implementation does as many as requested, in the chunks that it
// allows, alone and by two goroutines. It leaves the component with its initial contents.
func TestEveryOperation(t *testing.T) {
	const objects = 100
	for _, e := range catalog.All() {
		if e.Component == contract.ComponentLimiter || e.Component == contract.ComponentObjects {
			continue // no workload measures one by itself
		}
		t.Run(e.ID(), func(t *testing.T) {
			w := load.Workload{Name: "w", Component: e.Component,
				Objects: synthetic.ObjectSpec{Count: objects}}
			if e.Component == contract.ComponentDelay {
				w.Waiting, w.Ahead = objects/2, time.Minute
			}
			w = w.WithDefaults()
			generated := synthetic.Generate(w.Objects, 1)
			for _, op := range load.Operations(e.Component) {
				if !op.Single {
					continue
				}
				s, err := New(e, generated, w)
				if err != nil {
					t.Fatal(err)
				}
				s.Fill()
				for _, goroutines := range []int{1, 2} {
					actors, err := engine.Crew(s, op.Op, goroutines)
					if goroutines > 1 && (e.Component == contract.ComponentDelay ||
						e.Component == contract.ComponentFIFO) {
						if !errors.Is(err, engine.ErrUnsupported) {
							t.Errorf("%s by two goroutines: %v, want ErrUnsupported: there is one owner, or one "+
								"consumer", op.Op, err)
						}
						continue
					}
					if goroutines > 1 && (op.Op == load.OpSync || op.Op == load.OpSyncStream) {
						if !errors.Is(err, engine.ErrUnsupported) {
							t.Errorf("%s by two goroutines: %v, want ErrUnsupported: one informer is measured at a time",
								op.Op, err)
						}
						continue
					}
					if err != nil {
						t.Errorf("%s: %v", op.Op, err)
						continue
					}
					var wg sync.WaitGroup
					for _, a := range actors {
						want := 2 * objects
						switch {
						case a.UsualGC:
							want = 2 // each makes a whole informer, and collects garbage before
						case op.Op == load.OpTransaction:
							want = 4 // each writes a thousand objects
						}
						wg.Go(func() {
							if got := do(a, want); got != want {
								t.Errorf("%s: did %d of %d", op.Op, got, want)
							}
						})
					}
					wg.Wait()
				}
				if store, ok := s.(*Store); ok {
					if n := len(store.Store.List()); n != objects {
						t.Errorf("%s left %d of %d objects", op.Op, n, objects)
					}
				}
				s.Stop()
			}
		})
	}
}

// do runs n operations with the preparations that they need.
func do(a engine.Actor, n int) (done int) {
	for done < n {
		k := a.Batch(n - done)
		if a.Prepare != nil {
			a.Prepare(k)
		}
		got := a.Loop(k)
		done += got
		if got < k {
			break
		}
	}
	return done
}

// A workload with faults runs over the list/watch source, and loses nothing.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		impl      string
		component contract.Component
		groups    []load.Group
	}{
		{"mutexmap", contract.ComponentStore,
			[]load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 2000},
				{Name: "readers", Op: load.OpList, Goroutines: 1, Rate: 100}}},
		{"clientgo", contract.ComponentStore,
			[]load.Group{{Name: "writer", Op: load.OpAddDelete, Goroutines: 1, Rate: 1000}}},
		{"coalescing", contract.ComponentFIFO,
			[]load.Group{{Name: "producer", Op: load.OpAdd, Goroutines: 1, Rate: 2000},
				{Name: "consumer", Op: load.OpPop, Goroutines: 1}}},
	} {
		t.Run(string(c.component)+"/"+c.impl, func(t *testing.T) {
			e, err := catalog.Lookup(c.component, c.impl)
			if err != nil {
				t.Fatal(err)
			}
			w := load.Workload{
				Name: "faulty", Component: c.component, Objects: synthetic.ObjectSpec{Count: 100},
				Groups: c.groups, Duration: 200 * time.Millisecond,
				Faults: []synthetic.Fault{{Kind: synthetic.FaultGone, AfterEvents: 20, EveryEvents: 40},
					{Kind: synthetic.FaultClose, AfterEvents: 10, EveryEvents: 30}},
			}.WithDefaults()
			if err := w.Validate(); err != nil {
				t.Fatal(err)
			}
			f := record.Fork{Process: map[string]float64{}}
			if err := Perform(t.Context(), Side{Entry: e}, nil, w, &f, nil); err != nil {
				t.Fatal(err)
			}
			if f.Process[metrics.Faults] < 2 {
				t.Errorf("%g faults struck, want several", f.Process[metrics.Faults])
			}
			for _, s := range f.Series {
				if s.Values[metrics.Achieved] <= 0 {
					t.Errorf("%s did nothing", s.Name())
				}
				// Writers to the source know when the store shows their events.
				n, known := s.Values[metrics.Number(metrics.Stale)]
				if want := c.component == contract.ComponentStore && s.Group == "writer"; known != want ||
					want && n <= 0 {
					t.Errorf("%s: staleness of %g events (known: %t), want it: %t", s.Name(), n, known, want)
				}
			}
			if c.component == contract.ComponentStore && (len(f.Checks) != 1 || !f.Checks[0].Passed) {
				t.Errorf("checks: %+v", f.Checks)
			}
		})
	}
}

// With a reference every operation of a store, FIFO, heap or queue is a duet; an informer's
// are not.
func TestOperationsTakeTurnsWithTheReference(t *testing.T) {
	for _, c := range []struct {
		component contract.Component
		impl      string
		duets     bool
	}{
		{contract.ComponentStore, "lockfree", true},
		{contract.ComponentStore, "clientgo", true}, // against itself
		{contract.ComponentFIFO, "coalescing", true},
		{contract.ComponentDelay, "quadheap", true},
		{contract.ComponentQueue, "workqueue", true},
		{contract.ComponentInformer, "informerbench", false},
	} {
		t.Run(string(c.component)+"/"+c.impl, func(t *testing.T) {
			entry, err := catalog.Lookup(c.component, c.impl)
			if err != nil {
				t.Fatal(err)
			}
			reference := referenceOf(t, c.component)
			w := load.Workload{Name: "w", Component: c.component, Objects: synthetic.ObjectSpec{Count: 300},
				Duration: 10 * time.Millisecond}
			if c.component == contract.ComponentDelay {
				w.Waiting, w.Ahead = 150, time.Minute
			}
			for _, op := range load.Operations(c.component) {
				if op.Single && op.Op != load.OpSyncStream && op.Op != load.OpSync {
					w.Ops = append(w.Ops, op.Op)
				}
			}
			f := record.Fork{Process: map[string]float64{}}
			if err := Perform(t.Context(), Side{Entry: entry}, &Side{Entry: reference}, w.WithDefaults(), &f,
				nil); err != nil {
				t.Fatal(err)
			}
			if len(f.Series) == 0 {
				t.Fatal("nothing was measured")
			}
			for _, s := range f.Series {
				if (s.Duet != nil) != c.duets {
					t.Errorf("%s: a duet: %v, want %v", s.Name(), s.Duet != nil, c.duets)
				}
				if d := s.Duet; d != nil &&
					(d.Against != reference.Name || len(d.Ratios[metrics.NsPerOp].Sittings) == 0 ||
						d.Reference[metrics.NsPerOp] <= 0) {
					t.Errorf("%s: %+v", s.Name(), d)
				}
			}
		})
	}
}

func referenceOf(t *testing.T, c contract.Component) catalog.Entry {
	t.Helper()
	for _, e := range catalog.All() {
		if e.Component == c && e.Reference {
			return e
		}
	}
	t.Fatalf("no reference of %s", c)
	return catalog.Entry{}
}
