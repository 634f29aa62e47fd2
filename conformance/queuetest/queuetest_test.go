package queuetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestEveryClauseHasACase(t *testing.T) {
	for _, clause := range contract.ClausesOf(contract.ComponentQueue) {
		if !slices.ContainsFunc(cases, func(c suite.Case[env]) bool { return c.Clause == clause.ID }) {
			t.Errorf("%s has no case", clause)
		}
	}
}

func TestQueuesWithoutLimiterSkipItsClauses(t *testing.T) {
	passed, skipped := map[string]bool{}, map[string]bool{}
	err := Check(newClientGoDelaying, append(clientGoWaivers, suite.WithObserver(func(r suite.Result) {
		passed[r.Clause.ID] = passed[r.Clause.ID] || r.Outcome == suite.Pass
		skipped[r.Clause.ID] = skipped[r.Clause.ID] || r.Outcome == suite.Skip
	}))...)
	if err != nil {
		t.Error(err)
	}
	without := []contract.Capability{contract.CapRateLimiting, contract.CapPriority,
		contract.CapConfigured}
	q := newClientGoDelaying(clock.RealClock{})
	defer q.ShutDown()
	if _, ok := q.(contract.Pausable); !ok { // client-go before v0.38
		without = append(without, contract.CapPausable)
	}
	for _, clause := range contract.ClausesOf(contract.ComponentQueue) {
		got := skipped[clause.ID] && !passed[clause.ID]
		if want := slices.Contains(without, clause.Capability); got != want {
			t.Errorf("%s skipped: %v, want %v", clause.ID, got, want)
		}
	}
}

// late is a queue with a clock of its own. It takes one item in some ticks after the item
// was added, as any such queue does on a machine that stalls.
type late struct{ contract.DelayingQueue[string] }

func (q late) AddAfter(item string, d time.Duration) {
	if item == "canary" {
		d += 2 * stepped{}.tick()
	}
	q.DelayingQueue.AddAfter(item, d)
}

func TestALateQueueIsNotAccused(t *testing.T) {
	newLate := func(c clock.WithTicker) contract.DelayingQueue[string] { return late{newClientGo(c)} }
	if err := Check(newLate, OwnClock(), suite.Only("QUEUE-22")); err != nil {
		t.Errorf("in real time: %v", err)
	}
	if err := Check(newLate, suite.Only("QUEUE-22")); err == nil {
		t.Error("where time moves by steps there is no excuse, and yet it passes")
	}
}

// tardy is a queue whose Get returns five ticks after it took its item, as Get does on a
// machine that stalls.
type tardy struct {
	contract.RateLimitingQueue[string]
	clock clock.Clock
}

func (q tardy) Get() (item string, shutdown bool) {
	item, shutdown = q.RateLimitingQueue.Get()
	<-q.clock.After(5 * stepped{}.tick())
	return item, shutdown
}

func TestATardyGetIsNotAccused(t *testing.T) {
	newTardy := func(cfg contract.QueueConfig) contract.DelayingQueue[string] {
		return tardy{newConfiguredClientGo(cfg).(contract.RateLimitingQueue[string]), cfg.Clock}
	}
	// QUEUE-28 has several steps that wait for the queue to take in what was added.
	if err := Check(newClientGo, NewConfigured(newTardy), suite.Only("QUEUE-28")); err != nil {
		t.Error(err)
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	if err := Check(newClientGo, Waive("QUEUE-99", "no such clause")); err == nil ||
		!strings.Contains(err.Error(), "QUEUE-99") {
		t.Errorf("an unknown clause is waived without a word: %v", err)
	}
}

func TestFamilyKnowsItsGoroutines(t *testing.T) {
	t.Parallel()
	f, other := newFamily(), newFamily()
	stop := make(chan struct{})
	ended := make(chan struct{})
	f.do(func() {
		go func() {
			defer close(ended)
			<-stop
		}()
	})
	if f.stacks() == "" {
		t.Error("a goroutine that runs is not found")
	}
	if s := other.stacks(); s != "" {
		t.Errorf("another family has goroutines: %s", s)
	}
	close(stop)
	<-ended
}
