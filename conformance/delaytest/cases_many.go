package delaytest

// The clause of contract.CapAddMany.

import (
	"fmt"
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const whyMany = "a queue takes items in by the batch, and every retry passes there"

// batchHeap is what the clause is asked of.
type batchHeap = contract.BatchDelayHeap[string]

// having runs a case on a structure that is an H.
func having[H delayHeap](run func(t *suite.T, newHeap func() H)) func(*suite.T, constructor) {
	return func(t *suite.T, newHeap constructor) {
		suite.Needs[H](t, newHeap())
		run(t, func() H { return newHeap().(H) })
	}
}

// batchSizes are small ones, and those at which a structure may divide a batch.
var batchSizes = []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 129, 500}

var manyCases = []suite.Case[constructor]{
	check("DELAY-19", "many-steps", whyMany, having(func(t *suite.T, newHeap func() batchHeap) {
		m, rnd, now := model(t, newHeap(), precisionOf(t)), t.Rand(), at(0)
		h, items := m.h.(batchHeap), itemNames(longItems)
		var batch, lent []contract.Waiting[string]
		for range t.Scale(1000) {
			// Few of them now and then, so that a batch has the same item again and again.
			among := items[:1+rnd.IntN(len(items))>>rnd.IntN(8)]
			batch = batch[:0]
			for range batchSizes[rnd.IntN(len(batchSizes))] {
				w := contract.Waiting[string]{Item: among[rnd.IntN(len(among))],
					ReadyAt: now.Add(anyDelay(rnd))}
				batch = append(batch, w)
				m.model.Add(w.Item, w.ReadyAt)
			}
			lent = append(lent[:0], batch...)
			h.AddMany(lent)
			if !slices.Equal(lent, batch) {
				t.Fatalf("AddMany wrote to the slice of %d items that it was given",
					len(batch))
			}
			clear(lent) // it is the caller's again
			mustLen(t, h, m.model.Len())
			for range rnd.IntN(2 * len(batchSizes)) {
				if !m.pop(now) {
					break
				}
			}
			now = now.Add(max(1, anyDelay(rnd)/64))
		}
		m.drain(now)
	})),
	check("DELAY-19", "the-same-item",
		"an item that is looked up before its neighbour is added waits twice",
		having(func(t *suite.T, newHeap func() batchHeap) {
			for _, minutes := range [][]int{{10, 50, 90}, {90, 50, 10}, {50, 10, 90}, {50, 90, 10, 50}} {
				for _, waits := range []bool{false, true} {
					for _, before := range []int{0, 40} {
						h := newHeap()
						if waits {
							h.Add("a", at(70))
						}
						var batch []contract.Waiting[string]
						for i := range before {
							batch = append(batch, contract.Waiting[string]{Item: fmt.Sprint(i), ReadyAt: at(500)})
						}
						for _, m := range minutes {
							batch = append(batch, contract.Waiting[string]{Item: "a", ReadyAt: at(m)})
						}
						h.AddMany(batch)
						mustLen(t, h, 1+before)
						mustNotPop(t, h, at(9))
						mustPop(t, h, at(11), "a")
						mustNotPop(t, h, at(499))
					}
				}
			}
		})),
	check("DELAY-19", "all-come-out-once", whyLost,
		having(func(t *suite.T, newHeap func() batchHeap) {
			for _, size := range batchSizes {
				h, n := newHeap(), 3*size
				batch := make([]contract.Waiting[string], size)
				for round := range 3 {
					for i := range batch {
						batch[i] = contract.Waiting[string]{Item: fmt.Sprint(round*size + i),
							ReadyAt: at((i * 7919) % (size + 1))}
					}
					h.AddMany(batch)
				}
				drainAll(t, h, at(0), n)
			}
		})),
	check("DELAY-19", "far-times", "two times that look the same in 64-bit nanoseconds are not",
		having(func(t *suite.T, newHeap func() batchHeap) {
			times := farTimes()
			for i := range times {
				for k := range times {
					h := newHeap()
					h.Add("a", times[i])
					h.AddMany([]contract.Waiting[string]{{Item: "b", ReadyAt: times[0].AddDate(-1, 0, 0)},
						{Item: "a", ReadyAt: times[k]}})
					mustPop(t, h, times[0].AddDate(0, 0, -1), "b")
					early := times[min(i, k)]
					mustNotPop(t, h, early.Add(-1))
					mustPop(t, h, early.Add(time.Minute), "a")
					mustLen(t, h, 0)
				}
			}
		})),
}

// The clause of contract.CapRemove.

const whyRemove = "a queue that hands an item out before its time would hand it out again, or " +
	"keep it until then"

// removingHeap is what the clause is asked of.
type removingHeap = contract.RemovingDelayHeap[string]

var removeCases = []suite.Case[constructor]{
	check("DELAY-21", "many-steps", whyRemove, having(func(t *suite.T, newHeap func() removingHeap) {
		m, rnd, now := model(t, newHeap(), precisionOf(t)), t.Rand(), at(0)
		h, items := m.h.(removingHeap), itemNames(longItems)
		remove := func(item string) {
			got, want := h.Remove(item), m.model.TakeOut(item)
			if got != want {
				t.Fatalf("Remove(%q) says that it waited: %t, want %t", item, got, want)
			}
		}
		for range t.Scale(4000) {
			item := items[rnd.IntN(len(items))]
			switch rnd.IntN(4) {
			case 0, 1:
				m.add(item, now.Add(anyDelay(rnd)))
			case 2:
				remove(item)
			default:
				m.pop(now)
				now = now.Add(max(1, anyDelay(rnd)/64))
			}
			mustLen(t, h, m.model.Len())
		}
		for _, item := range items {
			remove(item)
			mustLen(t, h, m.model.Len())
		}
		m.compare()
	})),
	check("DELAY-21", "far-times", "what is kept of a far time would be another item's",
		having(func(t *suite.T, newHeap func() removingHeap) {
			for _, far := range farTimes() {
				h := newHeap()
				h.Add("far", far)
				h.Add("near", at(10))
				if !h.Remove("far") {
					t.Fatalf("Remove of an item that waits until %s says that it did not wait", show(far))
				}
				mustNotPop(t, h, at(9))
				mustPop(t, h, at(11), "near")
				mustLen(t, h, 0)
				h.Add("far", at(20))
				mustPop(t, h, at(21), "far")
			}
		})),
	check("DELAY-21", "no-reference", "a removed item would be kept until its time",
		having(func(t *suite.T, newHeap func() removingHeap) {
			h := newHeap()
			h.Add("stays", at(1))
			refs := addTraceable(40, oneByOne(h))
			for i := range refs {
				if !h.Remove(traceable(i)) {
					t.Fatalf("Remove of an item that waits says that it did not wait")
				}
			}
			collected(t, refs)
			mustLen(t, h, 1)
		})),
}
