package mutants

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/contract"
)

type soundHeap = pointerheap.Heap

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

func heapOf(name, mistake, clauses string, change func(b *brokenHeap, ok *soundHeap)) Mutant {
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
			func(b *brokenHeap, ok *soundHeap) {
				b.popReady = func(now time.Time) (string, bool) { return ok.PopReady(now.Add(2 * time.Minute)) }
			}),
		heapOf("drops what is due already",
			"an item whose time is not after the last that came out is taken for a late one", "DELAY-2",
			func(b *brokenHeap, ok *soundHeap) {
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
			func(b *brokenHeap, ok *soundHeap) {
				n := 0
				b.popReady = func(now time.Time) (string, bool) {
					item, ready := ok.PopReady(now)
					if n++; ready && n%100 == 0 {
						ok.Add(item, now)
					}
					return item, ready
				}
			}),
		heapOf("keeps the first time",
			"an item that is added again keeps its time, also if the new one is earlier", "DELAY-3",
			func(b *brokenHeap, ok *soundHeap) {
				b.add = func(item string, readyAt time.Time) {
					if ok.Known[item] == nil {
						ok.Add(item, readyAt)
					}
				}
			}),
		heapOf("waits twice", "an item that is added again waits a second time", "DELAY-3 DELAY-4",
			func(b *brokenHeap, ok *soundHeap) {
				b.add = func(item string, readyAt time.Time) {
					delete(ok.Known, item)
					ok.Add(item, readyAt)
				}
			}),
		heapOf("next of an empty heap", "Next gives a time though nothing waits", "DELAY-5",
			func(b *brokenHeap, ok *soundHeap) {
				b.next = func() (time.Time, bool) {
					next, waits := ok.Next()
					return next.Add(1), waits
				}
			}),
		heapOf("remembers the old time",
			"an item that came out is still known, with the time that it had", "DELAY-6",
			func(b *brokenHeap, ok *soundHeap) {
				b.popReady = func(now time.Time) (string, bool) {
					if w := ok.TakeReady(now); w != nil {
						return w.Item, true
					}
					return "", false
				}
			}),
		heapOf("next too early", "Next gives the time of a minute before", "DELAY-7",
			func(b *brokenHeap, ok *soundHeap) {
				b.next = func() (time.Time, bool) {
					next, waits := ok.Next()
					return next.Add(-time.Minute), waits
				}
			}),
		heapOf("times as 64-bit nanoseconds",
			"a time is kept as nanoseconds since 1970, which end in 2262", "DELAY-8",
			func(b *brokenHeap, ok *soundHeap) {
				b.add = func(item string, readyAt time.Time) { ok.Add(item, time.Unix(0, readyAt.UnixNano())) }
			}),
		heapOf("keeps popped items", "the slot of an item that came out is not cleared", "DELAY-9",
			func(b *brokenHeap, ok *soundHeap) {
				var slots []string
				b.popReady = func(now time.Time) (string, bool) {
					item, ready := ok.PopReady(now)
					slots = append(slots, item)
					return item, ready
				}
			}).real(inKubernetes, "105031"),
		heapOf("equal is not ready", "an item is ready after its time and not at it", "DELAY-10",
			func(b *brokenHeap, ok *soundHeap) {
				b.popReady = func(now time.Time) (string, bool) { return ok.PopReady(now.Add(-1)) }
			}),
		heapOf("no sift after a move", "an earlier time is written into an item that stays where it is",
			"DELAY-11", func(b *brokenHeap, ok *soundHeap) {
				b.add = func(item string, readyAt time.Time) {
					if w := ok.Known[item]; w != nil && readyAt.Before(w.ReadyAt) {
						w.ReadyAt = readyAt
						return
					}
					ok.Add(item, readyAt)
				}
			}),
		heapOf("next of the last added", "Next gives the time in the last slot", "DELAY-12",
			func(b *brokenHeap, ok *soundHeap) {
				b.next = func() (time.Time, bool) {
					if ok.Len() == 0 {
						return time.Time{}, false
					}
					return ok.Order[ok.Len()-1].ReadyAt, true
				}
			}),
	}
}

