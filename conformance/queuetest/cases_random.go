package queuetest

// Random histories against a model of a few lines, and many goroutines at once.

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
)

var randomCases = []suite.Case[env]{
	check("QUEUE-3", "any-history", "an object could wait for ever behind busier ones",
		func(t *suite.T, e env) { randomHistories(t, e, history{ordered: true}) }),
	check("QUEUE-4", "any-history", "an object that changes all the time would starve the others",
		func(t *suite.T, e env) { randomHistories(t, e, history{ordered: true, addProcessed: true}) }),
	check("QUEUE-21", "any-history", whyLost, func(t *suite.T, e env) {
		randomHistories(t, e, history{addProcessed: true, delays: true})
	}),
	check("QUEUE-2", "many-workers", whyTwice, func(t *suite.T, e env) {
		stress(t, e, func(string, int64, int64) {}, func(item string) {
			t.Errorf("%q was handed to a worker while another had it", item)
		})
	}),
	check("QUEUE-21", "many-producers", whyLost, func(t *suite.T, e env) {
		stress(t, e, func(item string, added, seen int64) {
			t.Errorf("%q was added %d times and is not handed out after the last: a worker saw %d", item,
				added, seen)
		}, func(string) {})
	}),
}

// history chooses the steps of a random history and what is compared.
type history struct {
	ordered      bool // items come in the model's order, and Len is the model's
	addProcessed bool // items are added while a worker has them
	delays       bool // items are delayed, if the timeline is exact
	metered      bool // the metrics are compared with the model's
}

func randomHistories(t *suite.T, e env, kind history) {
	shrinking := false
	t.Random(func(rt *rapid.T) {
		var counts *meter
		if kind.metered {
			counts = newMeter()
			e = e.metered(t, counts)
		}
		w := newWorld(rt, t, e)
		defer w.close()
		if shrinking {
			// rapid tries hundreds of shorter histories, and each may hang as the first did.
			w.bound /= 50
		}
		passed := false
		defer func() { shrinking = shrinking || !passed }()
		m := &model{world: w, rt: rt, kind: kind, meter: counts, dirty: map[string]bool{},
			processing: map[string]bool{}, due: map[string]time.Time{}, coming: map[string]bool{}}
		m.run()
		passed = true
	})
}

// model is the queue as the clauses describe it.
type model struct {
	*world
	rt   *rapid.T
	kind history

	ready      []string // the items that Get may return, oldest first
	dirty      map[string]bool
	processing map[string]bool
	due        map[string]time.Time // of items that wait for their time
	// coming holds the items that were delayed and not handed out since. The queue may need
	// a moment to notice that an item is due. The contract leaves open what an Add does in
	// that moment, or to a delay that still runs.
	coming map[string]bool

	meter                       *meter // nil if metrics are not compared
	entered, delayed, got, over int
}

// tell does what the queue must do when item is added.
func (m *model) tell(item string) {
	if m.dirty[item] {
		return
	}
	m.dirty[item] = true
	m.entered++
	if !m.processing[item] {
		m.ready = append(m.ready, item)
	}
}

// ripen adds the items that have come due.
func (m *model) ripen() {
	for item, due := range m.due {
		if m.reached(due) {
			delete(m.due, item)
			m.tell(item)
		}
	}
}

func (m *model) takeOne() {
	got := m.get()
	m.ripen() // waiting for Get may have advanced the clock
	i := slices.Index(m.ready, got)
	if i < 0 || m.kind.ordered && i > 0 {
		m.rt.Fatalf("Get = %q; ready are %q, oldest first, and workers have %v", got, m.ready,
			m.processing)
	}
	m.ready = slices.Delete(m.ready, i, i+1)
	delete(m.dirty, got)
	delete(m.coming, got)
	m.processing[got] = true
	m.got++
}

