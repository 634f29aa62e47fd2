package mutants

// client-go's queue, with methods that a mutant can replace.

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

type okQueue = contract.RateLimitingQueue[string]

// newQueue makes client-go's queue, with a limiter per item: the shared bucket of
// the default one would hide the queue behind its ten adds a second.
func newQueue(c clock.WithTicker) okQueue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(newItemLimiter(),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
}

func newItemLimiter() contract.RateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond,
		1000*time.Second)
}

// brokenQueue is client-go's queue with some of its methods replaced.
type brokenQueue struct {
	clock clock.WithTicker

	add            func(item string)
	addAfter       func(item string, d time.Duration)
	addRateLimited func(item string)
	get            func() (string, bool)
	done           func(item string)
	length         func() int
	shutDown       func()
	drain          func()
	shuttingDown   func() bool
	numRequeues    func(item string) int
	forget         func(item string)
}

func (b *brokenQueue) Add(item string)                       { b.add(item) }
func (b *brokenQueue) AddAfter(item string, d time.Duration) { b.addAfter(item, d) }
func (b *brokenQueue) AddRateLimited(item string)            { b.addRateLimited(item) }
func (b *brokenQueue) Get() (string, bool)                   { return b.get() }
func (b *brokenQueue) Done(item string)                      { b.done(item) }
func (b *brokenQueue) Len() int                              { return b.length() }
func (b *brokenQueue) ShutDown()                             { b.shutDown() }
func (b *brokenQueue) ShutDownWithDrain()                    { b.drain() }
func (b *brokenQueue) ShuttingDown() bool                    { return b.shuttingDown() }
func (b *brokenQueue) NumRequeues(item string) int           { return b.numRequeues(item) }
func (b *brokenQueue) Forget(item string)                    { b.forget(item) }

// queueOf makes a mutant of what change makes of client-go's queue.
func queueOf(name, mistake, clauses string, change func(b *brokenQueue, ok okQueue)) Mutant {
	m := mutant(contract.ComponentQueue, name, mistake, clauses)
	m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
		ok := newQueue(c)
		b := &brokenQueue{
			clock: c,
			add:   ok.Add, addAfter: ok.AddAfter, addRateLimited: ok.AddRateLimited,
			get: ok.Get, done: ok.Done, length: ok.Len,
			shutDown: ok.ShutDown, drain: ok.ShutDownWithDrain, shuttingDown: ok.ShuttingDown,
			numRequeues: ok.NumRequeues, forget: ok.Forget,
		}
		change(b, ok)
		return b
	}
	return m
}
