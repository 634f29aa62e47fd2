package queuetest

// The order of a queue with priorities.

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// leastInOrder is how many Gets must go by priority before each that goes by age.
const leastInOrder = 3

// referee knows what is ready in a queue with priorities, and judges what comes
// out by QUEUE-31 to QUEUE-33.
type referee struct {
	*world
	q     priorityQueue
	ready []contender // those that became ready first come first
	// entered counts who got the priority that it has.
	entered int
	// inOrder counts the Gets by priority since one went by age.
	inOrder int
}

type contender struct {
	item     string
	priority int
	entered  int
}

func openReferee(t *suite.T, e env) *referee {
	w, q := openAs[priorityQueue](t, e)
	return newReferee(w, q)
}

func newReferee(w *world, q priorityQueue) *referee { return &referee{world: w, q: q} }

// addReady adds items that the queue does not hold.
func (r *referee) addReady(priority int, items ...string) {
	r.q.AddWithOpts(contract.AddOptions{Priority: &priority}, items...)
	r.joins(priority, items...)
}

// joins notes that items are ready now.
func (r *referee) joins(priority int, items ...string) {
	for _, item := range items {
		r.entered++
		r.ready = append(r.ready, contender{item, priority, r.entered})
	}
}

// raise adds an item again that is ready.
func (r *referee) raise(priority int, item string) {
	r.q.AddWithOpts(contract.AddOptions{Priority: &priority}, item)
	c := &r.ready[r.index(item)]
	if priority > c.priority {
		r.entered++
		c.priority, c.entered = priority, r.entered
	}
}

func (r *referee) index(item string) int {
	return slices.IndexFunc(r.ready, func(c contender) bool { return c.item == item })
}

// next is the place of the item that comes by priority.
func (r *referee) next() (best int) {
	for i, c := range r.ready {
		if b := r.ready[best]; c.priority > b.priority || c.priority == b.priority &&
			c.entered < b.entered {
			best = i
		}
	}
	return best
}

// takeOne takes an item out and judges it. It leaves it with its worker.
func (r *referee) takeOne() string {
	item, priority := r.getWith(r.q)
	i, best := r.index(item), r.next()
	switch {
	case i < 0:
		r.t.Fatalf("GetWithPriority = %q, which is not ready; ready are %v", item, r.ready)
	case priority != r.ready[i].priority:
		r.t.Fatalf("GetWithPriority = %q with priority %d, want %d", item, priority, r.ready[i].priority)
	case i == best:
		r.inOrder++
	case i == 0 && r.inOrder >= leastInOrder:
		r.inOrder = 0
	default:
		r.t.Fatalf("GetWithPriority = %q of priority %d, and %q of %d is ready; %d Gets since one "+
			"went by age. Ready since long ago, and then later: %v",
			item, priority, r.ready[best].item, r.ready[best].priority, r.inOrder, r.ready)
	}
	r.ready = slices.Delete(r.ready, i, i+1)
	return item
}

// takeAll takes out everything that is ready.
func (r *referee) takeAll() {
	for len(r.ready) > 0 {
		r.done(r.takeOne())
	}
}

// randomPriorities plays random histories: by the referee, or, with delays, by what
// each item must have in the end. Items that are due together may become ready in
// any order, so there the order is not judged.
func randomPriorities(t *suite.T, e env, delays bool) {
	openAs[priorityQueue](t, e) // or the case is skipped
	t.Random(func(rt *rapid.T) {
		w := newWorld(rt, t, e)
		defer w.close()
		q := w.q.(priorityQueue)
		if delays {
			(&timed{world: w, q: q, held: map[string]*held{}}).play(rt)
			return
		}
		r := newReferee(w, q)
		r.play(rt, randomOrder{items: `[a-j]`, widest: 3, take: r.takeOne})
		w.awaitLen(0)
	})
}

// randomOrder is what play does.
type randomOrder struct {
	items        string // the pattern of the items' names
	widest       int    // the highest priority; the lowest is its negative
	first        int    // the most items that are added at first
	addProcessed bool   // whether items are added while a worker has them
	take         func() string
}

