package informertest

// The calls of handlers, and the independence of handlers from each other.

import (
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
)

const (
	whyOrder     = "a controller would create twice, or act on an object that it was never told of"
	whyMissed    = "a controller that counts or caches by handlers drifts from the truth for ever"
	whyOld       = "controllers compare old and new to see whether anything that concerns them changed"
	whyTombstone = "a handler that takes the object for a pod panics, or frees nothing"
	whyAlone     = "one bad controller would stop all others of the process"
	whyReads     = "a handler queues a key, and the worker reads the store: it would miss the change"
)

// writer writes n updates to one object of the source.
func writer(b *fixture, key string, n int) {
	for i := range n {
		b.update(key, i)
	}
}

var handlerCases = []suite.Case[env]{
	play("INFORMER-3", "watched-writes", whyOrder, setup{objects: 10}, func(b *fixture) {
		h := b.handler("handler", nil)
		b.startUp()
		b.delete(keyOf(3))
		b.settle() // or an informer may make one change of both
		b.create(keyOf(3), 2)
		b.settle()
		churn(b)
		churnBack(b)
		b.settle()
		got := h.of(keyOf(3))
		if len(got) < 3 || got[0].kind != added || got[1].kind != deleted || got[2].kind != added {
			b.errorf("of an object that was deleted and made again the handler was told %s", summary(got))
		}
	}),
	play("INFORMER-3", "behind-its-back", "a list would look like new objects, one each",
		setup{objects: 10, window: 3}, func(b *fixture) {
			b.handler("handler", nil)
			b.startUp()
			for range 2 {
				b.miss(func() { churn(b) })
				b.miss(func() { churnBack(b) })
			}
		}),
	play("INFORMER-3", "lists-without-changes", whyOrder, setup{objects: 10, window: 3},
		func(b *fixture) {
			h := b.handler("handler", nil)
			b.startUp()
			b.miss(func() {})
			for key, n := range count(h.calls(added)) {
				if n != 1 {
					b.errorf("%s was added %d times", key, n)
				}
			}
		}),

	play("INFORMER-4", "bursts", whyMissed, setup{objects: 10}, func(b *fixture) {
		b.handler("fast", nil)
		b.handler("slow", func(call) { time.Sleep(50 * time.Millisecond) })
		b.startUp()
		for i := range 5 {
			writer(b, keyOf(i), 40)
		}
		churn(b)
		b.advance(5 * time.Minute)
	}),
	play("INFORMER-4", "single-writes", whyMissed, setup{objects: 10}, func(b *fixture) {
		h := b.handler("handler", nil)
		b.startUp()
		h.forget()
		b.update(keyOf(1), 2)
		b.settle()
		if got := h.calls(); len(got) != 1 || got[0].kind != updated || got[0].key != keyOf(1) {
			b.errorf("after one update the handler was told %s", summary(got))
		}
	}),
	play("INFORMER-4", "behind-its-back", whyMissed, setup{objects: 10, window: 3}, func(b *fixture) {
		b.handler("handler", nil)
		b.startUp()
		b.miss(func() { churn(b) })
		b.compare()
		b.update("ns0/new", 2)
	}),

	play("INFORMER-5", "watched-and-listed", whyOld, setup{objects: 10, window: 3}, func(b *fixture) {
		b.handler("handler", nil)
		b.handler("slow", func(call) { time.Sleep(10 * time.Millisecond) })
		b.startUp()
		writer(b, keyOf(0), 10)
		b.advance(time.Minute)
		b.miss(func() { writer(b, keyOf(0), 5) })
		writer(b, keyOf(0), 3)
		b.advance(time.Minute)
	}),
	play("INFORMER-5", "resyncs", whyOld, setup{objects: 5, resync: time.Minute}, func(b *fixture) {
		b.handler("handler", nil)
		b.start()
		for i := range 5 {
			b.advance(45 * time.Second)
			b.update(keyOf(0), i)
		}
	}),

	play("INFORMER-6", "watched-deletions", whyTombstone, setup{objects: 5}, func(b *fixture) {
		h := b.handler("handler", nil)
		b.startUp()
		b.update(keyOf(1), 7)
		b.delete(keyOf(1))
		b.delete(keyOf(2))
		b.settle()
		got := h.calls(deleted, buried)
		if len(got) != 2 || got[0].kind != deleted || got[1].kind != deleted {
			b.errorf("of two deletions that were watched the handler was told %s", summary(got))
		}
	}),
	play("INFORMER-37", "deletion-of-what-the-store-lacks",
		"who waits to see an object go waits for ever, as a read of one's own writes does",
		setup{objects: 3}, func(b *fixture) {
			early := b.handler("early", nil)
			b.startUp()
			obj, _, err := b.informer.GetStore().GetByKey(keyOf(1))
			if err != nil || b.informer.GetStore().Delete(obj) != nil {
				b.errorf("taking %s out of the store: %v", keyOf(1), err)
			}
			late := b.handler("late", nil)
			late.lack(keyOf(1))
			b.settle()
			b.delete(keyOf(1))
			b.settle()
			for _, h := range []*witness{early, late} {
				got := h.calls(deleted, buried)
				if len(got) != 1 || got[0].kind != deleted {
					b.errorf("%s was told %s", h.name, summary(got))
				}
			}
		}),
	play("INFORMER-7", "missed-deletions", whyTombstone, setup{objects: 6, window: 2},
		func(b *fixture) {
			h := b.handler("handler", nil)
			b.startUp()
			known := h.knows()
			b.miss(func() {
				b.delete(keyOf(1))
				b.update(keyOf(2), 7)
				b.delete(keyOf(2))
			})
			got := h.calls(deleted, buried)
			if len(got) != 2 || got[0].kind != buried || got[1].kind != buried {
				b.errorf("of two deletions that were missed the handler was told %s", summary(got))
			}
			for _, c := range got {
				if !same(c.new, known[c.key]) {
					b.errorf("the tombstone has %s, where the handler knew %s", describe(c.new),
						describe(known[c.key]))
				}
			}
		}),
	play("INFORMER-7", "missed-while-slow", "what is queued for a slow handler is not known to it yet",
		setup{objects: 4, window: 2}, func(b *fixture) {
			h := b.handler("slow", func(call) { time.Sleep(time.Minute) })
			b.startUp()
			b.miss(func() { b.delete(keyOf(3)) })
			b.advance(time.Hour)
			if got := h.of(keyOf(3)); len(got) != 2 || got[1].kind != buried {
				b.errorf("of an object whose deletion was missed the handler was told %s", summary(got))
			}
		}),

	play("INFORMER-17", "panics", whyAlone, setup{objects: 8}, func(b *fixture) {
		bad := &witness{name: "panicking", panics: true}
		bad.act = func(c call) {
			if version(c.new)%2 == 0 {
				panic(handlerPanic)
			}
		}
		b.add(bad, nil)
		b.handler("other", nil)
		b.start()
		b.advance(time.Minute)
		b.compare()
		writer(b, keyOf(1), 5)
		b.delete(keyOf(2))
		b.advance(time.Minute)
		b.mustShow("INFORMER-17")
	}),
	play("INFORMER-18", "does-not-return", whyAlone, setup{objects: 8}, func(b *fixture) {
		release := make(chan struct{})
		stuck := b.handler("stuck", func(call) { <-release })
		other := b.handler("other", nil)
		b.startUp()
		churn(b)
		for i := range 3000 { // more events than a usual buffer holds
			b.update(keyOf(1), i)
			b.settle() // or an informer may make one change of several
		}
		if n := len(stuck.calls()); n != 1 {
			b.errorf("the handler that does not return was called %d times", n)
		}
		if n := len(other.of(keyOf(1))); n < 3000 {
			b.errorf("the other handler was called %d times", n)
		}
		if got := b.problemsNow(func() { b.compareStore(b.wanted()) }); got != "" {
			b.errorf("while a handler does not return: %s", got)
		}
		close(release)
		b.settle()
		a, o := len(stuck.calls()), len(other.calls())
		if a != o {
			b.errorf("the handler that did not return was called %d times, the other %d times", a, o)
		}
		b.compare()
		b.mustShow("INFORMER-18")
	}),

	play("INFORMER-22", "store-while-told", whyReads,
		setup{objects: 8, window: 3, resync: time.Minute}, func(b *fixture) {
			b.add(&witness{name: "reader", reads: true}, nil)
			b.add(&witness{name: "slow reader", reads: true, act: func(call) {
				time.Sleep(time.Second)
			}}, nil)
			b.start()
			for range 3 {
				b.advance(30 * time.Second)
				churn(b)
				b.advance(30 * time.Second)
				churnBack(b)
			}
			b.miss(func() { churn(b) })
			churnBack(b)
			b.delete(keyOf(5))
			b.advance(time.Minute)
			b.create(keyOf(1)+"-one", 1)
			b.settle()
			b.update(keyOf(0), 1)
			b.settle()
			b.delete(keyOf(0))
			b.advance(5 * time.Minute)
		}),
	play("INFORMER-22", "every-way-to-read", "a handler that reads would never return",
		setup{objects: 8}, func(b *fixture) {
			h := b.handler("reader", func(c call) {
				indexer := b.informer.GetIndexer()
				found, err := indexer.ByIndex(nodeIndex, c.new.Spec.NodeName)
				gone := c.kind == deleted || c.kind == buried
				if err != nil || !gone && !slices.ContainsFunc(found, func(obj any) bool {
					return obj == any(c.new)
				}) {
					b.problem("INFORMER-22", "told %s, the handler finds %d objects by its node (%v) and not "+
						"this one", c, len(found), err)
				}
				// Other objects may be written between two reads, so only the told one is looked for.
				if !gone && !slices.ContainsFunc(indexer.List(), func(obj any) bool {
					return obj == any(c.new)
				}) {
					b.problem("INFORMER-22", "told %s, the handler does not find it in List", c)
				}
				if got := slices.Contains(indexer.ListKeys(), c.key); got == gone {
					b.problem("INFORMER-22", "told %s, the handler finds it in ListKeys: %t", c, got)
				}
				b.informer.HasSynced()
				b.informer.LastSyncResourceVersion()
				b.informer.IsStopped()
			})
			b.startUp()
			for i := range 4 {
				b.update(keyOf(i), i+1)
				b.settle()
			}
			b.delete(keyOf(5))
			b.settle()
			n := len(h.calls())
			if n != 13 {
				b.errorf("the handler was called %d times, want 13", n)
			}
		}),

	play("INFORMER-26", "bursts", "a handler's own fields have no lock",
		setup{objects: 8, resync: time.Minute}, func(b *fixture) {
			b.handler("slow", func(call) { time.Sleep(time.Second) })
			b.startUp()
			for range 3 {
				writer(b, keyOf(1), 20)
				b.advance(time.Minute)
			}
			b.advance(10 * time.Minute)
		}),

	play("INFORMER-28", "another-type", "the handler would take it for a pod, and panic",
		setup{objects: 5, intrude: true}, func(b *fixture) {
			h := b.handler("handler", nil)
			b.startUp()
			oneByOne(b)
			b.advance(time.Minute)
			n := len(h.calls())
			if n < 8 {
				b.errorf("the handler was called %d times only: the watch does not go on", n)
			}
			b.compare()
			b.mustShow("INFORMER-28")
		}),
}

// oneByOne makes writes of each kind, and lets each reach the handlers before the next.
func oneByOne(b *fixture) {
	b.update(keyOf(0), 1)
	b.settle()
	b.delete(keyOf(1))
	b.settle()
	b.create("ns0/new", 2)
	b.settle()
}

// mustShow reports every problem so far as a problem of clause, but those of waived clauses. It is
// for cases where all other clauses must hold in spite of a disturbance.
func (b *fixture) mustShow(clause string) {
	for _, p := range b.problems() {
		if p.clause != clause && b.t.Config().Waived[p.clause] == "" {
			b.errorf("%s: %s", p.clause, p.text)
		}
	}
}

// problemsNow returns the problems that f found.
func (b *fixture) problemsNow(f func()) string {
	before := len(b.problems())
	f()
	return joinProblems(b.problems()[before:])
}

func joinProblems(ps []problem) (s string) {
	for _, p := range ps {
		s += p.clause + ": " + p.text + "\n"
	}
	return s
}
