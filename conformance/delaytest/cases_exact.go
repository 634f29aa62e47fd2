package delaytest

// The clauses of contract.CapExactTime.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
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

// The clauses of contract.CapGranular.

// granular runs a case with the granularity that the structure states.
func granular(run func(t *suite.T, newHeap constructor, g time.Duration)) func(*suite.T,
	constructor) {
	return func(t *suite.T, newHeap constructor) {
		g := settingsOf(t).granularity
		if g == 0 {
			t.Skipf("it states no granularity: see delaytest.Granularity")
		}
		run(t, newHeap, g)
	}
}

var granularCases = []suite.Case[constructor]{
	check("DELAY-16", "any-time", "lateness beyond what is stated is a surprise",
		granular(func(t *suite.T, newHeap constructor, g time.Duration) {
			h, rnd := newHeap(), t.Rand()
			for i := range t.Scale(3000) {
				readyAt := at(0).Add(time.Duration(rnd.Int64N(int64(time.Hour))))
				if i%10 == 0 {
					readyAt = readyAt.Truncate(g) // perhaps a whole tick
				}
				h.Add("a", readyAt)
				mustNotPop(t, h, readyAt.Add(-1))
				mustPop(t, h, readyAt.Add(g-1), "a")
			}
		})),
	check("DELAY-16", "among-others", "a slot that is forgotten until the next one is emptied",
		granular(func(t *suite.T, newHeap constructor, g time.Duration) {
			h, rnd, n := newHeap(), t.Rand(), t.ScaleSize(2000)
			left := map[string]time.Time{}
			for i := range n {
				item := fmt.Sprint(i)
				left[item] = at(0).Add(time.Duration(rnd.Int64N(int64(time.Hour))))
				h.Add(item, left[item])
			}
			for now := at(0); len(left) > 0; now = now.Add(time.Minute + 7*g) {
				for item, ok := h.PopReady(now); ok; item, ok = h.PopReady(now) {
					delete(left, item)
				}
				for item, readyAt := range left {
					if !readyAt.Add(g - 1).After(now) {
						t.Fatalf("%q with time %s is not handed out at %s", item, show(readyAt), show(now))
					}
				}
			}
		})),
	check("DELAY-17", "a-granularity-apart", whyOrder,
		granular(func(t *suite.T, newHeap constructor, g time.Duration) {
			h, n := newHeap(), t.ScaleSize(2000)
			for _, i := range t.Rand().Perm(n) {
				h.Add(fmt.Sprint(i), at(0).Add(time.Duration(i)*g))
			}
			for i := range n {
				mustPop(t, h, at(n+1), fmt.Sprint(i))
			}
		})),
	check("DELAY-17", "many-steps", whyOrder,
		granular(func(t *suite.T, newHeap constructor, g time.Duration) {
			longHistory(t, newHeap(), precision{known: true, granularity: g})
		})),
	check("DELAY-18", "follows-the-earliest",
		"the owner would sleep past an item, or wake for nothing",
		granular(func(t *suite.T, newHeap constructor, g time.Duration) {
			h, p := newHeap(), precision{known: true, granularity: g}
			next := func(earliest time.Time) { mustNext(t, h, p, earliest) }
			h.Add("a", at(500).Add(1))
			next(at(500).Add(1))
			h.Add("b", at(600))
			next(at(500).Add(1))
			h.Add("c", at(400).Add(g/2))
			next(at(400).Add(g / 2))
			h.Add("b", at(3)) // Next has looked further ahead already
			next(at(3))
			mustNotPop(t, h, at(3).Add(-1))
			mustPop(t, h, at(4), "b")
			next(at(400).Add(g / 2))
			mustPop(t, h, at(402), "c")
			next(at(500).Add(1))
		})),
	check("DELAY-18", "any-time", "the owner would sleep past an item, or wake for nothing",
		granular(func(t *suite.T, newHeap constructor, g time.Duration) {
			rnd, p := t.Rand(), precision{known: true, granularity: g}
			for range t.Scale(300) {
				h := newHeap()
				var earliest time.Time
				for i := range 10 {
					readyAt := at(0).Add(time.Duration(rnd.Int64N(int64(time.Hour))))
					if h.Add(fmt.Sprint(i), readyAt); earliest.IsZero() || readyAt.Before(earliest) {
						earliest = readyAt
					}
					mustNext(t, h, p, earliest)
				}
			}
		})),
}

// The clause of contract.CapArrivalOrder.

const whyArrival = "a test in virtual time, where many items are due at one instant, would see " +
	"another order at each run"

