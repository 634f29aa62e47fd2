package mutants

import (
	"container/heap"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/contract"
)

// Heaps whose mistake shows with extreme times, in what they keep, in what they cost, and in
// how they round.

// clamped is a time as 64-bit nanoseconds from 2026 tell it: what lies further away is
// at the end.
func clamped(t time.Time) time.Time {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return base.Add(t.Sub(base))
}

// hoarders keep too much, or do too much.
func hoarders() []Mutant {
	sorted := mutant(contract.ComponentDelay, "sorted list",
		"an item's place is looked for from the back of a sorted list", "DELAY-15")
	sorted.NewDelay = newSortedList
	sorted.Steps = func(h contract.DelayHeap[string]) uint64 { return h.(*sortedList).steps }

	slots := mutant(contract.ComponentDelay, "walks empty slots",
		"Next looks at each second from the last one on, also where nothing waits", "DELAY-15")
	slots.NewDelay = func() contract.DelayHeap[string] { return &slotWalker{Heap: pointerheap.New()} }
	slots.Steps = func(h contract.DelayHeap[string]) uint64 { return h.(*slotWalker).steps }

	return []Mutant{
		heapOf("remembers the latest now",
			"what was due by the latest time asked for is handed out, though the clock was set back",
			"DELAY-1", func(b *brokenHeap, ok *pointerheap.Heap) {
				var latest time.Time
				b.popReady = func(now time.Time) (string, bool) {
					if now.After(latest) {
						latest = now
					}
					return ok.PopReady(latest)
				}
			}),
		heapOf("clamps far times", "a time that does not fit 64 bits of nanoseconds is taken for the "+
			"last that does", "DELAY-1 DELAY-8", func(b *brokenHeap, ok *pointerheap.Heap) {
			b.add = func(item string, readyAt time.Time) { ok.Add(item, clamped(readyAt)) }
		}),
		heapOf("far times are all alike",
			"times are compared by 64 bits of nanoseconds, so an earlier one of two far times changes "+
				"nothing", "DELAY-3", func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) {
					if w := ok.Known[item]; w == nil || clamped(readyAt).Before(clamped(w.ReadyAt)) {
						ok.Add(item, readyAt)
					}
				}
			}),
		heapOf("never gives back", "what a flood took is kept for the next one", "DELAY-13",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.popReady = func(now time.Time) (string, bool) {
					w := ok.TakeReady(now)
					if w == nil {
						return "", false
					}
					delete(ok.Known, w.Item)
					return w.Item, true
				}
			}),
		heapOf("far times keep their room",
			"exact times beyond 292 years lie in a map, which stays as large as a flood made it while "+
				"one of them waits", "DELAY-13", func(b *brokenHeap, ok *pointerheap.Heap) {
				far := map[string]time.Time{}
				b.add = func(item string, readyAt time.Time) {
					if !clamped(readyAt).Equal(readyAt) {
						far[item] = readyAt
					}
					ok.Add(item, readyAt)
				}
				b.popReady = func(now time.Time) (string, bool) {
					item, popped := ok.PopReady(now)
					if delete(far, item); len(far) == 0 {
						far = map[string]time.Time{}
					}
					return item, popped
				}
			}),
		heapOf("buries what moved", "an item that moves leaves an entry at its old time, which goes "+
			"when that time has come", "DELAY-14", func(b *brokenHeap, ok *pointerheap.Heap) {
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
		sorted, slots,
	}
}

// sortedList is a sound heap whose cost is linear.
type sortedList struct {
	waiting []pointerheap.Waiting // the earliest last
	times   map[string]time.Time
	steps   uint64
}

func newSortedList() contract.DelayHeap[string] {
	return &sortedList{times: map[string]time.Time{}}
}

func (s *sortedList) Add(item string, readyAt time.Time) {
	if before, waits := s.times[item]; waits {
		if !readyAt.Before(before) {
			return
		}
		i := len(s.waiting) - 1
		for ; s.waiting[i].Item != item; i-- {
			s.steps++
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.times[item] = readyAt
	i := len(s.waiting)
	for ; i > 0 && s.waiting[i-1].ReadyAt.Before(readyAt); i-- {
		s.steps++
	}
	s.waiting = slices.Insert(s.waiting, i, pointerheap.Waiting{Item: item, ReadyAt: readyAt})
}

func (s *sortedList) Next() (time.Time, bool) {
	if len(s.waiting) == 0 {
		return time.Time{}, false
	}
	return s.waiting[len(s.waiting)-1].ReadyAt, true
}

func (s *sortedList) PopReady(now time.Time) (string, bool) {
	last := len(s.waiting) - 1
	if last < 0 || s.waiting[last].ReadyAt.After(now) {
		return "", false
	}
	item := s.waiting[last].Item
	s.waiting = slices.Delete(s.waiting, last, last+1)
	delete(s.times, item)
	return item, true
}

func (s *sortedList) Len() int { return len(s.waiting) }

// slotWalker is a sound heap that counts as a wheel without bitmaps would work.
type slotWalker struct {
	*pointerheap.Heap
	hand  time.Time
	steps uint64
}

func (s *slotWalker) Next() (time.Time, bool) {
	next, ok := s.Heap.Next()
	if ok {
		s.steps += uint64(math.Abs(next.Sub(s.hand).Seconds()))
		s.hand = next
	}
	return next, ok
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
func granularOf(name, mistake, clauses string,
	change func(b *brokenHeap, ok *pointerheap.Heap)) Mutant {
	m := heapOf(name, mistake, clauses, func(b *brokenHeap, ok *pointerheap.Heap) {
		b.add = func(item string, readyAt time.Time) { ok.Add(item, roundedUp(readyAt)) }
		change(b, ok)
	})
	m.Granularity = tick
	return m
}

func granularHeaps() []Mutant {
	return []Mutant{
		granularOf("rounds down", "a time is rounded to the tick that it lies in", "DELAY-1",
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) { ok.Add(item, readyAt.Truncate(tick)) }
			}),
		granularOf("a tick too late",
			"a whole tick is rounded up too, and what is not waits for the end of its tick and one more",
			"DELAY-16", func(b *brokenHeap, ok *pointerheap.Heap) {
				b.add = func(item string, readyAt time.Time) { ok.Add(item, roundedUp(readyAt).Add(tick)) }
			}),
		granularOf("last in, first out",
			"what is ready comes out in the order of no time: the second before the first", "DELAY-17",
			func(b *brokenHeap, ok *pointerheap.Heap) {
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
			func(b *brokenHeap, ok *pointerheap.Heap) {
				b.next = func() (time.Time, bool) {
					next, waits := ok.Next()
					return next.Truncate(time.Minute).Add(time.Minute), waits
				}
			}),
	}
}
