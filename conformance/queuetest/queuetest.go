// Package queuetest says whether a delaying queue keeps the QUEUE clauses of
// package contract. A queue that is a rate-limiting queue too is tested as one, and
// so is a contract.PriorityQueue.
//
//	func TestMyQueue(t *testing.T) {
//		queuetest.Run(t, func(c clock.WithTicker) contract.DelayingQueue[string] { return myqueue.New[string](c) })
//	}
//
// The same cases run in three kinds of time, see timeline:
//
//   - [Run] puts each case into a testing/synctest bubble. Time is virtual
//     whatever clock the queue reads, and what must not happen is looked for when
//     every goroutine has come to rest. A queue that leaves a goroutine behind
//     fails every case.
//   - [Check] gives the queue a fake clock (k8s.io/utils/clock/testing).
//   - Check with [OwnClock] uses real time in steps of a few milliseconds, for
//     queues that read the system's clock whatever they are given.
//
// Cases in which a queue must do something wait for it until the case stalls (see
// suite.Guard), in a bubble for a tenth of the suite's case timeout. A rate-limiting queue should be given a limiter whose
// first delays are short (some milliseconds, as the default controller's).
//
// A queue whose constructor takes a metrics provider, an order or a limiter is tested with
// the suite's own, if [NewConfigured] gives that constructor.
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

// OwnClock says that the queue reads the system's clock whatever clock it is
// given. Check then lives in real time; Run does not need to.
func OwnClock() Option { return func(c *suite.Config) { c.OwnClock = true } }

// NewConfigured gives the constructor of the same queue with a configuration: for the
// clauses on metrics and orders, and those on delays that a limiter chooses.
func NewConfigured(construct func(contract.QueueConfig) contract.DelayingQueue[string]) Option {
	return func(c *suite.Config) { c.NewConfigured = construct }
}

// env is what a case gets: the queue's constructor and the time to live in.
type env struct {
	newQueue    func(clock.WithTicker) contract.DelayingQueue[string]
	newTimeline func() timeline
}

var cases = slices.Concat(basicCases, shutdownCases, delayCases, rateCases, priorityCases, randomCases, concurrentCases,
	metricsCases, orderCases, costCases)

// Run tests newQueue's queues, a subtest per case.
func Run(t *testing.T, newQueue func(clock.WithTicker) contract.DelayingQueue[string], opts ...Option) {
	t.Helper()
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	suite.Run(t, cases, env{newQueue, func() timeline { return bubble{} }}, cfg, suite.InBubble)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newQueue func(clock.WithTicker) contract.DelayingQueue[string], opts ...Option) error {
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		return err
	}
	newTimeline := newStepped
	if cfg.OwnClock {
		newTimeline = func() timeline { return real{} }
	}
	return suite.Check(cases, env{newQueue, newTimeline}, cfg)
}
