package queuetest

// The order and the limiter that a queue is configured with.

import (
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var orderCases = []suite.Case[env]{
	check("QUEUE-44", "the-touched-first",
		"a controller that orders its work would have it in the order of arrival",
		func(t *suite.T, e env) {
			w, o := openOrdered(t, e)
			w.add("a", "b", "c", "d")
			w.add("c", "b") // touches them
			o.mustHear(t, "push a", "push b", "push c", "push d", "touch c", "touch b")
			w.awaitLen(4)
			w.mustGet("b")
			w.add("b", "b") // a worker has it: Done pushes it
			w.mustGet("c")
			w.add("d")
			o.mustHear(t, "pop b", "pop c", "touch d")
			w.done("b", "c")
			o.mustHear(t, "push b")
			w.awaitLen(3)
			w.mustGet("d", "a", "b")
			w.done("d")
			w.addAfter("d", 2)
			w.advance(w.ticks(2))
			w.mustGet("d")
			w.add("a") // ready when the queue is shut down
			w.done("a", "b", "d")
			w.q.ShutDown()
			w.mustGet("a")
			w.done("a")
			w.mustEnd()
			o.mustHear(t, "pop d", "pop a", "pop b", "push d", "pop d", "push a", "pop a")
		}),
	check("QUEUE-49", "of-the-order", whyPanic, func(t *suite.T, e env) {
		w, o := openOrdered(t, e)
		w.add("a")
		for _, c := range []struct {
			of   string
			call func()
		}{
			{"push b", func() { w.q.Add("b") }},
			{"touch a", func() { w.q.Add("a") }},
			{"pop a", func() { w.q.Get() }},
		} {
			o.failAt(c.of)
			w.mustPanic("the call that needs "+c.of, c.call)
		}
		w.finish("Add after a panic", start(func() { w.q.Add("c") }))
		w.mustGet("a", "c")
		w.finish("Done after a panic", start(func() { w.done("a", "c") }))
	}),
	check("QUEUE-49", "of-the-order-while-workers-wait", whyPanic, func(t *suite.T, e env) {
		w, o := openOrdered(t, e)
		one, two := w.startGet(), w.startGet()
		w.settle()
		o.failAt("pop a")
		w.add("a", "b") // the first Get panics, and its item stays
		first := w.theOther(one, two)
		second := w.get()
		if first == second {
			t.Fatalf("%q came twice", first)
		}
		w.add(first)
		o.failAt("push " + first)
		w.mustPanic("Done, whose Push panics", func() { w.q.Done(first) })
		w.done(second)
		w.finish("ShutDownWithDrain, when no worker has an item", start(w.q.ShutDownWithDrain))
	}),
	check("QUEUE-49", "of-an-order-that-has-popped", whyPanic, func(t *suite.T, e env) {
		w, o := openOrdered(t, e)
		one, two := w.startGet(), w.startGet()
		w.settle()
		o.failAt("popped a")
		w.add("a") // the first Get panics, and the order has nothing more
		w.settle()
		w.add("b")
		item := w.theOther(one, two)
		if item != "b" {
			t.Fatalf("Get = %q, and the order held only %q", item, "b")
		}
		w.awaitLen(0)
		w.done("b")
		w.finish("ShutDownWithDrain, when no worker has an item", start(w.q.ShutDownWithDrain))
	}),
	check("QUEUE-28", "as-the-limiter-says", whyEarly, func(t *suite.T, e env) {
		l := &scripted{}
		w, q := openAs[limitedQueue](t, e.configured(t, contract.QueueConfig{Limiter: l}))
		for _, ticks := range []int{0, 5, 1, 8} {
			l.delay = w.ticks(ticks)
			comesAt(w, ticks, func() { q.AddRateLimited("x") })
		}
		asked := l.asked("x")
		if asked != 4 {
			t.Errorf("the limiter was asked %d times for 4 AddRateLimited", asked)
		}
	}),
	check("QUEUE-36", "whichever-is-shorter", whyEarly, func(t *suite.T, e env) {
		l := &scripted{}
		w, q := openAs[priorityQueue](t, e.configured(t, contract.QueueConfig{Limiter: l}))
		tick := w.tick()
		for _, c := range []struct {
			limiter, after time.Duration
			want           int
		}{
			{8 * tick, 3 * tick, 3},
			{3 * tick, 8 * tick, 3},
			{4 * tick, 0, 4},  // After is not set
			{4 * tick, -1, 0}, // After is over
			{4 * tick, 1, 0},  // After is a nanosecond
			{0, 4 * tick, 0},
		} {
			l.delay = c.limiter
			comesAt(w, c.want, func() {
				q.AddWithOpts(contract.AddOptions{RateLimited: true, After: c.after}, "x")
			})
		}
		l.delay = 8 * tick
		comesAt(w, 0, func() { q.AddWithOpts(contract.AddOptions{}, "x") })
		if asked := l.asked("x"); asked != 6 {
			t.Errorf("the limiter was asked %d times for 6 AddWithOpts with RateLimited", asked)
		}
		q.ShutDown()
		q.AddWithOpts(contract.AddOptions{RateLimited: true}, "late")
		if l.asked("late") > 0 {
			t.Errorf("the limiter was asked after ShutDown, and counts a failure")
		}
	}),
}

// openOrdered opens a queue with an order, and skips the case for one that has its own.
func openOrdered(t *suite.T, e env) (*world, *touched) {
	o := &touched{}
	return openWith(t, e, o), o
}

// openWith opens a queue with an order. It skips the case for a queue that has one of its own.
func openWith(t *suite.T, e env, o workqueue.Queue[string]) *world {
	w := open(t, e.configured(t, contract.QueueConfig{Order: o}))
	if _, ok := w.q.(priorityQueue); ok {
		t.Skipf("a queue with priorities has an order of its own")
	}
	return w
}

// comesAt calls add, which must make "x" ready after the given number of ticks. It checks
// that Get returns "x" at that time, after an item that is due earlier and before one that is
// due later. Where the system's clock runs on, there are no other items.
func comesAt(w *world, ticks int, add func()) {
	due := w.clock().Now().Add(w.ticks(ticks))
	add()
	want := []string{"x"}
	if w.exact() {
		w.addAfter("later", ticks+2)
	}
	if ticks > 2 && w.exact() {
		// A queue that takes in two delays after both are due hands them out as they were added.
		if !w.takenIn(w.addAfter("sooner", ticks-1)) {
			w.advance(w.ticks(ticks + 2))
			for range 3 {
				w.done(w.get()) // in any order: the machine is too slow to tell
			}
			return
		}
		want = []string{"sooner", "x"}
	}
	w.advance(max(0, due.Sub(w.clock().Now())))
	w.mustGet(want...)
	if !w.reached(due) {
		w.t.Fatalf("Get = %q %s before its time", "x", due.Sub(w.clock().Now()))
	}
	if w.exact() {
		w.advance(w.ticks(2))
		w.mustGet("later")
		want = append(want, "later")
	}
	w.done(want...)
}

// scripted is a limiter whose delay the case sets.
type scripted struct {
	delay time.Duration
	mu    sync.Mutex
	calls []string
}

func (l *scripted) When(item string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, item)
	return l.delay
}

