package delaytest

// What a structure keeps: measured as what the process has less when the structure is
// let go.

import (
	"fmt"
	"strconv"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

const (
	// Bytes that a structure may keep after every item of a flood was popped, beyond what it
	// keeps after few: keptAnyway, and keptPerItem for each of them. client-go's map and slice
	// keep more than 50 bytes for each item.
	keptAnyway, keptPerItem = 512 << 10, 2
	leastFlood              = 20_000 // with fewer items, keptAnyway would hide a leak
	// The number of items that are added and popped while few wait.
	passing = 100_000
	// The number of items that are added again and again, and the bytes that each may take
	// beyond what it takes when it is added once.
	heavyItems, heavyItem = 1000, 1024
	few                   = 16 // items
)

var memoryCases = []suite.Case[constructor]{
	check("DELAY-13", "after-a-flood",
		"one resync of everything makes the controller large for as long as it runs",
		func(t *suite.T, newHeap constructor) {
			mustForget(t, newHeap, soon, func(i, n int) time.Time {
				return at(0).Add(time.Duration(i*7919%n) * time.Millisecond)
			})
		}),
	check("DELAY-13", "after-a-flood-beyond-292-years",
		"a time that has no 64-bit value is kept elsewhere, and must go with its item",
		func(t *suite.T, newHeap constructor) { mustForget(t, newHeap, soon, longAgo) }),
	check("DELAY-13", "after-a-flood-beyond-292-years-of-which-some-stay",
		"a Go map that grew keeps its size for as long as one time of it waits",
		func(t *suite.T, newHeap constructor) {
			mustForget(t, newHeap, func(i int) time.Time { return at(0).AddDate(1000, 0, i) }, longAgo)
		}),
	check("DELAY-13", "in-and-out",
		"a queue that works for weeks fills the memory with what has come out",
		func(t *suite.T, newHeap constructor) {
			items := itemNames(passing)
			suite.KeepsLess(t, keptAnyway+passing/2, few, passing,
				"%d items went in and out and 16 still wait", func(n int) delayHeap {
					h := newHeap()
					for i := range 16 {
						h.Add(fmt.Sprint("stays", i), at(1_000_000+i))
					}
					for i, item := range items[:n] {
						if i%10_000 == 0 {
							t.Progress()
						}
						h.Add(item, at(i/100))
						mustPop(t, h, at(i/100+1), item)
					}
					mustLen(t, h, 16)
					t.Progress()
					return h
				}, nil)
		}),
	check("DELAY-14", "ever-earlier",
		"objects that are busy and never reconciled would fill the memory",
		func(t *suite.T, newHeap constructor) {
			items, rounds := itemNames(heavyItems), max(100, t.Scale(300))
			suite.KeepsLess(t, heavyItems*heavyItem, 1, rounds,
				fmt.Sprint(len(items))+" items were each added %d times",
				func(rounds int) delayHeap {
					h := newHeap()
					for round := range rounds {
						t.Progress()
						for i, item := range items {
							h.Add(item, at(100_000-round).Add(time.Duration(i)*time.Second))
						}
					}
					mustLen(t, h, len(items))
					return h
				}, nil)
		}),
	check("DELAY-14", "ever-earlier-comes-out-once",
		"an entry that was left behind is an item that comes out again",
		func(t *suite.T, newHeap constructor) {
			h, items := newHeap(), itemNames(100)
			for round := range 50 {
				t.Progress()
				for i, item := range items {
					h.Add(item, at(10_000-100*round+i))
				}
				mustLen(t, h, len(items))
			}
			drainAll(t, h, at(0), len(items))
		}),
}

// soon is when the 16 items that stay after a flood are ready.
func soon(i int) time.Time { return at(1_000_000 + i) }

// longAgo gives item i of n a time that is more than 292 years ago.
func longAgo(i, n int) time.Time { return time.Date(1000, 1, 1, 0, 0, i*7919%n, 0, time.UTC) }

// mustForget adds 16 items for the times of stays and a flood for the times of readyAt, all
// of them before at(1000), pops the flood, and asserts that little is kept.
func mustForget(t *suite.T, newHeap constructor, stays func(i int) time.Time,
	readyAt func(i, n int) time.Time) {
	items := itemNames(max(leastFlood, t.ScaleSize(3*leastFlood)))
	suite.KeepsLess(t, keptAnyway+keptPerItem*len(items), few, len(items),
		"%d items came out and 16 still wait", func(n int) delayHeap {
			h := newHeap()
			for i := range 16 {
				h.Add(fmt.Sprint("stays", i), stays(i))
			}
			for i, item := range items[:n] {
				h.Add(item, readyAt(i, n))
			}
			t.Progress() // under the race detector the whole case takes seconds
			for i := range n {
				_, ok := h.PopReady(at(1000))
				if !ok {
					t.Fatalf("PopReady handed out %d of %d items that are all ready", i, n)
				}
			}
			mustLen(t, h, 16)
			t.Progress()
			return h
		}, nil)
}

func itemNames(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = "item" + strconv.Itoa(i)
	}
	return items
}

// The clause of contract.CapCountedWork.

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
