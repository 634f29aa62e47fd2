package delaytest

// The clauses that hold for heaps and wheels alike.

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
	"weak"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyEarly = "a back-off that ends early retries in a hot loop"
	whyLost  = "an object whose retry is lost is not reconciled until somebody changes it"
)

var coreCases = []suite.Case[constructor]{
	check("DELAY-1", "not-before-its-time", whyEarly, one(func(t *suite.T, h delayHeap) {
		h.Add("a", at(60))
		for _, now := range []time.Time{{}, at(-60), at(0), at(59), at(60).Add(-1)} {
			mustNotPop(t, h, now)
		}
		mustLen(t, h, 1)
		mustPop(t, h, at(62), "a")
	})),
	check("DELAY-1", "among-many", whyEarly, func(t *suite.T, newHeap constructor) {
		h, rnd := newHeap(), t.Rand()
		n := t.ScaleSize(2000)
		readyAt := map[string]time.Time{}
		for i := range n {
			item := fmt.Sprint(i)
			readyAt[item] = at(0).Add(time.Duration(rnd.Int64N(int64(10 * time.Hour))))
			h.Add(item, readyAt[item])
		}
		for now := at(0); now.Before(at(620)); now = now.Add(7 * time.Minute) {
			for {
				item, ok := h.PopReady(now)
				if !ok {
					break
				}
				if readyAt[item].After(now) {
					t.Fatalf("%q came out at %s, its time is %s", item, show(now), show(readyAt[item]))
				}
			}
		}
		mustLen(t, h, 0)
	}),
	check("DELAY-2", "all-come-out-once", whyLost, func(t *suite.T, newHeap constructor) {
		h, rnd := newHeap(), t.Rand()
		n := t.ScaleSize(5000)
		for i := range n {
			h.Add(fmt.Sprint(i), at(rnd.IntN(1000)))
		}
		drainAll(t, h, at(0), n)
	}),
	check("DELAY-2", "any-history", whyLost, func(t *suite.T, newHeap constructor) {
		t.Random(func(rt *rapid.T) { history(rt, newHeap(), precision{}) })
	}),
	check("DELAY-3", "later-time-changes-nothing",
		"an event that postpones a retry lets a busy object starve", one(func(t *suite.T, h delayHeap) {
			h.Add("a", at(10))
			h.Add("a", at(100))
			mustLen(t, h, 1)
			mustPop(t, h, at(20), "a")
			mustNotPop(t, h, at(1000))
		})),
	check("DELAY-3", "earlier-time-wins", whyLost, func(t *suite.T, newHeap constructor) {
		for pos := range 15 {
			h := newHeap()
			for i := range 15 {
				h.Add(fmt.Sprint(i), at(100+10*i))
			}
			moved := fmt.Sprint(pos)
			h.Add(moved, at(10))
			mustLen(t, h, 15)
			mustPop(t, h, at(20), moved)
			mustNotPop(t, h, at(20))
			var rest []string
			for _, p := range drain(t, h, at(20), 14) {
				rest = append(rest, p.item)
			}
			if len(rest) != 14 || slices.Contains(rest, moved) {
				t.Fatalf("after %q moved to the front and came out, the rest is %v", moved, rest)
			}
		}
	}),
	check("DELAY-4", "follows-each-step", "a queue's depth metric would drift",
		one(func(t *suite.T, h delayHeap) {
			mustLen(t, h, 0)
			for i := range 10 {
				h.Add(fmt.Sprint(i), at(i))
				mustLen(t, h, i+1)
				h.Add(fmt.Sprint(i), at(i))
				mustLen(t, h, i+1)
			}
			mustNotPop(t, h, at(-10))
			mustLen(t, h, 10)
			for i := range 10 {
				_, ok := h.PopReady(at(100))
				if !ok {
					t.Fatalf("PopReady handed out %d of 10 items that are all ready", i)
				}
				mustLen(t, h, 9-i)
			}
		})),
	check("DELAY-5", "new-and-emptied",
		"the owner would wake for nothing, or hand out an item that nobody added",
		one(func(t *suite.T, h delayHeap) {
			for range 3 {
				if next, ok := h.Next(); ok || !next.IsZero() {
					t.Fatalf("nothing waits, yet Next() = %s, %v", show(next), ok)
				}
				if item, ok := h.PopReady(at(1 << 20)); ok || item != "" {
					t.Fatalf("nothing waits, yet PopReady = %q, %v", item, ok)
				}
				mustLen(t, h, 0)
				h.Add("a", at(1))
				mustPop(t, h, at(5), "a")
			}
		})),
	check("DELAY-5", "zero-item", "the zero value is an item like any other",
		one(func(t *suite.T, h delayHeap) {
			h.Add("", at(1))
			mustLen(t, h, 1)
			mustPop(t, h, at(5), "")
			mustNotPop(t, h, at(5))
		})),
	check("DELAY-6", "waits-for-its-new-time", whyLost, one(func(t *suite.T, h delayHeap) {
		for round := range 5 {
			h.Add("a", at(100*round+10))
			h.Add("b", at(100*round+40))
			mustNotPop(t, h, at(100*round+9))
			mustPop(t, h, at(100*round+15), "a")
			h.Add("a", at(100*round+80)) // later than the time that a had
			mustNotPop(t, h, at(100*round+15))
			mustPop(t, h, at(100*round+45), "b")
			mustNotPop(t, h, at(100*round+45))
			mustPop(t, h, at(100*round+85), "a")
			mustLen(t, h, 0)
		}
	})),
	check("DELAY-7", "pop-at-next", "the owner sleeps until Next: it would spin, or sleep for ever",
		func(t *suite.T, newHeap constructor) {
			h, rnd := newHeap(), t.Rand()
			for i := range 300 {
				h.Add(fmt.Sprint(i), at(0).Add(time.Duration(rnd.Int64N(int64(1000*time.Hour)))))
			}
			drainAll(t, h, at(0), 300)
		}),
	check("DELAY-8", "far-and-near",
		"a zero time or an overflowing difference must not wedge the queue",
		func(t *suite.T, newHeap constructor) {
			wall := time.Now().Round(0)
			times := []time.Time{
				{},
				time.Unix(0, 0),
				time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC),
				wall,
				time.Now().Add(time.Minute), // with a monotonic reading
				wall.Add(10 * time.Minute),  // without
				time.Now().Add(math.MaxInt64),
				time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
			}
			h := newHeap()
			readyAt := map[string]time.Time{}
			for _, i := range t.Rand().Perm(len(times)) {
				item := show(times[i]) + fmt.Sprint("#", i)
				readyAt[item] = times[i]
				h.Add(item, times[i])
			}
			for _, p := range drainAll(t, h, time.Time{}, len(times)) {
				if readyAt[p.item].After(p.now) {
					t.Fatalf("%s came out at %s", p.item, show(p.now))
				}
			}
		}),
	check("DELAY-9", "popped-items-are-garbage",
		"a controller that once held a million keys would keep them for ever",
		one(func(t *suite.T, h delayHeap) { lettingGo(t, h, oneByOne(h)) })),
	check("DELAY-9", "while-others-wait",
		"a queue that is never quite empty would keep every key it ever held",
		one(func(t *suite.T, h delayHeap) {
			for i := range 16 {
				h.Add(fmt.Sprint("stays", i), at(100000+i))
			}
			lettingGo(t, h, oneByOne(h))
		})),
	check("DELAY-9", "added-again-for-an-earlier-time",
		"a key that was put off and came at once would be kept until its former time",
		one(func(t *suite.T, h delayHeap) {
			h.Add("stays", at(100000))
			lettingGo(t, h, func(items []contract.Waiting[string]) {
				for i, w := range items {
					h.Add(w.Item, at(200000+i))
					h.Add(w.Item, w.ReadyAt)
				}
			})
		})),
	check("DELAY-9", "added-by-AddMany",
		"a queue that takes items in by the batch would keep the keys of batches",
		having(func(t *suite.T, newHeap func() batchHeap) {
			h := newHeap()
			h.Add("stays", at(100000))
			lettingGo(t, h, h.AddMany)
		})),
}

