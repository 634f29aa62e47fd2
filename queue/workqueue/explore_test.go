//go:build explore

package workqueue

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
	"github.com/informerbench/informerbench/queue/delay"
)

// watched is a queue and what its workers saw.
type watched struct {
	contract.Queue[string]
	clock  *clocktesting.FakeClock
	alarm  *alarm // nil: nothing waits
	move   func(time.Time) time.Time
	state  *workers
	events int
	calls  int            // of Add that have returned
	added  map[string]int // the event of the newest Add that has begun
	taken  map[string]int // the event of the newest Get that has returned
	inWork map[string]bool
	failed error
}

func watch(q contract.Queue[string], state *workers) *watched {
	return &watched{Queue: q, state: state, added: map[string]int{}, taken: map[string]int{},
		inWork: map[string]bool{}}
}

func (w *watched) fail(format string, args ...any) {
	if w.failed == nil {
		w.failed = fmt.Errorf(format, args...)
	}
}

func (w *watched) add(items ...string) func() {
	return func() {
		for _, item := range items {
			w.events++
			w.added[item] = w.events
			w.Add(item)
			w.calls++
		}
	}
}

// work takes an item, has it for a step, and gives it back; false at the end.
func (w *watched) work() bool {
	item, shutdown := w.Get()
	if shutdown {
		return false
	}
	if w.inWork[item] {
		w.fail("two workers have %q", item)
	}
	w.inWork[item] = true
	w.events++
	w.taken[item] = w.events
	explore.Point("work")
	w.inWork[item] = false
	w.Done(item)
	return true
}

func (w *watched) worker() {
	for w.work() {
	}
}

// judge: after the newest Add of each item a worker had it.
func (w *watched) judge() error {
	for item, at := range w.added {
		if w.taken[item] < at {
			w.fail("%q was added at %d and taken at %d last", item, at, w.taken[item])
		}
	}
	return w.failed
}

func then(fs ...func()) func() {
	return func() {
		for _, f := range fs {
			f()
		}
	}
}

// alarmed is the goroutine of the alarm, as a thread.
func (w *watched) alarmed() {
	for {
		explore.Point("now")
		now := w.clock.Now()
		next := w.move(now)
		if !next.IsZero() && !next.After(now) {
			continue
		}
		explore.Await("asleep", func() bool {
			return w.stopped() || len(w.alarm.token) > 0 || !next.IsZero() && !next.After(w.clock.Now())
		})
		if w.stopped() {
			return
		}
		select {
		case <-w.alarm.token:
		default:
		}
	}
}

func (w *watched) stopped() bool {
	select {
	case <-w.alarm.stopCh:
		return true
	default:
		return false
	}
}

func newQueue() *watched {
	q := New(Config[string]{})
	return watch(q, &q.mu.workers)
}

// heaps is over how many heaps the waiting items of a DelayingQueue are spread.
const heaps = 2

// newDelaying is NewDelaying without the goroutine. Items a and b wait in different heaps.
func newDelaying() *watched {
	c := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := &DelayingQueue[string]{Queue: New(Config[string]{Clock: c}), clock: c,
		heaps: make([]heap[string], heaps)}
	if q.mu.items.hashOf("a")%heaps == q.mu.items.hashOf("b")%heaps {
		panic("explore.HashOf puts a and b into one heap")
	}
	for i := range q.heaps {
		q.heaps[i].mu.waiting = inBatches[string](delay.NewQuadHeap[string]())
	}
	q.alarm.token, q.alarm.stopCh = make(chan struct{}, 1), make(chan struct{})
	w := watch(q, &q.mu.workers)
	w.clock, w.alarm = c, &q.alarm
	w.move = func(now time.Time) time.Time { return q.moveDue(nil, now) }
	return w
}

// newRanked is NewPriority without the goroutine.
func newRanked() *watched {
	c := clocktesting.NewFakeClock(time.Unix(0, 0))
	q := &PriorityQueue[string]{clock: c}
	q.mu.workers.init(&q.mu.lock, false)
	q.mu.items = newTable[string, [3]links](q.relinkLocked)
	q.mu.levels = newLevels(&q.mu.items, defaultTurn)
	q.mu.times = inBatches[string](delay.NewQuadHeap[string]())
	q.alarm.token, q.alarm.stopCh = make(chan struct{}, 1), make(chan struct{})
	w := watch(q, &q.mu.workers)
	w.clock, w.alarm, w.move = c, &q.alarm, q.ripen
	return w
}

