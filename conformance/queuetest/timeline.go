package queuetest

// The three kinds of time that the cases run in.

import (
	"runtime"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

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
