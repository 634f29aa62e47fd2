// Package staleness measures from when an event was due, or an item ready, until its
// consumer had it: from end to end (metrics.Lag), and less the time by which the producer
// overslept (metrics.Stale). One page for all components:
//
//   - Who stamps. A producer's [Due] is set by the engine before each operation: to the time
//     when it was due in an open loop, to its beginning in a closed one. The operation then
//     stamps what it offers. Items that only become ready later are stamped with that time.
//   - Who sees. Each group of consumers has [Sightings]; a consumer that gets an item takes
//     the stamp away and records the time since.
//   - What is left. When all actors have ended, Leave counts what was due by the end and not
//     seen, with its wait until then. What was due before the measured time does not count.
//
// How a stamp is found again depends on the component:
//
//	Tracker     by key: delay heaps and queues; of several unseen events of a key the first counts
//	Events      by key, in order: FIFOs, which hand out each event
//	Ledger      by object version: one for each observer of an informer
//	Visibility  by resourceVersion: a store that a reflector fills shows all versions up to its own
//	Timeline    by event of a trace: a consumer that sees an event has seen the object's earlier ones
package staleness

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Tracker holds, by key, since when the items of a subject wait to be seen. All actors of
// groups share one; other actors have none. Of several unseen events of one item the
// earliest counts.
//
// The actors, and with them the map, are made before any actor works. From then on the map
// is only read. A producer pays some nanoseconds per event. A consumer pays a map lookup
// per item, and a clock reading per stamped item.
type Tracker[K comparable] struct {
	epoch  time.Time // of all stamps; set when the first actor is made
	stamps map[K]*Stamp
	Groups map[string]*Sightings
	first  *Sightings
	// Timed: items have a ready time. otherwise: items may also become ready in another
	// way, so coming early is no defect.
	Timed, Otherwise bool
	// Blind: an operation takes items out without looking at stamps, so nothing is
	// reported.
	Blind bool
}

// Moment is when an event begins to wait.
type Moment struct {
	// Since is in ns since the epoch: when the event was due, or when its producer woke if that
	// was later. 0 says that it is not stamped.
	Since int64
	// Late is how long after the due time that is, in ns.
	Late int64
}

// Stamp is the Moment since which an item waits to be seen, and zero if it does not wait. It is
// safe for concurrent use.
type Stamp struct{ since, late atomic.Int64 }

// Offer sets the stamp, unless there is an earlier one. The item is not given away before that,
// so a consumer that gets it finds both numbers.
func (s *Stamp) Offer(m Moment) {
	for old := s.since.Load(); old == 0 || m.Since < old; old = s.since.Load() {
		if s.since.CompareAndSwap(old, m.Since) {
			s.late.Store(m.Late)
			return
		}
	}
}

// Waits reports whether the item waits.
func (s *Stamp) Waits() bool { return s.since.Load() != 0 }

// Load returns since when the item waits.
func (s *Stamp) Load() Moment { return Moment{s.since.Load(), s.late.Load()} }

// Take is Load, and the item does not wait any longer.
func (s *Stamp) Take() Moment { return Moment{s.since.Swap(0), s.late.Load()} }

// At converts a time to a stamp.
func (s *Tracker[K]) At(t time.Time) int64 {
	if s.epoch.IsZero() {
		s.epoch = time.Now()
	}
	return max(1, int64(t.Sub(s.epoch)))
}

// Of returns the stamp of an item that an actor will offer.
func (s *Tracker[K]) Of(key K) *Stamp {
	if s.stamps == nil {
		s.stamps = map[K]*Stamp{}
	}
	if s.stamps[key] == nil {
		s.stamps[key] = &Stamp{}
	}
	return s.stamps[key]
}

// Producer returns the stamps of the items at the positions of a walk, in its order, and
// the due of its next event, which the worker sets.
func (s *Tracker[K]) Producer(order []int, key func(position int) K) ([]*Stamp, *Due) {
	s.At(time.Now())
	stamps := make([]*Stamp, len(order))
	for slot, position := range order {
		stamps[slot] = s.Of(key(position))
	}
	return stamps, &Due{At: s.At}
}

// Consumer returns the sightings of a group, which its goroutines share.
func (s *Tracker[K]) Consumer(group string) *Sightings {
	s.At(time.Now())
	if s.Groups == nil {
		s.Groups = map[string]*Sightings{}
	}
	seen := s.Groups[group]
	if seen == nil {
		seen = newSightings(s.At)
		s.Groups[group] = seen
	}
	if s.first == nil {
		s.first = seen
	}
	return seen
}

// Saw is called by a consumer when it has the item.
func (s *Tracker[K]) Saw(key K, by *Sightings) {
	stamp := s.stamps[key]
	if stamp == nil || !stamp.Waits() {
		return
	}
	if m := stamp.Take(); m.Since != 0 {
		by.Saw(m, s.At(time.Now()))
	}
}

