package delaytest

// What the cases share: fixed times, and draining a heap as its owner would.

import (
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// fataler is the part of suite.T and rapid.T that ends a case.
type fataler interface {
	Fatalf(format string, args ...any)
}

type delayHeap = contract.DelayHeap[string]

// one runs a case on one structure.
func one(run func(t *suite.T, h delayHeap)) func(*suite.T, constructor) {
	return func(t *suite.T, newHeap constructor) { run(t, newHeap()) }
}

// epoch is when the cases begin; at gives times after it, whole minutes apart so
// that a granularity of a minute cannot confuse two of them.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }

// mustPop takes out one item, which must be want.
func mustPop(t fataler, h delayHeap, now time.Time, want string) {
	if got, ok := h.PopReady(now); !ok || got != want {
		t.Fatalf("PopReady(%s) = %q, %v; want %q", show(now), got, ok, want)
	}
}

// mustNotPop asserts that nothing is ready.
func mustNotPop(t fataler, h delayHeap, now time.Time) {
	if got, ok := h.PopReady(now); ok {
		t.Fatalf("PopReady(%s) = %q, but nothing is ready yet", show(now), got)
	}
}

func mustLen(t fataler, h delayHeap, want int) {
	if got := h.Len(); got != want {
		t.Fatalf("Len() = %d, want %d", got, want)
	}
}

// progress says that the case goes on; histories of rapid do not need that.
func progress(t fataler) {
	if c, ok := t.(*suite.T); ok {
		c.Progress()
	}
}

// popped is one item with the time at which the owner took it.
type popped struct {
	item string
	now  time.Time
}

// drain takes everything out as a delaying queue does: it waits until Next, then
// pops. Time begins at now and never goes back. limit bounds how many items may
// come, so that a heap that repeats itself ends too.
func drain(t fataler, h delayHeap, now time.Time, limit int) []popped {
	var out []popped
	for {
		next, ok := h.Next()
		if !ok {
			mustLen(t, h, 0)
			return out
		}
		if len(out) == limit {
			t.Fatalf("%d items were added and all came out, yet Next still gives %s", limit, show(next))
		}
		if next.After(now) {
			now = next
		}
		item, ok := h.PopReady(now)
		if !ok {
			t.Fatalf("Next gave %s, but PopReady(%s) hands out nothing", show(next), show(now))
		}
		progress(t) // no more than limit times
		out = append(out, popped{item, now})
	}
}

// drainAll is drain of n different items, all that wait.
func drainAll(t fataler, h delayHeap, now time.Time, n int) []popped {
	mustLen(t, h, n)
	out, seen := drain(t, h, now, n), map[string]bool{}
	for _, p := range out {
		if seen[p.item] {
			t.Fatalf("%q came out twice", p.item)
		}
		seen[p.item] = true
	}
	if len(out) != n {
		t.Fatalf("%d of %d items came out", len(out), n)
	}
	return out
}

// precision is what is asked of a structure's times.
type precision struct {
	known       bool          // false: only that nothing is early
	granularity time.Duration // 0 for exact times
}

var exactly = precision{known: true}

// precisionOf is what the structure under test claims.
func precisionOf(t *suite.T) precision {
	p := precision{known: true, granularity: settingsOf(t).granularity}
	if _, inexact := t.Config().Waived["DELAY-11"]; inexact && p.granularity == 0 {
		return precision{}
	}
	return p
}

// due reports whether an item may still be held back at now: one that is ready must come.
func (p precision) due(readyAt, now time.Time) bool {
	return p.known && !readyAt.Add(p.granularity).After(now)
}

// near reports whether t may stand for the time earliest.
func (p precision) near(t, earliest time.Time) bool {
	if p.granularity == 0 {
		return t.Equal(earliest)
	}
	return !t.Before(earliest) && t.Before(earliest.Add(p.granularity))
}

// mustNext asserts that Next gives the earliest time waiting.
func mustNext(t fataler, h delayHeap, p precision, earliest time.Time) {
	if next, ok := h.Next(); !ok || p.known && !p.near(next, earliest) {
		t.Fatalf("Next() = %s, %v; the earliest time waiting is %s", show(next), ok, show(earliest))
	}
}

func show(t time.Time) string { return t.Format("2006-01-02T15:04:05.999999999") }
