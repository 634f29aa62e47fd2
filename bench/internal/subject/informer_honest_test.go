package subject

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// Errors and delays of an informer must show in its numbers or in a check.

// aContest is one writer of an open loop beside two handlers.
func aContest() load.Workload {
	return informerWorkload(
		load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 500},
		load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 2},
	)
}

func informerEntry(name string, newInformer contract.NewInformer) catalog.Entry {
	return catalog.Entry{Component: contract.ComponentInformer, Name: name, NewInformer: newInformer}
}

// partial reports updates to the first of its handlers only.
type partial struct {
	cache.SharedIndexInformer
	handlers int
}

func (p *partial) AddEventHandler(h cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error) {
	if p.handlers++; p.handlers > 1 {
		h = cache.ResourceEventHandlerDetailedFuncs{AddFunc: h.OnAdd}
	}
	return p.SharedIndexInformer.AddEventHandler(h)
}

// Each handler's staleness counts, not only that of the first one called.
func TestInformerStalenessOfEachHandler(t *testing.T) {
	t.Parallel()
	f := measuredInformer(
		t, informerEntry("tells one handler of two",
			func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
				indexers contract.Indexers) cache.SharedIndexInformer {
				return &partial{
					SharedIndexInformer: cache.NewSharedIndexInformer(lw, example, resync, indexers)}
			}), aContest())
	writer, handlers := seriesOf(t, f, "writer:update").Values,
		seriesOf(t, f, "handlers:handle").Values
	events := writer[metrics.Number(metrics.Stale)]
	if n := handlers[metrics.Number(metrics.Stale)]; n < 2*events-2 || n > 2*events {
		t.Errorf("two handlers have %g sightings of %g events", n, events)
	}
	if unseen := handlers[metrics.Unseen]; unseen < events/2 {
		t.Errorf("%g of %g events are unseen, and one handler saw none", unseen, events)
	}
}

// slowIntake takes a tenth of a second for an update.
type slowIntake struct{ contract.FIFO }

func (f slowIntake) Update(obj any) error {
	time.Sleep(100 * time.Millisecond)
	return f.FIFO.Update(obj)
}

// An informer that takes ten events a second is offered a hundred. Events that the source
// could not send by the end are stale, too.
func TestInformerStalenessOfWhatWasNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := informerWorkload(
			load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 100},
			load.Group{Name: "handlers", Op: load.OpHandle, Goroutines: 1},
		)
		w.Duration = time.Second
		f := measuredInformer(
			t, informerEntry("slow intake",
				informer.Func(informer.Options{NewFIFO: func(c contract.FIFOConfig) contract.FIFO {
					return slowIntake{deltafifo.NewInOrder(c, deltafifo.Options{Atomic: true})}
				}})), w)
		for _, name := range []string{"writer:update", "handlers:handle"} {
			v := seriesOf(t, f, name).Values
			if n, unseen := v[metrics.Number(metrics.Stale)], v[metrics.Unseen]; n != 100 || unseen < 80 ||
				unseen > 95 {
				t.Errorf("%s: %g events followed and %g of them unseen, want 100 and about 90", name, n, unseen)
			}
			// The k-th event arrives after k times 100 ms and was due k times 10 ms after
			// the start. Events that were not sent waited for up to a second.
			if p50 := time.Duration(v[metrics.Percentile(metrics.Stale, 50)]); p50 < 400*time.Millisecond ||
				p50 > 600*time.Millisecond {
				t.Errorf("%s: half of the events are seen after %s", name, p50)
			}
		}
	})
}

// forgetful loses the updates of one object in ten.
type forgetful struct{ contract.FIFO }

func (f forgetful) Update(obj any) error {
	if strings.HasSuffix(synthetic.Key(obj), "7") {
		return nil
	}
	return f.FIFO.Update(obj)
}

