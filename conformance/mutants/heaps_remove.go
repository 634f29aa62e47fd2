package mutants

import (
	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/contract"
)

// removable is a sound heap with a Remove, sound or broken.
type removable struct {
	*pointerheap.Heap
	remove func(h *pointerheap.Heap, item string) (waited bool)
}

func (h removable) Remove(item string) (waited bool) { return h.remove(h.Heap, item) }

func removingHeapOf(name, mistake string,
	remove func(h *pointerheap.Heap, item string) bool) Mutant {
	m := mutant(contract.ComponentDelay, name, mistake, "DELAY-21")
	m.NewDelay = func() contract.DelayHeap[string] { return removable{pointerheap.New(), remove} }
	return m
}

// removingHeaps have mistakes in Remove only.
func removingHeaps() []Mutant {
	return []Mutant{
		removingHeapOf("removed from the index only",
			"a removed item is found no more, and comes out at its time all the same",
			func(h *pointerheap.Heap, item string) bool {
				_, waited := h.Known[item]
				delete(h.Known, item)
				return waited
			}),
		removingHeapOf("what took its place is not moved",
			"the last item takes the place of a removed one, and stays there though it is earlier than "+
				"the one above", func(h *pointerheap.Heap, item string) bool {
				w := h.Known[item]
				if w == nil {
					return false
				}
				last := len(h.Order) - 1
				h.Order.Swap(w.Index, last)
				h.Order.Pop()
				delete(h.Known, item)
				return true
			}),
		removingHeapOf("always waited", "Remove says that the item waited, whether it did or not",
			func(h *pointerheap.Heap, item string) bool {
				h.TakeOut(item)
				return true
			}),
	}
}
