package delaytest

// The clause of contract.CapArrivalOrder.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

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
		t.FatalIf(i < 0, "%q came out, but nothing waits", item)
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
