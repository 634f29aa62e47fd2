package delaytest

// The clauses that hold for heaps and wheels alike.

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
	"weak"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyEarly = "a back-off that ends early retries in a hot loop"
	whyLost  = "an object whose retry is lost is not reconciled until somebody changes it"
)

var coreCases = []suite.Case[constructor]{
	check("DELAY-1", "not-before-its-time", whyEarly, one(func(t *suite.T, h delayHeap) {
		h.Add("a", at(60))
		for _, now := range []time.Time{{}, at(-60), at(0), at(59), at(60).Add(-1)} {
			mustNotPop(t, h, now)
		}
		mustLen(t, h, 1)
		mustPop(t, h, at(62), "a")
	})),
	check("DELAY-1", "among-many", whyEarly, func(t *suite.T, newHeap constructor) {
		h, rnd := newHeap(), t.Rand()
		n := t.ScaleSize(2000)
		readyAt := map[string]time.Time{}
		for i := range n {
			item := fmt.Sprint(i)
			readyAt[item] = at(0).Add(time.Duration(rnd.Int64N(int64(10 * time.Hour))))
			h.Add(item, readyAt[item])
		}
		for now := at(0); now.Before(at(620)); now = now.Add(7 * time.Minute) {
			for {
				item, ok := h.PopReady(now)
				if !ok {
					break
				}
				if readyAt[item].After(now) {
					t.Fatalf("%q came out at %s, its time is %s", item, show(now), show(readyAt[item]))
				}
			}
		}
		mustLen(t, h, 0)
	}),
	check("DELAY-2", "all-come-out-once", whyLost, func(t *suite.T, newHeap constructor) {
		h, rnd := newHeap(), t.Rand()
		n := t.ScaleSize(5000)
		for i := range n {
			h.Add(fmt.Sprint(i), at(rnd.IntN(1000)))
		}
		drainAll(t, h, at(0), n)
	}),
	check("DELAY-2", "any-history", whyLost, func(t *suite.T, newHeap constructor) {
		t.Random(func(rt *rapid.T) { history(rt, newHeap(), precision{}) })
	}),
	check("DELAY-3", "later-time-changes-nothing",
		"an event that postpones a retry lets a busy object starve", one(func(t *suite.T, h delayHeap) {
			h.Add("a", at(10))
			h.Add("a", at(100))
			mustLen(t, h, 1)
			mustPop(t, h, at(20), "a")
			mustNotPop(t, h, at(1000))
		})),
	check("DELAY-3", "earlier-time-wins", whyLost, func(t *suite.T, newHeap constructor) {
		for pos := range 15 {
			h := newHeap()
			for i := range 15 {
				h.Add(fmt.Sprint(i), at(100+10*i))
			}
			moved := fmt.Sprint(pos)
			h.Add(moved, at(10))
			mustLen(t, h, 15)
			mustPop(t, h, at(20), moved)
			mustNotPop(t, h, at(20))
			var rest []string
			for _, p := range drain(t, h, at(20), 14) {
				rest = append(rest, p.item)
			}
			t.FatalIf(len(rest) != 14 || slices.Contains(rest, moved),
				"after %q moved to the front and came out, the rest is %v", moved, rest)
		}
	}),
	check("DELAY-4", "follows-each-step", "a queue's depth metric would drift",
		one(func(t *suite.T, h delayHeap) {
			mustLen(t, h, 0)
			for i := range 10 {
				h.Add(fmt.Sprint(i), at(i))
				mustLen(t, h, i+1)
				h.Add(fmt.Sprint(i), at(i))
				mustLen(t, h, i+1)
			}
			mustNotPop(t, h, at(-10))
			mustLen(t, h, 10)
			for i := range 10 {
				_, ok := h.PopReady(at(100))
				t.FatalIf(!ok, "PopReady handed out %d of 10 items that are all ready", i)
				mustLen(t, h, 9-i)
			}
		})),
	check("DELAY-5", "new-and-emptied",
		"the owner would wake for nothing, or hand out an item that nobody added",
		one(func(t *suite.T, h delayHeap) {
			for range 3 {
				if next, ok := h.Next(); ok || !next.IsZero() {
					t.Fatalf("nothing waits, yet Next() = %s, %v", show(next), ok)
				}
				if item, ok := h.PopReady(at(1 << 20)); ok || item != "" {
					t.Fatalf("nothing waits, yet PopReady = %q, %v", item, ok)
				}
				mustLen(t, h, 0)
				h.Add("a", at(1))
				mustPop(t, h, at(5), "a")
			}
		})),
	check("DELAY-5", "zero-item", "the zero value is an item like any other",
		one(func(t *suite.T, h delayHeap) {
			h.Add("", at(1))
			mustLen(t, h, 1)
			mustPop(t, h, at(5), "")
			mustNotPop(t, h, at(5))
		})),
	check("DELAY-6", "waits-for-its-new-time", whyLost, one(func(t *suite.T, h delayHeap) {
		for round := range 5 {
			h.Add("a", at(100*round+10))
			h.Add("b", at(100*round+40))
			mustNotPop(t, h, at(100*round+9))
			mustPop(t, h, at(100*round+15), "a")
			h.Add("a", at(100*round+80)) // later than the time that a had
			mustNotPop(t, h, at(100*round+15))
			mustPop(t, h, at(100*round+45), "b")
			mustNotPop(t, h, at(100*round+45))
			mustPop(t, h, at(100*round+85), "a")
			mustLen(t, h, 0)
		}
	})),
	check("DELAY-7", "pop-at-next", "the owner sleeps until Next: it would spin, or sleep for ever",
		func(t *suite.T, newHeap constructor) {
			h, rnd := newHeap(), t.Rand()
			for i := range 300 {
				h.Add(fmt.Sprint(i), at(0).Add(time.Duration(rnd.Int64N(int64(1000*time.Hour)))))
			}
			drainAll(t, h, at(0), 300)
		}),
	check("DELAY-8", "far-and-near",
		"a zero time or an overflowing difference must not wedge the queue",
		func(t *suite.T, newHeap constructor) {
			wall := time.Now().Round(0)
			times := []time.Time{
				{},
				time.Unix(0, 0),
				time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC),
				wall,
				time.Now().Add(time.Minute), // with a monotonic reading
				wall.Add(10 * time.Minute),  // without
				time.Now().Add(math.MaxInt64),
				time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
			}
			h := newHeap()
			readyAt := map[string]time.Time{}
			for _, i := range t.Rand().Perm(len(times)) {
				item := show(times[i]) + fmt.Sprint("#", i)
				readyAt[item] = times[i]
				h.Add(item, times[i])
			}
			for _, p := range drainAll(t, h, time.Time{}, len(times)) {
				if readyAt[p.item].After(p.now) {
					t.Fatalf("%s came out at %s", p.item, show(p.now))
				}
			}
		}),
	check("DELAY-9", "popped-items-are-garbage",
		"a controller that once held a million keys would keep them for ever",
		one(func(t *suite.T, h delayHeap) { lettingGo(t, h, oneByOne(h)) })),
	check("DELAY-9", "while-others-wait",
		"a queue that is never quite empty would keep every key it ever held",
		one(func(t *suite.T, h delayHeap) {
			for i := range 16 {
				h.Add(fmt.Sprint("stays", i), at(100000+i))
			}
			lettingGo(t, h, oneByOne(h))
		})),
	check("DELAY-9", "added-again-for-an-earlier-time",
		"a key that was put off and came at once would be kept until its former time",
		one(func(t *suite.T, h delayHeap) {
			h.Add("stays", at(100000))
			lettingGo(t, h, func(items []contract.Waiting[string]) {
				for i, w := range items {
					h.Add(w.Item, at(200000+i))
					h.Add(w.Item, w.ReadyAt)
				}
			})
		})),
	check("DELAY-9", "added-by-AddMany",
		"a queue that takes items in by the batch would keep the keys of batches",
		having(func(t *suite.T, newHeap func() batchHeap) {
			h := newHeap()
			h.Add("stays", at(100000))
			lettingGo(t, h, h.AddMany)
		})),
}

