package delaytest

// The clause of contract.CapRemove.

import (
	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const whyRemove = "a queue that hands an item out before its time would hand it out again, or " +
	"keep it until then"

// removingHeap is what the clause is asked of.
type removingHeap = contract.RemovingDelayHeap[string]

// removing runs a case on a structure that has Remove.
func removing(run func(t *suite.T, newHeap func() removingHeap)) func(*suite.T, constructor) {
	return having("Remove", run)
}

var removeCases = []suite.Case[constructor]{
	{Clause: "DELAY-21", Name: "many-steps", Why: whyRemove,
		Run: removing(func(t *suite.T, newHeap func() removingHeap) {
			p := precision{known: true, granularity: settingsOf(t).granularity}
			if _, inexact := t.Config().Waived["DELAY-11"]; inexact && p.granularity == 0 {
				p = precision{}
			}
			h, model, rnd, now := newHeap(), pointerheap.New(), t.Rand(), at(0)
			items := itemNames(longItems)
			for range t.Scale(4000) {
				item := items[rnd.IntN(len(items))]
				switch rnd.IntN(4) {
				case 0, 1:
					readyAt := now.Add(anyDelay(rnd))
					h.Add(item, readyAt)
					model.Add(item, readyAt)
				case 2:
					if got, want := h.Remove(item), model.TakeOut(item); got != want {
						t.Fatalf("Remove(%q) says that it waited: %t, want %t", item, got, want)
					}
				default:
					popBoth(t, h, model, now, p)
					now = now.Add(max(1, anyDelay(rnd)/64))
				}
				mustLen(t, h, model.Len())
			}
			for _, item := range items {
				if got, want := h.Remove(item), model.TakeOut(item); got != want {
					t.Fatalf("in the end Remove(%q) says that it waited: %t, want %t", item, got, want)
				}
				mustLen(t, h, model.Len())
			}
			if next, ok := h.Next(); ok {
				t.Fatalf("every item was removed, and Next gives %s", show(next))
			}
		})},
	{Clause: "DELAY-21", Name: "far-times", Why: "what is kept of a far time would be another item's",
		Run: removing(func(t *suite.T, newHeap func() removingHeap) {
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
		})},
	{Clause: "DELAY-21", Name: "no-reference", Why: "a removed item would be kept until its time",
		Run: removing(func(t *suite.T, newHeap func() removingHeap) {
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
		})},
}
