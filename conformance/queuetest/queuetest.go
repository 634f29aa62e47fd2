// Package queuetest tests whether a delaying queue keeps the QUEUE clauses of package
// contract. If the queue is also a rate-limiting queue or a contract.PriorityQueue, it is
// tested as one.
//
//	func TestMyQueue(t *testing.T) {
//		queuetest.Run(t, func(c clock.WithTicker) contract.DelayingQueue[string] { return myqueue.New[string](c) })
//	}
//
// The same cases run in three kinds of time, see timeline:
//
//   - [Run] puts each case into a testing/synctest bubble. Time is virtual, whatever clock the
//     queue reads. A case that looks for an event which must not happen looks when all
//     goroutines of the bubble wait. A queue that leaves a goroutine behind fails every case.
//   - [Check] gives the queue a fake clock (k8s.io/utils/clock/testing).
//   - Check with [OwnClock] uses real time in steps of a few milliseconds, for queues that
//     read the system's clock whatever clock they are given.
//
// A bubble allows only channels and timers that were made in it, and waits for every goroutine
// that was started in it. So Run cannot test a queue whose package keeps channels or timers in
// a sync.Pool, or runs one goroutine for the whole process. Use Check, or give each queue a
// pool of its own.
//
// A case in which the queue must act waits until it acts or the case stalls (see
// suite.Guard). In a bubble it waits for a tenth of the suite's case timeout, in virtual
// time. Give a rate-limiting queue a limiter whose first delays are short (some
// milliseconds, as in the default controller's).
//
// If [NewConfigured] gives a constructor that takes a metrics provider, an order or a
// limiter, the queue is tested with the suite's own.
//
// A whole Check takes a few seconds.
package queuetest

import (
	"slices"
	"testing"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Option changes what is tested; package suite has more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// settings are what the options say of the queue.
type settings struct {
	ownClock      bool
	newConfigured func(contract.QueueConfig) contract.DelayingQueue[string]
}

// OwnClock says that the queue reads the system's clock whatever clock it is given. Check
// then runs in real time. Run does not need the option.
func OwnClock() Option { return suite.Setting(func(s *settings) { s.ownClock = true }) }

// NewConfigured sets the constructor of the same queue with a configuration. It is for the
// clauses on metrics and orders, and those on delays that a limiter chooses.
func NewConfigured(construct func(contract.QueueConfig) contract.DelayingQueue[string]) Option {
	return suite.Setting(func(s *settings) { s.newConfigured = construct })
}

// env is what a case is given.
type env struct {
	newQueue func(clock.WithTicker) contract.DelayingQueue[string]
	inBubble bool // the case runs in one
}

// newTimeline is the time in which a case tests a queue.
func (e env) newTimeline(t *suite.T) timeline {
	switch {
	case e.inBubble:
		return bubble{}
	case suite.Settings[settings](t.Config()).ownClock:
		return real{}
	}
	return newStepped()
}

var cases = slices.Concat(basicCases, shutdownCases, pauseCases, delayCases, rateCases,
	priorityCases, randomCases, concurrentCases, metricsCases, orderCases, costCases, manyCases)

// check makes a case. why says what goes wrong in the field when the case fails.
func check(clause, name, why string, run func(t *suite.T, e env)) suite.Case[env] {
	return suite.Case[env]{Clause: clause, Name: name, Why: why, Run: run}
}

// Run tests newQueue's queues, in a subtest per case.
func Run(t *testing.T, newQueue func(clock.WithTicker) contract.DelayingQueue[string],
	opts ...Option) {
	t.Helper()
	suite.RunAround(t, suite.InBubble, cases, env{newQueue, true}, opts...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newQueue func(clock.WithTicker) contract.DelayingQueue[string], opts ...Option) error {
	return suite.Check(cases, env{newQueue, false}, opts...)
}
