package fifotest

// What comes while process has an item, which is then neither in the queue nor yet
// in the store.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// during pops what must be waiting, by the fixture's popper, and has call run on another
// goroutine while process runs; afterwards process does the rest. Where producers never wait,
// call has returned by then; elsewhere it has had time to come.
func (b *fixture) during(call func() error, process func(contract.Deltas) error) popped {
	var called <-chan error
	p := b.take(func(o any, _ bool) error {
		called = start(b.t, call)
		if settingsOf(b.t).unlocked {
			called = b.returned(called)
		} else {
			letOthersRun()
		}
		return process(o.(contract.Deltas))
	})
	if called == nil {
		b.t.Fatalf("process was not called: %s returned %v", b.by.name, p.err)
	}
	b.must(await(b.t, called, "a call that came during process does not return after it"))
	return p
}

// returned waits for a call within process, which must not end the case itself.
func (b *fixture) returned(called <-chan error) <-chan error {
	select {
	case err := <-called:
		again := make(chan error, 1)
		again <- err
		return again
	case <-b.t.Stalled():
		b.t.Errorf("a producing method does not return while process runs")
		return called
	}
}

// flight is one event that is being processed when something comes.
type flight struct {
	name  string
	known []*object
	event func(b *fixture) // what is in flight
	comes func(f contract.FIFO) error
	fails bool // process fails and leaves the store as it is
	want  map[contract.FIFOClass][]string
}

// both is what both classes that look into the store must hand out.
func both(want ...string) map[contract.FIFOClass][]string {
	return map[contract.FIFOClass][]string{contract.Coalescing: want, contract.InOrder: want}
}

var (
	comesEmptyList = func(f contract.FIFO) error { return f.Replace(nil, "8") }
	comesResync    = contract.FIFO.Resync

	addsA    = func(b *fixture) { b.add(obj("a", 1)) }
	updatesA = func(b *fixture) { b.update(obj("a", 1)) }
	removesA = func(b *fixture) { b.remove(obj("a", 1)) }
)

var flights = []flight{
	{
		"an empty list while an object is added", nil, addsA,
		comesEmptyList, false, both("Deleted(tombstone a a@1)"),
	},
	{
		"an empty list while an object is updated", []*object{obj("a", 0)}, updatesA,
		comesEmptyList, false, both("Deleted(tombstone a a@1)"),
	},
	{
		"an empty list while an object is deleted", []*object{obj("a", 0)}, removesA,
		comesEmptyList, false, both(),
	},
	{
		"an empty list while an addition fails", nil, addsA,
		comesEmptyList, true, both(),
	},
	{
		"an empty list while a deletion fails", []*object{obj("a", 0)}, removesA,
		comesEmptyList, true, both("Deleted(tombstone a a@0)"),
	},
	{
		"a list and an event while an object is added", nil, addsA,
		func(f contract.FIFO) error {
			return errors.Join(f.Replace([]any{obj("b", 2)}, "8"), f.Add(obj("c", 3)))
		}, false, map[contract.FIFOClass][]string{
			contract.Coalescing: {"Replaced(b@2)", "Deleted(tombstone a a@1)", "Added(c@3)"},
			contract.InOrder:    {"Deleted(tombstone a a@1)", "Replaced(b@2)", "Added(c@3)"},
		},
	},
	{
		"a resync while an object is updated", []*object{obj("a", 0)}, updatesA,
		comesResync, false, both("Sync(a@1)"),
	},
	{
		"a resync while an object is deleted", []*object{obj("a", 0)}, removesA,
		comesResync, false, both(),
	},
	{
		"the deletion of an object that is added", nil, addsA,
		func(f contract.FIFO) error { return f.Delete(obj("a", 2)) }, false, both("Deleted(a@2)"),
	},
	{
		"the deletion of an object that is deleted", []*object{obj("a", 0)}, removesA,
		func(f contract.FIFO) error { return f.Delete(obj("a", 2)) }, false,
		map[contract.FIFOClass][]string{contract.InOrder: {"Deleted(a@2)"}},
	},
	{
		"a deletion and a resync while an object is added", nil, addsA,
		func(f contract.FIFO) error { return errors.Join(f.Delete(obj("a", 2)), f.Resync()) },
		false, both("Deleted(a@2)"),
	},
	{
		"two lists and an event between them while an object is added", nil, addsA,
		func(f contract.FIFO) error {
			return errors.Join(f.Replace([]any{obj("b", 2)}, "8"), f.Add(obj("c", 3)),
				f.Replace([]any{obj("c", 4)}, "9"))
		}, false, map[contract.FIFOClass][]string{
			contract.Coalescing: {"Replaced(b@2) Deleted(tombstone b b@2)", "Deleted(tombstone a a@1)",
				"Added(c@3) Replaced(c@4)"},
			contract.InOrder: {"Deleted(tombstone a a@1)", "Replaced(b@2)", "Added(c@3)",
				"Deleted(tombstone b b@2)", "Replaced(c@4)"},
		},
	},
	{
		"a deletion and a creation of an object that is deleted", []*object{obj("a", 0)},
		removesA,
		func(f contract.FIFO) error { return errors.Join(f.Delete(obj("a", 2)), f.Add(obj("a", 3))) },
		false, map[contract.FIFOClass][]string{
			contract.Coalescing: {"Added(a@3)"},
			contract.InOrder:    {"Deleted(a@2)", "Added(a@3)"},
		},
	},
}

