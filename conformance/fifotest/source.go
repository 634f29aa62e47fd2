package fifotest

// A source of objects, and the calls that a Reflector would make of it.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// source changes its objects and tells a FIFO by lists and by events. Some events are
// missed.
type source struct {
	t       *suite.T
	rnd     *rand.Rand
	state   *knownObjects
	version int
	pauses  int // yields after each event: with 0 the consumer falls behind
}

func newSource(t *suite.T, round int) *source {
	return &source{t: t, rnd: rand.New(rand.NewPCG(t.Config().Seed, uint64(round))), state: known(),
		pauses: round % 3 * 10}
}

// reflect lists, then watches, and lists anew after each stretch of missed events. It
// misses none after the last list, so in the end the FIFO has been told the whole state.
func (s *source) reflect(f contract.FIFO) {
	const lists, missed = 15, 15
	for i := range lists {
		for range missed {
			s.change()
		}
		s.check(f.Replace(s.list(), fmt.Sprint(s.version)))
		// Sometimes, and after the last list, there are few events, so that they do not
		// hide a bad list.
		events := 4
		if i < lists-1 {
			events += s.rnd.IntN(2) * 60
		}
		for range events {
			s.check(s.tell(f, s.change()))
			for range s.pauses {
				runtime.Gosched()
			}
		}
	}
}

func (s *source) check(err error) {
	if err != nil {
		s.t.Errorf("telling the FIFO: %v", err)
	}
}

func (s *source) list() (list []any) {
	for _, key := range s.state.ListKeys() {
		o, _, _ := s.state.GetByKey(key)
		list = append(list, o)
	}
	return list
}

// change creates, updates or deletes an object and returns the event.
func (s *source) change() contract.Delta {
	s.version++
	o := obj(fmt.Sprintf("k%d", s.rnd.IntN(20)), s.version)
	_, exists, _ := s.state.GetByKey(o.key)
	switch {
	case !exists:
		s.state.set(o.key, o)
		return contract.Delta{Type: contract.Added, Object: o}
	case s.rnd.IntN(3) == 0:
		s.state.drop(o.key)
		return contract.Delta{Type: contract.Deleted, Object: o}
	default:
		s.state.set(o.key, o)
		return contract.Delta{Type: contract.Updated, Object: o}
	}
}

func (s *source) tell(f contract.FIFO, d contract.Delta) error {
	switch d.Type {
	case contract.Added:
		return f.Add(d.Object)
	case contract.Updated:
		return f.Update(d.Object)
	case contract.Deleted:
		return f.Delete(d.Object)
	}
	return errors.ErrUnsupported
}
