package queuetest

// The clauses of queues with priorities.

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyPriority = "a change that a user waits for would stand behind thousands of resyncs"
	whyArrival  = "what many objects are retried for at one instant would be done in another order " +
		"at each run, in tests in virtual time above all"
	whyStarve = "objects of low priority would not be reconciled while others are busy"
)

// sameInstant adds items that are due at the same instant, one by one and several by one
// call, and takes them.
func sameInstant(t *suite.T, e env, priorityOf func(i int) int) {
	r := openReferee(t, e)
	const n = 60
	after := r.ticks(4)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("item", i)
	}
	for i := 0; i < n; {
		p, from := priorityOf(i), i
		for i++; i%3 != 0 && i < n && priorityOf(i) == p; i++ {
		}
		r.q.AddWithOpts(contract.AddOptions{After: after, Priority: &p}, names[from:i]...)
	}
	r.advance(after)
	r.awaitLen(n)
	for i, name := range names {
		r.joins(priorityOf(i), name)
	}
	r.takeAll()
}

var priorityCases = []suite.Case[env]{
	check("QUEUE-31", "highest-first", whyPriority, judged(func(r *referee) {
		r.addReady(-1, "low1", "low2")
		r.addReady(5, "high")
		r.add("zero")
		r.joins(0, "zero")
		r.takeAll()
	})),
	check("QUEUE-31", "many-priorities", whyPriority, func(t *suite.T, e env) {
		r, rnd := openReferee(t, e), t.Rand()
		for i := range t.ScaleSize(500) {
			r.addReady(rnd.IntN(200)-100, fmt.Sprint("item", i))
		}
		r.takeAll()
	}),
	// controller-runtime#3363: the queue chose the item for a Get while items were still
	// being added.
	check("QUEUE-31", "added-before-the-get", whyPriority, judged(func(r *referee) {
		for round := range r.owner.Scale(100) {
			for i := range 4 {
				r.addReady(-10, fmt.Sprint("low", round, "-", i))
			}
			r.addReady(10, fmt.Sprint("high", round))
			r.takeOne()
			if round%3 == 0 {
				r.takeAll()
			}
		}
		r.takeAll()
	})),
	check("QUEUE-31", "became-ready-by-time", whyPriority, judged(func(r *referee) {
		r.q.AddWithOpts(contract.AddOptions{After: r.ticks(2), Priority: new(3)}, "later")
		r.advance(r.ticks(2))
		r.awaitLen(1)
		r.joins(3, "later")
		r.addReady(2, "low")
		r.addReady(3, "same")
		r.addReady(4, "high")
		r.takeAll()
	})),
	check("QUEUE-40", "one-priority", whyArrival, func(t *suite.T, e env) {
		sameInstant(t, e, func(int) int { return 0 })
	}),
	check("QUEUE-40", "several-priorities", whyArrival, func(t *suite.T, e env) {
		sameInstant(t, e, func(i int) int { return i * 7 % 3 })
	}),
	check("QUEUE-32", "as-given", "a controller that retries an item would give it another priority",
		having(func(w *world, q priorityQueue) {
			for _, p := range []int{0, 7, -7, 1 << 30, -1 << 30} {
				q.AddWithOpts(contract.AddOptions{Priority: &p}, "a")
				w.mustGetWith(q, "a", p)
				w.done("a")
				q.AddWithOpts(contract.AddOptions{}, "a")
				w.mustGetWith(q, "a", 0) // not its earlier priority
				w.done("a")
			}
		})),
	check("QUEUE-32", "highest-of-several", whyPriority,
		having(func(w *world, q priorityQueue) {
			for _, p := range []int{1, 5, 3} {
				q.AddWithOpts(contract.AddOptions{Priority: &p}, "a")
			}
			w.mustGetWith(q, "a", 5)
		})),
	check("QUEUE-33", "raised", whyPriority, judged(func(r *referee) {
		r.addReady(-9, "oldest") // else a would be the oldest, and might come for its age
		r.addReady(1, "a", "b")
		r.addReady(5, "x", "y")
		r.raise(5, "a") // a joins behind x and y
		r.addReady(5, "z")
		r.takeAll()
	})),
	check("QUEUE-33", "lower-or-equal",
		"an object that changes all the time would be put off again and again", judged(func(r *referee) {
			r.addReady(-9, "oldest")
			r.addReady(5, "x", "y")
			r.q.AddWithOpts(contract.AddOptions{Priority: new(1)}, "x")
			r.q.AddWithOpts(contract.AddOptions{Priority: new(5)}, "x")
			r.add("x")
			r.takeAll()
		})),
	check("QUEUE-33", "any-history", whyPriority, func(t *suite.T, e env) {
		randomPriorities(t, e, false)
	}),
	check("QUEUE-34", "later-and-higher", whyLost, having(func(w *world, q priorityQueue) {
		due := w.clock().Now().Add(w.ticks(20))
		q.AddWithOpts(contract.AddOptions{After: w.ticks(20), Priority: new(1)}, "a")
		q.AddWithOpts(contract.AddOptions{After: w.ticks(60), Priority: new(7)}, "a")
		comesOnceWith(w, q, 7, due)
	})),
	check("QUEUE-34", "earlier-and-lower", whyLost, having(func(w *world, q priorityQueue) {
		q.AddWithOpts(contract.AddOptions{After: w.ticks(60), Priority: new(7)}, "a")
		due := w.clock().Now().Add(w.ticks(20))
		q.AddWithOpts(contract.AddOptions{After: w.ticks(20), Priority: new(1)}, "a")
		comesOnceWith(w, q, 7, due)
	})),
	check("QUEUE-34", "at-once", whyExtra, having(func(w *world, q priorityQueue) {
		q.AddWithOpts(contract.AddOptions{After: w.ticks(20), Priority: new(7)}, "a")
		q.AddWithOpts(contract.AddOptions{Priority: new(1)}, "a")
		w.mustGetWith(q, "a", 7)
		w.done("a")
		w.addAfter("canary", 25)
		w.advance(w.ticks(26))
		w.mustGet("canary") // not a: its earlier time no longer counts
	})),
	check("QUEUE-34", "at-once-and-later-again", whyEarly,
		having(func(w *world, q priorityQueue) {
			w.addAfter("a", 20)
			w.add("a")
			w.mustGet("a")
			w.done("a")
			due := w.addAfter("a", 40)
			w.addAfter("canary", 30)
			w.advance(w.ticks(31)) // past a's first time
			if first := w.get(); first == "a" && !w.exact() && w.reached(due) {
				w.owner.Skipf("the machine stopped for so long that both items were due")
			} else if first != "canary" {
				w.t.Fatalf("Get = %q, want \"canary\": its delay is the shorter", first)
			}
			w.advance(w.ticks(10))
			w.mustGetWith(q, "a", 0)
			if !w.reached(due) {
				w.t.Fatalf("the item came %s before its time", due.Sub(w.clock().Now()))
			}
		})),
	check("QUEUE-34", "any-history", whyLost, func(t *suite.T, e env) {
		randomPriorities(t, e, true)
	}),
	check("QUEUE-35", "lower-than-before", "an object that was urgent once would be urgent for ever",
		having(func(w *world, q priorityQueue) {
			q.AddWithOpts(contract.AddOptions{Priority: new(9)}, "a")
			w.mustGetWith(q, "a", 9)
			q.AddWithOpts(contract.AddOptions{Priority: new(2)}, "a")
			w.done("a")
			w.mustGetWith(q, "a", 2)
			for _, p := range []int{-4, -2, -3} {
				q.AddWithOpts(contract.AddOptions{Priority: &p}, "a")
			}
			w.done("a")
			w.mustGetWith(q, "a", -2)
		})),
	check("QUEUE-35", "delayed-while-processed", whyPriority,
		having(func(w *world, q priorityQueue) {
			q.AddWithOpts(contract.AddOptions{Priority: new(9)}, "a")
			w.mustGetWith(q, "a", 9)
			q.AddWithOpts(contract.AddOptions{Priority: new(2), After: w.ticks(2)}, "a")
			w.done("a")
			w.advance(w.ticks(2))
			w.mustGetWith(q, "a", 2)
		})),
	check("QUEUE-36", "the-shorter-delay",
		"a retry that was asked for soon would wait for a back-off of minutes",
		having(func(w *world, q priorityQueue) {
			q.AddWithOpts(contract.AddOptions{RateLimited: true, After: w.ticks(never)}, "a", "b")
			first, second := w.get(), w.get()
			if first == second {
				w.t.Fatalf("%q came twice, and it was to come once, like the other", first)
			}
			if a, b := q.NumRequeues("a"), q.NumRequeues("b"); a != b || a > 1 {
				w.t.Fatalf("NumRequeues are %d and %d: the limiter is asked once for each item", a, b)
			}
			if !w.exact() {
				w.owner.Skipf("in real time it would take seconds")
			}
			for range 10 {
				q.AddRateLimited("c") // so that most limiters ask for seconds
			}
			w.mustGet("c")
			w.done("c")
			before := w.clock().Now()
			q.AddWithOpts(contract.AddOptions{RateLimited: true, After: -1}, "c")
			w.mustGet("c")
			if took := w.clock().Now().Sub(before); took >= time.Second {
				w.t.Fatalf("the item came after %s, and a delay below zero adds at once", took)
			}
		})),
	check("QUEUE-37", "all-of-them", whyLost, func(t *suite.T, e env) {
		r := openReferee(t, e)
		r.q.AddWithOpts(contract.AddOptions{})
		r.addReady(3, "a", "b", "c")
		r.takeAll()
		r.q.AddWithOpts(contract.AddOptions{After: r.ticks(2), Priority: new(4)}, "d", "e")
		r.advance(r.ticks(2))
		got := map[string]bool{}
		for range 2 {
			item, priority := r.getWith(r.q)
			got[item] = priority == 4
			r.done(item)
		}
		if !got["d"] || !got["e"] {
			t.Fatalf("of two items that were delayed with priority 4 came %v", got)
		}
	}),
	check("QUEUE-37", "priority-zero", whyPriority, having(func(w *world, q priorityQueue) {
		q.Add("a")
		w.mustGetWith(q, "a", 0)
		q.AddAfter("b", w.ticks(1))
		w.advance(w.ticks(1))
		w.mustGetWith(q, "b", 0)
		q.AddRateLimited("c")
		w.mustGetWith(q, "c", 0)
	})),
	check("QUEUE-47", "any-history", whyStarve, randomTurns),
	check("QUEUE-38", "among-busy-ones", whyStarve, having(func(w *world, q priorityQueue) {
		const lows, most = 3, 64
		for i := range lows {
			q.AddWithOpts(contract.AddOptions{Priority: new(-1000)}, fmt.Sprint("low", i))
		}
		high := contract.AddOptions{Priority: new(1000)}
		for i := range 4 {
			q.AddWithOpts(high, fmt.Sprint("high", i))
		}
		gets := 0
		for low := range lows {
			for {
				if gets++; gets > most*(low+1) {
					w.t.Fatalf("%d items of low priority came in %d Gets, want %d or more", low, gets-1, low+1)
				}
				item, priority := w.getWith(q)
				if priority < 0 {
					w.done(item)
					break
				}
				q.AddWithOpts(high, item)
				w.done(item)
			}
		}
	})),
}

