package queuetest

// The end of a queue: ShutDown, ShutDownWithDrain and the goroutines that they leave
// behind.

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyStuck = "a process that is told to stop would hang until it is killed"
	whyLeak  = "every controller that is started and stopped would leave a goroutine and its queue " +
		"behind"
	whyDrain = "a process would exit in the middle of a reconciliation"
)

var shutdownCases = []suite.Case[env]{
	check("QUEUE-10", "nothing-enters", "work that enters a queue that stops is work half done",
		with(func(w *world) {
			w.q.ShutDown()
			w.addEachWay("late")
			w.advance(w.ticks(5))
			w.settle()
			w.awaitLen(0)
			w.mustEnd()
		})),
	check("QUEUE-10", "while-producers-add",
		"a producer that is not told in time would crash the process", func(t *suite.T, e env) {
			for range max(10, t.Scale(30)) {
				w := newWorld(t, t, e)
				var adding atomic.Int64
				producing := startEach(3, func(who int) {
					for n := 0; !w.q.ShuttingDown(); n++ {
						w.q.AddAfter(fmt.Sprint("item", who, "-", n%7), time.Duration(1+n%3))
						adding.Add(1)
					}
				})
				w.mustSee(func() bool {
					return adding.Load() >= 10
				}, "three producers have called AddAfter ten times", producing...)
				stop := start(w.q.ShutDown)
				w.finish("each producer that calls AddAfter, after ShutDown,", producing...)
				w.finish("ShutDown while producers call AddAfter", stop)
				w.close()
			}
		}),
	check("QUEUE-11", "what-is-ready-comes-first", "events that were accepted would be dropped",
		with(func(w *world) {
			w.add("a", "b", "c")
			w.mustGet("a")
			w.q.ShutDown()
			w.mustGet("b", "c")
			w.mustEnd()
			w.mustEnd()
		})),
	check("QUEUE-11", "with-priority", "a worker would take the end for an item",
		having(func(w *world, q priorityQueue) {
			q.AddWithOpts(contract.AddOptions{Priority: new(3)}, "a")
			w.awaitLen(1)
			w.q.ShutDown()
			w.mustGetWith(q, "a", 3)
			var item string
			var priority int
			var shutdown bool
			w.finish("GetWithPriority of a queue that is shut down", start(func() {
				item, priority, shutdown = q.GetWithPriority()
			}))
			if item != "" || priority != 0 || !shutdown {
				w.t.Fatalf("GetWithPriority = %q, %d, %v; want zeros and true: the queue is shut down and "+
					"nothing is ready", item, priority, shutdown)
			}
		})),
	check("QUEUE-11", "added-again-before", "events that were accepted would be dropped",
		with(func(w *world) {
			w.add("a")
			w.mustGet("a")
			w.add("a")
			w.q.ShutDown()
			w.done("a")
			w.mustGet("a")
			w.done("a")
			w.mustEnd()
		})),
	check("QUEUE-12", "every-worker", whyStuck, with(func(w *world) {
		var gets []*getting
		for range 8 {
			gets = append(gets, w.startGet())
		}
		w.settle()
		w.q.ShutDown()
		for _, g := range gets {
			w.finish("each of eight Gets after ShutDown", g.call)
			if !g.shutdown || g.item != "" {
				w.t.Errorf("Get = %q, %v after ShutDown of an empty queue", g.item, g.shutdown)
			}
		}
	})),
	check("QUEUE-13", "after-shutdown", "producers ask before they add", with(func(w *world) {
		w.add("a")
		w.mustShuttingDown(false)
		w.q.ShutDown()
		w.mustShuttingDown(true)
	})),
	check("QUEUE-13", "after-shutdown-with-drain", "producers ask before they add",
		with(func(w *world) {
			w.mustShuttingDown(false)
			w.finish("ShutDownWithDrain of an idle queue", start(w.q.ShutDownWithDrain))
			w.mustShuttingDown(true)
		})),
	check("QUEUE-14", "again-and-at-once",
		"a manager and a controller both stop the queue: the second would crash the process",
		with(func(w *world) {
			w.add("a")
			calls := startEach(4, func(int) {
				w.q.ShutDown()
				w.q.ShutDown()
			})
			w.finish("ShutDown, called eight times", calls...)
			w.mustShuttingDown(true)
		})),
	check("QUEUE-14", "after-drain",
		"a manager and a controller both stop the queue: the second would crash the process",
		with(func(w *world) {
			w.finish("ShutDownWithDrain, then ShutDown", start(func() {
				w.q.ShutDownWithDrain()
				w.q.ShutDown()
			}))
		})),
	check("QUEUE-15", "waits-for-done", whyDrain, with(func(w *world) {
		w.add("a", "b")
		w.mustGet("a", "b")
		drain := start(w.q.ShutDownWithDrain)
		w.mustAwait(w.q.ShuttingDown, "ShutDownWithDrain begins")
		w.settle()
		w.done("a")
		w.settle()
		if drain.done() {
			w.t.Fatalf("ShutDownWithDrain returned while a worker has an item")
		}
		w.done("b")
		w.finish("ShutDownWithDrain after the last Done", drain)
	})),
	check("QUEUE-15", "nothing-to-wait-for", whyStuck, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		w.done("a")
		w.finish("ShutDownWithDrain of an idle queue", start(w.q.ShutDownWithDrain))
		w.mustEnd()
	})),
	check("QUEUE-16", "workers-go-on", whyDrain, with(func(w *world) {
		w.add("a", "b")
		w.mustGet("a")
		w.add("a") // a must be processed again
		drain := start(w.q.ShutDownWithDrain)
		w.mustAwait(w.q.ShuttingDown, "ShutDownWithDrain begins")
		w.addEachWay("late")
		w.mustGet("b") // from here on at least one item is being processed
		w.done("a")
		w.mustGet("a")
		w.done("b")
		w.settle()
		if drain.done() {
			w.t.Fatalf("ShutDownWithDrain returned while a worker has an item")
		}
		w.done("a")
		w.finish("ShutDownWithDrain after the last Done", drain)
		w.advance(w.ticks(5))
		w.settle()
		w.mustEnd()
	})),
	check("QUEUE-17", "forced", whyStuck, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		drain := start(w.q.ShutDownWithDrain)
		w.mustAwait(w.q.ShuttingDown, "ShutDownWithDrain begins")
		w.settle()
		w.finish("ShutDown while another drains", start(w.q.ShutDown))
		w.finish("ShutDownWithDrain after ShutDown", drain)
		w.done("a") // a late Done is harmless
		w.mustEnd()
	})),
	check("QUEUE-17", "several-forced", whyStuck, func(t *suite.T, e env) {
		const rounds, looks = 10, 50
		for range rounds {
			w := open(t, e)
			w.add("a")
			w.mustGet("a")
			drains := w.drainThrice(w.settle)
			returned := func() bool {
				return !slices.ContainsFunc(drains, func(c *call) bool { return !c.done() })
			}
			w.finish("ShutDown while others drain", start(w.q.ShutDown))
			for look := 0; !w.virtual() && look < looks && !returned(); look++ {
				w.pause(look)
			}
			if w.virtual() || returned() {
				w.finish("each of three ShutDownWithDrain after ShutDown", drains...)
				return
			}
			// A ShutDownWithDrain that begins only now waits for Done, and with it those that
			// ShutDown has woken and that have not run since. One Done need not wake them all:
			// that is asked for by QUEUE-18.
			w.mustAwait(func() bool {
				w.done("a")
				return returned()
			}, "each of three ShutDownWithDrain after ShutDown and Done returns")
		}
		t.Fatalf("in each of %d rounds, one of three ShutDownWithDrain waits on after ShutDown", rounds)
	}),
	check("QUEUE-18", "three-at-once", whyStuck, with(func(w *world) {
		w.add("a")
		w.mustGet("a")
		drains := w.drainThrice(func() {})
		w.done("a")
		w.finish("each of three ShutDownWithDrain after the last Done", drains...)
	})),
	check("QUEUE-18", "one-after-another", whyDrain, func(t *suite.T, e env) {
		for range max(5, t.Scale(20)) {
			w := newWorld(t, t, e)
			w.add("a")
			w.mustGet("a")
			var drains []*call
			for range 4 {
				drains = append(drains, start(w.q.ShutDownWithDrain))
				w.mustAwait(w.q.ShuttingDown, "ShutDownWithDrain begins")
				w.settle()
			}
			for _, d := range drains {
				if d.done() {
					t.Fatalf("ShutDownWithDrain returned while a worker has an item")
				}
			}
			w.done("a")
			w.finish("each of four ShutDownWithDrain after the last Done", drains...)
			w.close()
		}
	}),
	check("QUEUE-19", "unused", whyLeak, func(t *suite.T, e env) {
		leavesNothing(t, e, func(w *world) { w.q.ShutDown() })
	}),
	check("QUEUE-19", "used", whyLeak, func(t *suite.T, e env) {
		leavesNothing(t, e, func(w *world) {
			w.use()
			w.q.ShutDown()
		})
	}),
	check("QUEUE-20", "unused", whyLeak, func(t *suite.T, e env) {
		leavesNothing(t, e, func(w *world) { w.q.ShutDownWithDrain() })
	}),
	check("QUEUE-20", "used", whyLeak, func(t *suite.T, e env) {
		leavesNothing(t, e, func(w *world) {
			w.use()
			w.q.ShutDownWithDrain()
		})
	}),
	check("QUEUE-26", "shutdown", "a process that stops cannot wait for a back-off of minutes",
		with(func(w *world) {
			due := w.addAfter("soon", 50)
			w.addAfter("late", 60)
			w.q.ShutDown()
			if w.reached(due) {
				w.owner.Skipf("the machine stopped for so long that the item was due before ShutDown")
			}
			w.advance(w.ticks(61))
			w.settle()
			w.mustEnd()
		})),
	check("QUEUE-26", "drain", "a process that stops cannot wait for a back-off of minutes",
		with(func(w *world) {
			w.add("a")
			w.mustGet("a")
			due := w.addAfter("late", 50)
			drain := start(w.q.ShutDownWithDrain)
			w.mustAwait(w.q.ShuttingDown, "ShutDownWithDrain begins")
			w.done("a")
			w.finish("ShutDownWithDrain while an item waits for its time", drain)
			if w.reached(due) {
				w.owner.Skipf("the machine stopped for so long that the item was due before the end of " +
					"ShutDownWithDrain")
			}
			w.advance(w.ticks(51))
			w.settle()
			w.mustEnd()
		})),
}

