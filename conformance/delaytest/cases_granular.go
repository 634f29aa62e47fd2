package delaytest

// The clauses of contract.CapGranular.

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

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