// later adds items after delays in seconds. Item a comes a millisecond later, so that no
// two are due at the same time: which one is first may depend on the seed of a hash.
func (w *watched) later(items string, seconds ...int) func() {
	return func() {
		for i, d := range seconds {
			item, after := items[i:i+1], time.Duration(d)*time.Second
			if item == "a" {
				after += time.Millisecond
			}
			w.Queue.(interface{ AddAfter(string, time.Duration) }).AddAfter(item, after)
			w.added[item] = 0 // known once the call has returned, and taken at any time
		}
	}
}

// time passes a second at any moment, then two when n items were added, by which item b
// is due, then a minute.
func (w *watched) time(n int) func() {
	return func() {
		w.clock.Step(time.Second)
		explore.Await("all are added", func() bool { return len(w.added) == n })
		w.clock.Step(2 * time.Second)
		explore.Await("b is taken", func() bool { return w.taken["b"] > 0 })
		w.clock.Step(time.Minute)
	}
}

// take works on n items and ends the alarm.
func (w *watched) take(n int) func() {
	return func() {
		for range n {
			w.work()
		}
		close(w.alarm.stopCh)
	}
}

var immediate = map[string]func(w *watched) []func(){
	"an item twice, two workers": func(w *watched) []func() {
		return []func(){then(w.add("a", "a"), w.ShutDown), w.worker, w.worker}
	},
	"two items, two workers": func(w *watched) []func() {
		return []func(){then(w.add("a", "b"), w.ShutDown), w.worker, w.worker}
	},
	"two workers at once": func(w *watched) []func() {
		taken := 0
		work := func() {
			item, _ := w.Get()
			taken++
			explore.Await("both have one", func() bool { return taken == 2 })
			w.Done(item)
		}
		return []func(){func() { w.Add("a"); w.Add("b") }, work, work}
	},
	"two producers of one item": func(w *watched) []func() {
		return []func(){w.add("a"), w.add("a"), func() {
			explore.Await("all are added", func() bool { return w.calls == 2 })
			w.ShutDown()
		}, w.worker}
	},
	"ShutDown ends the waiting of a drain": func(w *watched) []func() {
		return []func(){
			func() {
				w.Add("a")
				w.Get() // and no Done
				w.ShutDownWithDrain()
			},
			func() {
				explore.Await("drain", func() bool { return w.state.draining })
				w.ShutDown()
			},
		}
	},
	"ShutDown ends the waiting of the drains before it": func(w *watched) []func() {
		return []func(){
			func() {
				w.Add("a")
				item, _ := w.Get()
				w.ShutDownWithDrain() // returns, though the other drain still waits
				w.Done(item)
			},
			func() {
				explore.Await("drain", func() bool { return w.state.draining })
				w.ShutDown()
				w.ShutDownWithDrain()
			},
		}
	},
	"a drain beside a worker": func(w *watched) []func() {
		return []func(){then(w.add("a"), w.ShutDownWithDrain), w.worker}
	},
}

var timed = map[string]func(w *watched) []func(){
	"the later item first": func(w *watched) []func() {
		return []func(){w.later("ab", 9, 1), w.time(2), w.alarmed, w.take(2)}
	},
	"the earlier item first": func(w *watched) []func() {
		return []func(){w.later("ba", 1, 3), w.time(2), w.alarmed, w.take(2)}
	},
	"two producers": func(w *watched) []func() {
		return []func(){then(w.later("a", 2), w.later("b", 1)), w.time(2), w.alarmed, w.take(2)}
	},
	"ShutDown beside AddAfter": func(w *watched) []func() {
		return []func(){w.later("ab", 1, 1), w.ShutDown, w.alarmed, w.worker}
	},
}

// TestExploreInterleavings explores the queues: no item is lost, no worker sleeps while one is
// ready, and no two workers have the same.
func TestExploreInterleavings(t *testing.T) { suite().Check(t) }

// In the builds of these tests locks, wake-ups and atomic operations are points.
func init() { explore.Instrument(explore.Code{}) }

func suite() explore.Suite {
	s := explore.Suite{Share: 0.15}
	add := func(name string, newWatched func() *watched, plays map[string]func(*watched) []func()) {
		for play, threads := range explore.Ordered(plays) {
			s.Programs = append(s.Programs,
				explore.Program{Name: name + ": " + play, New: func() ([]func(), func() error) {
					w := newWatched()
					return threads(w), w.judge
				}})
		}
	}
	add("Queue", newQueue, immediate)
	add("PriorityQueue", newRanked, immediate)
	add("DelayingQueue", newDelaying, timed)
	add("PriorityQueue", newRanked, timed)
	return s
}