// lettingGo adds 64 items to h, pops them, and asserts that they are garbage then.
func lettingGo(t *suite.T, h delayHeap, add func([]contract.Waiting[string])) {
	const n = 64
	refs := addTraceable(n, add)
	for range n {
		_, ok := h.PopReady(at(1000))
		if !ok {
			t.Fatalf("PopReady stopped before the %d ready items were out", n)
		}
	}
	collected(t, refs)
	runtime.KeepAlive(h)
}

// oneByOne is AddMany of a heap that has none.
func oneByOne(h delayHeap) func([]contract.Waiting[string]) {
	return func(items []contract.Waiting[string]) {
		for _, w := range items {
			h.Add(w.Item, w.ReadyAt)
		}
	}
}

// addTraceable adds n items of a kilobyte each, with memory of their own that
// can be seen to die.
func addTraceable(n int, add func([]contract.Waiting[string])) []weak.Pointer[byte] {
	refs, items := make([]weak.Pointer[byte], n), make([]contract.Waiting[string], n)
	for i := range refs {
		item := traceable(i)
		refs[i] = weak.Make(stringData(item))
		items[i] = contract.Waiting[string]{Item: item, ReadyAt: at(i)}
	}
	add(items)
	return refs
}

// traceable is the i-th item of addTraceable.
func traceable(i int) string { return strings.Repeat(fmt.Sprintf("%8d", i), 128) }

// collected waits until the collector has all of them. One collection may miss what a dead
// word of some goroutine's stack still names, which a goroutine stopped between two safe
// points is searched for; what the structure names, no number of collections frees.
func collected(t *suite.T, refs []weak.Pointer[byte]) {
	t.Eventually(func() bool {
		return !slices.ContainsFunc(refs, func(r weak.Pointer[byte]) bool { return r.Value() != nil })
	}, runtime.GC, "the collector has all items that came out")
}

// Times at the ends, clocks that go back, and long histories: what holds for heaps and
// wheels alike.

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
