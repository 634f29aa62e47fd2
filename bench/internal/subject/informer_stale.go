package subject

import (
	"time"

	"github.com/informerbench/informerbench/bench/internal/staleness"
)

// numbers gives each object version a number, once.
func (s *Informer) numbers() map[any]int {
	if s.number == nil {
		s.number = make(map[any]int, 2*len(s.first))
		for i, obj := range s.first {
			s.number[s.version(obj)] = i
		}
		for i, obj := range s.later() {
			s.number[s.version(obj)] = len(s.first) + i
		}
	}
	return s.number
}

func (s *Informer) newLedger(seen *staleness.Sightings) *staleness.Ledger {
	l := staleness.NewLedger(len(s.numbers()), seen)
	s.ledgers = append(s.ledgers, l)
	return l
}

// owed counts an event that was due and that the writer had not begun to send by the end:
// the informer or the source blocked the writer.
func (s *Informer) owed(from time.Time, late time.Duration, end time.Time) {
	for _, l := range s.ledgers {
		l.Seen.Left(staleness.Moment{Since: l.Seen.At(from), Late: int64(late)}, l.Seen.At(end))
	}
}

// Leave is part of engine.Leaver.
func (s *Informer) Leave(end time.Time) {
	for _, l := range s.ledgers {
		l.Leave(end)
	}
}