// lettingGo adds 64 items to h, pops them, and asserts that they are garbage then.
func lettingGo(t *suite.T, h delayHeap, add func([]contract.Waiting[string])) {
	const n = 64
	refs := addTraceable(n, add)
	for range n {
		_, ok := h.PopReady(at(1000))
		t.FatalIf(!ok, "PopReady stopped before the %d ready items were out", n)
	}
	collected(t, refs)
	runtime.KeepAlive(h)
}

// oneByOne is AddMany of a heap that has none.
func oneByOne(h delayHeap) func([]contract.Waiting[string]) {
	return func(items []contract.Waiting[string]) {
		for _, w := range items {
			h.Add(w.Item, w.ReadyAt)
		}
	}
}

// addTraceable adds n items of a kilobyte each, with memory of their own that
// can be seen to die.
func addTraceable(n int, add func([]contract.Waiting[string])) []weak.Pointer[byte] {
	refs, items := make([]weak.Pointer[byte], n), make([]contract.Waiting[string], n)
	for i := range refs {
		item := traceable(i)
		refs[i] = weak.Make(stringData(item))
		items[i] = contract.Waiting[string]{Item: item, ReadyAt: at(i)}
	}
	add(items)
	return refs
}

// traceable is the i-th item of addTraceable.
func traceable(i int) string { return strings.Repeat(fmt.Sprintf("%8d", i), 128) }

// collected waits until the collector has all of them. One collection may miss what a dead
// word of some goroutine's stack still names, which a goroutine stopped between two safe
// points is searched for; what the structure names, no number of collections frees.
func collected(t *suite.T, refs []weak.Pointer[byte]) {
	t.Eventually(func() bool {
		return !slices.ContainsFunc(refs, func(r weak.Pointer[byte]) bool { return r.Value() != nil })
	}, runtime.GC, "the collector has all items that came out")
}
