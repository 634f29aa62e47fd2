package staleness

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// Events is a Tracker for components that hand out every event of a key, in their order, such as
// FIFOs: an object that came three times waits three times. Each event counts with its own wait.
//
// A producer pays some ten nanoseconds per event, stamped or not. A consumer pays that and a map
// lookup per key that it gets, and a clock reading where one of its events is stamped.
type Events[K comparable] struct {
	Tracker[K]
	lines map[K]*Line
}

// Producer returns the lines of the items at the positions of a walk, in its order, and the due of
// its next event, which the worker sets.
func (s *Events[K]) Producer(order []int, key func(position int) K) ([]*Line, *Due) {
	s.At(time.Now())
	if s.lines == nil {
		s.lines = map[K]*Line{}
	}
	lines := make([]*Line, len(order))
	for slot, position := range order {
		k := key(position)
		if s.lines[k] == nil {
			s.lines[k] = &Line{}
		}
		lines[slot] = s.lines[k]
	}
	return lines, &Due{At: s.At}
}

// Saw is called by a consumer when it has the next n events of a key.
func (s *Events[K]) Saw(key K, n int, by *Sightings) {
	line := s.lines[key]
	if line == nil {
		return
	}
	now := int64(0)
	for range n {
		m, ok := line.take()
		if !ok {
			return
		}
		if m.Since == 0 {
			continue
		}
		if now == 0 {
			now = s.At(time.Now())
		}
		by.Saw(m, now)
	}
}

// Leave is called when all actors have ended. Events due by end and not seen count for the
// first group of consumers.
func (s *Events[K]) Leave(end time.Time) {
	s.Tracker.Leave(end)
	if s.first == nil {
		return
	}
	for _, line := range s.lines {
		for m, ok := line.take(); ok; m, ok = line.take() {
			s.first.Left(m, s.At(end))
		}
	}
}

// Line is since when the events of one key wait, the oldest first. Its lock is no sync.Mutex, which
// would show among the component's locks; it is held for some nanoseconds.
type Line struct {
	busy atomic.Bool
	due  []Moment
	head int // of the events that wait
}

func (l *Line) lock() {
	for !l.busy.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func (l *Line) unlock() { l.busy.Store(false) }

// Offer is called before an event is given to the component.
func (l *Line) Offer(m Moment) {
	l.lock()
	if l.head > len(l.due)/2 { // a line that is never empty stays as short as what waits
		l.due, l.head = slices.Delete(l.due, 0, l.head), 0
	}
	l.due = append(l.due, m)
	l.unlock()
}

// take takes out the oldest event; ok is false if there is none.
func (l *Line) take() (m Moment, ok bool) {
	l.lock()
	if ok = l.head < len(l.due); ok {
		m = l.due[l.head]
		l.head++
	}
	l.unlock()
	return m, ok
}
