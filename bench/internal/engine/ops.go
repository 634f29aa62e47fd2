package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// Reference is the subject with which another takes turns, and its implementation's name.
type Reference struct {
	Subject
	Impl string
}

// Alone measures each operation by itself, at each of the workload's numbers of goroutines,
// in passes that take turns. If reference is not nil, each pass is a duet of the two (see
// duet.go), except of operations that the reference lacks. Alone stops both.
func Alone(ctx context.Context, s Subject, reference *Reference, w load.Workload, objects *load.Objects, f *record.Fork, p *profile.Profiler) error {
	defer s.Stop()
	if reference != nil {
		defer reference.Stop()
	}
	var harness solo
	if err := harness.pass([]Actor{empty(objects.Keys())}, harnessBudget); err != nil {
		return err
	}
	f.Process[metrics.HarnessNs] = harness.series().Values[metrics.NsPerOp]
	if err := p.Begin(); err != nil {
		return err
	}
	all := trialsOf(w, reference)
	orders := w.Seed + uint64(f.Index) // other orders of turns in each fork
	for range passes {
		for _, t := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := t.pass(s, w.Duration/passes, orders); err != nil {
				return fmt.Errorf("%s: %w", t.op, err)
			}
		}
	}
	for _, t := range all {
		if t.lacking != nil {
			f.Unsupported = append(f.Unsupported, t.lacking.Error())
			continue
		}
		f.Series = append(f.Series, t.series())
	}
	return nil
}

// trial is one operation on a number of goroutines.
type trial struct {
	op         load.Op
	goroutines int
	actors     []Actor
	lacking    error // why the implementation lacks the operation
	solo       solo
	// With a reference that has the operation:
	reference *Reference
	others    []Actor
	duet      *duet
}

func trialsOf(w load.Workload, reference *Reference) (all []*trial) {
	for _, op := range w.Ops {
		for _, goroutines := range w.Parallel {
			all = append(all, &trial{op: op, goroutines: goroutines, reference: reference})
		}
	}
	return all
}

// pass measures the operation for about the time budget, unless the implementation lacks
// it. orders seeds the order of turns.
func (t *trial) pass(s Subject, budget time.Duration, orders uint64) (err error) {
	if t.lacking != nil {
		return nil
	}
	if t.actors == nil {
		// Once: in a later pass an actor continues where it was, or its updates would store
		// the objects that are stored already.
		t.actors, err = Crew(s, t.op, t.goroutines)
		if errors.Is(err, ErrUnsupported) {
			t.lacking = err
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.meet(orders); err != nil {
			return err
		}
	}
	if t.duet != nil {
		return t.duet.pass([2][]Actor{t.others, t.actors}, budget)
	}
	return t.solo.pass(t.actors, budget)
}

// meet makes the duet, if there is a reference and it has the operation.
func (t *trial) meet(orders uint64) (err error) {
	if t.reference == nil {
		return nil
	}
	t.others, err = Crew(t.reference, t.op, t.goroutines)
	if errors.Is(err, ErrUnsupported) {
		return nil
	}
	t.duet = newDuet(orders)
	return err
}

func (t *trial) series() record.Series {
	var series record.Series
	if t.duet != nil {
		series = t.duet.series(t.reference.Impl)
	} else {
		series = t.solo.series()
	}
	series.Op = string(t.op)
	if tell := t.actors[0].Tell; tell != nil {
		tell(series.Values)
	}
	if t.goroutines > 1 {
		series.Group = fmt.Sprintf("x%d", t.goroutines)
	}
	return series
}

const harnessBudget = 10 * time.Millisecond

// Crew makes the actors of an operation that is measured alone, one for each goroutine.
func Crew(s Subject, op load.Op, goroutines int) ([]Actor, error) {
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
