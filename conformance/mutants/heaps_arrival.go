package mutants

import (
	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/contract"
)

// claiming is a sound heap but for what it claims.
type claiming struct{ *pointerheap.Heap }

// InArrivalOrder claims it; container/heap keeps no order of equals.
func (claiming) InArrivalOrder() {}

// arrivalHeaps have mistakes in the order of equal times only.
func arrivalHeaps() []Mutant {
	m := mutant(contract.ComponentDelay, "equal times in any order",
		"a heap without a number for each item is said to keep the order of arrival", "DELAY-20")
	m.NewDelay = func() contract.DelayHeap[string] { return claiming{pointerheap.New()} }
	return []Mutant{m}
}
