package queuetest

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// broken is client-go's queue with some of its methods replaced.
type broken struct {
	contract.RateLimitingQueue[string]
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

// breakWith makes a constructor of queues that change has broken.
func breakWith(change func(b *broken, ok contract.RateLimitingQueue[string])) func(clock.WithTicker) contract.DelayingQueue[string] {
	return func(c clock.WithTicker) contract.DelayingQueue[string] {
		ok := newClientGo(c).(contract.RateLimitingQueue[string])
		b := &broken{
			RateLimitingQueue: ok, clock: c,
			add: ok.Add, addAfter: ok.AddAfter, addRateLimited: ok.AddRateLimited,
			get: ok.Get, done: ok.Done, length: ok.Len,
			shutDown: ok.ShutDown, drain: ok.ShutDownWithDrain, shuttingDown: ok.ShuttingDown,
			numRequeues: ok.NumRequeues, forget: ok.Forget,
		}
		change(b, ok)
		return b
	}
}

func (b *broken) Add(item string)                       { b.add(item) }
func (b *broken) AddAfter(item string, d time.Duration) { b.addAfter(item, d) }
func (b *broken) AddRateLimited(item string)            { b.addRateLimited(item) }
func (b *broken) Get() (string, bool)                   { return b.get() }
func (b *broken) Done(item string)                      { b.done(item) }
func (b *broken) Len() int                              { return b.length() }
func (b *broken) ShutDown()                             { b.shutDown() }
func (b *broken) ShutDownWithDrain()                    { b.drain() }
func (b *broken) ShuttingDown() bool                    { return b.shuttingDown() }
func (b *broken) NumRequeues(item string) int           { return b.numRequeues(item) }
func (b *broken) Forget(item string)                    { b.forget(item) }

// set is a set of items with a lock.
type set struct {
	mu sync.Mutex
	of map[string]bool
}

func (s *set) put(item string, in bool) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]bool{}
	}
	was = s.of[item]
	s.of[item] = in
	return was
}

type okQueue = contract.RateLimitingQueue[string]