// play adds items, takes them and is done with them, and takes what is left in the end.
func (r *referee) play(rt *rapid.T, o randomOrder) {
	with := map[string]*int{} // what workers have, and the priority with which it comes again
	priorities, items := rapid.IntRange(-o.widest, o.widest), rapid.StringMatching(o.items)
	add := func(rt *rapid.T) {
		item, priority := items.Draw(rt, "item"), priorities.Draw(rt, "priority")
		again, processed := with[item]
		switch {
		case processed && !o.addProcessed:
			rt.Skip()
		case processed:
			r.q.AddWithOpts(contract.AddOptions{Priority: &priority}, item)
			if again != nil {
				priority = max(priority, *again)
			}
			with[item] = &priority
		case r.index(item) < 0:
			r.addReady(priority, item)
		default:
			r.raise(priority, item)
		}
	}
	for range rapid.IntRange(0, o.first).Draw(rt, "first") {
		add(rt)
	}
	rt.Repeat(map[string]func(*rapid.T){
		"AddWithOpts": add,
		"Get": func(rt *rapid.T) {
			if len(r.ready) == 0 {
				rt.Skip()
			}
			with[o.take()] = nil
		},
		"Done": func(rt *rapid.T) {
			if len(with) == 0 {
				rt.Skip()
			}
			item := rapid.SampledFrom(slices.Sorted(maps.Keys(with))).Draw(rt, "item")
			r.done(item)
			if again := with[item]; again != nil {
				r.joins(*again, item)
			}
			delete(with, item)
		},
	})
	for len(r.ready) > 0 {
		r.done(o.take())
	}
}

// timed is the model of a queue with priorities in which items wait for their time.
type timed struct {
	*world
	q    priorityQueue
	held map[string]*held
}

// held is what the queue must know of an item that is ready or waits.
type held struct {
	priority int
	due      time.Time // passed if it is ready
}

func (m *timed) play(rt *rapid.T) {
	priorities, items := rapid.IntRange(-3, 3), rapid.StringMatching(`[a-f]`)
	steps := map[string]func(*rapid.T){
		"AddWithOpts": func(rt *rapid.T) {
			item, priority, ticks := items.Draw(rt, "item"), priorities.Draw(rt, "priority"), 0
			if m.exact() {
				ticks = rapid.IntRange(0, 5).Draw(rt, "ticks")
			}
			due := m.clock().Now().Add(m.ticks(ticks))
			m.q.AddWithOpts(contract.AddOptions{After: m.ticks(ticks), Priority: &priority}, item)
			h := m.held[item]
			if h == nil {
				m.held[item] = &held{priority, due}
				return
			}
			h.priority = max(h.priority, priority)
			if due.Before(h.due) {
				h.due = due
			}
		},
		"Get": func(rt *rapid.T) {
			for _, h := range m.held {
				if m.reached(h.due) {
					m.takeOne(rt)
					return
				}
			}
			rt.Skip()
		},
	}
	if m.exact() {
		steps["advance"] = func(rt *rapid.T) {
			m.advance(m.ticks(rapid.IntRange(1, 3).Draw(rt, "ticks")))
		}
	}
	rt.Repeat(steps)
	if m.exact() {
		m.advance(m.ticks(5))
	}
	for len(m.held) > 0 {
		m.takeOne(rt)
	}
	m.awaitLen(0)
}

// takeOne takes an item out and is done with it.
func (m *timed) takeOne(rt *rapid.T) {
	item, priority := m.getWith(m.q)
	switch h := m.held[item]; {
	case h == nil:
		rt.Fatalf("GetWithPriority = %q, which the queue does not hold", item)
	case !m.reached(h.due):
		rt.Fatalf("GetWithPriority = %q, %s before its time", item, h.due.Sub(m.clock().Now()))
	case priority != h.priority:
		rt.Fatalf("GetWithPriority = %q with priority %d, want %d", item, priority, h.priority)
	}
	delete(m.held, item)
	m.done(item)
}

// randomTurns plays random histories of a queue that is given a Turn. QUEUE-47 says for
// every Get which item it returns.
func randomTurns(t *suite.T, e env) {
	openAs[priorityQueue](t, e.configured(t, contract.QueueConfig{})) // or the case is skipped
	t.Random(func(rt *rapid.T) {
		turn := rapid.SampledFrom([]int{-1, 1, 2, 4, 7, 16}).Draw(rt, "turn")
		w := newWorld(rt, t, e.configured(t, contract.QueueConfig{Turn: turn}))
		defer w.close()
		r := newReferee(w, w.q.(priorityQueue))
		r.play(rt, randomOrder{items: `[a-z]`, widest: 40, first: 40, addProcessed: true,
			take: func() string { return r.takeTurn(turn) }})
		w.awaitLen(0)
	})
}

// takeTurn gets an item and checks which: the oldest if turn-1 Gets in a row have passed
// over it, else the one that is next by priority.
func (r *referee) takeTurn(turn int) string {
	next := r.next()
	switch {
	case next == 0:
		r.inOrder = 0
	case turn > 0 && r.inOrder >= turn-1:
		r.inOrder, next = 0, 0
	default:
		r.inOrder++
	}
	item, priority := r.getWith(r.q)
	if want := r.ready[next]; item != want.item || priority != want.priority {
		r.t.Fatalf("GetWithPriority = %q, %d, want %q, %d with a turn of %d; %d Gets passed over the "+
			"oldest before; ready, the oldest first, are %v",
			item, priority, want.item, want.priority, turn, r.inOrder, r.ready)
	}
	r.ready = slices.Delete(r.ready, next, next+1)
	return item
}
