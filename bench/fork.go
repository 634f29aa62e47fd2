package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Request asks for one fork. It is data, so that it can be handed to another process.
type Request struct {
	Cell     record.Cell `json:"cell"`
	Index    int         `json:"index"`
	Block    int         `json:"block"`
	Workload string      `json:"workload"` // as YAML, its sweep resolved
	// Trace is a file whose events replace the workload's writes.
	Trace string `json:"trace,omitempty"`
	// ProfileDir is the folder for profiles; "" takes none.
	ProfileDir string `json:"profileDir,omitempty"`
	// Plant, if not nil, slows the store down by that share of each operation's cost (see
	// plant). 0 measures the costs and adds no slowdown.
	Plant *float64 `json:"plant,omitempty"`
}

// Run measures one fork of a cell in this process, at the process's GOMAXPROCS. An
// operation that the implementation lacks is left out with a warning. Every other failure
// is an error.
func Run(ctx context.Context, req Request) (f record.Fork, err error) {
	w, err := load.ParseWorkload(req.Cell.Workload, []byte(req.Workload))
	if err != nil {
		return f, err
	}
	entry, err := catalog.Lookup(req.Cell.Component, req.Cell.Impl)
	if err != nil {
		return f, err
	}
	if req.Plant != nil {
		if entry.Component != contract.ComponentStore {
			return f, fmt.Errorf("a slowdown can be planted in a store only, not in %s", entry.ID())
		}
		entry.NewStore = plant(entry.NewStore, *req.Plant)
	}
	f = record.Fork{Cell: req.Cell, Index: req.Index, Block: req.Block, Seed: w.Seed, Started: time.Now(), Process: map[string]float64{}}
	if n := runtime.GOMAXPROCS(0); n != req.Cell.Procs {
		return f, fmt.Errorf("GOMAXPROCS is %d, the cell wants %d", n, req.Cell.Procs)
	}
	profiler, err := startProfiler(req.ProfileDir)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, profiler.stop(&f)) }()
	if req.Trace != "" {
		err = replay(ctx, entry, w, req.Trace, &f, profiler)
	} else {
		err = perform(ctx, entry, w, &f, profiler)
	}
	if peak := sysinfo.PeakRSSBytes(); peak > 0 {
		f.Process[metrics.PeakRSS] = peak
	}
	f.Seconds = time.Since(f.Started).Seconds()
	return f, err
}

// perform measures the workload's operations and its groups, each on a subject of its own,
// so that neither inherits the other's state.
func perform(ctx context.Context, entry catalog.Entry, w load.Workload, f *record.Fork, p *profiler) error {
	objects := load.Generate(w.Objects, w.Seed)
	if len(w.Ops) > 0 {
		s, err := NewSubject(entry, objects, w)
		if err != nil {
			return err
		}
		weigh(s, f)
		if err := ops(ctx, s, w, objects, f, p); err != nil {
			return err
		}
		settle(s, f)
	}
	if len(w.Groups) == 0 {
		return nil
	}
	s, err := NewSubject(entry, objects, w)
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
	series, err := contend(ctx, s, w, p, f.Process)
	if errors.Is(err, ErrUnsupported) {
		f.Unsupported = append(f.Unsupported, err.Error())
		s.Stop()
		return nil
	}
	f.Series = append(f.Series, series...)
	settle(s, f)
	return err
}

// settle adds an informer's checks to the fork, after it was stopped.
func settle(s Subject, f *record.Fork) {
	if s, ok := s.(*informerSubject); ok {
		s.settle(f)
	}
}

// NewSubject makes the subject of the entry's component. The caller fills it.
func NewSubject(entry catalog.Entry, objects *load.Objects, w load.Workload) (Subject, error) {
	switch entry.Component {
	case contract.ComponentStore:
		return newStoreSubject(entry.NewStore, objects, w), nil
	case contract.ComponentFIFO:
		return newFIFOSubject(entry.NewFIFO, objects), nil
	case contract.ComponentDelay:
		return newDelaySubject(entry.NewDelay, objects, w), nil
	case contract.ComponentQueue:
		return newQueueSubject(entry.NewQueue, objects, w), nil
	case contract.ComponentInformer:
		return newInformerSubject(entry.NewInformer, objects, w), nil
	}
	return nil, fmt.Errorf("no loops for component %q: have %v", entry.Component, load.Components())
}

// weigh fills a subject and records how much heap that takes per object or item. The
// objects themselves were there before and do not count.
func weigh(s Subject, f *record.Fork) {
	before := liveHeap()
	s.Fill()
	if n := s.Held(); n > 0 {
		f.Process[metrics.HeapPerObject] = max(0, float64(liveHeap())-float64(before)) / float64(n)
	}
}

// liveHeap is the heap in use after a forced collection. A second collection takes what
// finalizers and pools release after the first.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// ops measures each operation by itself, at each of the workload's numbers of goroutines,
// in passes that take turns.
func ops(ctx context.Context, s Subject, w load.Workload, objects *load.Objects, f *record.Fork, p *profiler) error {
	defer s.Stop()
	var harness solo
	if err := harness.pass([]Actor{empty(objects.Keys())}, harnessBudget); err != nil {
		return err
	}
	f.Process[metrics.HarnessNs] = harness.series().Values[metrics.NsPerOp]
	if err := p.start(); err != nil {
		return err
	}
	type timed struct {
		op         load.Op
		goroutines int
		actors     []Actor
		solo       solo
	}
	var all []*timed
	for _, op := range w.Ops {
		for _, goroutines := range w.Parallel {
			all = append(all, &timed{op: op, goroutines: goroutines})
		}
	}
	for range passes {
		for i, t := range all {
			if t == nil {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if t.actors == nil {
				// Once: in a later pass an actor continues where it was, or its updates
				// would store the objects that are stored already.
				actors, err := crew(s, t.op, t.goroutines)
				if errors.Is(err, ErrUnsupported) {
					f.Unsupported = append(f.Unsupported, err.Error())
					all[i] = nil
					continue
				}
				if err != nil {
					return err
				}
				t.actors = actors
			}
			if err := t.solo.pass(t.actors, w.Duration/passes); err != nil {
				return fmt.Errorf("%s: %w", t.op, err)
			}
		}
	}
	for _, t := range all {
		if t == nil {
			continue
		}
		series := t.solo.series()
		series.Op = string(t.op)
		if tell := t.actors[0].tell; tell != nil {
			tell(series.Values)
		}
		if t.goroutines > 1 {
			series.Group = fmt.Sprintf("x%d", t.goroutines)
		}
		f.Series = append(f.Series, series)
	}
	return nil
}

const harnessBudget = 10 * time.Millisecond

func crew(s Subject, op load.Op, goroutines int) ([]Actor, error) {
	var actors []Actor
	for who := range goroutines {
		a, err := s.Actor(op, load.Group{Goroutines: goroutines}, who)
		if err != nil {
			return nil, err
		}
		actors = append(actors, a)
	}
	return actors, nil
}
