package delaytest

// The clause of contract.CapRemove.

import (
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

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
			t.FatalIf(got != want, "Remove(%q) says that it waited: %t, want %t", item, got, want)
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
				t.FatalIf(!h.Remove(traceable(i)), "Remove of an item that waits says that it did not wait")
			}
			collected(t, refs)
			mustLen(t, h, 1)
		})),
}
