package delaytest

// The clauses of contract.CapExactTime, and the random histories of both kinds.

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const whyOrder = "an object that waited longer would be reconciled after one that waited less"

var exactCases = []suite.Case[constructor]{
	{Clause: "DELAY-10", Name: "to-the-nanosecond", Why: "a timer that fires at the item's time would find nothing and spin", Run: func(t *suite.T, newHeap constructor) {
		h := newHeap()
		h.Add("a", at(5))
		mustNotPop(t, h, at(5).Add(-1))
		mustPop(t, h, at(5), "a")
		h.Add("b", at(5)) // its time has come already
		mustPop(t, h, at(5), "b")
	}},
	{Clause: "DELAY-10", Name: "same-instant-in-another-zone", Why: "times are instants: equal is ready whatever they print as", Run: func(t *suite.T, newHeap constructor) {
		h := newHeap()
		h.Add("a", at(5).In(time.FixedZone("east", 3600)))
		mustPop(t, h, at(5), "a")
	}},
	{Clause: "DELAY-11", Name: "every-order-of-arrival", Why: whyOrder, Run: func(t *suite.T, newHeap constructor) {
		permutations([]int{0, 1, 2, 3, 4, 5}, func(order []int) {
			h := newHeap()
			for _, i := range order {
				h.Add(fmt.Sprint(i), at(0).Add(time.Duration(i)))
			}
			for i := range order {
				mustPop(t, h, at(1), fmt.Sprint(i))
			}
		})
	}},
	{Clause: "DELAY-11", Name: "moved-earlier-anywhere", Why: whyOrder, Run: func(t *suite.T, newHeap constructor) {
		const n = 20
		for from := range n {
			for to := range n {
				h := newHeap()
				times := make([]time.Time, n)
				for i := range n {
					times[i] = at(0).Add(time.Duration(10 * i))
					h.Add(fmt.Sprint(i), times[i])
				}
				target := at(0).Add(time.Duration(10*to + 5))
				h.Add(fmt.Sprint(from), target)
				if target.Before(times[from]) {
					times[from] = target
				}
				order := make([]int, n)
				for i := range order {
					order[i] = i
				}
				slices.SortFunc(order, func(a, b int) int { return times[a].Compare(times[b]) })
				for _, i := range order {
					mustPop(t, h, at(1), fmt.Sprint(i))
				}
			}
		}
	}},
	{Clause: "DELAY-11", Name: "many", Why: whyOrder, Run: func(t *suite.T, newHeap constructor) {
		h, rnd := newHeap(), t.Rand()
		n := t.Scale(10000)
		readyAt := map[string]time.Time{}
		for i := range n {
			item := fmt.Sprint(i)
			readyAt[item] = at(0).Add(time.Duration(rnd.IntN(n))) // many ties
			h.Add(item, readyAt[item])
		}
		var last time.Time
		for i := range n {
			item, ok := h.PopReady(at(1000))
			if !ok || readyAt[item].Before(last) {
				t.Fatalf("pop %d: %q, %v with time %s after one with time %s", i, item, ok, show(readyAt[item]), show(last))
			}
			last = readyAt[item]
		}
	}},
	{Clause: "DELAY-11", Name: "any-history", Why: whyOrder, Run: func(t *suite.T, newHeap constructor) {
		t.Random(func(rt *rapid.T) { history(rt, newHeap(), true) })
	}},
	{Clause: "DELAY-12", Name: "follows-the-earliest", Why: "the owner would sleep past an item, or wake for nothing", Run: func(t *suite.T, newHeap constructor) {
		h := newHeap()
		next := func(want time.Time) {
			if got, ok := h.Next(); !ok || !got.Equal(want) {
				t.Fatalf("Next() = %s, %v; the earliest time waiting is %s", show(got), ok, show(want))
			}
		}
		h.Add("a", at(50))
		next(at(50))
		h.Add("b", at(60))
		next(at(50))
		h.Add("c", at(40).Add(1))
		next(at(40).Add(1))
		h.Add("b", at(30))
		next(at(30))
		mustNotPop(t, h, at(29))
		next(at(30))
		mustPop(t, h, at(30), "b")
		next(at(40).Add(1))
		mustPop(t, h, at(41), "c")
		next(at(50))
	}},
}

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
			rt.Fatalf("%q with time %s came out before one with time %s", item, show(readyAt), show(earliest()))
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
				rt.Fatalf("PopReady(%s) hands out nothing, but an item's time was %s", show(now), show(earliest()))
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

// permutations calls f with every order of s (Heap's algorithm).
func permutations(s []int, f func([]int)) {
	var rec func(k int)
	rec = func(k int) {
		if k <= 1 {
			f(s)
			return
		}
		for i := range k {
			rec(k - 1)
			if k%2 == 0 {
				s[i], s[k-1] = s[k-1], s[i]
			} else {
				s[0], s[k-1] = s[k-1], s[0]
			}
		}
	}
	rec(len(s))
}

// stringData points into s's memory, for weak pointers that watch it.
func stringData(s string) *byte { return unsafe.StringData(s) }
