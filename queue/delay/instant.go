package delay

import (
	"math"
	"time"
)

// epoch makes 64-bit nanoseconds of times and back. It is when the structure was made, with a
// reading of both clocks; the value is t.Sub(epoch).
//
// The order is that of time.Time.Compare among times that have a monotonic reading, and
// among those that have none. Between the two kinds it is the order seen from the
// epoch, while Compare takes the wall clock's, which may have been set meanwhile:
// by Compare, an order of mixed times need not even be one (a < b < c < a).
//
// What lies 292 years or more from the epoch has no such value. It is kept at the least
// or the greatest one, and its exact time beside it, in farTimes.
type epoch struct{ base time.Time }

func newEpoch() epoch { return epoch{time.Now()} }

func (e epoch) of(t time.Time) int64 { return int64(t.Sub(e.base)) }

// time is the time of a value that is not far.
func (e epoch) time(at int64) time.Time { return e.base.Add(time.Duration(at)) }

// isFar reports whether a value stands for all times beyond it.
func isFar(at int64) bool { return at == math.MinInt64 || at == math.MaxInt64 }

// farTimes are the exact times, by slot, of items whose values are far; nil while there
// are none. Two far values that are equal are compared by them.
type farTimes map[uint32]time.Time

// set notes the time of a slot, which is at as a value.
func (f *farTimes) set(slot uint32, at int64, t time.Time) {
	switch {
	case !isFar(at):
		f.forget(slot)
	case *f == nil:
		*f = farTimes{slot: t}
	default:
		(*f)[slot] = t
	}
}

func (f *farTimes) forget(slot uint32) {
	if *f == nil {
		return
	}
	if delete(*f, slot); len(*f) == 0 {
		*f = nil
	}
}

// rename says that what was in slot from is in slot to, of which nothing is noted.
func (f *farTimes) rename(from, to uint32) {
	if *f == nil {
		return
	}
	if t, ok := (*f)[from]; ok {
		delete(*f, from)
		(*f)[to] = t
	}
}

// earlier reports whether t, which is at as a value, is before the time of the slot,
// whose value is old.
func (f farTimes) earlier(at int64, t time.Time, old int64, slot uint32) bool {
	return at < old || at == old && isFar(at) && t.Before(f[slot])
}

// ready reports whether the slot, whose value is at, is not after now, whose value is limit.
func (f farTimes) ready(slot uint32, at, limit int64, now time.Time) bool {
	return at < limit || at == limit && (!isFar(at) || !f[slot].After(now))
}
