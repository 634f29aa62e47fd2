package delaytest

// Times at the ends, clocks that go back, and long histories: what holds for heaps and
// wheels alike.

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

// farTimes rise. Most lie too far from today to be told in 64-bit nanoseconds from it.
func farTimes() []time.Time {
	var times []time.Time
	for _, year := range []int{-5000, 1, 2, 1500, 1600, 1677, 1750, 1970, 2026, 2262, 2300, 2320, 5000,
		9998, 9999, 50000} {
		times = append(times, time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC))
	}
	return times
}

var extremeCases = []suite.Case[constructor]{
	check("DELAY-1", "the-clock-goes-back",
		"what was due by a clock that was then set back is early by the new one",
		one(func(t *suite.T, h delayHeap) {
			h.Add("first", at(10))
			mustPop(t, h, at(1000), "first")
			h.Add("a", at(500))
			h.Add("b", at(400))
			h.Add("c", at(2000))
			mustNotPop(t, h, at(399))
			mustPop(t, h, at(401), "b")
			mustNotPop(t, h, at(499))
			mustNotPop(t, h, at(20))
			mustPop(t, h, at(1000), "a")
			mustNotPop(t, h, at(1000))
			mustLen(t, h, 1)
		})),
	check("DELAY-1", "beyond-292-years", whyEarly, func(t *suite.T, newHeap constructor) {
		times := farTimes()
		for i := 1; i < len(times); i++ {
			h := newHeap()
			h.Add("a", times[i])
			mustNotPop(t, h, times[i-1])
			mustNotPop(t, h, times[i].Add(-1))
			mustPop(t, h, times[i].Add(time.Minute), "a")
		}
	}),
	check("DELAY-1", "many-steps", whyEarly, func(t *suite.T, newHeap constructor) {
		longHistory(t, newHeap(), precision{})
	}),
	check("DELAY-1", "beside-a-tick", whyEarly, func(t *suite.T, newHeap constructor) {
		for _, base := range []time.Time{at(5), time.Now().Add(time.Hour)} {
			for beside := range 5 {
				h := newHeap()
				h.Add("a", base)
				tick, _ := h.Next() // where a structure that rounds times up has one
				mustPop(t, h, tick, "a")
				readyAt := tick.Add(time.Duration(beside - 2))
				h.Add("b", readyAt)
				mustNotPop(t, h, readyAt.Add(-1))
				mustPop(t, h, readyAt.Add(maxGranularity), "b")
			}
		}
	}),
	check("DELAY-1", "at-the-ends-of-64-bits", "a number that overflows makes the last time the first",
		func(t *suite.T, newHeap constructor) {
			// A structure may count nanoseconds from when it was made, which lies between the two.
			before := time.Now()
			h := newHeap()
			after := time.Now()
			for back := range 200 {
				off := time.Duration(back*back) * 100
				last, first := before.Add(math.MaxInt64-off), after.Add(math.MinInt64+off)
				h.Add("last", last)
				mustNotPop(t, h, at(0))
				mustNotPop(t, h, first)
				mustNotPop(t, h, last.Add(-1))
				h.Add("first", first)
				if next, ok := h.Next(); !ok || next.After(first.Add(maxGranularity)) {
					t.Fatalf("Next() = %s, %v; the earliest time waiting is %s", show(next), ok, show(first))
				}
				mustNotPop(t, h, first.Add(-1))
				mustPop(t, h, first.Add(maxGranularity), "first")
				mustNotPop(t, h, at(0))
				mustPop(t, h, last.Add(maxGranularity), "last")
			}
		}),
	check("DELAY-2", "falling-times-beside-far-ones", whyLost, func(t *suite.T, newHeap constructor) {
		const n = 300
		h, future := newHeap(), []int{5000, 9000, 3000, 7000}
		for _, year := range future {
			h.Add(fmt.Sprint("year ", year), time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		for i := range n {
			h.Add(fmt.Sprint(i), at(-2*i))
			h.Next()
		}
		for i := range n {
			mustPop(t, h, at(-2*(n-1-i)+1), fmt.Sprint(n-1-i))
		}
		slices.Sort(future)
		for _, year := range future {
			ready := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			mustNotPop(t, h, ready.Add(-1))
			mustPop(t, h, ready.Add(maxGranularity), fmt.Sprint("year ", year))
		}
		mustLen(t, h, 0)
	}),
	check("DELAY-2", "falling-times", whyLost, func(t *suite.T, newHeap constructor) {
		h, n := newHeap(), t.ScaleSize(5000)
		for i := range n {
			h.Add(fmt.Sprint(i), at(-i))
			if i%3 == 0 {
				h.Next()
			}
		}
		mustLen(t, h, n)
		drainAll(t, h, at(-2*n), n)
	}),
	check("DELAY-2", "one-time-for-all", whyLost, func(t *suite.T, newHeap constructor) {
		h, n := newHeap(), t.ScaleSize(5000)
		for i := range n {
			h.Add(fmt.Sprint(i), at(7))
		}
		mustNotPop(t, h, at(6))
		drainAll(t, h, at(0), n)
	}),
	check("DELAY-3", "beyond-292-years", "two times that look the same in 64-bit nanoseconds are not",
		func(t *suite.T, newHeap constructor) {
			times := farTimes()
			for i := range times {
				for k := range times {
					h := newHeap()
					h.Add("a", times[i])
					h.Add("b", times[0].AddDate(-1, 0, 0)) // so that a is not the first
					h.Add("a", times[k])
					mustPop(t, h, times[0].AddDate(0, 0, -1), "b")
					early := times[min(i, k)]
					mustNotPop(t, h, early.Add(-1))
					mustPop(t, h, early.Add(time.Minute), "a")
					mustLen(t, h, 0)
				}
			}
		}),
	check("DELAY-3", "near-and-beyond-292-years", "an item that is asked for sooner waits for ever",
		func(t *suite.T, newHeap constructor) { farHistory(t, newHeap(), precision{}) }),
	check("DELAY-3", "waves",
		"an item that is not found again while a structure grows or shrinks waits twice",
		func(t *suite.T, newHeap constructor) { waves(t, newHeap()) }),
	check("DELAY-3", "after-a-flood",
		"a structure that gives room back forgets what it has kept, and an item comes twice",
		func(t *suite.T, newHeap constructor) {
			const flood, stay = 5000, 20
			h := newHeap()
			for i := range flood {
				h.Add(fmt.Sprint("gone", i), at(0))
			}
			for i := range stay {
				h.Add(fmt.Sprint("stays", i), at(1000+10*i))
			}
			for range flood {
				if item, ok := h.PopReady(at(2)); !ok {
					t.Fatalf("PopReady hands out nothing, but %d items were ready", flood)
				} else if len(item) > 5 && item[:5] == "stays" {
					t.Fatalf("%q came out before its time", item)
				}
			}
			for i := range stay {
				h.Add(fmt.Sprint("stays", i), at(3000)) // later: nothing changes
				if i%2 == 0 {
					h.Add(fmt.Sprint("stays", i), at(500+10*i))
				}
			}
			mustLen(t, h, stay)
			for i := 0; i < stay; i += 2 {
				mustPop(t, h, at(502+10*i), fmt.Sprint("stays", i))
			}
			for i := 1; i < stay; i += 2 {
				mustPop(t, h, at(1002+10*i), fmt.Sprint("stays", i))
			}
			mustLen(t, h, 0)
		}),
	check("DELAY-3", "with-and-without-a-monotonic-reading",
		"a time that was written down and read again has no monotonic reading",
		func(t *suite.T, newHeap constructor) {
			now := time.Now()
			wall := now.Round(0)
			for name, pair := range map[string][2]time.Time{"mono first": {now, wall},
				"wall first": {wall, now}} {
				h := newHeap()
				h.Add("a", pair[0].Add(time.Hour))
				h.Add("a", pair[1].Add(2*time.Hour))
				h.Add("b", pair[1].Add(3*time.Hour))
				h.Add("b", pair[0].Add(30*time.Minute))
				mustLen(t, h, 2)
				for i, clock := range pair {
					for k, item := range []string{"b", "a"} {
						ready := clock.Add(time.Duration(k+1) * 30 * time.Minute)
						mustNotPop(t, h, ready.Add(-time.Minute))
						if got, ok := h.PopReady(ready.Add(2 * time.Minute)); !ok || got != item {
							t.Fatalf("%s: PopReady(%s) = %q, %v; want %q", name, show(ready), got, ok, item)
						}
					}
					if i == 0 {
						h.Add("a", pair[1].Add(time.Hour))
						h.Add("b", pair[0].Add(30*time.Minute))
					}
				}
			}
		}),
}