// ordered runs a case on a structure that claims the order of arrival.
func ordered(run func(t *suite.T, newHeap constructor)) func(*suite.T, constructor) {
	return func(t *suite.T, newHeap constructor) {
		if h := newHeap(); !inArrivalOrder(h) {
			t.Skipf("%T does not claim the order of arrival", h)
		}
		run(t, newHeap)
	}
}

func inArrivalOrder(h delayHeap) bool {
	_, ok := h.(contract.ArrivalOrdered)
	return ok
}

// anyTie does random steps with few different times, so that many items are equal, and
// compares with what came first. Every item is added once.
func anyTie(t *suite.T, h delayHeap, rnd *rand.Rand, instants []time.Time) {
	waiting := make([][]string, len(instants)) // of each instant, in the order of arrival
	n, now := 0, instants[0]
	end := instants[len(instants)-1].Add(2 * maxGranularity)
	pop := func() bool {
		item, ok := h.PopReady(now)
		if !ok {
			return false
		}
		i := slices.IndexFunc(waiting, func(of []string) bool { return len(of) > 0 })
		if i < 0 {
			t.Fatalf("%q came out, but nothing waits", item)
		}
		if waiting[i][0] != item {
			t.Fatalf("%q came out, but of the time %s %q was added first", item, show(instants[i]),
				waiting[i][0])
		}
		waiting[i] = waiting[i][1:]
		return true
	}
	add := func(item string) {
		i := rnd.IntN(len(instants))
		waiting[i] = append(waiting[i], item)
		h.Add(item, instants[i])
	}
	for range t.Scale(400) {
		t.Progress()
		for range rnd.IntN(40) {
			add(fmt.Sprint(n))
			n++
		}
		now = instants[rnd.IntN(len(instants))]
		for range rnd.IntN(40) {
			if !pop() {
				break
			}
		}
		if rnd.IntN(8) == 0 { // what was there at the beginning stays no longer
			for now = end; pop(); {
			}
		}
		_, _ = h.Next()
	}
	for now = end; pop(); {
	}
	mustLen(t, h, 0)
}

var arrivalCases = []suite.Case[constructor]{
	check("DELAY-20", "one-instant", whyArrival, ordered(func(t *suite.T, newHeap constructor) {
		for _, n := range []int{2, 3, 5, 17, 100, t.ScaleSize(5000)} {
			h := newHeap()
			for i := range n {
				h.Add(fmt.Sprint(i), at(5))
			}
			for i := range n {
				mustPop(t, h, at(6), fmt.Sprint(i))
			}
		}
	})),
	check("DELAY-20", "few-instants", whyArrival, ordered(func(t *suite.T, newHeap constructor) {
		rnd := t.Rand()
		for range t.Scale(10) {
			var instants []time.Time
			for range 1 + rnd.IntN(6) {
				instants = append(instants, at(10*len(instants)+rnd.IntN(10)))
			}
			anyTie(t, newHeap(), rnd, instants)
		}
	})),
	check("DELAY-20", "far-apart", whyArrival, ordered(func(t *suite.T, newHeap constructor) {
		anyTie(t, newHeap(), t.Rand(), []time.Time{at(0), at(1), at(90), at(60 * 24), at(60 * 24 * 400)})
	})),
	check("DELAY-20", "before-and-after-a-look", whyArrival,
		ordered(func(t *suite.T, newHeap constructor) {
			// Next may arrange what waits. Each of some hundred ticks gets an item before and after.
			h, tick := newHeap(), max(1, settingsOf(t).granularity)
			for i := range 600 {
				readyAt := at(5).Add(time.Duration(i) * tick)
				h.Add("earlier", at(0))
				h.Add("a", readyAt)
				mustPop(t, h, at(1), "earlier")
				h.Next()
				h.Add("b", readyAt)
				mustPop(t, h, at(20_000), "a")
				mustPop(t, h, at(20_000), "b")
			}
		})),
	check("DELAY-20", "beside-one-that-moves", whyArrival,
		ordered(func(t *suite.T, newHeap constructor) {
			for _, minute := range []int{0, 90, 1_000_000} {
				h := newHeap()
				h.Add("moves", at(minute+50))
				h.Add("a", at(minute))
				h.Add("moves", at(minute-50))
				h.Add("b", at(minute))
				for _, want := range []string{"moves", "a", "b"} {
					mustPop(t, h, at(minute+60), want)
				}
			}
		})),
	check("DELAY-20", "beyond-64-bits", "equal times that have no 64-bit value are equal too",
		ordered(func(t *suite.T, newHeap constructor) {
			anyTie(t, newHeap(), t.Rand(),
				[]time.Time{at(0).AddDate(-900, 0, 0), at(0), at(0).AddDate(700, 0, 0),
					at(0).AddDate(800, 0, 0)})
		})),
}