// hoarders keep too much, or do too much.
func hoarders() []Mutant {
	return []Mutant{
		heapOf("remembers the latest now",
			"what was due by the latest time asked for is handed out, though the clock was set back",
			"DELAY-1", func(b *brokenHeap, ok *soundHeap) {
				var latest time.Time
				b.popReady = func(now time.Time) (string, bool) {
					if now.After(latest) {
						latest = now
					}
					return ok.PopReady(latest)
				}
			}),
		heapOf("never gives back", "what a flood took is kept for the next one", "DELAY-13",
			func(b *brokenHeap, ok *soundHeap) {
				b.popReady = func(now time.Time) (string, bool) {
					w := ok.TakeReady(now)
					if w == nil {
						return "", false
					}
					delete(ok.Known, w.Item)
					return w.Item, true
				}
			}),
		heapOf("buries what moved", "an item that moves leaves an entry at its old time, which goes "+
			"when that time has come", "DELAY-14", func(b *brokenHeap, ok *soundHeap) {
			var buried pointerheap.Order
			b.add = func(item string, readyAt time.Time) {
				if w := ok.Known[item]; w != nil && readyAt.Before(w.ReadyAt) {
					heap.Push(&buried, &pointerheap.Waiting{Item: item, ReadyAt: w.ReadyAt})
				}
				ok.Add(item, readyAt)
			}
			b.popReady = func(now time.Time) (string, bool) {
				for len(buried) > 0 && !buried[0].ReadyAt.After(now) {
					heap.Pop(&buried)
				}
				return ok.PopReady(now)
			}
		}),
		costly("sorted list", "an item's place is looked for from the back of a sorted list",
			func(h *costlyHeap) { h.steps += uint64(h.soundHeap.Len()) }, func(*costlyHeap, time.Time) {}),
		costly("walks empty slots",
			"Next looks at each second from the last one on, also where nothing waits",
			func(*costlyHeap) {}, func(h *costlyHeap, next time.Time) {
				h.steps += uint64(math.Abs(next.Sub(h.hand).Seconds()))
				h.hand = next
			}),
	}
}

// costlyHeap is a sound heap that counts the steps that a costlier one would take.
type costlyHeap struct {
	*soundHeap
	added func(*costlyHeap)
	asked func(h *costlyHeap, next time.Time)
	hand  time.Time
	steps uint64
}

func (h *costlyHeap) Add(item string, readyAt time.Time) {
	h.added(h)
	h.soundHeap.Add(item, readyAt)
}

func (h *costlyHeap) Next() (time.Time, bool) {
	next, waits := h.soundHeap.Next()
	if waits {
		h.asked(h, next)
	}
	return next, waits
}

func costly(name, mistake string, added func(*costlyHeap),
	asked func(h *costlyHeap, next time.Time)) Mutant {
	m := mutant(contract.ComponentDelay, name, mistake, "DELAY-15")
	m.NewDelay = func() contract.DelayHeap[string] {
		return &costlyHeap{soundHeap: pointerheap.New(), added: added, asked: asked}
	}
	m.Steps = func(h contract.DelayHeap[string]) uint64 { return h.(*costlyHeap).steps }
	return m
}

// tick is the granularity of the heaps that have one.
const tick = 10 * time.Second

func roundedUp(t time.Time) time.Time {
	if down := t.Truncate(tick); down.Before(t) {
		return down.Add(tick)
	}
	return t
}

// granularOf breaks a heap that rounds times up to ticks.
func granularOf(name, mistake, clauses string, change func(b *brokenHeap, ok *soundHeap)) Mutant {
	m := heapOf(name, mistake, clauses, func(b *brokenHeap, ok *soundHeap) {
		b.add = func(item string, readyAt time.Time) { ok.Add(item, roundedUp(readyAt)) }
		change(b, ok)
	})
	m.Granularity = tick
	return m
}

