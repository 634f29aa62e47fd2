package queuetest

// Items that are added later.

import (
	"fmt"
	"math"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyEarly = "a back-off that ends early retries in a hot loop"
	whyOrder = "an object that waited longer would be reconciled after one that waited less"
)

var delayCases = []suite.Case[env]{
	check("QUEUE-22", "not-before", whyEarly, with(func(w *world) {
		due := w.addAfter("a", 10)
		canaryDue := w.addAfter("canary", 9)
		if !w.takenIn(canaryDue) {
			w.owner.Skipf(tooSlow)
		}
		w.advance(w.ticks(7))
		if n := w.q.Len(); n > 0 && !w.reached(canaryDue) {
			w.t.Fatalf("%d items are ready after 8 ticks; their delays are 9 and 10", n)
		}
		w.advance(w.tick())
		if first := w.get(); first == "a" && !w.exact() && w.reached(due) {
			// A queue that reads the clock when it takes an item in may have taken canary
			// in a tick or more after a, on a machine that stalls.
			w.mustGet("canary")
			return
		} else if first != "canary" { // a queue that found canary due has looked at a as well
			w.t.Fatalf("Get = %q, want \"canary\": its delay is the shorter", first)
		}
		w.settle()
		if n := w.q.Len(); n > 0 && !w.reached(due) {
			w.t.Fatalf("an item with a delay of 10 ticks is ready %s before its time",
				due.Sub(w.clock().Now()))
		}
		w.advance(w.tick())
		w.mustGet("a")
		if !w.reached(due) {
			w.t.Fatalf("an item with a delay of 10 ticks came %s before its time",
				due.Sub(w.clock().Now()))
		}
	})),
	check("QUEUE-22", "one-after-another", whyEarly, with(func(w *world) {
		for i := range 10 {
			due := w.addAfter("a", 1+i%3)
			w.advance(w.ticks(1 + i%3))
			w.mustGet("a")
			if !w.reached(due) {
				w.t.Fatalf("round %d: the item came %s before its time", i,
					due.Sub(w.clock().Now()))
			}
			w.done("a")
		}
	})),
	check("QUEUE-22", "short-after-long", "the queue would sleep until the long one's time",
		with(func(w *world) {
			w.addAfter("long", never)
			w.settle()
			w.addAfter("short", 2)
			w.advance(w.ticks(2))
			w.mustGet("short")
			w.addAfter("longer", never+1)
			w.addAfter("next", 2)
			w.advance(w.ticks(2))
			w.mustGet("next")
		})),
	check("QUEUE-22", "a-nanosecond", whyEarly, with(func(w *world) {
		due := w.clock().Now().Add(1)
		w.q.AddAfter("a", 1)
		w.settle()
		if n := w.q.Len(); n > 0 && !w.reached(due) {
			w.t.Fatalf("an item with a delay of a nanosecond is ready, and time stands still")
		}
		w.advance(w.tick())
		w.mustGet("a")
	})),
	check("QUEUE-22", "many-due-at-once", "what is due together would come in portions, seconds apart",
		func(t *suite.T, e env) {
			// More than a queue may move at once, by much and by little: something must not be
			// left behind where nothing else waits.
			for _, items := range []int{700, 257 + t.Rand().IntN(8)} {
				w := open(t, e)
				var due time.Time
				for i := range items {
					if at := w.addAfter(fmt.Sprint("item", i), 50); i == 0 {
						due = at
					}
				}
				if !w.takenIn(due) {
					t.Skipf(tooSlow)
				}
				w.advance(w.ticks(50))
				// The clock stands still now, unless a queue was late to set its timer.
				for looks := 0; w.q.Len() == 0; looks++ {
					if t.HasStalled() {
						t.Fatalf("%d items are due and none is ready", items)
					}
					w.pause(looks)
				}
				for w.q.Len() < items {
					if t.HasStalled() {
						t.Fatalf("%d items are due and time stands still: %d are ready", items, w.q.Len())
					}
					w.settle()
				}
			}
		}),
	check("QUEUE-22", "the-system's-clock", "a queue that is made without a clock would crash",
		func(t *suite.T, e env) {
			w := open(t, e.configuredAs(t,
				contract.QueueConfig{Name: queueName, MetricsProvider: newMeter()},
				false))
			w.q.AddAfter("a", 1)
			w.mustGet("a")
			w.done("a")
		}),
	check("QUEUE-22", "the-longest", "a sum of times that overflows is a time long past",
		with(func(w *world) {
			w.q.AddAfter("in 292 years", math.MaxInt64)
			w.addAfter("canary", 3)
			w.advance(w.ticks(3))
			w.mustGet("canary")
			w.settle()
			w.awaitLen(0)
		})),
	check("QUEUE-23", "comes-once", whyExtra, with(func(w *world) {
		w.finish("AddAfter without a delay, Get and Done", start(func() {
			for range max(100, w.owner.Scale(300)) {
				w.q.AddAfter("a", 0)
				item, _ := w.q.Get()
				w.q.Done(item)
			}
		}))
		w.settle()
		w.awaitLen(0)
		w.add("canary")
		w.mustGet("canary")
	})),
	check("QUEUE-23", "zero-and-less", whyLost, with(func(w *world) {
		w.q.AddAfter("a", 0)
		w.q.AddAfter("b", -time.Nanosecond)
		w.q.AddAfter("c", math.MinInt64)
		w.settle()
		if w.exact() { // the clock stands still while this waits
			for n := w.q.Len(); n < 3; n = w.q.Len() {
				if w.virtual() || w.owner.HasStalled() {
					w.t.Fatalf("%d of three items without a delay are ready while time stands still", n)
				}
				w.settle()
			}
		}
		w.awaitLen(3)
		w.mustGet("a", "b", "c")
	})),
	check("QUEUE-24", "earlier-second", whyLost, with(func(w *world) {
		w.addAfter("a", 60)
		due := w.addAfter("a", 20)
		comesOnce(w, due)
	})),
	check("QUEUE-24", "later-second", "an event that postpones a retry lets a busy object starve",
		with(func(w *world) {
			due := w.addAfter("a", 20)
			w.addAfter("a", 60)
			comesOnce(w, due)
		})),
	check("QUEUE-24", "from-far-to-near", whyLost, with(func(w *world) {
		w.addAfter("a", never)
		w.addAfter("b", never)
		w.settle()
		w.addAfter("a", 2)
		w.advance(w.ticks(2))
		w.mustGet("a")
	})),
	check("QUEUE-25", "every-tick", whyOrder, with(func(w *world) {
		s := schedule{}
		for _, i := range w.owner.Rand().Perm(20) {
			s.add(w, fmt.Sprint("item", i), 20+i)
		}
		if !s.takenIn(w) {
			w.owner.Skipf(tooSlow)
		}
		w.advance(w.ticks(40))
		s.takeAll(w)
	})),
	check("QUEUE-27", "thousands-and-no-worker", "an event handler that blocks stops its informer",
		func(t *suite.T, e env) {
			w, rnd := open(t, e), t.Rand()
			s := schedule{}
			n := t.ScaleSize(5000)
			w.finish("AddAfter with no worker", start(func() {
				for i := range n {
					s.add(w, fmt.Sprint("item", i), 100+rnd.IntN(40))
				}
			}))
			if !s.takenIn(w) {
				t.Skipf(tooSlow)
			}
			w.advance(w.ticks(115))
			w.advance(w.ticks(25))
			s.takeAll(w)
		}),
}

