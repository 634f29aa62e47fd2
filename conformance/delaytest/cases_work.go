package delaytest

// The clause of contract.CapCountedWork.

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

const whyWork = "what is quick with a thousand items holds the queue's lock for seconds with a " +
	"million"

// workSizes are how many items wait while steps are counted.
var workSizes = []int{100, 5000}

// counted runs f on heaps in which so many items wait, and holds the steps that it took
// against the bound. f returns how many operations it did.
func counted(f func(t *suite.T, h delayHeap, waiting int) (operations int)) func(
	*suite.T, constructor) {
	return func(t *suite.T, newHeap constructor) {
		steps, bound := settingsOf(t).steps, settingsOf(t).bound
		if steps == nil || bound == nil {
			t.Skipf("it does not count its steps: see delaytest.CountedWork")
		}
		for _, waiting := range workSizes {
			h := newHeap()
			for i, item := range itemNames(waiting) {
				h.Add(item, at(0).Add(time.Duration(i*7919%waiting)*time.Second))
			}
			before := steps(h)
			n := f(t, h, waiting)
			if per := float64(steps(h)-before) / float64(n); per > bound(waiting) {
				t.Errorf("with %d items waiting, %d operations took %.1f steps each; the bound is %.1f",
					waiting, n, per, bound(waiting))
			}
		}
	}
}

var workCases = []suite.Case[constructor]{
	check("DELAY-15", "out-and-in-again", whyWork,
		counted(func(t *suite.T, h delayHeap, waiting int) int {
			rnd, n := t.Rand(), 20_000
			for range n {
				now, _ := h.Next()
				item, ok := h.PopReady(now)
				if !ok {
					t.Fatalf("Next gave %s, but PopReady hands out nothing", show(now))
				}
				h.Add(item, now.Add(time.Duration(rnd.Int64N(int64(waiting)*int64(time.Second)))))
			}
			return 3 * n
		})),
	check("DELAY-15", "ever-earlier", whyWork, counted(func(t *suite.T, h delayHeap, waiting int) int {
		items, n := itemNames(waiting), 20_000
		for i := range n {
			h.Add(items[i*7919%waiting], at(-i/100).Add(-time.Duration(i)*time.Millisecond))
			h.Next()
		}
		return 2 * n
	})),
	check("DELAY-15", "far-between", "time that passes with nothing in it must cost nothing",
		counted(func(t *suite.T, h delayHeap, waiting int) int {
			drain(t, h, at(0), waiting)
			n := 2000
			for i := range n {
				readyAt := at(0).AddDate(0, 0, i)
				h.Add("a", readyAt)
				h.Add("b", readyAt.Add(12*time.Hour))
				for range 2 {
					now, _ := h.Next()
					if _, ok := h.PopReady(now); !ok {
						t.Fatalf("Next gave %s, but PopReady hands out nothing", show(now))
					}
				}
			}
			return 6*n + 2*waiting
		})),
	check("DELAY-15", "asked-in-vain", "a queue asks at each wake-up, and mostly nothing is ready",
		counted(func(t *suite.T, h delayHeap, waiting int) int {
			h.Add(fmt.Sprint("first of ", waiting), at(-10))
			n := 20_000
			for range n {
				mustNotPop(t, h, at(-20))
				h.Next()
			}
			return 2 * n
		})),
}
