package queuetest

// Many goroutines at once, and the memory that they leave behind.

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"github.com/informerbench/informerbench/conformance/suite"
)

var concurrentCases = []suite.Case[env]{
	check("QUEUE-5", "all-at-once", "work would wait while workers sleep", func(t *suite.T, e env) {
		wakesAll(t, e, func(w *world, items []string) { w.add(items...) })
	}),
	check("QUEUE-5", "all-at-once-by-time", "work would wait while workers sleep",
		func(t *suite.T, e env) {
			wakesAll(t, e, func(w *world, items []string) {
				for _, item := range items {
					w.addAfter(item, 1)
				}
				w.advance(w.tick())
			})
		}),
	// controller-runtime#3538: an item was handed to a worker that had left.
	check("QUEUE-12", "busy-workers", whyStuck, func(t *suite.T, e env) {
		for round := range t.Scale(30) {
			w := newWorld(t, t, e)
			var turns atomic.Int64
			working := startEach(8, func(who int) {
				for n := 0; ; n++ {
					w.q.Add(fmt.Sprint("item", who, "-", n%20))
					item, shutdown := w.q.Get()
					if shutdown {
						return
					}
					w.q.Done(item)
					turns.Add(1)
				}
			})
			w.mustSee(func() bool {
				return turns.Load() >= int64(round)
			}, fmt.Sprintf("%d items are done by workers that add and get", round), working...)
			w.q.ShutDown()
			w.finish("each of eight workers that add and get, after ShutDown,", working...)
			w.close()
		}
	}),
	check("QUEUE-15", "busy-workers", whyStuck, with(func(w *world) {
		items := w.owner.ScaleSize(300)
		for i := range items {
			w.add(fmt.Sprint("item", i))
		}
		c := newCounting(w)
		w.mustSee(func() bool {
			return c.count() >= items/2
		}, "the workers have got half of the items", c.working...)
		w.finish("ShutDownWithDrain while workers are busy", start(w.q.ShutDownWithDrain))
		w.finish("each worker after ShutDownWithDrain", c.working...)
		c.mustBe(items)
	})),
	check("QUEUE-21", "due-together", whyLost, with(func(w *world) {
		items := w.owner.ScaleSize(3000)
		c := newCounting(w)
		for i := range items {
			w.addAfter(fmt.Sprint("item", i), 50)
		}
		w.advance(w.ticks(50))
		w.await(func() bool { return c.count() >= items })
		w.q.ShutDown()
		w.finish("each worker after ShutDown", c.working...)
		c.mustBe(items)
	})),
	check("QUEUE-21", "adds-that-meet", whyLost, func(t *suite.T, e env) {
		const producers, size = 4, 64 << 10
		items := t.ScaleSize(1600)
		// Long items take long to hash, so a producer is mostly within Add: on one processor, too,
		// it is interrupted there. All items share the memory of one text.
		var text strings.Builder
		for i := 0; text.Len() < size+items*producers; i++ {
			fmt.Fprint(&text, i, " ")
		}
		w := open(t, e)
		begin := make(chan struct{})
		producing := startEach(producers, func(p int) {
			<-begin
			for i := p; i < items*producers; i += producers {
				w.q.Add(text.String()[i : i+size])
			}
		})
		close(begin)
		w.finish("each producer", producing...)
		w.awaitLen(items * producers)
	}),
	check("QUEUE-24", "by-several-producers", whyLost, func(t *suite.T, e env) {
		const items, producers = 8, 4
		w := open(t, e)
		var mu sync.Mutex
		due := map[string]time.Time{}
		var first time.Time
		producing := startEach(producers, func(p int) {
			for i := range items {
				item := fmt.Sprint("item", i)
				at := w.addAfter(item, 20+(p*7+i*3)%30)
				mu.Lock()
				if due[item].IsZero() || at.Before(due[item]) {
					due[item] = at
				}
				if first.IsZero() || at.Before(first) {
					first = at
				}
				mu.Unlock()
			}
		})
		w.finish("each producer", producing...)
		if !w.takenIn(first) {
			t.Skipf(tooSlow)
		}
		w.addAfter("canary", 60)
		w.advance(w.ticks(50))
		for range items {
			item := w.get()
			at, waits := due[item]
			if !waits {
				t.Fatalf("%q came, which was not delayed, or came twice", item)
			}
			if !w.reached(at) {
				t.Fatalf("%q came %s before the earliest of its times", item,
					at.Sub(w.clock().Now()))
			}
			delete(due, item)
			w.done(item)
		}
		w.advance(w.ticks(11))
		w.mustGet("canary")
	}),
	check("QUEUE-39", "ready-items", whyKept, func(t *suite.T, e env) {
		letsGo(t, e, func(w *world, item string) { w.q.Add(item) }, func(*world) {})
	}),
	check("QUEUE-39", "delayed-items", whyKept, func(t *suite.T, e env) {
		letsGo(t, e, func(w *world, item string) {
			w.q.AddAfter(item, w.tick())
		}, func(w *world) { w.advance(w.tick()) })
	}),
	check("QUEUE-39", "put-off-and-then-sooner", whyKept, func(t *suite.T, e env) {
		letsGo(t, e, func(w *world, item string) {
			w.q.AddAfter(item, w.ticks(never))
			w.q.AddAfter(item, w.tick())
		}, func(w *world) { w.advance(w.tick()) })
	}),
	check("QUEUE-39", "added-before-their-time", whyKept, func(t *suite.T, e env) {
		// skips others: there an item that waits comes at its time, whenever it was added
		openAs[priorityQueue](t, e)
		letsGo(t, e, func(w *world, item string) {
			w.q.AddAfter(item, w.ticks(never))
			w.q.Add(item)
		}, func(*world) {})
	}),
}