// A check finds an informer that loses writes: its rate is worth nothing.
func TestInformerThatLosesIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := informerEntry("forgets",
			informer.Func(informer.Options{NewFIFO: func(c contract.FIFOConfig) contract.FIFO {
				return forgetful{deltafifo.NewInOrder(c, deltafifo.Options{Atomic: true})}
			}}))
		f := record.Fork{Process: map[string]float64{}}
		if err := Perform(t.Context(), Side{Entry: e}, nil, aContest(), &f, nil); err != nil {
			t.Fatal(err)
		}
		if len(f.Checks) != 1 || f.Checks[0].Passed ||
			!strings.Contains(f.Checks[0].Detail, "is not what the source has") {
			t.Errorf("checks: %+v", f.Checks)
		}
	})
}

// A check finds a quick sync of the wrong objects.
func TestInformerSyncOfOthersIsFound(t *testing.T) {
	t.Parallel()
	e := informerEntry(
		"copies", func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
			indexers contract.Indexers) cache.SharedIndexInformer {
			i := cache.NewSharedIndexInformer(lw, example, resync, indexers)
			if err := i.SetTransform(func(obj any) (any, error) {
				return obj.(runtime.Object).DeepCopyObject(), nil
			}); err != nil {
				t.Error(err)
			}
			return i
		})
	w := informerWorkload()
	w.Ops, w.Parallel, w.Duration = []load.Op{load.OpSync}, []int{1}, 5*time.Millisecond
	f := record.Fork{Process: map[string]float64{}}
	if err := Perform(t.Context(), Side{Entry: e}, nil, w, &f, nil); err != nil {
		t.Fatal(err)
	}
	if len(f.Checks) != 1 || f.Checks[0].Passed {
		t.Errorf("checks: %+v", f.Checks)
	}
}

// talkative reports every update to its handlers twice.
type talkative struct{ cache.SharedIndexInformer }

func (s talkative) AddEventHandler(h cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error) {
	return s.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: h.OnAdd, DeleteFunc: h.OnDelete,
		UpdateFunc: func(old, obj any) { h.OnUpdate(old, obj); h.OnUpdate(old, obj) },
	})
}

// An informer that reports everything twice would seem to deliver twice as fast.
func TestInformerThatRepeatsIsFound(t *testing.T) {
	t.Parallel()
	e := informerEntry("repeats",
		func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
			indexers contract.Indexers) cache.SharedIndexInformer {
			return talkative{cache.NewSharedIndexInformer(lw, example, resync, indexers)}
		})
	w := informerWorkload()
	w.Ops, w.Parallel, w.Duration = []load.Op{load.OpDeliver}, []int{1}, 5*time.Millisecond
	f := record.Fork{Process: map[string]float64{}}
	if err := Perform(t.Context(), Side{Entry: e}, nil, w, &f, nil); err != nil {
		t.Fatal(err)
	}
	if len(f.Checks) != 1 || f.Checks[0].Passed {
		t.Errorf("checks: %+v", f.Checks)
	}
}

// The position of a writer's walk says which versions it has sent last.
func TestWritingSent(t *testing.T) {
	t.Parallel()
	o := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 8}, 1)
	first := o.All()
	later := make([]runtime.Object, len(first))
	for i, obj := range first {
		later[i] = o.Mutate(obj, nil, false)
	}
	for sent := range 3 * 4 {
		// Two writers share the eight objects.
		w, err := engine.OwnWalk(8, 0, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		want := o.All()
		of := func(all []runtime.Object) []runtime.Object {
			return engine.Along(w, func(i int) runtime.Object { return all[i] })
		}
		versions := [2][]runtime.Object{of(later), of(first)}
		for range sent {
			pass, slot := w.Pass(), w.Slot()
			want[w.Order[slot]] = versions[pass][slot]
		}
		got := o.All()
		if n := (writing{w, versions}).sent(got); n != sent {
			t.Errorf("%d events, want %d", n, sent)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("after %d events object %d is not in the version that was sent last", sent, i)
			}
		}
	}
}