// unlocked makes c a case for FIFOs that claim contract.CapUnlocked.
func unlocked(c fifoCase) fifoCase {
	run := c.Run
	c.Run = func(t *suite.T, construct newFIFO) {
		if !settingsOf(t).unlocked {
			t.Skipf("the FIFO does not claim that producers never wait for process (fifotest.Unlocked)")
		}
		run(t, construct)
	}
	return c
}

// producingCalls are the producing methods, on a FIFO that knows a.
var producingCalls = []struct {
	name string
	call func(f contract.FIFO) error
}{
	{"Add", func(f contract.FIFO) error { return f.Add(obj("a", 2)) }},
	{"Update", func(f contract.FIFO) error { return f.Update(obj("b", 3)) }},
	{"Delete", func(f contract.FIFO) error { return f.Delete(obj("a", 4)) }},
	{"Delete of an unknown key", func(f contract.FIFO) error { return f.Delete(obj("c", 5)) }},
	{"Replace", func(f contract.FIFO) error { return f.Replace([]any{obj("d", 6)}, "8") }},
	{"Resync", func(f contract.FIFO) error { return f.Resync() }},
}

var inFlightCases = fifoCases{
	unlocked(byEachPopper("FIFO-57", "producers-go-on",
		"a slow handler stops the watch, until the API server closes it",
		func(t *suite.T, construct newFIFO, by popper) {
			for _, waiting := range []int{1, 5000} {
				b := by.setUp(t, construct, known(obj("a", 0)))
				for i := range waiting {
					b.update(obj(fmt.Sprintf("k%d", i), i))
				}
				for _, c := range producingCalls {
					b.update(obj("x", waiting)) // there is always something to pop
					b.during(func() error { return c.call(b.f) }, func(contract.Deltas) error { return nil })
					if t.Failed() {
						t.Fatalf("it was %s, with %d waiting", c.name, waiting)
					}
				}
			}
		})),
	unlocked(byEachPopper("FIFO-57", "process-calls",
		"a handler that feeds its own informer hangs for ever",
		func(t *suite.T, construct newFIFO, by popper) {
			for _, c := range producingCalls {
				b := by.setUp(t, construct, known(obj("a", 0)))
				b.add(listOf(by.objects())...)
				if p := b.take(func(any, bool) error { return c.call(b.f) }); p.err != nil {
					t.Fatalf("%s within process: %v", c.name, p.err)
				}
			}
		})),
	byEachPopper("FIFO-58", "as-if-after",
		"an object that is deleted or relisted while it is on its way to the cache stays there for "+
			"ever, or comes back", func(t *suite.T, construct newFIFO, by popper) {
			only(t, contract.Coalescing, contract.InOrder)
			for _, fl := range flights {
				for range t.Scale(3) {
					store := known(fl.known...)
					b := by.setUp(t, construct, store)
					fl.event(b)
					b.accompany()
					b.during(func() error { return fl.comes(b.f) }, func(deltas contract.Deltas) error {
						if fl.fails {
							return errNoKey
						}
						store.apply(alone(deltas))
						return nil
					})
					t.Logf("%s", fl.name)
					b.drain(fl.want[b.class]...)
				}
			}
		}),
	byEachPopper("FIFO-58", "empty-first-list",
		"a controller waits for ever for its cache, because the first list came while something was "+
			"handled", func(t *suite.T, construct newFIFO, by popper) {
			only(t, contract.Coalescing, contract.InOrder)
			for range t.Scale(5) {
				objs := by.objects()
				store := known(objs...)
				b := by.setUp(t, construct, store)
				b.must(b.f.Resync())
				b.during(func() error { return b.f.Replace(nil, "8") }, func(contract.Deltas) error {
					for _, o := range objs {
						store.drop(o.key)
					}
					return nil
				})
				b.synced(true, "the first Replace came while every object was handled, whose process dropped "+
					"them, and left nothing waiting")
				b.drain()
			}
		}),
	unlocked(check("FIFO-58", "second-consumer",
		"a second worker handles an object that a list deleted before",
		func(t *suite.T, construct newFIFO) {
			only(t, contract.Coalescing)
			for range t.Scale(10) {
				store := known()
				b := setUp(t, construct, store)
				b.add(obj("x", 1), obj("y", 2))
				var others []<-chan popped
				b.popWith(func(o any, _ bool) error {
					if err := <-b.returned(start(t, func() error {
						return b.f.Replace([]any{obj("z", 3)}, "8")
					})); err != nil {
						t.Errorf("Replace: %v", err)
					}
					for range 2 {
						others = append(others, start(t, func() popped { return popOnce(b.f, nil) }))
					}
					letOthersRun() // now they have come
					store.apply(o.(contract.Deltas))
					return nil
				})
				got := map[string]bool{}
				for _, other := range others {
					got[render(await(t, other,
						"a Pop that came after a list, while process ran, still waits though process has returned").deltas)] = true
				}
				for _, want := range []string{"Added(y@2) Deleted(tombstone y y@2)", "Replaced(z@3)"} {
					if !got[want] {
						t.Fatalf("two Pops that came after the list of z gave %v; one of them must give %s",
							slices.Sorted(maps.Keys(got)), want)
					}
				}
				b.drain("Deleted(tombstone x x@1)")
			}
		})),
	byEachPopper("FIFO-58", "reader-waits", "whoever looks into the queue misses what a list brought",
		func(t *suite.T, construct newFIFO, by popper) {
			for range t.Scale(10) {
				store := known()
				b := by.setUp(t, construct, store)
				q := suite.Needs[contract.KeyedQueue](t, b.f)
				b.add(obj("a", 1))
				b.accompany()
				var keys <-chan []string
				b.take(func(o any, _ bool) error {
					replaced := make(chan error, 1)
					keys = start(t, func() []string {
						replaced <- q.Replace([]any{obj("b", 2)}, "8")
						return q.ListKeys() // it may wait for process
					})
					if settingsOf(t).unlocked {
						err := <-b.returned(replaced)
						if err != nil {
							t.Errorf("Replace: %v", err)
						}
					}
					letOthersRun()
					store.apply(alone(o.(contract.Deltas)))
					return nil
				})
				got := await(t, keys, "ListKeys does not return though process has returned")
				if !slices.Contains(got, "b") {
					t.Fatalf("ListKeys, after the Replace with b, gives %v", got)
				}
				b.drain("Replaced(b@2)", "Deleted(tombstone a a@1)")
			}
		}),
	byEachPopper("FIFO-59", "same-key",
		"an event is lost because its object was being handled when it came",
		func(t *suite.T, construct newFIFO, by popper) {
			events := []string{"Added(a@1)", "Added(b@2)"}
			taken, rest := strings.Join(events[:by.atOnce], " "), events[by.atOnce:]
			for range t.Scale(10) {
				b := by.setUp(t, construct, known())
				b.add(obj("a", 1), obj("b", 2))
				var had string
				p := b.during(func() error {
					return errors.Join(b.f.Update(obj("a", 3)), b.f.Update(obj("a", 4)))
				}, func(deltas contract.Deltas) error {
					had = render(deltas)
					return nil
				})
				if after := render(p.item.(contract.Deltas)); had != taken || after != had {
					t.Fatalf("process of %s had %s, which then became %s; want %s", by.name, had, after, taken)
				}
				if b.class == contract.Coalescing {
					b.drain(slices.Concat(rest, []string{"Updated(a@3) Updated(a@4)"})...)
				} else {
					b.drain(slices.Concat(rest, []string{"Updated(a@3)", "Updated(a@4)"})...)
				}
			}
		}),
	byEachPopper("FIFO-60", "before-the-first-list",
		"a controller acts on a cache that lacks the object that came last",
		func(t *suite.T, construct newFIFO, by popper) {
			for range t.Scale(10) {
				objs := by.objects()
				b := by.setUp(t, construct, known(objs...))
				b.must(b.f.Resync())
				list := append(listOf(objs), obj("b", 3))
				b.during(func() error {
					return b.f.Replace(list, "8")
				}, func(contract.Deltas) error { return nil })
				initial := len(list)
				if b.class == contract.InOrderAtomic {
					initial = 1
				}
				for range initial {
					b.synced(false, "part of the first Replace waits, which came while a Resync was processed")
					b.popWith(nil)
				}
				b.synced(true, "all of the first Replace was popped")
				b.drain()
			}
		}),
	ofKeyed("FIFO-61", "requeued-meanwhile", "an old state is applied over a new one",
		func(b *fixture, _ contract.KeyedQueue) {
			for range b.t.Scale(10) {
				b.add(obj("a", 1))
				b.during(func() error {
					return b.f.Update(obj("a", 2))
				}, func(contract.Deltas) error { return contract.ErrRequeue{} })
				// If the update came after process returned, it has joined the requeued deltas.
				got := render(b.popWith(nil).deltas)
				if got != "Added(a@1) Updated(a@2)" && got != "Updated(a@2)" {
					b.t.Fatalf("after a requeue of Added(a@1), during which Updated(a@2) came, Pop gave %s", got)
				}
			}
			b.drain()
		}),
	check("FIFO-61", "requeued-over-what-waits",
		"an old state is applied over a new one, because somebody looked into the queue",
		func(t *suite.T, construct newFIFO) {
			for _, others := range []int{0, 20} {
				for range t.Scale(5) {
					b := setUp(t, construct, nil)
					q := suite.Needs[contract.KeyedQueue](t, b.f)
					b.add(obj("a", 1))
					for i := range others {
						b.add(obj(fmt.Sprintf("k%d", i), 10+i))
					}
					b.during(func() error {
						err := q.Update(obj("a", 2))
						q.List() // what came is in its place now, whatever the FIFO puts off
						return err
					}, func(contract.Deltas) error { return contract.ErrRequeue{} })
					b.update(obj("a", 3))
					for i := range others {
						b.pop(fmt.Sprintf("Added(k%d@%d)", i, 10+i))
					}
					got := render(b.popWith(nil).deltas)
					if got != "Added(a@1) Updated(a@2) Updated(a@3)" && got != "Updated(a@2) Updated(a@3)" {
						t.Fatalf("after a requeue of Added(a@1), during which Updated(a@2) came, and Updated(a@3), "+
							"Pop gave %s", got)
					}
					b.drain()
				}
			}
		}),
}