const whyKept = "a controller that once held a million keys would keep them for ever"

// wakesAll lets workers wait, and makes as many items ready. Each worker must get one,
// before any of them calls Done. In half of the rounds the workers may not wait yet when
// the items come.
func wakesAll(t *suite.T, e env, bring func(w *world, items []string)) {
	const workers = 6
	w := open(t, e)
	for round := range t.Scale(20) {
		var gets []*getting
		var items []string
		for i := range workers {
			gets = append(gets, w.startGet())
			items = append(items, fmt.Sprint("item", round, "-", i))
		}
		if round%2 == 0 {
			w.settle()
		}
		bring(w, items)
		got := map[string]bool{}
		for _, g := range gets {
			w.finish("each of six Gets for six items", g.call)
			got[g.item] = true
		}
		if len(got) != workers {
			t.Fatalf("six workers got %v", got)
		}
		w.done(items...)
	}
}

// counting is a group of workers that count the items they get, until the queue is shut
// down.
type counting struct {
	w       *world
	working []*call
	mu      sync.Mutex
	got     map[string]int
}

func newCounting(w *world) *counting {
	const workers = 4
	c := &counting{w: w, got: map[string]int{}}
	c.working = startEach(workers, func(int) {
		for {
			item, shutdown := w.q.Get()
			if shutdown {
				return
			}
			c.mu.Lock()
			c.got[item]++
			c.mu.Unlock()
			w.q.Done(item)
		}
	})
	return c
}

// count returns the number of different items that the workers got.
func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.got)
}

// total returns how often the workers got an item.
func (c *counting) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, times := range c.got {
		n += times
	}
	return n
}

// mustBe asserts that the workers got this number of items, each once.
func (c *counting) mustBe(items int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.got) != items {
		c.w.t.Fatalf("%d items came of %d", len(c.got), items)
	}
	for item, n := range c.got {
		if n != 1 {
			c.w.t.Fatalf("%q was added once and came %d times", item, n)
		}
	}
}

// letsGo takes items through the queue and waits until the garbage collector has freed them
// all.
func letsGo(t *suite.T, e env, add func(w *world, item string), wait func(w *world)) {
	const items = 40
	w := open(t, e)
	w.addAfter("stays", never) // keeps the queue from being empty
	refs := make([]weak.Pointer[byte], items)
	for i := range refs {
		refs[i] = addTraceable(i, func(item string) { add(w, item) })
	}
	wait(w)
	for range items {
		w.done(w.get())
	}
	kept := 0
	if !w.await(func() bool {
		runtime.GC()
		kept = 0
		for _, r := range refs {
			if r.Value() != nil {
				kept++
			}
		}
		return kept == 0
	}) {
		t.Errorf("%d of %d items are still referenced after their Done", kept, items)
	}
	runtime.KeepAlive(w.q)
}

// addTraceable adds an item of a kilobyte with memory of its own, and returns a weak
// pointer that shows when it is freed. (unsafe is needed only for a weak pointer into a
// string.)
func addTraceable(i int, add func(item string)) weak.Pointer[byte] {
	item := strings.Repeat(fmt.Sprintf("%8d", i), 128)
	ref := weak.Make(unsafe.StringData(item))
	add(item)
	return ref
}
