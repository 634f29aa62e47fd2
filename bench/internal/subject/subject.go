// Package subject holds the components under load. [New] fills a component of each kind with
// a workload's objects and makes its actors: store.go, fifo.go, delay.go, queue.go, and
// informer*.go for whole informers. [Perform] measures a workload on them with the engine.
//
// A workload with faults runs over a list/watch source (sourced.go). plant.go slows a store
// down on purpose, to test whether the engine finds it.
package subject

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// Side is an implementation to be measured.
type Side struct {
	catalog.Entry
	// Plant, if not nil, is the share by which a store is slowed down (see slowed).
	Plant *float64
}

// fresh makes the side's subject.
func (s Side) fresh(objects *synthetic.Objects, w load.Workload) (engine.Subject, error) {
	out, err := New(s.Entry, objects, w)
	if store, ok := out.(*Store); ok {
		store.plant = s.Plant
	}
	return out, err
}

// Perform measures the workload's operations and its groups, each on a subject of its own,
// so that neither inherits the other's state.
//
// If against is not nil, the operations are measured in turns with that implementation,
// where its subjects can take turns.
func Perform(ctx context.Context, side Side, against *Side, w load.Workload, f *record.Fork,
	p *profile.Profiler) error {
	objects := generate(w)
	if len(w.Ops) > 0 {
		pairs := seating{side: side, against: against, objects: objects, w: w, f: f}
		name := ""
		if against != nil {
			name = against.Name
		}
		if err := engine.Alone(ctx, pairs.sit, name, w, objects, f, p); err != nil {
			return err
		}
		pairs.settle()
	}
	if len(w.Groups) == 0 {
		return nil
	}
	s, err := side.fresh(objects, w)
	if err != nil {
		return err
	}
	weigh(s, f)
	if len(w.Faults) > 0 {
		over, err := newSourced(s, objects, w)
		if err != nil {
			return err
		}
		s = over
		defer over.close()
		defer over.settle(f)
	}
	series, err := engine.Contend(ctx, s, w, p, f.Process)
	if errors.Is(err, engine.ErrUnsupported) {
		f.Unsupported = append(f.Unsupported, err.Error())
		s.Stop()
		return nil
	}
	f.Series = append(f.Series, series...)
	settle(s, f)
	return err
}

// generate makes the workload's objects. Keepers and informers decode their own, so that two which
// take turns share none.
func generate(w load.Workload) *synthetic.Objects {
	spec := w.Objects
	switch w.Component {
	case contract.ComponentObjects, contract.ComponentInformer:
		spec.Decoded = false
	}
	return synthetic.Generate(spec, w.Seed)
}

// settle adds an informer's checks to the fork, after it was stopped.
func settle(s engine.Subject, f *record.Fork) {
	if s, ok := s.(*Informer); ok {
		s.settle(f)
	}
}

// New makes the subject of the entry's component. The caller fills it.
func New(entry catalog.Entry, objects *synthetic.Objects, w load.Workload) (engine.Subject, error) {
	switch entry.Component {
	case contract.ComponentStore:
		return NewStore(entry.NewStore, objects, w), nil
	case contract.ComponentFIFO:
		return newFIFOSubject(entry.NewFIFO, objects), nil
	case contract.ComponentDelay:
		return newDelaySubject(entry.NewDelay, objects, w), nil
	case contract.ComponentQueue:
		return newQueueSubject(entry, objects, w), nil
	case contract.ComponentObjects:
		return NewKeeper(entry, objects, w), nil
	case contract.ComponentInformer:
		return NewInformer(entry.NewInformer, objects, w), nil
	}
	return nil, fmt.Errorf("no loops for component %q: have %v", entry.Component, load.Components())
}

// weigh fills a subject and records how much heap that takes per object or item. The
// objects themselves were there before and do not count.
func weigh(s engine.Subject, f *record.Fork) {
	bytes, number := liveHeap()
	s.Fill()
	n := s.Held()
	if n == 0 {
		return
	}
	kept, objects := liveHeap()
	f.Process[metrics.HeapPerObject] = max(0, float64(kept)-float64(bytes)) / float64(n)
	if _, made := s.(*Keeper); made { // of other subjects the load holds the objects
		f.Process[metrics.HeapObjects] = max(0, float64(objects)-float64(number)) / float64(n)
	}
}

// liveHeap is the heap in use after forced collections: bytes and objects. The second takes what
// cleanups and pools release after the first.
func liveHeap() (bytes, objects uint64) {
	var cleaned atomic.Bool // no channel: tests measure in synctest bubbles, cleanups run outside
	runtime.AddCleanup(&[]any{nil}, func(c *atomic.Bool) { c.Store(true) }, &cleaned)
	for !cleaned.Load() { // then those of others have run too, or are about to
		runtime.GC()
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, m.HeapObjects
}
