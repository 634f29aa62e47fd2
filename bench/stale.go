package bench

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// staleness holds, by key, since when the items of a subject wait to be seen. All actors of
// groups share one; other actors have none. Of several unseen events of one item the
// earliest counts.
//
// The actors, and with them the map, are made before any actor works. From then on the map
// is only read. A producer pays some nanoseconds per event. A consumer pays a map lookup
// per item, and a clock reading per stamped item.
type staleness[K comparable] struct {
	epoch  time.Time // of all stamps; set when the first actor is made
	stamps map[K]*stamp
	groups map[string]*sightings
	first  *sightings
	// timed: items have a ready time. otherwise: items may also become ready in another
	// way, so coming early is no defect.
	timed, otherwise bool
	// blind: an operation takes items out without looking at stamps, so nothing is
	// reported.
	blind bool
}

// stamp is since when an item waits to be seen, in ns since the epoch; 0 if it does not
// wait.
type stamp struct{ atomic.Int64 }

// offer sets the stamp, unless there is an earlier one.
func (s *stamp) offer(at int64) {
	for old := s.Load(); old == 0 || at < old; old = s.Load() {
		if s.CompareAndSwap(old, at) {
			return
		}
	}
}

// at converts a time to a stamp.
func (s *staleness[K]) at(t time.Time) int64 {
	if s.epoch.IsZero() {
		s.epoch = time.Now()
	}
	return max(1, int64(t.Sub(s.epoch)))
}

// of returns the stamp of an item that an actor will offer.
func (s *staleness[K]) of(key K) *stamp {
	if s.stamps == nil {
		s.stamps = map[K]*stamp{}
	}
	if s.stamps[key] == nil {
		s.stamps[key] = &stamp{}
	}
	return s.stamps[key]
}

// producer returns the stamps of a walk, in its order, and the due of its next event, which
// the worker sets.
func (s *staleness[K]) producer(w *walk, key func(position int) K) ([]*stamp, *due) {
	s.at(time.Now())
	return along(w, func(i int) *stamp { return s.of(key(i)) }), &due{at: s.at}
}

// consumer returns the sightings of a group, which its goroutines share.
func (s *staleness[K]) consumer(group string) *sightings {
	s.at(time.Now())
	if s.groups == nil {
		s.groups = map[string]*sightings{}
	}
	seen := s.groups[group]
	if seen == nil {
		seen = newSightings(s.at)
		s.groups[group] = seen
	}
	if s.first == nil {
		s.first = seen
	}
	return seen
}

// saw is called by a consumer when it has the item.
func (s *staleness[K]) saw(key K, by *sightings) {
	stamp := s.stamps[key]
	if stamp == nil || stamp.Load() == 0 {
		return
	}
	if since := stamp.Swap(0); since != 0 {
		by.saw(since, s.at(time.Now()))
	}
}

// leave is called when all actors have ended. Events due by end and not seen count for the
// first group of consumers.
func (s *staleness[K]) leave(end time.Time) {
	for _, g := range s.groups {
		g.blind, g.timed = s.blind, s.timed && !s.otherwise
	}
	if s.first != nil {
		for _, stamp := range s.stamps {
			s.first.left(stamp.Load(), s.at(end))
		}
	}
}

// due holds since when the event of a producer's next operation waits, in ns since the
// epoch; 0 if it is not to be stamped. One goroutine owns it.
type due struct {
	at    func(time.Time) int64
	since int64
}

// set is called before an operation. A nil due has no events.
func (d *due) set(t time.Time) {
	if d != nil {
		d.since = d.at(t)
	}
}

func (d *due) clear() {
	if d != nil {
		d.since = 0
	}
}

func (d *due) stamp(s *stamp) {
	if d.since != 0 {
		s.offer(d.since)
	}
}

// sightings records the events that a group has seen. It is safe for concurrent use.
type sightings struct {
	at            func(time.Time) int64
	from          int64 // events due earlier do not count
	early, unseen atomic.Int64
	merged        atomic.Int64
	timed, blind  bool
	merges        bool // merged is counted
	// free are the histograms that no goroutine is recording in. Their number depends on
	// GOMAXPROCS, not on the goroutines. A lock would show among the component's locks.
	free []atomic.Pointer[stats.Histogram]
}

func newSightings(at func(time.Time) int64) *sightings {
	s := &sightings{at: at, free: make([]atomic.Pointer[stats.Histogram], 2*runtime.GOMAXPROCS(0))}
	for i := range s.free {
		s.free[i].Store(stats.NewHistogram())
	}
	return s
}

// begin is called before any goroutine begins.
func (s *sightings) begin(from time.Time) {
	if s != nil {
		s.from = s.at(from)
	}
}

func (s *sightings) saw(since, now int64) {
	switch {
	case since < s.from:
	case now < since:
		s.early.Add(1)
	default:
		s.record(time.Duration(now - since))
	}
}

func (s *sightings) left(since, end int64) {
	if since >= s.from && since > 0 && since < end {
		s.unseen.Add(1)
		s.record(time.Duration(end - since))
	}
}

// missed counts an event that no consumer can have seen, with its wait.
func (s *sightings) missed(waited time.Duration) {
	s.unseen.Add(1)
	s.record(waited)
}

func (s *sightings) record(d time.Duration) {
	for ; ; runtime.Gosched() {
		for i := range s.free {
			if h := s.free[i].Swap(nil); h != nil {
				h.Record(d)
				// Each histogram has a place of its own and returns there.
				s.free[i].Store(h)
				return
			}
		}
	}
}

// summarise writes the distribution into a series, if there is one.
func (s *sightings) summarise(to *record.Series) {
	if s == nil || s.blind {
		return
	}
	all := stats.NewHistogram()
	for i := range s.free {
		all.Merge(s.free[i].Load())
	}
	if all.Count() == 0 && s.early.Load() == 0 {
		return
	}
	addDistribution(to, metrics.Stale, all)
	to.Values[metrics.Unseen] = float64(s.unseen.Load())
	if s.merges {
		to.Values[metrics.Merged] = float64(s.merged.Load())
	}
	if s.timed {
		to.Values[metrics.Early] = float64(s.early.Load())
	}
}
