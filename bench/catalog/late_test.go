package catalog

import (
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// A goroutine that a case starts may run much later than the calls that follow in the case. A
// case that counts on more accuses a sound implementation once in some hundred runs. So here
// the blocking calls come late: each after the first few begins only when one or two other
// calls have returned.

func TestNoQueueIsAccusedOfLateCalls(t *testing.T) {
	t.Parallel()
	acceptsLateCalls(t, contract.ComponentQueue, func(e *Entry, by lateBy) {
		construct := e.NewQueue
		e.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
			return lateQueue{construct(c), newLateness(by)}
		}
	})
}

func TestNoFIFOIsAccusedOfLateCalls(t *testing.T) {
	t.Parallel()
	acceptsLateCalls(t, contract.ComponentFIFO, func(e *Entry, by lateBy) {
		construct := e.NewFIFO
		e.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
			return lateFIFO{construct(cfg), newLateness(by)}
		}
		// The wrapper hides that some are a contract.KeyedQueue, which changes what they owe.
		e.Waivers = append(slices.Clone(e.Waivers), Waiver{"FIFO-6", "not tested behind the wrapper"})
	})
}

// acceptsLateCalls runs the suite of each of a component's implementations behind the wrapper
// that wrap puts around it. The suite is what is tested, so each delay is tried on every third.
func acceptsLateCalls(t *testing.T, c contract.Component, wrap func(*Entry, lateBy)) {
	delays, next := []lateBy{{0, 1}, {1, 2}, {3, 1}}, 0
	for _, e := range All() {
		if e.Component != c {
			continue
		}
		by := delays[next%len(delays)]
		next++
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			late := e
			wrap(&late, by)
			if err := Verify(late, suite.WithSeed(1), suite.WithEffort(0.02)); err != nil {
				t.Errorf("all but the first %d blocking calls late by %d others: %v", by.onTime, by.others,
					err)
			}
		})
	}
}

// lateBy says which calls are late.
type lateBy struct {
	onTime int // number of blocking calls that begin at once
	others int // number of other calls that must return before each of the next ten begins
}

// lateness holds calls back, as if their goroutines had not been scheduled.
type lateness struct {
	lateBy
	mu   sync.Mutex
	seen int // calls of hold
	held []*heldCall
}

type heldCall struct {
	others int // to come yet
	begin  chan struct{}
}

func newLateness(by lateBy) *lateness { return &lateness{lateBy: by} }

// hold is called first in a call that blocks, which a case makes on a goroutine of its own.
// It returns after a millisecond at the latest, because the case may be waiting for this call.
func (l *lateness) hold() {
	c := l.holdBack()
	if c == nil {
		return
	}
	select {
	case <-c.begin:
	case <-time.After(time.Millisecond):
	}
}

func (l *lateness) holdBack() *heldCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	if l.seen <= l.onTime || l.seen > l.onTime+10 {
		return nil
	}
	c := &heldCall{l.others, make(chan struct{})}
	l.held = append(l.held, c)
	return c
}

// pass is called last in every other call. If a held call begins now, pass gives it the time
// to get to where it blocks.
func (l *lateness) pass() {
	if l.release() {
		<-time.After(100 * time.Microsecond)
	}
}

func (l *lateness) release() (released bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = slices.DeleteFunc(l.held, func(c *heldCall) bool {
		c.others--
		if c.others > 0 {
			return false
		}
		close(c.begin)
		released = true
		return true
	})
	return released
}

type lateQueue struct {
	contract.DelayingQueue[string]
	late *lateness
}

func (q lateQueue) Get() (string, bool) { q.late.hold(); return q.DelayingQueue.Get() }
func (q lateQueue) ShutDownWithDrain()  { q.late.hold(); q.DelayingQueue.ShutDownWithDrain() }
func (q lateQueue) ShutDown()           { q.DelayingQueue.ShutDown(); q.late.pass() }
func (q lateQueue) Add(item string)     { q.DelayingQueue.Add(item); q.late.pass() }
func (q lateQueue) Done(item string)    { q.DelayingQueue.Done(item); q.late.pass() }
func (q lateQueue) ShuttingDown() bool {
	defer q.late.pass()
	return q.DelayingQueue.ShuttingDown()
}

type lateFIFO struct {
	contract.FIFO
	late *lateness
}

func (f lateFIFO) Pop(process contract.PopProcessFunc) (any, error) {
	f.late.hold()
	return f.FIFO.Pop(process)
}

func (f lateFIFO) Add(obj any) error    { defer f.late.pass(); return f.FIFO.Add(obj) }
func (f lateFIFO) Update(obj any) error { defer f.late.pass(); return f.FIFO.Update(obj) }
func (f lateFIFO) Delete(obj any) error { defer f.late.pass(); return f.FIFO.Delete(obj) }
func (f lateFIFO) Close()               { f.FIFO.Close(); f.late.pass() }
