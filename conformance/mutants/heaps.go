package mutants

import (
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/contract"
)

// brokenHeap is a sound heap with some of its methods replaced.
type brokenHeap struct {
	add      func(item string, readyAt time.Time)
	popReady func(now time.Time) (string, bool)
	next     func() (time.Time, bool)
	length   func() int
}

func (h *brokenHeap) Add(item string, readyAt time.Time)    { h.add(item, readyAt) }
func (h *brokenHeap) PopReady(now time.Time) (string, bool) { return h.popReady(now) }
func (h *brokenHeap) Next() (readyAt time.Time, ok bool)    { return h.next() }
func (h *brokenHeap) Len() int                              { return h.length() }

func heapOf(name, mistake, clauses string,
	change func(b *brokenHeap, ok *pointerheap.Heap)) Mutant {
	m := mutant(contract.ComponentDelay, name, mistake, clauses)
	m.NewDelay = func() contract.DelayHeap[string] {
		ok := pointerheap.New()
		b := &brokenHeap{add: ok.Add, popReady: ok.PopReady, next: ok.Next, length: ok.Len}
		change(b, ok)
		return b
	}
	return m
}

// Heaps returns the broken delay heaps. The slice belongs to the caller.
func Heaps() []Mutant {
	return slices.Concat(exactHeaps(), hoarders(), granularHeaps(), batchHeaps(), removingHeaps(),
		arrivalHeaps())
}

func exactHeaps() []Mutant {
	return []Mutant{
		heapOf("hands out early", "a look-ahead of two minutes takes items for ready", "DELAY-1",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.popReady = func(now time.Time) (string, bool) { return ok.PopReady(now.Add(2 * time.Minute)) }
			}),
		heapOf("drops what is due already",
			"an item whose time is not after the last that came out is taken for a late one", "DELAY-2",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				var latest time.Time
				b.popReady = func(now time.Time) (string, bool) {
					latest = now
					return ok.PopReady(now)
				}
				b.add = func(item string, readyAt time.Time) {
					if readyAt.After(latest) {
						ok.Add(item, readyAt)
					}
				}
			}),
		heapOf("comes twice", "every hundredth item that comes out is put back", "DELAY-2",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				n := 0
				b.popReady = func(now time.Time) (string, bool) {
					item, ready := ok.PopReady(now)
					if n++; ready && n%100 == 0 {
						ok.Add(item, now)
					}
					return item, ready
				}
			}),
		heapOf("keeps the later time", "an item that is added again is put off", "DELAY-3",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) {
					if w := ok.Known[item]; w != nil && readyAt.After(w.ReadyAt) {
						ok.Move(w, readyAt)
						return
					}
					ok.Add(item, readyAt)
				}
			}),
		heapOf("keeps the first time",
			"an item that is added again keeps its time, also if the new one is earlier", "DELAY-3",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) {
					if ok.Known[item] == nil {
						ok.Add(item, readyAt)
					}
				}
			}),
		heapOf("waits twice", "an item that is added again waits a second time", "DELAY-3 DELAY-4",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) {
					delete(ok.Known, item)
					ok.Add(item, readyAt)
				}
			}),
		heapOf("counts one too many", "Len counts the slot before the first", "DELAY-4",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.length = func() int { return ok.Len() + 1 }
			}),
		heapOf("next of an empty heap", "Next gives a time though nothing waits", "DELAY-5",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.next = func() (time.Time, bool) {
					next, waits := ok.Next()
					return next.Add(1), waits
				}
			}),
		heapOf("remembers the old time",
			"an item that came out is still known, with the time that it had", "DELAY-6",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.popReady = func(now time.Time) (string, bool) {
					if w := ok.TakeReady(now); w != nil {
						return w.Item, true
					}
					return "", false
				}
			}),
		heapOf("next too early", "Next gives the time of a minute before", "DELAY-7",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.next = func() (time.Time, bool) {
					next, waits := ok.Next()
					return next.Add(-time.Minute), waits
				}
			}),
		heapOf("times as 64-bit nanoseconds",
			"a time is kept as nanoseconds since 1970, which end in 2262", "DELAY-8",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) { ok.Add(item, time.Unix(0, readyAt.UnixNano())) }
			}),
		heapOf("keeps popped items", "the slot of an item that came out is not cleared", "DELAY-9",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				var slots []string
				b.popReady = func(now time.Time) (string, bool) {
					item, ready := ok.PopReady(now)
					slots = append(slots, item)
					return item, ready
				}
			}).real(inKubernetes, "105031"),
		heapOf("equal is not ready", "an item is ready after its time and not at it", "DELAY-10",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.popReady = func(now time.Time) (string, bool) { return ok.PopReady(now.Add(-1)) }
			}),
		heapOf("no sift after a move", "an earlier time is written into an item that stays where it is",
			"DELAY-11", func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) {
					if w := ok.Known[item]; w != nil && readyAt.Before(w.ReadyAt) {
						w.ReadyAt = readyAt
						return
					}
					ok.Add(item, readyAt)
				}
			}),
		heapOf("swap without indexes",
			"two items change places and are not told, so a later move starts from the wrong place",
			"DELAY-11", func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) {
					ok.Add(item, readyAt)
					if w := ok.Known[item]; w != nil {
						w.Index = ok.Len() - 1
					}
				}
			}),
		heapOf("next of the last added", "Next gives the time in the last slot", "DELAY-12",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.next = func() (time.Time, bool) {
					if ok.Len() == 0 {
						return time.Time{}, false
					}
					return ok.Order[ok.Len()-1].ReadyAt, true
				}
			}),
	}
}
