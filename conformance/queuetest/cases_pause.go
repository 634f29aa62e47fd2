package queuetest

// Pause and Resume.

import (
	"fmt"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

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
		w.fatalIf(g.done(), "Get = %q, %v of a queue that is paused", g.item, g.shutdown)
		q.Resume()
		w.finish("Get after Resume", g.call)
		w.fatalIf(g.item != "a", "Get = %q after Resume, want %q", g.item, "a")
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
				w.fatalIf(g.done(), "Get = %q, %v of a queue that is paused", g.item, g.shutdown)
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
		w.fatalIf(!g.shutdown, "Get = %q of a paused queue that is shut down", g.item)
		w.mustEnd()
	})),
	check("QUEUE-52", "drain", whyDrain, having(func(w *world, q contract.Pausable) {
		w.add("a", "b")
		w.mustGet("a")
		q.Pause()
		drain := start(w.q.ShutDownWithDrain)
		w.settle()
		w.fatalIf(drain.done(), "ShutDownWithDrain returned while a worker has %q", "a")
		w.done("a")
		w.finish("ShutDownWithDrain of a paused queue after the last Done", drain)
		w.mustEnd()
	})),
}
