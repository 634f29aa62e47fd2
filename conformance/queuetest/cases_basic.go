package queuetest

// Add, Get, Done and Len.

import (
	"fmt"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyTwice = "two workers would reconcile one object at the same time"
	whyLost  = "an object whose event is lost is not reconciled until somebody changes it"
	whyExtra = "work is done again that nobody asked for"
)

var basicCases = []suite.Case[env]{
	check("QUEUE-1", "added-three-times", whyExtra, with(func(w *world) {
		w.add("a", "a", "b", "a")
		w.awaitLen(2)
		w.mustGet("a", "b")
		w.done("a", "b")
		w.add("canary")
		w.mustGet("canary")
	})),
	check("QUEUE-1", "forgotten-after-done", whyLost, with(func(w *world) {
		for range 5 {
			w.add("a", "a")
			w.mustGet("a")
			w.done("a")
		}
	})),
	check("QUEUE-2", "again-after-done", whyTwice, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		w.add("a", "a", "canary")
		w.mustGet("canary") // not a: a worker has it
		second := w.startGet()
		w.settle()
		if second.done() {
			w.t.Fatalf("Get = %q while a worker has %q", second.item, "a")
		}
		w.done("a")
		w.finish("Get after Done", second.call)
		if second.item != "a" {
			w.t.Fatalf("Get = %q, want %q, which was added while it was processed",
				second.item, "a")
		}
		w.done("a", "canary")
		w.add("last")
		w.mustGet("last") // a was added twice while it was processed, and came once
	})),
	check("QUEUE-2", "delayed-while-processed", whyTwice, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		w.addAfter("a", 2)
		w.addAfter("canary", 3)
		w.advance(w.ticks(4))
		w.mustGet("canary")
		w.done("a")
		w.mustGet("a")
	})),
	check("QUEUE-3", "first-in-first-out", "an object could wait for ever behind busier ones",
		with(func(w *world) {
			next, in := 0, 0
			name := func(i int) string { return fmt.Sprint("item", i) }
			// more items than any first array holds
			for _, step := range []int{1, -1, 3, -2, 40, -20, 100, -121} {
				for range step {
					w.add(name(in))
					in++
				}
				for range -step {
					w.mustGet(name(next))
					w.done(name(next))
					next++
				}
			}
		})),
	check("QUEUE-3", "adding-again-keeps-the-place", "a busy object would be put off again and again",
		with(func(w *world) {
			w.add("a", "b", "a", "c", "b")
			w.mustGet("a", "b", "c")
		})),
	check("QUEUE-4", "behind-what-waits",
		"an object that changes all the time would starve the others", with(func(w *world) {
			w.add("a")
			w.mustGet("a")
			w.add("a", "b", "c")
			w.done("a")
			w.mustGet("b", "c", "a")
		})),
	check("QUEUE-5", "waits-and-wakes", "workers would spin, or sleep on a full queue",
		with(func(w *world) {
			var gets []*getting
			for range 5 {
				gets = append(gets, w.startGet())
			}
			w.settle()
			for _, g := range gets {
				if g.done() {
					w.t.Fatalf("Get = %q, %v on an empty queue", g.item, g.shutdown)
				}
			}
			for i := range gets {
				w.add(fmt.Sprint("item", i))
			}
			got := map[string]bool{}
			for _, g := range gets {
				w.finish("each of five Gets after five Adds", g.call)
				got[g.item] = true
			}
			if len(got) != len(gets) {
				w.t.Errorf("five workers got %v", got)
			}
		})),
	check("QUEUE-5", "woken-by-one-add", whyLost, with(func(w *world) {
		for i := range 3 {
			g := w.startGet()
			w.settle()
			item := fmt.Sprint("item", i)
			w.add(item) // no later call could wake the worker
			w.finish("Get after Add", g.call)
			w.done(item)
		}
	})),
	check("QUEUE-5", "woken-by-done", whyLost, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		w.add("a")
		g := w.startGet()
		w.settle()
		w.done("a")
		w.finish("Get after Done", g.call)
	})),
	check("QUEUE-5", "woken-by-time", whyLost, with(func(w *world) {
		g := w.startGet()
		w.settle()
		w.addAfter("a", 2)
		w.advance(w.ticks(2))
		w.finish("Get of an item whose time has come", g.call)
	})),
	check("QUEUE-6", "ready-only", "autoscalers and alerts read the depth", with(func(w *world) {
		w.awaitLen(0)
		w.addAfter("later", never)
		w.add("a", "b", "c")
		w.awaitLen(3)
		w.mustGet("a")
		w.awaitLen(2)
		w.mustGet("b")
		w.done("a")
		w.awaitLen(1)
		w.done("b")
		w.mustGet("c")
		w.awaitLen(0)
		w.done("c")
		w.awaitLen(0)
	})),
	check("QUEUE-7", "from-done-on", "an item that no worker may have is not work that waits",
		with(func(w *world) {
			w.add("a")
			w.mustGet("a")
			w.add("a")
			w.settle()
			n := w.q.Len()
			if n != 0 {
				w.t.Fatalf("Len() = %d while the only item is processed", n)
			}
			w.done("a")
			w.awaitLen(1)
		})),
	check("QUEUE-8", "unknown-and-twice", "a worker's deferred Done must not break the queue",
		with(func(w *world) {
			w.done("never added")
			w.awaitLen(0)
			w.add("a", "b")
			w.done("never added")
			w.mustGet("a")
			w.done("a", "a")
			w.awaitLen(1)
			w.mustGet("b")
			w.add("b")
			w.done("a") // must not end the processing of b
			w.add("canary")
			w.mustGet("canary")
			w.done("b")
			w.mustGet("b")
		})),
	check("QUEUE-9", "ready-item", whyTwice, with(func(w *world) {
		w.add("a", "b")
		w.done("a")
		w.awaitLen(2)
		w.mustGet("a", "b")
		w.add("canary")
		w.mustGet("canary")
	})),
	check("QUEUE-9", "ready-again", whyTwice, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		w.add("a")
		w.done("a") // a is ready again
		w.awaitLen(1)
		w.done("a")
		w.awaitLen(1)
		w.mustGet("a")
		w.add("canary")
		w.mustGet("canary")
	})),
}

