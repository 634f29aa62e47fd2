package delay

import (
	"maps"
	"math"
	"time"
)

// A map that once held more than keptItems gives memory back when it holds a quarter of the most.
const keptItems = 1024

// epoch makes 64-bit nanoseconds of times and back. It is when the structure was made, with a
// reading of both clocks; the value is t.Sub(epoch).
//
// The order is that of time.Time.Compare among times that have a monotonic reading, and
// among those that have none. Between the two kinds it is the order seen from the
// epoch, while Compare takes the wall clock's, which may have been set meanwhile:
// by Compare, an order of mixed times need not even be one (a < b < c < a).
//
// A time that is 292 years or more from the epoch has no such value. It has the least or the
// greatest one, and its exact time is kept in farTimes.
type epoch struct{ base time.Time }

func newEpoch() epoch { return epoch{time.Now()} }

func (e epoch) of(t time.Time) int64 { return int64(t.Sub(e.base)) }

// time is the time of a value that is not far.
func (e epoch) time(at int64) time.Time { return e.base.Add(time.Duration(at)) }

// isFar reports whether a value stands for all times beyond it.
func isFar(at int64) bool { return at == math.MinInt64 || at == math.MaxInt64 }

// farTimes are the exact times, by slot, of items whose values are far. Two far values
// that are equal are compared by them.
//
// A Go map never becomes smaller, so forget copies what is left into a new map when the
// times are a quarter of the most there were. That costs O(1) for each time forgotten.
type farTimes struct {
	times map[uint32]time.Time // nil while there are none
	most  int                  // the greatest len(times) since the map was made
}

func (f *farTimes) none() bool { return f.times == nil }

// of returns the time of a slot whose value is far.
func (f *farTimes) of(slot uint32) time.Time { return f.times[slot] }

// set notes the time of a slot, which is at as a value.
func (f *farTimes) set(slot uint32, at int64, t time.Time) {
	if !isFar(at) {
		f.forget(slot)
		return
	}
	if f.times == nil {
		f.times = map[uint32]time.Time{}
	}
	f.times[slot] = t
	f.most = max(f.most, len(f.times))
}

func (f *farTimes) forget(slot uint32) {
	if f.times == nil {
		return
	}
	switch delete(f.times, slot); {
	case len(f.times) == 0:
		*f = farTimes{}
	case f.most > keptItems && len(f.times) <= f.most/4:
		times := make(map[uint32]time.Time, len(f.times))
		maps.Copy(times, f.times)
		*f = farTimes{times: times, most: len(times)}
	}
}

// rename moves the time of slot from, if it has one, to slot to, which has none.
func (f *farTimes) rename(from, to uint32) {
	if t, ok := f.times[from]; ok {
		delete(f.times, from)
		f.times[to] = t
	}
}

// earlier reports whether t, which is at as a value, is before the time of the slot,
// whose value is old.
func (f *farTimes) earlier(at int64, t time.Time, old int64, slot uint32) bool {
	return at < old || at == old && isFar(at) && t.Before(f.of(slot))
}

// ready reports whether the slot, whose value is at, is not after now, whose value is limit.
func (f *farTimes) ready(slot uint32, at, limit int64, now time.Time) bool {
	return at < limit || at == limit && (!isFar(at) || !f.of(slot).After(now))
}