// Leave is called when all actors have ended. Events due by end and not seen count for the
// first group of consumers.
func (s *Tracker[K]) Leave(end time.Time) {
	for _, g := range s.Groups {
		g.blind, g.timed = s.Blind, s.Timed && !s.Otherwise
	}
	if s.first != nil {
		for _, stamp := range s.stamps {
			s.first.Left(stamp.Load(), s.At(end))
		}
	}
}

// Due holds since when the event of a producer's next operation waits. One goroutine owns it.
type Due struct {
	At func(time.Time) int64
	Moment
}

// Set is called before an operation that counts from a time, so long after it was due. A nil
// due has no events.
func (d *Due) Set(from time.Time, late time.Duration) {
	if d != nil {
		d.Moment = Moment{d.At(from), int64(late)}
	}
}

// Clear is called after an operation that was set.
func (d *Due) Clear() {
	if d != nil {
		d.Moment = Moment{}
	}
}

// Stamp stamps an item that the operation offers, if it is to be stamped.
func (d *Due) Stamp(s *Stamp) {
	if d.Since != 0 {
		s.Offer(d.Moment)
	}
}

// Sightings records the events that a group has seen. It is safe for concurrent use.
type Sightings struct {
	At            func(time.Time) int64
	from          int64 // events due earlier do not count; 0 before Begin
	early, unseen atomic.Int64
	Merged        atomic.Int64
	timed, blind  bool
	Merges        bool // merged is counted
	// free are the histograms that no goroutine is recording in. Their number depends on
	// GOMAXPROCS, not on the goroutines. A lock would show among the component's locks.
	free []atomic.Pointer[distributions]
}

type distributions struct{ lag, stale *stats.Histogram }

func newSightings(at func(time.Time) int64) *Sightings {
	s := &Sightings{At: at, free: make([]atomic.Pointer[distributions], 2*runtime.GOMAXPROCS(0))}
	s.histograms(stats.LongRun)
	return s
}

// Begin sets the beginning and the length of the measured time; [stats.LongRun] where slices of
// it mean nothing, as of closed loops. Call it before the group's goroutines start. They share
// the Sightings, so it is called once for each of them; the calls after the first do nothing.
func (s *Sightings) Begin(from time.Time, measured time.Duration) {
	if s == nil || s.from != 0 {
		return
	}
	s.from = s.At(from)
	s.histograms(measured)
}

// histograms makes the histograms for a measured time.
func (s *Sightings) histograms(measured time.Duration) {
	for i := range s.free {
		s.free[i].Store(&distributions{stats.NewHistogramOf(measured), stats.NewHistogramOf(measured)})
	}
}

// Saw records an event that waited since m and was seen at now.
func (s *Sightings) Saw(m Moment, now int64) {
	switch {
	case m.Since < s.from:
	case now < m.Since:
		s.early.Add(1)
	default:
		s.record(m, now)
	}
}

// Left counts an event that waited since m, if that is before end, and was not seen.
func (s *Sightings) Left(m Moment, end int64) {
	if m.Since >= s.from && m.Since > 0 && m.Since < end {
		s.unseen.Add(1)
		s.record(m, end)
	}
}

func (s *Sightings) record(m Moment, until int64) {
	due, waited := m.Since-m.Late, until-m.Since
	for ; ; runtime.Gosched() {
		for i := range s.free {
			if h := s.free[i].Swap(nil); h != nil {
				h.lag.RecordAt(time.Duration(due-s.from), time.Duration(waited+m.Late))
				h.stale.RecordAt(time.Duration(m.Since-s.from), time.Duration(waited))
				// Each histogram has a place of its own and returns there.
				s.free[i].Store(h)
				return
			}
		}
	}
}

// Summarise writes the distributions, if there are any, into a series. Call it once, after all
// goroutines that record have stopped.
func (s *Sightings) Summarise(to *record.Series) {
	if s == nil || s.blind {
		return
	}
	all := s.free[0].Load()
	for i := range s.free[1:] {
		all.lag.Merge(s.free[1+i].Load().lag)
		all.stale.Merge(s.free[1+i].Load().stale)
	}
	if all.stale.Count() == 0 && s.early.Load() == 0 {
		return
	}
	to.AddDistribution(metrics.Lag, all.lag)
	to.AddDistribution(metrics.Stale, all.stale)
	to.Values[metrics.Unseen] = float64(s.unseen.Load())
	if s.Merges {
		to.Values[metrics.Merged] = float64(s.Merged.Load())
	}
	if s.timed {
		to.Values[metrics.Early] = float64(s.early.Load())
	}
}