func granularHeaps() []Mutant {
	return []Mutant{
		granularOf("rounds down", "a time is rounded to the tick that it lies in", "DELAY-1",
			func(b *brokenHeap, ok *soundHeap) {
				b.add = func(item string, readyAt time.Time) { ok.Add(item, readyAt.Truncate(tick)) }
			}),
		granularOf("a tick too late",
			"a whole tick is rounded up too, and what is not waits for the end of its tick and one more",
			"DELAY-16", func(b *brokenHeap, ok *soundHeap) {
				b.add = func(item string, readyAt time.Time) { ok.Add(item, roundedUp(readyAt).Add(tick)) }
			}),
		granularOf("last in, first out",
			"what is ready comes out in the order of no time: the second before the first", "DELAY-17",
			func(b *brokenHeap, ok *soundHeap) {
				b.popReady = func(now time.Time) (string, bool) {
					first, waits := ok.Next()
					item, ready := ok.PopReady(now)
					if !waits || !ready {
						return item, ready
					}
					second, ready := ok.PopReady(now)
					if !ready {
						return item, true
					}
					ok.Add(item, first)
					return second, true
				}
			}),
		granularOf("next of the wide slot",
			"Next gives the end of the minute that the earliest item lies in", "DELAY-18",
			func(b *brokenHeap, ok *soundHeap) {
				b.next = func() (time.Time, bool) {
					next, waits := ok.Next()
					return next.Truncate(time.Minute).Add(time.Minute), waits
				}
			}),
	}
}

// brokenBatch is a sound heap whose AddMany is not.
type brokenBatch struct {
	*soundHeap
	addMany func(items []contract.Waiting[string])
}

func (h *brokenBatch) AddMany(items []contract.Waiting[string]) { h.addMany(items) }

func batchHeapOf(name, mistake string,
	addMany func(ok *soundHeap) func([]contract.Waiting[string])) Mutant {
	m := mutant(contract.ComponentDelay, name, mistake, "DELAY-19")
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
		batchHeapOf("the last of a batch counts",
			"of the times that a batch has for one item the last one is taken",
			func(ok *soundHeap) func(batch) {
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
			func(ok *soundHeap) func(batch) {
				return func(items batch) {
					if len(items) > 16 {
						items = items[:len(items)/16*16]
					}
					for _, w := range items {
						ok.Add(w.Item, w.ReadyAt)
					}
				}
			}),
		batchHeapOf("writes to the batch",
			"the items are put in order where they lie, in the caller's slice",
			func(ok *soundHeap) func(batch) {
				return func(items batch) {
					for i, w := range items {
						ok.Add(w.Item, w.ReadyAt)
						items[i] = items[len(items)-1-i]
					}
				}
			}),
	}
}

// removable is a sound heap with a Remove, sound or broken.
type removable struct {
	*soundHeap
	remove func(h *soundHeap, item string) (waited bool)
}

func (h removable) Remove(item string) (waited bool) { return h.remove(h.soundHeap, item) }

func removingHeapOf(name, mistake string, remove func(h *soundHeap, item string) bool) Mutant {
	m := mutant(contract.ComponentDelay, name, mistake, "DELAY-21")
	m.NewDelay = func() contract.DelayHeap[string] { return removable{pointerheap.New(), remove} }
	return m
}

// removingHeaps have mistakes in Remove only.
func removingHeaps() []Mutant {
	return []Mutant{
		removingHeapOf("removed from the index only",
			"a removed item is found no more, and comes out at its time all the same",
			func(h *soundHeap, item string) bool {
				_, waited := h.Known[item]
				delete(h.Known, item)
				return waited
			}),
		removingHeapOf("what took its place is not moved",
			"the last item takes the place of a removed one, and stays there though it is earlier than "+
				"the one above", func(h *soundHeap, item string) bool {
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
			func(h *soundHeap, item string) bool {
				h.TakeOut(item)
				return true
			}),
	}
}

// claiming is a sound heap but for what it claims.
type claiming struct{ *soundHeap }

// InArrivalOrder claims it; container/heap keeps no order of equals.
func (claiming) InArrivalOrder() {}

// arrivalHeaps have mistakes in the order of equal times only.
func arrivalHeaps() []Mutant {
	m := mutant(contract.ComponentDelay, "equal times in any order",
		"a heap without a number for each item is said to keep the order of arrival", "DELAY-20")
	m.NewDelay = func() contract.DelayHeap[string] { return claiming{pointerheap.New()} }
	return []Mutant{m}
}
