package delaytest

// The clauses of contract.CapExactTime.

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
)

const whyOrder = "an object that waited longer would be reconciled after one that waited less"

var exactCases = []suite.Case[constructor]{
	check("DELAY-10", "to-the-nanosecond",
		"a timer that fires at the item's time would find nothing and spin",
		one(func(t *suite.T, h delayHeap) {
			h.Add("a", at(5))
			mustNotPop(t, h, at(5).Add(-1))
			mustPop(t, h, at(5), "a")
			h.Add("b", at(5)) // its time has come already
			mustPop(t, h, at(5), "b")
		})),
	check("DELAY-10", "same-instant-in-another-zone",
		"times are instants: equal is ready whatever they print as", one(func(t *suite.T, h delayHeap) {
			h.Add("a", at(5).In(time.FixedZone("east", 3600)))
			mustPop(t, h, at(5), "a")
		})),
	check("DELAY-11", "every-order-of-arrival", whyOrder, func(t *suite.T, newHeap constructor) {
		permutations([]int{0, 1, 2, 3, 4, 5}, func(order []int) {
			h := newHeap()
			for _, i := range order {
				h.Add(fmt.Sprint(i), at(0).Add(time.Duration(i)))
			}
			for i := range order {
				mustPop(t, h, at(1), fmt.Sprint(i))
			}
		})
	}),
	check("DELAY-11", "moved-earlier-anywhere", whyOrder, func(t *suite.T, newHeap constructor) {
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
	}),
	check("DELAY-11", "many", whyOrder, func(t *suite.T, newHeap constructor) {
		h, rnd := newHeap(), t.Rand()
		n := t.ScaleSize(10000)
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
				t.Fatalf("pop %d: %q, %v with time %s after one with time %s", i, item, ok, show(readyAt[item]),
					show(last))
			}
			last = readyAt[item]
		}
	}),
	check("DELAY-11", "any-history", whyOrder, func(t *suite.T, newHeap constructor) {
		t.Random(func(rt *rapid.T) { history(rt, newHeap(), exactly) })
	}),
	check("DELAY-11", "many-steps", whyOrder,
		func(t *suite.T, newHeap constructor) { longHistory(t, newHeap(), exactly) }),
	check("DELAY-11", "near-and-beyond-292-years", whyOrder,
		func(t *suite.T, newHeap constructor) { farHistory(t, newHeap(), exactly) }),
	check("DELAY-11", "falling-times",
		"each item becomes the first: a structure that runs ahead of time has no place for it",
		func(t *suite.T, newHeap constructor) {
			h, n := newHeap(), t.ScaleSize(3000)
			for i := range n {
				readyAt := at(0).Add(-time.Duration(i))
				h.Add(fmt.Sprint(i), readyAt)
				mustNext(t, h, exactly, readyAt)
			}
			for i := n - 1; i >= 0; i-- {
				mustPop(t, h, at(1), fmt.Sprint(i))
			}
		}),
	check("DELAY-11", "beyond-292-years", "the nanoseconds between two times do not fit 64 bits",
		func(t *suite.T, newHeap constructor) {
			h, times := newHeap(), farTimes()
			for _, i := range t.Rand().Perm(len(times)) {
				h.Add(fmt.Sprint(i), times[i])
			}
			for i := range times {
				mustNext(t, h, exactly, times[i])
				mustPop(t, h, times[len(times)-1], fmt.Sprint(i))
			}
		}),
	check("DELAY-12", "follows-the-earliest",
		"the owner would sleep past an item, or wake for nothing", one(func(t *suite.T, h delayHeap) {
			next := func(want time.Time) { mustNext(t, h, exactly, want) }
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
		})),
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
