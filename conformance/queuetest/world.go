package queuetest

// world is one queue in its time, with the steps that cases are made of.

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// reporter is the part of suite.T and rapid.T that a world needs.
type reporter interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

type world struct {
	timeline
	t     reporter
	owner *suite.T
	q     contract.DelayingQueue[string]
	bound time.Duration // of a bubble's time that await waits; elsewhere until the case stalls
}

// open makes a queue that is shut down when the case ends.
func open(t *suite.T, e env) *world {
	w := newWorld(t, t, e)
	t.Cleanup(w.close)
	return w
}

// newWorld makes a world of the case whose failures go to t.
func newWorld(t reporter, c *suite.T, e env) *world {
	tl := e.newTimeline()
	return &world{timeline: tl, t: t, owner: c, q: e.newQueue(tl.clock()), bound: c.Config().CaseTimeout / 10}
}

// configured returns e with queues that are made with cfg, on the clock of their world.
// It skips the case if no constructor of such queues was given.
func (e env) configured(t *suite.T, cfg contract.QueueConfig) env {
	return e.configuredAs(t, cfg, true)
}

// configuredAs is configured; without onClock the queues are given no clock.
func (e env) configuredAs(t *suite.T, cfg contract.QueueConfig, onClock bool) env {
	construct := t.Config().NewConfigured
	if construct == nil {
		t.Skipf("no constructor of a queue with a configuration was given (queuetest.NewConfigured)")
	}
	e.newQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
		if onClock {
			cfg.Clock = c
		}
		return construct(cfg)
	}
	return e
}

// close shuts the queue down, whatever the case did with it. A ShutDown that
// panics the second time or does not return is for QUEUE-14 and QUEUE-17 to
// name: here it must only not hide the case's own result.
func (w *world) close() { w.await(start(w.q.ShutDown).done) }

// ticks is a length of time.
func (w *world) ticks(n int) time.Duration { return time.Duration(n) * w.tick() }

// never is a delay in ticks that no case lives to see.
const never = 1_000_000

// reached reports whether it is t or later.
func (w *world) reached(t time.Time) bool { return !w.clock().Now().Before(t) }

// addAfter delays item and returns a time that its own is not before.
func (w *world) addAfter(item string, ticks int) (notBefore time.Time) {
	now := w.clock().Now()
	w.q.AddAfter(item, w.ticks(ticks))
	return now.Add(w.ticks(ticks))
}

// takenIn waits until the queue has taken in every AddAfter so far: a queue may
// pass them to a goroutine of its own, in their order. Nothing may be ready, and
// no item's time may be before first or within a tick. It reports false if first
// is reached meanwhile: on a machine that slow the case cannot tell.
func (w *world) takenIn(first time.Time) bool {
	const probe = "taken in"
	w.addAfter(probe, 1)
	w.advance(w.tick())
	got := w.get()
	if w.reached(first) {
		return false
	}
	if got != probe {
		w.t.Fatalf("Get = %q %s before its time", got, first.Sub(w.clock().Now()))
	}
	w.done(probe)
	return true
}

// await waits until cond holds and reports whether it does. In a bubble it waits for
// w.bound, which costs no real time; elsewhere until the case stalls.
func (w *world) await(cond func() bool) bool {
	begin := time.Now()
	for looks := 0; ; looks++ {
		if cond() {
			w.owner.Progress()
			return true
		}
		if w.owner.HasStalled() || w.virtual() && time.Since(begin) > w.bound {
			return false
		}
		w.pause(looks)
	}
}

// mustAwait is await, and ends the case if cond never holds.
func (w *world) mustAwait(cond func() bool, format string, args ...any) {
	if !w.await(cond) {
		what := fmt.Sprintf(format, args...)
		if w.owner.HasStalled() {
			w.owner.Fatalf("waited in vain until %s", what) // rapid would lose the text
		}
		w.t.Fatalf("waited in vain until %s", what)
	}
}

// awaitLen waits until n items are ready.
func (w *world) awaitLen(n int) {
	got := 0
	if !w.await(func() bool { got = w.q.Len(); return got == n }) {
		w.t.Fatalf("Len() = %d, want %d", got, n)
	}
}

// call is a function that runs on a goroutine of its own.
type call struct {
	finished atomic.Bool
	panicked string // read after finished
}

// done reports whether the function has returned.
func (c *call) done() bool { return c.finished.Load() }

// start runs f on a goroutine of its own. A panic ends the call, not the process.
func start(f func()) *call {
	c := &call{}
	go func() {
		defer c.finished.Store(true)
		defer func() {
			if p := recover(); p != nil {
				c.panicked = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		f()
	}()
	return c
}

// finish waits for calls to return; what says what they are.
func (w *world) finish(what string, calls ...*call) {
	for _, c := range calls {
		w.mustAwait(c.done, "%s returns", what)
		if c.panicked != "" {
			w.t.Fatalf("%s: %s", what, c.panicked)
		}
	}
}

// getting is a Get that may take its time.
type getting struct {
	*call
	item     string
	shutdown bool
}

func (w *world) startGet() *getting {
	g := &getting{}
	g.call = start(func() { g.item, g.shutdown = w.q.Get() })
	return g
}

// get takes out an item, which must come soon.
func (w *world) get() string {
	g := w.startGet()
	w.finish("Get", g.call)
	if g.shutdown {
		w.t.Fatalf("Get says shutdown = true (and %q), but an item is due", g.item)
	}
	return g.item
}

// mustGet takes out items, which must be these in this order.
func (w *world) mustGet(want ...string) {
	for i, item := range want {
		if got := w.get(); got != item {
			w.t.Fatalf("Get = %q, want %q (number %d of %q)", got, item, i+1, want)
		}
	}
}

// mustEnd asserts that nothing is left and Get says so.
func (w *world) mustEnd() {
	g := w.startGet()
	w.finish("Get of a queue that is shut down", g.call)
	if !g.shutdown || g.item != "" {
		w.t.Fatalf("Get = %q, shutdown = %v; want the zero item and true: the queue is shut down and nothing is ready", g.item, g.shutdown)
	}
}

func (w *world) add(items ...string) {
	for _, item := range items {
		w.q.Add(item)
	}
}

func (w *world) done(items ...string) {
	for _, item := range items {
		w.q.Done(item)
	}
}