var mistakes = []struct {
	name   string
	clause string
	change func(b *broken, ok okQueue)
}{
	{"every Add is an item of its own", "QUEUE-1", func(b *broken, ok okQueue) {
		var n atomic.Int64
		b.add = func(item string) { ok.Add(item + "#" + strings.Repeat("x", int(n.Add(1)))) }
		b.get = func() (string, bool) {
			item, shutdown := ok.Get()
			item, _, _ = strings.Cut(item, "#")
			return item, shutdown
		}
	}},
	{"processed items are not remembered", "QUEUE-2", func(b *broken, ok okQueue) {
		b.get = func() (string, bool) {
			item, shutdown := ok.Get()
			ok.Done(item)
			return item, shutdown
		}
		b.done = func(string) {}
	}},
	{"last in, first out", "QUEUE-3", func(b *broken, ok okQueue) {
		b.get = func() (string, bool) {
			for n := ok.Len(); n > 1; n-- {
				item, _ := ok.Get()
				ok.Done(item)
				ok.Add(item)
			}
			return ok.Get()
		}
	}},
	{"a Get that waits is not woken", "QUEUE-5", func(b *broken, ok okQueue) {
		b.get = func() (string, bool) {
			if ok.Len() == 0 {
				select {}
			}
			return ok.Get()
		}
	}},
	{"Get does not wait", "QUEUE-5", func(b *broken, ok okQueue) {
		b.get = func() (string, bool) {
			if ok.Len() == 0 {
				return "", false
			}
			return ok.Get()
		}
	}},
	{"Len counts delayed items", "QUEUE-6", func(b *broken, ok okQueue) {
		var delayed atomic.Int64
		b.addAfter = func(item string, d time.Duration) { delayed.Add(1); ok.AddAfter(item, d) }
		b.length = func() int { return ok.Len() + int(delayed.Load()) }
	}},
	{"Done of an unknown item panics", "QUEUE-8", func(b *broken, ok okQueue) {
		var with set
		b.get = func() (string, bool) {
			item, shutdown := ok.Get()
			with.put(item, true)
			return item, shutdown
		}
		b.done = func(item string) {
			if !with.put(item, false) {
				panic("done with " + item + ", which was not got")
			}
			ok.Done(item)
		}
	}},
	{"Add after ShutDown is kept", "QUEUE-10", func(b *broken, ok okQueue) {
		late := make(chan string, 10)
		b.add = func(item string) {
			if ok.ShuttingDown() {
				late <- item
			}
			ok.Add(item)
		}
		b.get = func() (string, bool) {
			select {
			case item := <-late:
				return item, false
			default:
				return ok.Get()
			}
		}
	}},
	{"ShutDown drops what is ready", "QUEUE-11", func(b *broken, ok okQueue) {
		b.get = func() (string, bool) {
			if ok.ShuttingDown() {
				return "", true
			}
			return ok.Get()
		}
	}},
	{"ShutDown wakes nobody", "QUEUE-12", func(b *broken, ok okQueue) { b.shutDown = func() {} }},
	{"ShuttingDown is late", "QUEUE-13", func(b *broken, ok okQueue) { b.shuttingDown = func() bool { return false } }},
	{"the second ShutDown panics", "QUEUE-14", func(b *broken, ok okQueue) {
		done := make(chan struct{})
		b.shutDown = func() { close(done); ok.ShutDown() }
	}},
	{"drain does not wait", "QUEUE-15", func(b *broken, ok okQueue) { b.drain = ok.ShutDown }},
	{"drain hands out nothing", "QUEUE-16", func(b *broken, ok okQueue) {
		b.get = func() (string, bool) {
			if ok.ShuttingDown() {
				return "", true
			}
			return ok.Get()
		}
	}},
	{"ShutDown waits for the drain", "QUEUE-17", func(b *broken, ok okQueue) {
		var once sync.Once
		b.drain = func() { once.Do(ok.ShutDownWithDrain) }
		b.shutDown = func() { once.Do(ok.ShutDown) }
	}},
	{"a goroutine is left", "QUEUE-19", func(b *broken, ok okQueue) { go func() { select {} }() }},
	{"a goroutine ends with its timer", "QUEUE-19", func(b *broken, ok okQueue) {
		b.addAfter = func(item string, d time.Duration) {
			go func() { <-b.clock.After(d); ok.Add(item) }()
		}
	}},
	{"an Add while processed is lost", "QUEUE-21", func(b *broken, ok okQueue) {
		var with set
		b.get = func() (string, bool) {
			item, shutdown := ok.Get()
			with.put(item, true)
			return item, shutdown
		}
		b.add = func(item string) {
			if !with.put(item, false) {
				ok.Add(item)
			}
		}
	}},
	{"a delay is cut by a quarter", "QUEUE-22", func(b *broken, ok okQueue) {
		b.addAfter = func(item string, d time.Duration) { ok.AddAfter(item, d*3/4) }
	}},
	{"a short delay waits for the long one before it", "QUEUE-22", func(b *broken, ok okQueue) {
		var latest atomic.Int64
		b.addAfter = func(item string, d time.Duration) {
			latest.Store(max(latest.Load(), int64(d)))
			ok.AddAfter(item, time.Duration(latest.Load()))
		}
	}},
	{"no delay is no add", "QUEUE-23", func(b *broken, ok okQueue) {
		b.addAfter = func(item string, d time.Duration) {
			if d > 0 {
				ok.AddAfter(item, d)
			}
		}
	}},
	{"the later of two times wins", "QUEUE-24", func(b *broken, ok okQueue) {
		var mu sync.Mutex
		newest := map[string]time.Time{}
		b.addAfter = func(item string, d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			at := b.clock.Now().Add(d)
			if !at.After(newest[item]) {
				return
			}
			newest[item] = at
			alarm := b.clock.After(d)
			go func() {
				<-alarm
				mu.Lock()
				defer mu.Unlock()
				if newest[item].Equal(at) {
					ok.Add(item)
				}
			}()
		}
	}},
	{"both times count", "QUEUE-24", func(b *broken, ok okQueue) {
		b.addAfter = func(item string, d time.Duration) {
			alarm := b.clock.After(d)
			go func() { <-alarm; ok.Add(item) }()
		}
	}},
	{"what is due comes in any order", "QUEUE-25", func(b *broken, ok okQueue) {
		b.addAfter = func(item string, d time.Duration) {
			ok.AddAfter(item, d.Round(20*b.tick())+b.tick()*time.Duration(len(item)))
		}
	}},
	{"ShutDown hands out delayed items", "QUEUE-26", func(b *broken, ok okQueue) {
		delayed := make(chan string, 100)
		b.addAfter = func(item string, d time.Duration) { delayed <- item; ok.AddAfter(item, d) }
		b.get = func() (string, bool) {
			item, shutdown := ok.Get()
			if shutdown && len(delayed) > 0 {
				return <-delayed, false
			}
			return item, shutdown
		}
	}},
	{"AddAfter waits for a worker", "QUEUE-27", func(b *broken, ok okQueue) {
		room := make(chan struct{}, 1000)
		b.addAfter = func(item string, d time.Duration) { room <- struct{}{}; ok.AddAfter(item, d) }
		b.get = func() (string, bool) {
			item, shutdown := ok.Get()
			select {
			case <-room:
			default:
			}
			return item, shutdown
		}
	}},
	{"the limiter is asked twice", "QUEUE-28", func(b *broken, ok okQueue) {
		b.addRateLimited = func(item string) { ok.AddRateLimited(item); ok.AddRateLimited(item) }
	}},
	{"AddRateLimited only counts", "QUEUE-28", func(b *broken, ok okQueue) {
		b.addRateLimited = func(item string) { ok.AddRateLimited(item + " ") }
	}},
	{"one count for all items", "QUEUE-29", func(b *broken, ok okQueue) {
		var n atomic.Int64
		b.addRateLimited = func(item string) { n.Add(1); ok.AddRateLimited(item) }
		b.numRequeues = func(string) int { return int(n.Load()) }
	}},
	{"Forget forgets nothing", "QUEUE-30", func(b *broken, ok okQueue) { b.forget = func(string) {} }},
	{"Forget is Done", "QUEUE-30", func(b *broken, ok okQueue) {
		b.forget = func(item string) { ok.Forget(item); ok.Done(item) }
	}},
}

