package mutants

import (
	"time"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/contract"
)

// brokenBatch is a sound heap whose AddMany is not.
type brokenBatch struct {
	*pointerheap.Heap
	addMany func(items []contract.Waiting[string])
}

func (h *brokenBatch) AddMany(items []contract.Waiting[string]) { h.addMany(items) }

func batchHeapOf(name, mistake, clauses string,
	addMany func(ok *pointerheap.Heap) func([]contract.Waiting[string])) Mutant {
	m := mutant(contract.ComponentDelay, name, mistake, clauses)
	m.NewDelay = func() contract.DelayHeap[string] {
		ok := pointerheap.New()
		return &brokenBatch{ok, addMany(ok)}
	}
	return m
}

// batchHeaps have mistakes in AddMany only.
func batchHeaps() []Mutant {
	type batch = []contract.Waiting[string]
	return []Mutant{
		batchHeapOf("looks up first, adds then",
			"what an item of the batch added is not seen by the next, so a new item that is in it twice "+
				"waits twice", "DELAY-19", func(ok *pointerheap.Heap) func(batch) {
				return func(items batch) {
					known := make([]bool, len(items))
					for i, w := range items {
						known[i] = ok.Known[w.Item] != nil
					}
					for i, w := range items {
						if !known[i] {
							delete(ok.Known, w.Item)
						}
						ok.Add(w.Item, w.ReadyAt)
					}
				}
			}),
		batchHeapOf("the last of a batch counts",
			"of the times that a batch has for one item the last one is taken", "DELAY-19",
			func(ok *pointerheap.Heap) func(batch) {
				return func(items batch) {
					last := map[string]time.Time{}
					for _, w := range items {
						last[w.Item] = w.ReadyAt
					}
					for item, readyAt := range last {
						ok.Add(item, readyAt)
					}
				}
			}),
		batchHeapOf("a batch and no rest", "items go in by sixteens, and what is left over is forgotten",
			"DELAY-19", func(ok *pointerheap.Heap) func(batch) {
				return func(items batch) {
					if len(items) > 16 {
						items = items[:len(items)/16*16]
					}
					for _, w := range items {
						ok.Add(w.Item, w.ReadyAt)
					}
				}
			}),
		batchHeapOf("keeps the last batch",
			"a batch is copied before its items go in, and the copy is used again and not cleared",
			"DELAY-9", func(ok *pointerheap.Heap) func(batch) {
				var last batch
				return func(items batch) {
					last = append(last[:0], items...)
					for _, w := range last {
						ok.Add(w.Item, w.ReadyAt)
					}
				}
			}),
		batchHeapOf("writes to the batch",
			"the items are put in order where they lie, in the caller's slice", "DELAY-19",
			func(ok *pointerheap.Heap) func(batch) {
				return func(items batch) {
					for i, w := range items {
						ok.Add(w.Item, w.ReadyAt)
						items[i] = items[len(items)-1-i]
					}
				}
			}),
	}
}
