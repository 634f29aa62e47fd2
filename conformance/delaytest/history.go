package delaytest

// Random histories against a model: short ones, which shrink, and long ones.

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// history does random steps on h and on a plain map, and compares. Times are
// minutes; where exact is false, only what holds for any granularity is asked.
func history(rt *rapid.T, h contract.DelayHeap[string], exact bool) {
	waiting := map[string]time.Time{}
	now := at(0)
	earliest := func() (first time.Time) {
		for _, readyAt := range waiting {
			if first.IsZero() || readyAt.Before(first) {
				first = readyAt
			}
		}
		return first
	}
	took := func(item string, now time.Time) {
		readyAt, ok := waiting[item]
		switch {
		case !ok:
			rt.Fatalf("%q came out, but it does not wait", item)
		case readyAt.After(now):
			rt.Fatalf("%q came out at %s, its time is %s", item, show(now), show(readyAt))
		case exact && readyAt.After(earliest()):
			rt.Fatalf("%q with time %s came out before one with time %s", item, show(readyAt),
				show(earliest()))
		}
		delete(waiting, item)
	}
	rt.Repeat(map[string]func(*rapid.T){
		"Add": func(rt *rapid.T) {
			item := rapid.StringMatching(`[a-l]`).Draw(rt, "item")
			readyAt := at(rapid.IntRange(-10, 200).Draw(rt, "minute"))
			h.Add(item, readyAt)
			if old, waits := waiting[item]; !waits || readyAt.Before(old) {
				waiting[item] = readyAt
			}
		},
		"PopReady": func(rt *rapid.T) {
			item, ok := h.PopReady(now)
			if ok {
				took(item, now)
			} else if exact && len(waiting) > 0 && !earliest().After(now) {
				rt.Fatalf("PopReady(%s) hands out nothing, but an item's time was %s", show(now),
					show(earliest()))
			}
		},
		"advance": func(rt *rapid.T) {
			now = now.Add(time.Duration(rapid.IntRange(1, 30).Draw(rt, "minutes")) * time.Minute)
		},
		"": func(rt *rapid.T) {
			if h.Len() != len(waiting) {
				rt.Fatalf("Len() = %d, want %d", h.Len(), len(waiting))
			}
			next, ok := h.Next()
			if ok != (len(waiting) > 0) {
				rt.Fatalf("Next() says %v, but %d items wait", ok, len(waiting))
			}
			if exact && ok && !next.Equal(earliest()) {
				rt.Fatalf("Next() = %s, the earliest time waiting is %s", show(next), show(earliest()))
			}
		},
	})
	for _, p := range drain(rt, h, now, len(waiting)) {
		took(p.item, p.now)
	}
	if len(waiting) > 0 {
		rt.Fatalf("%d items never came out: %v", len(waiting), waiting)
	}
}

// precision is what is asked of a structure's times.
type precision struct {
	known       bool          // false: only that nothing is early
	granularity time.Duration // 0 for exact times
}

var exactly = precision{known: true}

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

// longItems is how many items a long history has; about half of them wait at a time.
const longItems = 2000

// longHistory does 100,000 random steps on h and on a model. Its delays are of all sizes,
// below zero too, so that items lie in every part of a structure.
func longHistory(t *suite.T, h contract.DelayHeap[string], p precision) {
	model, rnd, now := pointerheap.New(), t.Rand(), at(0)
	items := make([]string, longItems)
	for i := range items {
		items[i] = fmt.Sprint("item", i)
	}
	for step := range t.Scale(100_000) {
		switch r := rnd.IntN(100); {
		case r < 50:
			item, readyAt := items[rnd.IntN(len(items))], now.Add(anyDelay(rnd))
			h.Add(item, readyAt)
			model.Add(item, readyAt)
		case r < 53:
			if earliest, waits := model.Next(); waits {
				item, readyAt := items[rnd.IntN(len(items))], earliest.Add(-1)
				h.Add(item, readyAt)
				model.Add(item, readyAt)
			}
		case r < 93:
			popBoth(t, h, model, now, p)
		default:
			now = now.Add(max(1, anyDelay(rnd)/64))
		}
		mustLen(t, h, model.Len())
		if step%8 != 0 {
			continue
		}
		next, ok := h.Next()
		earliest, waits := model.Next()
		if ok != waits || ok && p.known && !p.near(next, earliest) {
			t.Fatalf("step %d: Next() = %s, %v; the earliest time waiting is %s, %v", step, show(next), ok,
				show(earliest), waits)
		}
	}
	for model.Len() > 0 {
		next, ok := h.Next()
		if !ok {
			t.Fatalf("Next says that nothing waits, but %d items do", model.Len())
		}
		if next.After(now) {
			now = next
		}
		if !popBoth(t, h, model, now, p) {
			t.Fatalf("Next gave %s, but PopReady(%s) hands out nothing", show(next), show(now))
		}
	}
	mustLen(t, h, 0)
}

