package queuetest

// Priorities, limits, orders and metrics, asked for by many goroutines at once.

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var manyCases = []suite.Case[env]{
	check("QUEUE-32", "by-many-goroutines", whyPriority, func(t *suite.T, e env) {
		for range t.Scale(5) {
			raisedByMany(t, e)
			t.Progress()
		}
	}),
	check("QUEUE-29", "by-many-goroutines", whyCount, func(t *suite.T, e env) {
		const goroutines, rounds = 8, 50
		w, q := openAs[limitedQueue](t, e)
		if failOnce(w, q, "counted") == 0 {
			t.Skipf("the queue's limiter does not count")
		}
		own := func(g int) string { return fmt.Sprint("item", g) }
		failing := startEach(goroutines, func(g int) {
			for range rounds {
				q.AddRateLimited("shared")
				q.AddRateLimited(own(g))
				q.NumRequeues("shared")
			}
		})
		w.finish("each goroutine that calls AddRateLimited", failing...)
		w.awaitCount(q, "shared", goroutines*rounds)
		var forgetting []*call
		for g := range goroutines {
			w.awaitCount(q, own(g), rounds)
			if g%2 == 0 {
				forgetting = append(forgetting, start(func() { q.Forget(own(g)) }))
			}
		}
		w.finish("each goroutine that calls Forget", forgetting...)
		w.mustCount(q, "shared", goroutines*rounds)
		for g := range goroutines {
			w.mustCount(q, own(g), g%2*rounds)
		}
	}),
	check("QUEUE-44", "one-call-at-a-time",
		"an order that somebody else wrote has no lock, as client-go's need none",
		func(t *suite.T, e env) {
			const producers, items = 4, 100
			o := &alone{}
			w := openWith(t, e, o)
			c := newCounting(w)
			producing := startEach(producers, func(p int) {
				for i := range items {
					w.q.Add(fmt.Sprint("item", p, "-", i))
					w.q.Add(fmt.Sprint("item", p, "-", i/2)) // may be ready still
					w.q.Len()
				}
			})
			w.finish("each producer", producing...)
			w.mustSee(func() bool {
				return c.count() >= producers*items
			}, "the workers have got all items", c.working...)
			w.q.ShutDown()
			w.finish("each worker after ShutDown", c.working...)
			if n := o.overlaps.Load(); n > 0 {
				t.Errorf("the order was called %d times while another call of it was under way", n)
			}
			if n := o.pops.Load(); n < producers*items {
				t.Errorf("the order was asked for %d of %d items", n, producers*items)
			}
		}),
	check("QUEUE-42", "by-many-goroutines",
		"graphs and alerts would drift from what the controller does", func(t *suite.T, e env) {
			const producers, rounds, names = 4, 100, 7
			w, m := openMetered(t, e)
			c := newCounting(w)
			producing := startEach(producers, func(p int) {
				for i := range rounds {
					w.q.Add(fmt.Sprint("item", (p+i)%names))
				}
			})
			w.finish("each producer", producing...)
			// Each item that became ready, or was to be at its Done, is handed out.
			m.awaitCounts(w, func() map[string]int { return map[string]int{adds: c.total(), depth: 0} })
			w.q.ShutDown()
			w.finish("each worker after ShutDown", c.working...)
		}),
}

// raisedByMany has each item added by three goroutines, by one of them with a higher priority.
// Whatever their order is and however often the item comes, it comes once with that priority.
func raisedByMany(t *suite.T, e env) {
	const trios, items, high = 3, 30, 10
	w := newWorld(t, t, e)
	defer w.close()
	q := suite.Needs[priorityQueue](t, w.q)
	var mu sync.Mutex
	got := map[string][]int{}
	came := 0 // with the higher priority
	begin := make(chan struct{})
	producing := startEach(3*trios, func(p int) {
		<-begin // all at once
		for i := range items {
			q.AddWithOpts(contract.AddOptions{Priority: new(p % 3 / 2 * high)},
				fmt.Sprint("item", p/3, "-", i))
			runtime.Gosched()
		}
	})
	working := startEach(2, func(int) {
		for {
			item, priority, shutdown := q.GetWithPriority()
			if shutdown {
				return
			}
			mu.Lock()
			got[item] = append(got[item], priority)
			if priority == high {
				came++
			}
			mu.Unlock()
			q.Done(item)
		}
	})
	close(begin)
	w.finish("each producer", producing...)
	w.mustSee(func() bool {
		mu.Lock()
		defer mu.Unlock()
		return came >= trios*items
	}, fmt.Sprintf("each of %d items has come with the priority that it was raised to", trios*items),
		working...)
	q.ShutDown()
	w.finish("each worker after ShutDown", working...)
	for item, priorities := range got {
		slices.Sort(priorities)
		if n := len(priorities); n > 3 || priorities[n-1] != high || n > 1 && priorities[n-2] != 0 {
			t.Fatalf("%q was added twice with priority 0 and once with %d, and came with priorities %v",
				item, high, priorities)
		}
	}
}

// alone is an order, first in, first out, that counts its Pops, and the calls that come while
// another
// is under way.
type alone struct {
	busy     atomic.Bool
	overlaps atomic.Int64
	pops     atomic.Int64
	mu       sync.Mutex
	items    []string
}

// enter notes that a call begins. The function it returns ends the call.
func (o *alone) enter() (leave func()) {
	first := o.busy.CompareAndSwap(false, true)
	if !first {
		o.overlaps.Add(1)
	}
	runtime.Gosched()
	o.mu.Lock()
	return func() {
		o.mu.Unlock()
		if first {
			o.busy.Store(false)
		}
	}
}

func (o *alone) Touch(string) { o.enter()() }

func (o *alone) Push(item string) {
	defer o.enter()()
	o.items = append(o.items, item)
}

func (o *alone) Len() int {
	defer o.enter()()
	return len(o.items)
}

func (o *alone) Pop() string {
	defer o.enter()()
	o.pops.Add(1)
	item := o.items[0]
	o.items = o.items[1:]
	return item
}
