package queuetest

// What a queue takes: memory, and time while it waits.

import (
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var costCases = []suite.Case[env]{
	check("QUEUE-21", "the-zero-item", whyLost, with(func(w *world) {
		const zero = ""
		w.add(zero, "a", zero)
		w.awaitLen(2)
		w.mustGet(zero)
		w.add(zero) // a worker has it
		w.mustGet("a")
		w.done(zero, "a")
		w.mustGet(zero)
		w.done(zero)
		w.addAfter(zero, 2)
		w.advance(w.ticks(2))
		w.mustGet(zero)
		w.done(zero)
		w.awaitLen(0)
	})),
	check("QUEUE-11", "the-zero-item", whyLost, with(func(w *world) {
		w.add("b", "")
		w.q.ShutDown()
		w.mustGet("b", "")
		w.mustEnd()
	})),
	check("QUEUE-21", "flood-and-ebb", whyLost, with(func(w *world) {
		f := &flood{world: w}
		// Past the size of any first table, and back; and to powers of two, where a hash table
		// may have no room left.
		for _, ready := range []int{64, 0, 100, 0, 512, 3, 700, 30, 300, 0, 5, 530, 0} {
			f.to(ready)
			w.owner.Progress()
		}
		w.finish("ShutDownWithDrain when every item is done", start(w.q.ShutDownWithDrain))
	})),
	check("QUEUE-46", "coming-and-going", "a controller that runs for months would fill the memory",
		func(t *suite.T, e env) {
			w := newWorld(t, t, e)
			defer w.close()
			const limit = 120_000 // bytes: five for each of 24,000 items
			suite.KeepsLess(t, limit, 7, 600, "%d rounds in which 40 items come and go",
				func(rounds int) (q contract.DelayingQueue[string]) {
					w.finish("the passing of items", start(func() {
						q = e.newQueue(w.clock())
						passThrough(t, q, rounds, 40)
					}))
					return q
				}, func(q contract.DelayingQueue[string]) {
					w.finish("ShutDown", start(q.ShutDown))
					w.settle()
				})
		}),
	check("QUEUE-48", "clock-reads", "each idle controller would keep a processor busy",
		func(t *suite.T, e env) {
			var c *watched
			newQueue := e.newQueue
			e.newQueue = func(of clock.WithTicker) contract.DelayingQueue[string] {
				c = &watched{WithTicker: of}
				return newQueue(c)
			}
			w := open(t, e)
			c.mustRest(w, "the queue is new")
			w.addAfter("late", never)
			c.mustRest(w, "an item waits for its time")
			w.addAfter("soon", 2)
			w.advance(w.ticks(2))
			w.mustGet("soon")
			c.mustRest(w, "an item came at its time and another waits")
			w.done("soon")
			c.mustRest(w, "an item is done")
			if c.reads.Load() == 0 {
				t.Skipf("the queue reads another clock than the one that it is given")
			}
		}),
	check("QUEUE-48", "a-worker-that-waits", "each idle worker would keep a processor busy",
		with(func(w *world) {
			g := w.startGet()
			w.mustAwait(w.owner.OthersWait, "a Get that waits gives its processor back; a goroutine of the "+
				"queue that sleeps counts as one that polls: let it wait for a timer's channel")
			w.add("a")
			w.finish("Get", g.call)
		})),
}

// flood keeps many items ready, first in, first out, and counts what it added.
type flood struct {
	*world
	ready []string
	added int
}

// to adds items, or takes items out, until the given number is ready. Then it adds the
// ready items a second time, which must change nothing.
func (f *flood) to(ready int) {
	for len(f.ready) < ready {
		item := fmt.Sprint("item", f.added)
		f.added++
		f.q.Add(item)
		f.ready = append(f.ready, item)
	}
	f.awaitLen(len(f.ready))
	for len(f.ready) > ready {
		// The worker of each of some items has it while the others' come and go.
		n := min(9, len(f.ready)-ready)
		got := make([]string, 0, n)
		f.finish("Get of items that are ready", start(func() {
			for range n {
				item, _ := f.q.Get()
				got = append(got, item)
			}
		}))
		for i, item := range got {
			if item != f.ready[i] {
				f.t.Fatalf("Get = %q, want %q: %d items are ready", item, f.ready[i], len(f.ready)-i)
			}
		}
		f.done(got...)
		f.ready = f.ready[n:]
	}
	f.awaitLen(ready)
	f.add(f.ready...)
	f.settle()
	f.awaitLen(ready)
}

// passThrough adds atATime items to q, then gets and finishes them; it does so rounds times.
func passThrough(t *suite.T, q contract.DelayingQueue[string], rounds, atATime int) {
	names := make([]string, 7*atATime)
	for i := range names {
		names[i] = fmt.Sprint("item", i)
	}
	for round := range rounds {
		for i := range atATime {
			q.Add(names[(round*atATime+i)%len(names)])
		}
		for range atATime {
			item, _ := q.Get()
			q.Done(item)
		}
		if round%100 == 0 {
			t.Progress()
		}
	}
}

// watched is a clock that counts how often it is looked at: read, or asked to wake somebody up.
type watched struct {
	clock.WithTicker
	reads atomic.Int64
	// quickest is the shortest period of a ticker in nanoseconds, 0 if there was none.
	quickest atomic.Int64
}

func (c *watched) Now() time.Time {
	c.reads.Add(1)
	return c.WithTicker.Now()
}

func (c *watched) Since(t time.Time) time.Duration {
	c.reads.Add(1)
	return c.WithTicker.Since(t)
}

func (c *watched) After(d time.Duration) <-chan time.Time {
	c.reads.Add(1)
	return c.WithTicker.After(d)
}

func (c *watched) Sleep(d time.Duration) {
	c.reads.Add(1)
	c.WithTicker.Sleep(d)
}

func (c *watched) NewTimer(d time.Duration) clock.Timer {
	c.reads.Add(1)
	return watchedTimer{c.WithTicker.NewTimer(d), c}
}

func (c *watched) Tick(d time.Duration) <-chan time.Time {
	c.ticks(d)
	return c.WithTicker.Tick(d)
}

func (c *watched) NewTicker(d time.Duration) clock.Ticker {
	c.ticks(d)
	return c.WithTicker.NewTicker(d)
}

func (c *watched) ticks(period time.Duration) {
	for {
		q := c.quickest.Load()
		if q != 0 && q <= int64(period) || c.quickest.CompareAndSwap(q, int64(period)) {
			return
		}
	}
}

type watchedTimer struct {
	clock.Timer
	of *watched
}

func (t watchedTimer) Reset(d time.Duration) bool {
	t.of.reads.Add(1)
	return t.Timer.Reset(d)
}

// mustRest asserts that the queue looks at the clock at most ten times a second while it has
// nothing to do, and has no ticker that is quicker.
func (c *watched) mustRest(w *world, when string) {
	const perSecond, slack = 10, 10 // slack is for goroutines that are late to go to sleep
	w.settle()
	begin, before := w.clock().Now(), c.reads.Load()
	switch {
	case w.virtual():
		w.advance(3 * time.Second)
	case w.exact(): // small steps, because a timer that is late fires once in a step
		for range 30 {
			w.advance(100 * time.Millisecond)
			time.Sleep(2500 * time.Microsecond)
		}
	default:
		w.advance(75 * time.Millisecond)
	}
	w.settle()
	took := w.clock().Now().Sub(begin)
	if n, most := c.reads.Load()-before, slack+int64(perSecond*took.Seconds()); n > most {
		w.t.Fatalf("%s and there is nothing to do; meanwhile the queue read the clock or set a timer "+
			"%d times in %s, want %d at most", when, n, took, most)
	}
	if period := time.Duration(c.quickest.Load()); period > 0 && period < time.Second/perSecond {
		w.t.Fatalf("%s and there is nothing to do, and a ticker wakes the queue every %s", when, period)
	}
	w.owner.Progress()
}