// Pause and Resume.

const (
	whyPaused  = "a controller that lost its lease would go on writing"
	whyResumed = "a controller that got its lease back would reconcile nothing"
)

var pauseCases = []suite.Case[env]{
	check("QUEUE-50", "until-resume", whyPaused, having(func(w *world, q contract.Pausable) {
		w.add("a")
		q.Resume() // nothing to end
		q.Pause()
		q.Pause()
		g := w.startGet()
		w.settle()
		w.add("b")
		w.addAfter("c", 2)
		w.advance(w.ticks(2))
		w.awaitLen(3)
		if g.done() {
			w.t.Fatalf("Get = %q, %v of a queue that is paused", g.item, g.shutdown)
		}
		q.Resume()
		w.finish("Get after Resume", g.call)
		if g.item != "a" {
			w.t.Fatalf("Get = %q after Resume, want %q", g.item, "a")
		}
		w.mustGet("b", "c")
	})),
	check("QUEUE-50", "workers-that-waited-before", whyPaused,
		having(func(w *world, q contract.Pausable) {
			gets := []*getting{w.startGet(), w.startGet(), w.startGet()}
			w.settle()
			q.Pause()
			for i := range gets {
				w.add(fmt.Sprint("item", i))
			}
			w.settle()
			for _, g := range gets {
				if g.done() {
					w.t.Fatalf("Get = %q, %v of a queue that is paused", g.item, g.shutdown)
				}
			}
			q.Resume()
			for _, g := range gets {
				w.finish("each of three Gets after Resume", g.call)
			}
		})),
	check("QUEUE-51", "done-and-added-again", whyResumed,
		having(func(w *world, q contract.Pausable) {
			w.add("a", "b")
			w.mustGet("a", "b")
			w.add("a")
			q.Pause()
			w.done("a", "b")
			w.add("b", "b")
			w.awaitLen(2)
			q.Resume()
			w.mustGet("a", "b")
		})),
	check("QUEUE-51", "metrics", whyCounts, func(t *suite.T, e env) {
		w, m := openMetered(t, e)
		q := suite.Needs[contract.Pausable](t, w.q)
		w.add("a")
		w.mustGet("a")
		q.Pause()
		w.done("a")
		w.add("b", "b", "c")
		m.awaitCounts(w, func() map[string]int {
			return map[string]int{adds: 3, depth: 2, latency: 1, duration: 1}
		})
	}),
	check("QUEUE-52", "waiting-get", whyStuck, having(func(w *world, q contract.Pausable) {
		w.add("a")
		q.Pause()
		g := w.startGet()
		w.settle()
		w.q.ShutDown()
		w.finish("Get of a paused queue, after ShutDown,", g.call)
		if !g.shutdown {
			w.t.Fatalf("Get = %q of a paused queue that is shut down", g.item)
		}
		w.mustEnd()
	})),
	check("QUEUE-52", "drain", whyDrain, having(func(w *world, q contract.Pausable) {
		w.add("a", "b")
		w.mustGet("a")
		q.Pause()
		drain := start(w.q.ShutDownWithDrain)
		w.settle()
		if drain.done() {
			w.t.Fatalf("ShutDownWithDrain returned while a worker has %q", "a")
		}
		w.done("a")
		w.finish("ShutDownWithDrain of a paused queue after the last Done", drain)
		w.mustEnd()
	})),
}
