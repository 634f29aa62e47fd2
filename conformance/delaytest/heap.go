package delaytest

// What the cases share: fixed times, and draining a heap as its owner would.

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
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

// Random histories against a model: short ones, which shrink, and long ones.

// modelled runs each operation on a structure and on its model, and compares the results.
type modelled struct {
	fataler
	h     delayHeap
	model *pointerheap.Heap
	p     precision
}

func model(t fataler, h delayHeap, p precision) *modelled {
	return &modelled{t, h, pointerheap.New(), p}
}

func (m *modelled) add(item string, readyAt time.Time) {
	m.h.Add(item, readyAt)
	m.model.Add(item, readyAt)
}

// pop takes an item out of both, if the structure hands one out.
func (m *modelled) pop(now time.Time) bool {
	earliest, waits := m.model.Next()
	item, ok := m.h.PopReady(now)
	if !ok {
		if waits && m.p.due(earliest, now) {
			m.Fatalf("PopReady(%s) hands out nothing, but an item's time was %s", show(now), show(earliest))
		}
		return false
	}
	switch w := m.model.Known[item]; {
	case w == nil:
		m.Fatalf("%q came out, but it does not wait", item)
	case w.ReadyAt.After(now):
		m.Fatalf("%q came out at %s, its time is %s", item, show(now), show(w.ReadyAt))
	case m.p.known && !m.p.near(w.ReadyAt, earliest):
		m.Fatalf("%q with time %s came out before one with time %s", item, show(w.ReadyAt),
			show(earliest))
	}
	progress(m.fataler)
	m.model.TakeOut(item)
	return true
}

// compare compares what both say of themselves.
func (m *modelled) compare() {
	mustLen(m, m.h, m.model.Len())
	if earliest, waits := m.model.Next(); waits {
		mustNext(m, m.h, m.p, earliest)
	} else if next, ok := m.h.Next(); ok {
		m.Fatalf("nothing waits, and Next gives %s", show(next))
	}
}

// drain waits until Next, pops, and repeats until nothing waits.
func (m *modelled) drain(now time.Time) {
	for m.model.Len() > 0 {
		next, ok := m.h.Next()
		if !ok {
			m.Fatalf("Next says that nothing waits, but %d items do", m.model.Len())
		}
		if next.After(now) {
			now = next
		}
		if !m.pop(now) {
			m.Fatalf("Next gave %s, but PopReady(%s) hands out nothing", show(next), show(now))
		}
	}
	m.compare()
}

// history does random steps whose times are minutes.
func history(rt *rapid.T, h delayHeap, p precision) {
	m, now := model(rt, h, p), at(0)
	rt.Repeat(map[string]func(*rapid.T){
		"Add": func(rt *rapid.T) {
			item := rapid.StringMatching(`[a-l]`).Draw(rt, "item")
			m.add(item, at(rapid.IntRange(-10, 200).Draw(rt, "minute")))
		},
		"PopReady": func(*rapid.T) { m.pop(now) },
		"advance": func(rt *rapid.T) {
			now = now.Add(time.Duration(rapid.IntRange(1, 30).Draw(rt, "minutes")) * time.Minute)
		},
		"": func(*rapid.T) { m.compare() },
	})
	m.drain(now)
}

// longItems is how many items a long history has; about half of them wait at a time.
const longItems = 2000

// longHistory does 100,000 random steps. Its delays are of all sizes, below zero too, so that
// items lie in every part of a structure.
func longHistory(t *suite.T, h delayHeap, p precision) {
	m, rnd, now, items := model(t, h, p), t.Rand(), at(0), itemNames(longItems)
	for step := range t.Scale(100_000) {
		item := items[rnd.IntN(len(items))]
		switch r := rnd.IntN(100); {
		case r < 50:
			m.add(item, now.Add(anyDelay(rnd)))
		case r < 53:
			if earliest, waits := m.model.Next(); waits {
				m.add(item, earliest.Add(-1))
			}
		case r < 93:
			m.pop(now)
		default:
			now = now.Add(max(1, anyDelay(rnd)/64))
		}
		if mustLen(t, h, m.model.Len()); step%8 == 0 {
			m.compare()
		}
	}
	m.drain(now)
}

// waves adds thousands of items, pops most of them, and repeats. Between pops it adds some of
// the waiting items again, for an earlier time or a later one.
func waves(t *suite.T, h delayHeap) {
	const most = 6000
	m, rnd, items := model(t, h, precision{}), t.Rand(), itemNames(2*most)
	add := func(item string) {
		m.add(item, at(rnd.IntN(1_000_000)))
		mustLen(t, h, m.model.Len())
	}
	for _, least := range []int{100, 1000, 10, 300, 0} {
		for m.model.Len() < most {
			t.Progress()
			add(items[rnd.IntN(len(items))])
		}
		for m.model.Len() > least {
			if next, _ := h.Next(); !m.pop(next) {
				t.Fatalf("Next gave %s, but PopReady hands out nothing", show(next))
			}
			if rnd.IntN(8) == 0 && m.model.Len() > 0 {
				// The order of the model is random enough for a choice.
				add(m.model.Order[rnd.IntN(m.model.Len())].Item)
			}
		}
	}
	mustLen(t, h, 0)
}

// farHistory does random steps with few items, half of whose times lie beyond the range of
// 64-bit nanoseconds. So those times are set, moved and taken back while others stand beside
// them.
func farHistory(t *suite.T, h delayHeap, p precision) {
	m, rnd, now, far := model(t, h, p), t.Rand(), at(0), farTimes()
	for range t.Scale(20_000) {
		item := fmt.Sprint("item", rnd.IntN(24))
		switch r := rnd.IntN(10); {
		case r < 3:
			m.add(item, now.Add(anyDelay(rnd)))
		case r < 6:
			m.add(item, far[rnd.IntN(len(far))].Add(time.Duration(rnd.IntN(5))*time.Minute))
		case r < 9:
			m.pop(now)
		default:
			now = now.Add(max(1, anyDelay(rnd)/16))
			if rnd.IntN(20) == 0 { // as a clock that is set, forward or back
				now = far[rnd.IntN(len(far))]
			}
		}
		m.compare()
	}
	m.drain(far[len(far)-1].AddDate(1, 0, 0))
}

// anyDelay is as likely to be of microseconds as of hours; one in eight lies in the past.
func anyDelay(rnd *rand.Rand) time.Duration {
	d := time.Duration(rnd.Int64N(1 << (1 + rnd.IntN(43))))
	if rnd.IntN(8) == 0 {
		return -d
	}
	return d
}
