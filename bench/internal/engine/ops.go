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

// Alone measures each operation by itself, at each of the workload's numbers of goroutines,
// in passes that take turns.
func Alone(ctx context.Context, s Subject, w load.Workload, objects *load.Objects, f *record.Fork, p *profile.Profiler) error {
	defer s.Stop()
	var harness solo
	if err := harness.pass([]Actor{empty(objects.Keys())}, harnessBudget); err != nil {
		return err
	}
	f.Process[metrics.HarnessNs] = harness.series().Values[metrics.NsPerOp]
	if err := p.Begin(); err != nil {
		return err
	}
	all := trialsOf(w)
	for range passes {
		for _, t := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := t.pass(s, w.Duration/passes); err != nil {
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
}

func trialsOf(w load.Workload) (all []*trial) {
	for _, op := range w.Ops {
		for _, goroutines := range w.Parallel {
			all = append(all, &trial{op: op, goroutines: goroutines})
		}
	}
	return all
}

// pass measures the operation for the time budget, unless the implementation lacks it.
func (t *trial) pass(s Subject, budget time.Duration) (err error) {
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
	}
	return t.solo.pass(t.actors, budget)
}

func (t *trial) series() record.Series {
	series := t.solo.series()
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
