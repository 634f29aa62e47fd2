package subject

import "github.com/informerbench/informerbench/bench/internal/engine"

// seat is a subject's place on the circles that its actors walk. Two subjects that take
// turns in one process share objects and keys. On seats 0 and 1 they walk half a circle
// apart, so that neither finds in the caches what the other has just read there.
type seat int

// seated is a subject that can take turns with another. sit gives it a seat, before its
// first actor is made. Informers cannot: each has a source of its own, and what it was sent
// follows from its walk.
type seated interface {
	sit(at seat, beside engine.Subject)
}

func (s *seat) sit(at seat, _ engine.Subject) { *s = at }

// sit also shares the later versions of objects, which are as large as the objects.
func (s *Store) sit(at seat, beside engine.Subject) {
	s.seat = at
	s.later = beside.(*Store).later
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
	w.At += uint32(s) * uint32(len(w.Order)) / 2
	return w
}
