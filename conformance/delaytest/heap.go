package delaytest

// What the cases share: fixed times, and draining a heap as its owner would.

import (
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// fataler is the part of suite.T and rapid.T that ends a case.
type fataler interface {
	Fatalf(format string, args ...any)
}

// epoch is when the cases begin; at gives times after it, whole minutes apart so
// that a granularity of a minute cannot confuse two of them.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }

// mustPop takes out one item, which must be want.
func mustPop(t fataler, h contract.DelayHeap[string], now time.Time, want string) {
	if got, ok := h.PopReady(now); !ok || got != want {
		t.Fatalf("PopReady(%s) = %q, %v; want %q", show(now), got, ok, want)
	}
}

// mustNotPop asserts that nothing is ready.
func mustNotPop(t fataler, h contract.DelayHeap[string], now time.Time) {
	if got, ok := h.PopReady(now); ok {
		t.Fatalf("PopReady(%s) = %q, but nothing is ready yet", show(now), got)
	}
}

func mustLen(t fataler, h contract.DelayHeap[string], want int) {
	if got := h.Len(); got != want {
		t.Fatalf("Len() = %d, want %d", got, want)
	}
}

// popped is one item with the time at which the owner took it.
type popped struct {
	item string
	now  time.Time
}

// drain takes everything out as a delaying queue does: it waits until Next, then
// pops. Time begins at now and never goes back. limit bounds how many items may
// come, so that a heap that repeats itself ends too.
func drain(t fataler, h contract.DelayHeap[string], now time.Time, limit int) []popped {
	var out []popped
	for {
		next, ok := h.Next()
		if !ok {
			mustLen(t, h, 0)
			return out
		}
		if len(out) == limit {
			t.Fatalf("%d items were added and all came out, yet Next still gives %s", limit, show(next))
		}
		if next.After(now) {
			now = next
		}
		item, ok := h.PopReady(now)
		if !ok {
			t.Fatalf("Next gave %s, but PopReady(%s) hands out nothing", show(next), show(now))
		}
		if c, ok := t.(*suite.T); ok {
			c.Progress() // no more than limit times
		}
		out = append(out, popped{item, now})
	}
}

func show(t time.Time) string { return t.Format("2006-01-02T15:04:05.999999999") }