// getWith takes out an item, which must be due, with its priority.
func (w *world) getWith(q priorityQueue) (item string, priority int) {
	shutdown := false
	w.finish("GetWithPriority", start(func() { item, priority, shutdown = q.GetWithPriority() }))
	if shutdown {
		w.t.Fatalf("GetWithPriority says shutdown = true (and %q), but an item is due", item)
	}
	return item, priority
}

func (w *world) mustGetWith(q priorityQueue, want string, priority int) {
	if item, p := w.getWith(q); item != want || p != priority {
		w.t.Fatalf("GetWithPriority = %q, %d; want %q, %d", item, p, want, priority)
	}
}

// comesOnceWith asserts that "a" comes at due with the priority, and not again. "a" was
// delayed to due and to 60 ticks.
func comesOnceWith(w *world, q priorityQueue, priority int, due time.Time) {
	if !w.takenIn(due) {
		return
	}
	w.addAfter("between", 40)
	w.addAfter("canary", 65)
	w.advance(w.ticks(20))
	w.mustGetWith(q, "a", priority) // before any item that is due between its two times
	if !w.reached(due) {
		w.t.Fatalf("the item came %s before the earlier of its two times",
			due.Sub(w.clock().Now()))
	}
	w.done("a")
	w.advance(w.ticks(46))
	w.mustGet("between", "canary")
}
