package subject

import (
	"context"
	"encoding/gob"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
)

// seat is a subject's place on the circles that its actors walk. Two subjects that take
// turns in one process share objects and keys. On seats 0 and 1 they walk half a circle
// apart, so that neither finds in the caches what the other has just read there.
type seat int

// seated is a subject that can take turns with another. sit gives it a seat, before its
// first actor is made. Informers cannot: each has a source of its own, and what it was sent
// follows from its walk.
type seated interface {
	sit(at seat, first engine.Subject)
}

func (s *seat) sit(at seat, _ engine.Subject) { *s = at }

// sit also takes the later versions of objects from the first subject of the process. They
// are as large as the objects.
func (s *Store) sit(at seat, first engine.Subject) {
	s.seat = at
	s.later = first.(*Store).later
}

// walk is engine.NewWalk from the seat.
func (s seat) walk(n, keys, who int) *engine.Walk { return s.from(engine.NewWalk(n, keys, who)) }

// ownWalk is engine.OwnWalk from the seat.
func (s seat) ownWalk(n, keys, who, goroutines int) (*engine.Walk, error) {
	w, err := engine.OwnWalk(n, keys, who, goroutines)
	if err != nil {
		return nil, err
	}
	return s.from(w), nil
}

func (s seat) from(w *engine.Walk) *engine.Walk {
	w.Skip(uint32(s) * uint32(len(w.Order)) / 2)
	return w
}

// seating makes the subjects of a fork's sittings. What could favour one of two that take
// turns changes from sitting to sitting: which is filled first, so lies otherwise in memory,
// and which has which seat. Four sittings in a row have all four cases.
type seating struct {
	side    Side
	against *Side // nil if the side takes turns with nobody
	objects *synthetic.Objects
	w       load.Workload
	f       *record.Fork
	first   engine.Subject // of all sittings
	last    engine.Subject // the candidate of the last sitting
}

// sit makes and fills the subjects of the i-th sitting. In the first, the candidate is
// weighed.
func (s *seating) sit(i int) (engine.Sitting, error) {
	s.settle()
	mine, err := s.side.fresh(s.objects, s.w)
	if err != nil {
		return engine.Sitting{}, err
	}
	s.last = mine
	if s.first == nil {
		s.first = mine
	}
	out := engine.Sitting{Candidate: mine, ReferenceFirst: (s.f.Index+i/2)%2 == 0}
	one, ok := mine.(seated)
	if s.against != nil && ok {
		if out.Reference, err = s.against.fresh(s.objects, s.w); err != nil {
			return engine.Sitting{}, err
		}
		one.sit(seat(i%2), s.first)
		out.Reference.(seated).sit(seat(1-i%2), s.first)
	}
	if out.Reference != nil && out.ReferenceFirst {
		out.Reference.Fill()
	}
	if i == 0 {
		weigh(mine, s.f)
	} else {
		mine.Fill()
	}
	if out.Reference != nil && !out.ReferenceFirst {
		out.Reference.Fill()
	}
	return out, nil
}

// Play lets the side's subject take turns with that of another process, as a conductor asks
// through in; the answers go to out. See engine.Player.
func Play(ctx context.Context, side Side, w load.Workload, f *record.Fork, in *gob.Decoder,
	out *gob.Encoder) error {
	own := seating{side: side, objects: generate(w), w: w, f: f}
	p := engine.Player{Objects: own.objects, Fork: f, Sit: func(i int) (engine.Subject, error) {
		s, err := own.sit(i)
		return s.Candidate, err
	}}
	return p.Play(ctx, in, out)
}

// settle adds the last candidate's checks to the fork, after it was stopped.
func (s *seating) settle() {
	if s.last != nil {
		settle(s.last, s.f)
	}
}

// TakesTurns reports whether subjects of a component can take turns.
func TakesTurns(c contract.Component) bool { return c != contract.ComponentInformer }
