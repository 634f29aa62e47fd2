package staleness

import (
	"time"
)

// Ledger holds since when the events of an open loop wait for one observer: the store's
// probe, or a handler. An event's number is that of its object version.
type Ledger struct {
	Stamps []Stamp // by number
	Seen   *Sightings
}

// NewLedger makes a ledger for n object versions.
func NewLedger(n int, seen *Sightings) *Ledger {
	return &Ledger{Stamps: make([]Stamp, n), Seen: seen}
}

// Saw is called when event n is seen.
func (l *Ledger) Saw(n int) {
	if !l.Stamps[n].Waits() {
		return
	}
	if m := l.Stamps[n].Take(); m.Since != 0 {
		l.Seen.Saw(m, l.Seen.At(time.Now()))
	}
}

// Leave counts the events that were due by end and have not been seen. Later sightings do
// not count.
func (l *Ledger) Leave(end time.Time) {
	for i := range l.Stamps {
		l.Seen.Left(l.Stamps[i].Take(), l.Seen.At(end))
	}
}
