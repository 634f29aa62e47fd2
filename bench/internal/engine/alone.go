package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// Sitting is the subjects of one sitting, fresh and filled.
type Sitting struct {
	Candidate Subject
	Reference Subject // takes turns with the candidate; nil if there is none
	// ReferenceFirst says that the reference's actors are made before the candidate's.
	ReferenceFirst bool
}

func (s Sitting) stop() {
	s.Candidate.Stop()
	if s.Reference != nil {
		s.Reference.Stop()
	}
}

// Where a component's memory lies and how its hash tables are seeded changes its speed by
// some percent, and stays as it is for the component's life. A process therefore makes its
// subjects anew several times and averages their lives, its sittings. They are a multiple of
// cases, and fewer where making the subjects would take most of the time.
const (
	mostSittings = 16
	cases        = 4 // of who is first in what; see Sitting
	// leastSitting is the shortest time of an operation in a sitting.
	leastSitting = 6 * time.Millisecond
	// mostMade is how many objects, about, a process gives to its subjects in all, and mostBytes how
	// large all of them are.
	mostMade  = 400_000
	mostBytes = mostMade * 2800
)

// Sittings is how many times a process makes the subjects of w's operations.
func Sittings(w load.Workload) int {
	count := max(1, w.Objects.Count)
	n := min(mostSittings, int(w.Duration/leastSitting), mostMade/count,
		int(mostBytes/(uint64(count)*w.Objects.BytesEach())))
	return max(n/cases*cases, cases/2)
}

// Alone measures each operation by itself, at each of the workload's numbers of goroutines:
// for w.Duration in all. sit makes the subjects of the i-th sitting; Alone stops them. against
// names the reference.
func Alone(ctx context.Context, sit func(i int) (Sitting, error), against string, w load.Workload,
	objects *synthetic.Objects, f *record.Fork, p *profile.Profiler) error {
	sittings := Sittings(w)
	if p != nil {
		sittings = 1 // profiles are to show operations and not the filling
	}
	gc := newCollector()
	defer gc.release()
	m := newMeter()
	defer m.close()
	cost, err := harnessCost(objects.Keys(), gc, m)
	if err != nil {
		return err
	}
	f.Process[metrics.HarnessNs] = cost
	// other orders of turns in each fork
	all := trialsOf(w, rand.New(rand.NewPCG(w.Seed, uint64(f.Index))))
	for i := range sittings {
		s, err := sit(i)
		if err != nil {
			return err
		}
		if i == 0 {
			gc.collect()
		}
		gc.tidy()
		err = p.Begin()
		for _, t := range all {
			if err = errors.Join(err, ctx.Err()); err != nil {
				break
			}
			if err = t.sitHere(s, w.Duration/time.Duration(sittings), gc, m); err != nil {
				err = fmt.Errorf("%s: %w", t.op, err)
			}
		}
		s.stop()
		if err != nil {
			return err
		}
	}
	perByte := gc.perByte()
	for _, t := range all {
		if err := t.lacking[candidate]; err != nil {
			f.Unsupported = append(f.Unsupported, err.Error())
			continue
		}
		series := t.series(candidate, perByte)
		if ratios := t.duet.ratios(); len(ratios) > 0 {
			series.Duet = &record.Duet{Against: against, Reference: t.duet.sides[reference].values(perByte),
				Ratios: ratios}
		}
		f.Series = append(f.Series, series)
	}
	return nil
}

// harnessCost is what an operation that does nothing takes, in ns.
func harnessCost(keys []string, gc *collector, m *meter) (float64, error) {
	d := duet{sides: make([]solo, 1)}
	if err := d.sit([]crew{&actors{[]Actor{empty(keys)}, gc, m}}, 10*time.Millisecond); err != nil {
		return 0, err
	}
	return d.sides[0].values(gc.perByte())[metrics.NsPerOp], nil
}

// trial is one operation on a number of goroutines.
type trial struct {
	op         load.Op
	goroutines int
	duet       duet
	sides      []int    // those that sit in the duet: candidate, reference or both
	lacking    [2]error // why a side lacks the operation
}

func trialsOf(w load.Workload, rng *rand.Rand) (all []*trial) {
	for _, op := range w.Ops {
		for _, goroutines := range w.Parallel {
			all = append(all, &trial{op: op, goroutines: goroutines, duet: duet{rng: rng}})
		}
	}
	return all
}

// sitHere measures the operation in a sitting for about the time budget, unless the candidate
// lacks it. It takes turns with the reference, unless that lacks it.
func (t *trial) sitHere(s Sitting, budget time.Duration, gc *collector, m *meter) error {
	if t.lacking[candidate] != nil {
		return nil
	}
	var crews [2]crew
	order := [2]int{candidate, reference}
	if s.ReferenceFirst {
		order = [2]int{reference, candidate}
	}
	for _, side := range order {
		subject := s.Candidate
		if side == reference {
			subject = s.Reference
		}
		if subject == nil {
			continue
		}
		made, err := Crew(subject, t.op, t.goroutines)
		switch {
		case errors.Is(err, ErrUnsupported):
			t.lacking[side] = err
			if side == candidate {
				return nil
			}
		case err != nil:
			return err
		default:
			crews[side] = &actors{made, gc, m}
		}
	}
	return t.sit(crews, budget)
}

// sit measures the operation in a sitting by the crews of the sides; a side that lacks the
// operation has none.
func (t *trial) sit(crews [2]crew, budget time.Duration) error {
	var present []crew
	t.sides = nil
	for side, c := range crews {
		if c != nil {
			present, t.sides = append(present, c), append(t.sides, side)
		}
	}
	if len(present) == 0 {
		return nil
	}
	return t.duet.sit(present, budget)
}

// series summarises all sittings of a side, which does not lack the operation. An allocated
// byte costs its collector so many ns.
func (t *trial) series(side int, perByte float64) record.Series {
	series := t.duet.series(slices.Index(t.sides, side), perByte)
	series.Op, series.Goroutines = string(t.op), t.goroutines
	if t.goroutines > 1 {
		series.Group = fmt.Sprintf("x%d", t.goroutines)
	}
	return series
}

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
