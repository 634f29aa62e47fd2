package delaytest

// What a structure keeps: measured as what the process has less when the structure is
// let go.

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	// An item of a flood that came out may have left so many bytes behind. Client-go's
	// map and slice keep more than twice as many, ours next to nothing.
	keptPerItem = 24
	leastFlood  = 20_000 // below, what a structure keeps in any case would count
	// Each of these items may take so many bytes, after any number of adds.
	heavyItems, heavyItem = 1000, 1024
)

var memoryCases = []suite.Case[constructor]{
	{Clause: "DELAY-13", Name: "after-a-flood", Why: "one resync of everything makes the controller large for as long as it runs", Run: func(t *suite.T, newHeap constructor) {
		items := itemNames(max(leastFlood, t.Scale(3*leastFlood)))
		mustKeepLess(t, keptPerItem*len(items), fmt.Sprintf("after %d items came out and 16 still wait", len(items)), func() contract.DelayHeap[string] {
			h := newHeap()
			for i := range 16 {
				h.Add(fmt.Sprint("stays", i), at(1_000_000+i))
			}
			for i, item := range items {
				h.Add(item, at(0).Add(time.Duration(i*7919%len(items))*time.Millisecond))
			}
			t.Progress() // under the race detector the whole case takes seconds
			for i := range items {
				if _, ok := h.PopReady(at(500_000)); !ok {
					t.Fatalf("PopReady handed out %d of %d items that are all ready", i, len(items))
				}
			}
			mustLen(t, h, 16)
			t.Progress()
			return h
		})
	}},
	{Clause: "DELAY-14", Name: "ever-earlier", Why: "objects that are busy and never reconciled would fill the memory", Run: func(t *suite.T, newHeap constructor) {
		items, rounds := itemNames(heavyItems), max(100, t.Scale(300))
		mustKeepLess(t, heavyItems*heavyItem, fmt.Sprintf("with %d items that were each added %d times", len(items), rounds), func() contract.DelayHeap[string] {
			h := newHeap()
			for round := range rounds {
				t.Progress()
				for i, item := range items {
					h.Add(item, at(100_000-round).Add(time.Duration(i)*time.Second))
				}
			}
			mustLen(t, h, len(items))
			return h
		})
	}},
	{Clause: "DELAY-14", Name: "ever-earlier-comes-out-once", Why: "an entry that was left behind is an item that comes out again", Run: func(t *suite.T, newHeap constructor) {
		h, items := newHeap(), itemNames(100)
		for round := range 50 {
			t.Progress()
			for i, item := range items {
				h.Add(item, at(10_000-100*round+i))
			}
			mustLen(t, h, len(items))
		}
		seen := map[string]bool{}
		for _, p := range drain(t, h, at(0), len(items)) {
			if seen[p.item] {
				t.Fatalf("%q came out twice", p.item)
			}
			seen[p.item] = true
		}
	}},
}

func itemNames(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprint("item", i)
	}
	return items
}

// A measurement is repeated, and each is of several structures: what else the process
// does is counted with one or the other, and hardly with all.
const attempts, copies = 3, 4

// mustKeepLess asserts that what build makes holds less than limit bytes.
func mustKeepLess(t *suite.T, limit int, what string, build func() contract.DelayHeap[string]) {
	kept := int64(math.MaxInt64)
	for range attempts {
		if kept = min(kept, keptBy(build)); kept < int64(limit) {
			return
		}
	}
	t.Errorf("%s, the structure keeps %d bytes; want less than %d", what, kept, limit)
}

// keptBy builds several structures, lets them go one after the other and returns the least
// that the process had less each time.
func keptBy(build func() contract.DelayHeap[string]) int64 {
	heaps := make([]contract.DelayHeap[string], copies)
	for i := range heaps {
		heaps[i] = build()
	}
	least, before := int64(math.MaxInt64), live()
	for i := range heaps {
		runtime.KeepAlive(heaps[i]) // else nothing reads it again, and it is gone already
		heaps[i] = nil
		now := live()
		least, before = min(least, before-now), now
	}
	runtime.KeepAlive(heaps)
	return least
}

// live is how many bytes of the heap a collection found in use.
func live() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
