package delaytest

// Random histories against a model: short ones, which shrink, and long ones.

import (
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/suite"
)

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