// waves adds thousands of items to h and to a model, pops most of them, and repeats. Between
// pops it adds some of the waiting items again, for an earlier time or a later one.
func waves(t *suite.T, h contract.DelayHeap[string]) {
	const most = 6000
	model, rnd, items := pointerheap.New(), t.Rand(), itemNames(2*most)
	add := func(item string) {
		readyAt := at(rnd.IntN(1_000_000))
		h.Add(item, readyAt)
		model.Add(item, readyAt)
		mustLen(t, h, model.Len())
	}
	for _, least := range []int{100, 1000, 10, 300, 0} {
		for model.Len() < most {
			t.Progress()
			add(items[rnd.IntN(len(items))])
		}
		for model.Len() > least {
			next, _ := h.Next()
			if !popBoth(t, h, model, next, precision{}) {
				t.Fatalf("Next gave %s, but PopReady hands out nothing", show(next))
			}
			if rnd.IntN(8) == 0 && model.Len() > 0 {
				// The order of the model is random enough for a choice.
				add(model.Order[rnd.IntN(model.Len())].Item)
			}
		}
	}
	mustLen(t, h, 0)
}

// farHistory does random steps on h and on a model with few items, half of whose times lie
// beyond the range of 64-bit nanoseconds. So those times are set, moved and taken back
// while others stand beside them.
func farHistory(t *suite.T, h contract.DelayHeap[string], p precision) {
	model, rnd, now, far := pointerheap.New(), t.Rand(), at(0), farTimes()
	add := func(item string, readyAt time.Time) {
		h.Add(item, readyAt)
		model.Add(item, readyAt)
	}
	for range t.Scale(20_000) {
		item := fmt.Sprint("item", rnd.IntN(24))
		switch r := rnd.IntN(10); {
		case r < 3:
			add(item, now.Add(anyDelay(rnd)))
		case r < 6:
			add(item, far[rnd.IntN(len(far))].Add(time.Duration(rnd.IntN(5))*time.Minute))
		case r < 9:
			popBoth(t, h, model, now, p)
		default:
			now = now.Add(max(1, anyDelay(rnd)/16))
			if rnd.IntN(20) == 0 { // as a clock that is set, forward or back
				now = far[rnd.IntN(len(far))]
			}
		}
		mustLen(t, h, model.Len())
		next, ok := h.Next()
		earliest, waits := model.Next()
		if ok != waits || ok && p.known && !p.near(next, earliest) {
			t.Fatalf("Next() = %s, %v; the earliest time waiting is %s, %v", show(next), ok, show(earliest),
				waits)
		}
	}
	end := far[len(far)-1].AddDate(1, 0, 0)
	for model.Len() > 0 {
		if !popBoth(t, h, model, end, p) {
			t.Fatalf("PopReady(%s) hands out nothing, but %d items wait", show(end), model.Len())
		}
	}
	mustLen(t, h, 0)
}

// popBoth takes an item out of h and of the model, if h hands one out.
func popBoth(t *suite.T, h contract.DelayHeap[string], model *pointerheap.Heap, now time.Time,
	p precision) bool {
	earliest, waits := model.Next()
	item, ok := h.PopReady(now)
	if !ok {
		if waits && p.due(earliest, now) {
			t.Fatalf("PopReady(%s) hands out nothing, but an item's time was %s", show(now), show(earliest))
		}
		return false
	}
	w := model.Known[item]
	switch {
	case w == nil:
		t.Fatalf("%q came out, but it does not wait", item)
	case w.ReadyAt.After(now):
		t.Fatalf("%q came out at %s, its time is %s", item, show(now), show(w.ReadyAt))
	case p.known && !p.near(w.ReadyAt, earliest):
		t.Fatalf("%q with time %s came out before one with time %s", item, show(w.ReadyAt),
			show(earliest))
	}
	t.Progress()
	heap.Remove(&model.Order, w.Index)
	delete(model.Known, item)
	return true
}

// anyDelay is as likely to be of microseconds as of hours; one in eight lies in the past.
func anyDelay(rnd *rand.Rand) time.Duration {
	d := time.Duration(rnd.Int64N(1 << (1 + rnd.IntN(43))))
	if rnd.IntN(8) == 0 {
		return -d
	}
	return d
}