func (m *model) run() {
	item := rapid.StringMatching(`[a-h]`)
	steps := map[string]func(*rapid.T){
		"Add": func(rt *rapid.T) {
			i := item.Draw(rt, "item")
			if m.coming[i] || m.processing[i] && !m.kind.addProcessed {
				rt.Skip()
			}
			m.add(i)
			m.tell(i)
		},
		"Get": func(rt *rapid.T) {
			if len(m.ready) == 0 {
				rt.Skip()
			}
			m.takeOne()
		},
		"Done": func(rt *rapid.T) {
			if len(m.processing) == 0 {
				rt.Skip()
			}
			m.finishOne(rapid.SampledFrom(m.withWorkers()).Draw(rt, "item"))
		},
		"": func(rt *rapid.T) {
			if m.kind.ordered {
				m.awaitLen(len(m.ready))
			}
			m.awaitCounts()
		},
	}
	if m.kind.delays && m.exact() {
		steps["AddAfter"] = func(rt *rapid.T) {
			i := item.Draw(rt, "item")
			if m.coming[i] || m.dirty[i] {
				rt.Skip()
			}
			m.coming[i] = true
			m.delayed++
			m.due[i] = m.addAfter(i, rapid.IntRange(1, 5).Draw(rt, "ticks"))
		}
		steps["advance"] = func(rt *rapid.T) {
			m.advance(m.ticks(rapid.IntRange(1, 3).Draw(rt, "ticks")))
			m.ripen()
		}
	}
	m.rt.Repeat(steps)

	// In the end every item must come out.
	if len(m.due) > 0 {
		m.advance(m.ticks(5))
		m.ripen()
	}
	for len(m.ready)+len(m.processing)+len(m.due) > 0 {
		for _, i := range m.withWorkers() {
			m.finishOne(i)
		}
		for len(m.ready) > 0 {
			m.takeOne()
		}
	}
	m.awaitLen(0)
	m.awaitCounts()
}

// awaitCounts waits until the metrics agree with the model's.
func (m *model) awaitCounts() {
	if m.meter == nil {
		return
	}
	m.meter.awaitCounts(m.world, func() map[string]int {
		m.ripen() // waiting may have advanced the clock
		return map[string]int{adds: m.entered, depth: len(m.dirty), retries: m.delayed, latency: m.got,
			duration: m.over}
	})
}

// withWorkers returns the items that are being processed, sorted, so that a history can be
// repeated.
func (m *model) withWorkers() []string { return slices.Sorted(maps.Keys(m.processing)) }

func (m *model) finishOne(item string) {
	m.done(item)
	delete(m.processing, item)
	m.over++
	if m.dirty[item] {
		m.ready = append(m.ready, item)
	}
}

// stress lets producers add few items often while workers take them. Each Add first raises
// the item's version. A worker notes the version that it sees after Get. In the end the two
// must be equal.
func stress(t *suite.T, e env, lost func(item string, added, seen int64), twice func(item string)) {
	const producers, workers, items = 4, 4, 12
	w := open(t, e)
	var added, seen [items]atomic.Int64
	var busy [items]atomic.Bool
	index := map[string]int{}
	var names [items]string
	for i := range items {
		names[i] = fmt.Sprint("item", i)
		index[names[i]] = i
	}
	working := startEach(workers, func(int) {
		for {
			item, shutdown := w.q.Get()
			if shutdown {
				return
			}
			i := index[item]
			if !busy[i].CompareAndSwap(false, true) {
				twice(item)
			}
			seen[i].Store(added[i].Load())
			busy[i].Store(false)
			w.q.Done(item)
		}
	})
	rounds := t.Scale(400)
	producing := startEach(producers, func(p int) {
		for n := range rounds {
			i := (n*7 + p*5) % items
			added[i].Add(1)
			if n%5 == p {
				w.addAfter(names[i], 1)
			} else {
				w.add(names[i])
			}
		}
	})
	w.finish("each producer", producing...)
	w.await(func() bool {
		for i := range items {
			if seen[i].Load() != added[i].Load() {
				return false
			}
		}
		return true
	})
	for i := range items {
		if a, s := added[i].Load(), seen[i].Load(); a != s {
			lost(names[i], a, s)
		}
	}
	w.q.ShutDown()
	w.finish("each worker after ShutDown", working...)
}