// comesOnce asserts that "a" comes at due and not again. "a" was delayed to due and to 60
// ticks.
func comesOnce(w *world, due time.Time) {
	if !w.takenIn(due) {
		w.owner.Skipf(tooSlow)
	}
	w.addAfter("canary", 65)
	w.advance(w.ticks(20))
	w.mustGet("a")
	if !w.reached(due) {
		w.t.Fatalf("the item came %s before the earlier of its two times",
			due.Sub(w.clock().Now()))
	}
	w.done("a")
	w.advance(w.ticks(46))
	w.mustGet("canary")
}

// schedule holds, for each delayed item, an interval that contains the item's time. The
// interval is a point unless the time advanced during AddAfter.
type schedule map[string]*interval

type interval struct {
	ticks               int
	notBefore, notAfter time.Time
}

func (s schedule) add(w *world, item string, ticks int) {
	notBefore := w.addAfter(item, ticks)
	s[item] = &interval{ticks, notBefore, w.clock().Now().Add(w.ticks(ticks))}
}

// takenIn is world's takenIn. A queue may read the clock when it takes an item in
// (controller-runtime's priority queue does). So in real time the latest possible time of
// an item is its delay from now.
func (s schedule) takenIn(w *world) bool {
	if !w.takenIn(s.first()) {
		return false
	}
	if !w.exact() {
		for _, in := range s {
			in.notAfter = w.clock().Now().Add(w.ticks(in.ticks))
		}
	}
	return true
}

// first returns the earliest time at which an item can be due.
func (s schedule) first() (first time.Time) {
	for _, in := range s {
		if first.IsZero() || in.notBefore.Before(first) {
			first = in.notBefore
		}
	}
	return first
}

// takeAll takes out every item and asserts that each comes once, not early, and in the
// order of the times.
func (s schedule) takeAll(w *world) {
	type taken struct {
		item string
		now  time.Time
	}
	out := make([]taken, 0, len(s))
	w.finish(fmt.Sprintf("Get of %d items whose time has come", len(s)), start(func() {
		for range len(s) {
			item, _ := w.q.Get()
			out = append(out, taken{item, w.clock().Now()})
			w.q.Done(item)
		}
	}))
	seen := map[string]bool{}
	var latest taken // of the items so far, the one with the latest notBefore
	for _, o := range out {
		in, known := s[o.item]
		switch {
		case !known || seen[o.item]:
			w.t.Fatalf("%q came, which was not delayed, or came twice", o.item)
		case o.now.Before(in.notBefore):
			w.t.Fatalf("%q came %s before its time", o.item, in.notBefore.Sub(o.now))
		case in.notAfter.Before(latest.now):
			w.t.Fatalf("%q came after %q, whose time is %s later", o.item, latest.item,
				latest.now.Sub(in.notAfter))
		}
		seen[o.item] = true
		if in.notBefore.After(latest.now) {
			latest = taken{o.item, in.notBefore}
		}
	}
}
