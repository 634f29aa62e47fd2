package queuetest

// world is one queue in its time, with the steps of cases as methods.

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

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
	// how long await waits in a bubble, in virtual time; elsewhere it waits until the case stalls
	bound time.Duration
}

// open makes a queue that is shut down when the case ends.
func open(t *suite.T, e env) *world {
	w := newWorld(t, t, e)
	t.Cleanup(w.close)
	return w
}

// newWorld makes a world for case c. Its failures go to t.
func newWorld(t reporter, c *suite.T, e env) *world {
	tl := e.newTimeline(c)
	return &world{timeline: tl, t: t, owner: c, q: e.newQueue(tl.clock()),
		bound: c.Config().CaseTimeout / 10}
}

// configured returns e with queues that are made with cfg and the clock of their world. It
// skips the case if no constructor of such queues was given.
func (e env) configured(t *suite.T, cfg contract.QueueConfig) env {
	return e.configuredAs(t, cfg, true)
}

// configuredAs is configured. If onClock is false, the queues are given no clock.
func (e env) configuredAs(t *suite.T, cfg contract.QueueConfig, onClock bool) env {
	construct := suite.Settings[settings](t.Config()).newConfigured
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

// close shuts the queue down, whatever the case did with it. A ShutDown that panics the
// second time or does not return breaks QUEUE-14 or QUEUE-17; here it must only not hide
// the case's own result.
func (w *world) close() { w.await(start(w.q.ShutDown).done) }

// ticks returns the duration of n ticks.
func (w *world) ticks(n int) time.Duration { return time.Duration(n) * w.tick() }

// never is a delay in ticks that is longer than any case.
const never = 1_000_000

// reached reports whether the time is t or later.
func (w *world) reached(t time.Time) bool { return !w.clock().Now().Before(t) }

// addAfter delays item. The item's time is not before the time that addAfter returns.
func (w *world) addAfter(item string, ticks int) (notBefore time.Time) {
	now := w.clock().Now()
	w.q.AddAfter(item, w.ticks(ticks))
	return now.Add(w.ticks(ticks))
}

// tooSlow is why a case is skipped when takenIn returns false.
const tooSlow = "the machine was too slow: a time came before the queue had taken all items in"

// takenIn waits until the queue has taken in every AddAfter so far: a queue may pass them
// to a goroutine of its own, in their order. No item may be ready, and no item's time may
// be before first or within a tick. takenIn returns false if the clock reaches first
// meanwhile: on a machine that slow the case can decide nothing.
func (w *world) takenIn(first time.Time) bool {
	const probe = "taken in"
	w.addAfter(probe, 1)
	w.advance(w.tick())
	got := w.get()
	w.done(got) // or a later Add of it would wait for this Done
	if w.reached(first) {
		return false
	}
	if got != probe {
		w.t.Fatalf("Get = %q %s before its time", got, first.Sub(w.clock().Now()))
	}
	return true
}

// await waits until cond holds and reports whether it does. In a bubble it waits for
// w.bound, which costs no real time; elsewhere it waits until the case stalls.
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

// mustAwait is await, but ends the case if cond does not hold.
func (w *world) mustAwait(cond func() bool, format string, args ...any) {
	if !w.await(cond) {
		w.inVain(fmt.Sprintf(format, args...))
	}
}

// mustSee waits until calls, which do not rest, have brought about cond, or until the case
// stalls. It looks without a pause, so that the case goes on while the calls still work; in a
// bubble a pause would last until they rest. A panic of one of calls is reported first.
func (w *world) mustSee(cond func() bool, what string, calls ...*call) {
	for !cond() {
		for _, c := range calls {
			if c.done() && c.panicked != "" {
				w.t.Fatalf("until %s: %s", what, c.panicked)
			}
		}
		if w.owner.HasStalled() {
			w.inVain(what)
		}
		runtime.Gosched()
	}
	w.owner.Progress()
}

// inVain ends the case, which waited for something that did not come.
func (w *world) inVain(what string) {
	if w.owner.HasStalled() {
		w.owner.Fatalf("waited in vain until %s", what) // rapid would lose the text
	}
	w.t.Fatalf("waited in vain until %s", what)
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

// startEach runs f of 0 to n-1, each on a goroutine of its own.
func startEach(n int, f func(i int)) (calls []*call) {
	for i := range n {
		calls = append(calls, start(func() { f(i) }))
	}
	return calls
}

// finish waits for calls to return. what names them in the failure.
func (w *world) finish(what string, calls ...*call) {
	for _, c := range calls {
		w.mustAwait(c.done, "%s returns", what)
		if c.panicked != "" {
			w.t.Fatalf("%s: %s", what, c.panicked)
		}
	}
}

// mustPanic calls f on a goroutine of its own and asserts that it panics.
func (w *world) mustPanic(what string, f func()) {
	c := start(f)
	w.mustAwait(c.done, "%s returns", what)
	if c.panicked == "" {
		w.t.Fatalf("%s did not panic: the queue hides the panic or made no such call",
			what)
	}
}

// getting is a Get on a goroutine of its own, which may block.
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

// get takes out an item, which must be due.
func (w *world) get() string {
	g := w.startGet()
	w.finish("Get", g.call)
	if g.shutdown {
		w.t.Fatalf("Get says shutdown = true (and %q), but an item is due", g.item)
	}
	return g.item
}

// mustGet takes out items and asserts that they are these, in this order.
func (w *world) mustGet(want ...string) {
	for i, item := range want {
		got := w.get()
		if got != item {
			w.t.Fatalf("Get = %q, want %q (number %d of %q)", got, item, i+1, want)
		}
	}
}

// mustEnd asserts that no item is left and that Get returns shutdown.
func (w *world) mustEnd() {
	g := w.startGet()
	w.finish("Get of a queue that is shut down", g.call)
	if !g.shutdown || g.item != "" {
		w.t.Fatalf("Get = %q, shutdown = %v; want the zero item and true: the queue is shut down and "+
			"nothing is ready", g.item, g.shutdown)
	}
}

func (w *world) add(items ...string) {
	for _, item := range items {
		w.q.Add(item)
	}
}

// addEachWay adds items by each method that the queue has, at once and after a tick.
func (w *world) addEachWay(item string) {
	w.add(item)
	w.addAfter(item+" after 0", 0)
	w.addAfter(item+" after 1", 1)
	if q, ok := w.q.(limitedQueue); ok {
		q.AddRateLimited(item + " rate-limited")
	}
	if q, ok := w.q.(priorityQueue); ok {
		q.AddWithOpts(contract.AddOptions{}, item+" with options")
		q.AddWithOpts(contract.AddOptions{After: w.tick()}, item+" with options after 1")
	}
}

func (w *world) done(items ...string) {
	for _, item := range items {
		w.q.Done(item)
	}
}

type (
	priorityQueue = contract.PriorityQueue[string]
	limitedQueue  = contract.RateLimitingQueue[string]
)

// with runs a case on one queue.
func with(run func(w *world)) func(*suite.T, env) {
	return func(t *suite.T, e env) { run(open(t, e)) }
}

// openAs is open for a queue that is a Q. It skips the case for others.
func openAs[Q any](t *suite.T, e env) (*world, Q) {
	w := open(t, e)
	return w, suite.Needs[Q](t, w.q)
}

// having runs a case on one queue that is a Q.
func having[Q any](run func(w *world, q Q)) func(*suite.T, env) {
	return func(t *suite.T, e env) { run(openAs[Q](t, e)) }
}

// judged runs a case on one queue with priorities and its referee.
func judged(run func(r *referee)) func(*suite.T, env) {
	return func(t *suite.T, e env) { run(openReferee(t, e)) }
}

// counted runs a case on one queue whose metrics are kept.
func counted(run func(w *world, m *meter)) func(*suite.T, env) {
	return func(t *suite.T, e env) { run(openMetered(t, e)) }
}

// The three kinds of time that the cases run in.

// timeline is the time in which a queue under test lives. Cases count in ticks and never
// use a fixed duration of their own.
type timeline interface {
	// clock returns the clock that the queue is given and that cases read.
	clock() clock.WithTicker
	// tick is long compared with one step of a queue. It is short compared with the ten
	// seconds after which client-go's queues look at their clock unasked.
	tick() time.Duration
	// advance lets time pass.
	advance(d time.Duration)
	// settle gives the other goroutines the chance to do what they can do now. In a bubble
	// it returns when they all wait. Elsewhere it only gives them time, so cases may use it
	// to catch what must not happen, never to rely on what must.
	settle()
	// pause is called between two looks at a condition; looks is the number of looks so
	// far. It may advance the time: a queue that read a fake clock just before a step has
	// set its timer late by that step.
	pause(looks int)
	// virtual reports whether waiting takes no real time.
	virtual() bool
	// exact reports whether time moves only by advance and pause.
	exact() bool
}

// bubble is the virtual time of testing/synctest.
type bubble struct{}

func (bubble) clock() clock.WithTicker { return clock.RealClock{} }
func (bubble) tick() time.Duration     { return 10 * time.Millisecond }
func (bubble) virtual() bool           { return true }
func (bubble) exact() bool             { return true }
func (bubble) settle()                 { synctest.Wait() }

func (bubble) advance(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
	synctest.Wait()
}

func (b bubble) pause(looks int) {
	if looks > 0 {
		time.Sleep(b.tick() / 4)
	}
	synctest.Wait()
}

// looksBeforeStep is the number of looks at a condition, over some milliseconds, before
// pause steps a fake clock.
const looksBeforeStep = 12

// stepped is a fake clock that the case steps.
type stepped struct{ fake *clocktesting.FakeClock }

func newStepped() timeline {
	return stepped{clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
}

func (s stepped) clock() clock.WithTicker { return s.fake }
func (s stepped) tick() time.Duration     { return 10 * time.Millisecond }
func (s stepped) virtual() bool           { return false }
func (s stepped) exact() bool             { return true }
func (s stepped) settle()                 { rest() }

func (s stepped) advance(d time.Duration) {
	rest() // so that a queue has read the time and set its timer before the step
	s.fake.Step(d)
}

func (s stepped) pause(looks int) {
	back(looks)
	if looks >= looksBeforeStep {
		s.fake.Step(s.tick() / 4)
	}
}

// real is the system's time.
type real struct{}

func (real) clock() clock.WithTicker { return clock.RealClock{} }
func (real) tick() time.Duration     { return 2 * time.Millisecond }
func (real) virtual() bool           { return false }
func (real) exact() bool             { return false }
func (real) settle()                 { rest() }
func (real) advance(d time.Duration) { time.Sleep(d) }
func (real) pause(looks int)         { back(looks) }

// rest lets other goroutines run for about a tenth of a millisecond.
func rest() { time.Sleep(100 * time.Microsecond) }

// back yields at first and then sleeps longer each time, up to 2 ms.
func back(looks int) {
	if looks < 4 {
		runtime.Gosched()
		return
	}
	time.Sleep(min(10*time.Microsecond<<min(looks-4, 10), 2*time.Millisecond))
}
