package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
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
	// mostMade is how many objects, about, a process gives to its subjects in all.
	mostMade = 400_000
)

func sittingsOf(w load.Workload) int {
	n := min(mostSittings, int(w.Duration/leastSitting), mostMade/max(1, w.Objects.Count))
	return max(n/cases*cases, cases/2)
}

// Alone measures each operation by itself, at each of the workload's numbers of goroutines:
// for w.Duration in all. sit makes the subjects of the i-th sitting; Alone stops them. against
// names the reference.
func Alone(ctx context.Context, sit func(i int) (Sitting, error), against string, w load.Workload, objects *load.Objects, f *record.Fork, p *profile.Profiler) error {
	sittings := sittingsOf(w)
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
	all := trialsOf(w, against, rand.New(rand.NewPCG(w.Seed, uint64(f.Index)))) // other orders of turns in each fork
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
			if err = t.sit(s, w.Duration/time.Duration(sittings), gc, m); err != nil {
				err = fmt.Errorf("%s: %w", t.op, err)
			}
		}
		s.stop()
		if err != nil {
			return err
		}
	}
	for _, t := range all {
		if t.lacking != nil {
			f.Unsupported = append(f.Unsupported, t.lacking.Error())
			continue
		}
		f.Series = append(f.Series, t.series(gc))
	}
	return nil
}

// harnessCost is what an operation that does nothing takes, in ns.
func harnessCost(keys []string, gc *collector, m *meter) (float64, error) {
	d := duet{sides: make([]solo, 1)}
	if err := d.sit([][]Actor{{empty(keys)}}, 10*time.Millisecond, gc, m); err != nil {
		return 0, err
	}
	return d.sides[0].values(gc)[metrics.NsPerOp], nil
}

// trial is one operation on a number of goroutines.
type trial struct {
	op         load.Op
	goroutines int
	against    string // the reference
	duet       duet
	lacking    error                // why the implementation lacks the operation
	told       map[string][]float64 // what the actors told, by metric, of each sitting
}

func trialsOf(w load.Workload, against string, rng *rand.Rand) (all []*trial) {
	for _, op := range w.Ops {
		for _, goroutines := range w.Parallel {
			all = append(all, &trial{op: op, goroutines: goroutines, against: against, duet: duet{rng: rng}})
		}
	}
	return all
}

// sit measures the operation in a sitting for about the time budget, unless the
// implementation lacks it. It takes turns with the reference, unless that lacks it.
func (t *trial) sit(s Sitting, budget time.Duration, gc *collector, m *meter) error {
	if t.lacking != nil {
		return nil
	}
	var crews [2][]Actor
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
		crew, err := Crew(subject, t.op, t.goroutines)
		switch {
		case err != nil && !errors.Is(err, ErrUnsupported):
			return err
		case err != nil && side == candidate:
			t.lacking = err
			return nil
		}
		crews[side] = crew // none if the reference lacks the operation
	}
	sides := crews[:1]
	if len(crews[reference]) > 0 {
		sides = crews[:]
	}
	err := t.duet.sit(sides, budget, gc, m)
	t.listen(crews[candidate][0])
	return err
}

// listen keeps what an actor tells after a sitting.
func (t *trial) listen(a Actor) {
	if a.Tell == nil {
		return
	}
	values := map[string]float64{}
	a.Tell(values)
	if t.told == nil {
		t.told = map[string][]float64{}
	}
	for metric, v := range values {
		t.told[metric] = append(t.told[metric], v)
	}
}

// series summarises all sittings.
func (t *trial) series(gc *collector) record.Series {
	series := t.duet.series(t.against, gc)
	series.Op, series.Goroutines = string(t.op), t.goroutines
	for metric, values := range t.told {
		series.Values[metric] = stats.MedianOf(values)
	}
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