func (b *broken) tick() time.Duration { return stepped{}.tick() }

// Some of the mistakes leave goroutines behind for good, so this package's tests
// cannot be watched by goleak; QUEUE-19 and QUEUE-20 watch the queues themselves.
func TestMistakesAreCaught(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, m.clause, breakWith(m.change))
		})
	}
}

// wantFailure asserts that the clause's cases, and no watchdog, find the mistake.
func wantFailure(t *testing.T, clause string, newQueue func(clock.WithTicker) contract.DelayingQueue[string], opts ...Option) {
	t.Helper()
	opts = append(opts, suite.Only(clause), suite.WithCaseTimeout(5*time.Second))
	err := suite.UntilCaught(func(seed Option) error { return Check(newQueue, append(opts, seed)...) })
	var failure *suite.Failure
	if !errors.As(err, &failure) || failure.Clause.ID != clause || strings.Contains(failure.Reason, "still running") {
		t.Errorf("want a failure of %s that says what was seen, got %v", clause, err)
	}
}

// A waiver that is no longer needed hides what it waives.
func TestEveryWaiverIsNeeded(t *testing.T) {
	for _, peer := range []struct {
		name     string
		newQueue func(clock.WithTicker) contract.DelayingQueue[string]
		waivers  []Option
		opts     []Option
	}{
		{"clientgo", newClientGo, clientGoWaivers, nil},
		{"priorityqueue", newPriority, priorityWaivers, []Option{OwnClock()}},
	} {
		cfg, err := suite.NewConfig(peer.waivers)
		if err != nil {
			t.Fatal(err)
		}
		for clause := range cfg.Waived {
			t.Run(peer.name+"/"+clause, func(t *testing.T) {
				t.Parallel()
				wantFailure(t, clause, peer.newQueue, peer.opts...)
			})
		}
	}
}
