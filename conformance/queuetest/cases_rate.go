package queuetest

// The clauses of rate-limiting queues. The constructor chooses the limiter, so the cases
// expect no particular delay.

import (
	"github.com/informerbench/informerbench/conformance/suite"
)

const whyCount = "controllers give up on an item by its count"

var rateCases = []suite.Case[env]{
	check("QUEUE-28", "comes-once", whyLost, having(func(w *world, q limitedQueue) {
		q.AddRateLimited("a")
		w.mustGet("a")
		if n := q.NumRequeues("a"); n > 1 {
			w.t.Fatalf("NumRequeues = %d after one AddRateLimited: the limiter was asked more than once", n)
		}
		w.add("canary")
		w.mustGet("canary")
		w.done("a", "canary")
		w.add("last")
		w.mustGet("last")
	})),
	check("QUEUE-28", "while-processed", whyTwice, having(func(w *world, q limitedQueue) {
		w.add("a")
		w.mustGet("a")
		q.AddRateLimited("a")
		w.advance(w.ticks(20))
		w.add("canary")
		w.mustGet("canary")
		w.done("a")
		w.mustGet("a")
	})),
	check("QUEUE-29", "counts-each-item", whyCount, having(func(w *world, q limitedQueue) {
		w.mustCount(q, "a", 0)
		per := failOnce(w, q, "a")
		for n := 2; n <= 4; n++ {
			failOnce(w, q, "a")
			w.mustCount(q, "a", n*per)
		}
		w.mustCount(q, "b", 0)
		failOnce(w, q, "b")
		w.mustCount(q, "a", 4*per)
		w.mustCount(q, "b", per)
		w.add("b") // a plain Add does not count as a failure
		w.mustGet("b")
		w.mustCount(q, "b", per)
	})),
	check("QUEUE-30", "count-only", whyCount, having(func(w *world, q limitedQueue) {
		q.Forget("never failed")
		per := failOnce(w, q, "a")
		failOnce(w, q, "a")
		q.Forget("a")
		w.mustCount(q, "a", 0)
		failOnce(w, q, "a")
		w.mustCount(q, "a", per)
	})),
	check("QUEUE-30", "item-stays", whyLost, having(func(w *world, q limitedQueue) {
		per := failOnce(w, q, "a")
		q.AddRateLimited("a")
		w.awaitCount(q, "a", 2*per)
		q.Forget("a") // while a waits for its time
		w.mustGet("a")
		q.Forget("a") // while a is processed: Forget is not a Done
		w.add("a", "canary")
		w.mustGet("canary")
		w.done("a")
		w.mustGet("a")
	})),
}

// failOnce takes item through one AddRateLimited, Get and Done. It returns how much the
// item's count grew: 1, or 0 under a limiter that does not count.
func failOnce(w *world, q limitedQueue, item string) int {
	before := q.NumRequeues(item)
	q.AddRateLimited(item)
	w.mustGet(item)
	w.done(item)
	per := q.NumRequeues(item) - before
	w.fatalIf(per != 0 && per != 1, "NumRequeues(%q) grew by %d with one AddRateLimited", item, per)
	return per
}

// awaitCount waits for a count of AddRateLimiteds, which may take effect later.
func (w *world) awaitCount(q limitedQueue, item string, want int) {
	got := 0
	if !w.await(func() bool { got = q.NumRequeues(item); return got == want }) {
		w.t.Fatalf("NumRequeues(%q) = %d, want %d", item, got, want)
	}
}

func (w *world) mustCount(q limitedQueue, item string, want int) {
	got := q.NumRequeues(item)
	w.fatalIf(got != want, "NumRequeues(%q) = %d, want %d", item, got, want)
}