func (w *world) mustShuttingDown(want bool) {
	got := w.q.ShuttingDown()
	if got != want {
		w.t.Fatalf("ShuttingDown() = %v, want %v", got, want)
	}
}

// drainThrice calls ShutDownWithDrain on three goroutines, and calls between after each
// start.
func (w *world) drainThrice(between func()) (drains []*call) {
	for range 3 {
		drains = append(drains, start(w.q.ShutDownWithDrain))
		between()
	}
	w.mustAwait(w.q.ShuttingDown, "ShutDownWithDrain begins")
	w.settle()
	return drains
}

// use makes the queue work a little, and leaves items ready and delayed.
func (w *world) use() {
	for i := range 10 {
		w.add(fmt.Sprint("ready", i))
		w.addAfter(fmt.Sprint("soon", i), 1)
		w.addAfter(fmt.Sprint("late", i), never)
	}
	for range 5 {
		w.done(w.get())
	}
	w.advance(w.ticks(2))
	for range 10 {
		w.done(w.get())
	}
}

// leavesNothing makes a queue, calls f with it, and waits until every goroutine that the
// queue started has ended. A fake clock stands still meanwhile. The clocks of bubbles and
// of the system advance by less than the ten seconds after which client-go's queues would
// look at their clock.
func leavesNothing(t *suite.T, e env, f func(*world)) {
	var w *world
	queues := newFamily()
	queues.do(func() {
		w = open(t, e)
		f(w)
	})
	begin, left := time.Now(), ""
	for {
		if left = queues.stacks(); left == "" {
			return
		}
		if t.HasStalled() || time.Since(begin) > min(w.bound, 5*time.Second) &&
			(w.virtual() || !w.exact()) {
			t.Fatalf("goroutines are left:\n%s", left)
		}
		w.pause(looksBeforeStep - 1)
	}
}

// family is a set of goroutines with one profiler label: the goroutines that a function
// starts, and those that these start. Unlike a count of all goroutines, it does not depend
// on the rest of the process.
type family struct{ name string }

const familyLabel = "queuetest-family"

var families atomic.Int64

func newFamily() family { return family{strconv.FormatInt(families.Add(1), 10)} }

// do calls fn on this goroutine, which belongs to the family meanwhile.
func (f family) do(fn func()) {
	pprof.Do(context.Background(), pprof.Labels(familyLabel, f.name), func(context.Context) { fn() })
}

// stacks returns the stacks of the family's goroutines, "" if there are none.
func (f family) stacks() string {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return err.Error()
	}
	label := strconv.Quote(familyLabel) + ":" + strconv.Quote(f.name)
	var out []string
	for _, record := range strings.Split(profile.String(), "\n\n") {
		if strings.Contains(record, label) {
			out = append(out, record)
		}
	}
	return strings.Join(out, "\n\n")
}