func (l *scripted) Forget(string) {}

func (l *scripted) NumRequeues(item string) int { return l.asked(item) }

func (l *scripted) asked(item string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, call := range l.calls {
		if call == item {
			n++
		}
	}
	return n
}

// touched is an order that returns the last touched item first, and else the oldest. The
// queue calls it under its lock.
type touched struct {
	mu    sync.Mutex
	items []string
	heard []string
	fails string
}

// hear notes a call before it does anything, or panics if that was asked for.
func (o *touched) hear(what string) {
	o.mayFail(what)
	o.heard = append(o.heard, what)
}

func (o *touched) mayFail(what string) {
	if what == o.fails {
		o.fails = ""
		panic("the order fails at " + what)
	}
}

// failAt makes the next such call panic.
func (o *touched) failAt(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fails = what
}

// mustHear asserts the calls of the order since the last mustHear.
func (o *touched) mustHear(t *suite.T, want ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.heard, want) {
		t.Fatalf("the order was told %q, want %q", o.heard, want)
	}
	o.heard = nil
}

func (o *touched) Touch(item string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hear("touch " + item)
	if i := slices.Index(o.items, item); i >= 0 {
		o.items = slices.Insert(slices.Delete(o.items, i, i+1), 0, item)
	}
}

func (o *touched) Push(item string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hear("push " + item)
	o.items = append(o.items, item)
}

func (o *touched) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.items)
}

func (o *touched) Pop() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 {
		o.hear("pop of nothing")
		return ""
	}
	item := o.items[0]
	o.hear("pop " + item)
	o.items = o.items[1:]
	o.mayFail("popped " + item)
	return item
}

// The clauses of rate-limiting queues. The constructor chooses the limiter, so the cases
// expect no particular delay.

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
	if per != 0 && per != 1 {
		w.t.Fatalf("NumRequeues(%q) grew by %d with one AddRateLimited", item, per)
	}
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
	if got != want {
		w.t.Fatalf("NumRequeues(%q) = %d, want %d", item, got, want)
	}
}
