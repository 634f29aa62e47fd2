package delaytest

// The clause of contract.CapRemove.

import (
	"container/heap"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
	"weak"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/core/contract"
)

const whyRemove = "a queue that hands an item out before its time would hand it out again, or keep it until then"

// removingHeap is what the clause is asked of.
type removingHeap = contract.RemovingDelayHeap[string]

// removing runs a case on a structure that has Remove.
func removing(run func(t *suite.T, newHeap func() removingHeap)) func(*suite.T, constructor) {
	return func(t *suite.T, newHeap constructor) {
		if h := newHeap(); !isRemovingHeap(h) {
			t.Skipf("%T has no Remove", h)
		}
		run(t, func() removingHeap { return newHeap().(removingHeap) })
	}
}

func isRemovingHeap(h contract.DelayHeap[string]) bool {
	_, ok := h.(removingHeap)
	return ok
}

// removeFrom is Remove for the model.
func removeFrom(model *pointerheap.Heap, item string) (waited bool) {
	w := model.Known[item]
	if w == nil {
		return false
	}
	heap.Remove(&model.Order, w.Index)
	delete(model.Known, item)
	return true
}

var removeCases = []suite.Case[constructor]{
	{Clause: "DELAY-21", Name: "many-steps", Why: whyRemove, Run: removing(func(t *suite.T, newHeap func() removingHeap) {
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
				if got, want := h.Remove(item), removeFrom(model, item); got != want {
					t.Fatalf("Remove(%q) says that it waited: %t, want %t", item, got, want)
				}
			default:
				popBoth(t, h, model, now, p)
				now = now.Add(max(1, anyDelay(rnd)/64))
			}
			mustLen(t, h, model.Len())
		}
		for _, item := range items {
			if got, want := h.Remove(item), removeFrom(model, item); got != want {
				t.Fatalf("in the end Remove(%q) says that it waited: %t, want %t", item, got, want)
			}
			mustLen(t, h, model.Len())
		}
		if next, ok := h.Next(); ok {
			t.Fatalf("every item was removed, and Next gives %s", show(next))
		}
	})},
	{Clause: "DELAY-21", Name: "far-times", Why: "what is kept of a far time would be another item's", Run: removing(func(t *suite.T, newHeap func() removingHeap) {
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
	{Clause: "DELAY-21", Name: "no-reference", Why: "a removed item would be kept until its time", Run: removing(func(t *suite.T, newHeap func() removingHeap) {
		const items = 40
		h := newHeap()
		h.Add("stays", at(1))
		var refs [items]weak.Pointer[byte]
		for i := range refs {
			refs[i] = addAndRemove(t, h, i)
		}
		runtime.GC()
		kept := 0
		for _, r := range refs {
			if r.Value() != nil {
				kept++
			}
		}
		if kept > 0 {
			t.Errorf("%d of %d removed items are still referenced", kept, items)
		}
		mustLen(t, h, 1)
	})},
}

// addAndRemove adds and removes an item with memory of its own, and returns a weak pointer that
// shows when it is freed. (unsafe is needed only for a weak pointer into a string.)
func addAndRemove(t *suite.T, h removingHeap, i int) weak.Pointer[byte] {
	item := strings.Repeat(fmt.Sprintf("%8d", i), 128)
	h.Add(item, at(1000))
	if !h.Remove(item) {
		t.Fatalf("Remove of an item that waits says that it did not wait")
	}
	return weak.Make(unsafe.StringData(item))
}
