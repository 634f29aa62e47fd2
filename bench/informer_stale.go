package bench

import (
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"
)

// ledger holds since when the events of an open loop wait for one observer: the store's
// probe, or a handler. An event's number is that of its object version.
type ledger struct {
	stamps []stamp // by number
	seen   *sightings
}

// saw is called when event n is seen.
func (l *ledger) saw(n int) {
	if l.stamps[n].Load() == 0 {
		return
	}
	if since := l.stamps[n].Swap(0); since != 0 {
		l.seen.saw(since, l.seen.at(time.Now()))
	}
}

// leave counts the events that were due by end and have not been seen. Later sightings do
// not count.
func (l *ledger) leave(end time.Time) {
	for i := range l.stamps {
		l.seen.left(l.stamps[i].Swap(0), l.seen.at(end))
	}
}

// numbers gives each object version a number, once.
func (s *informerSubject) numbers() map[kruntime.Object]int {
	if s.number == nil {
		s.number = make(map[kruntime.Object]int, 2*len(s.first))
		for i, obj := range s.first {
			s.number[obj] = i
		}
		for i, obj := range s.later() {
			s.number[obj] = len(s.first) + i
		}
	}
	return s.number
}

func (s *informerSubject) newLedger(seen *sightings) *ledger {
	l := &ledger{stamps: make([]stamp, len(s.numbers())), seen: seen}
	s.ledgers = append(s.ledgers, l)
	return l
}

// owed counts an event that was due and that the writer had not begun to send by the end:
// the informer or the source blocked the writer.
func (s *informerSubject) owed(waited time.Duration) {
	for _, l := range s.ledgers {
		l.seen.missed(waited)
	}
}

func (s *informerSubject) leave(end time.Time) {
	for _, l := range s.ledgers {
		l.leave(end)
	}
}
