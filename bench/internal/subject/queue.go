package subject

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// queueSubject is a delaying queue filled with items: ready, or waiting for their time if
// the workload has them lie ahead.
type queueSubject struct {
	seat
	staleness.Tracker[string]
	queue   contract.DelayingQueue[string]
	keys    []string
	waiting int
	ahead   []time.Duration // of the waiting items; nil if they are ready
	began   time.Time       // the time that ahead counts from
	lead    time.Duration   // no waiting item is due earlier than this after began
	settle  time.Duration   // how long items have been coming due when the measured time begins
	stamped bool            // the waiting items have their stamps
	delays  []time.Duration // of each key, where delayed adds are measured alone; see later
	stop    sync.Once
}

func newQueueSubject(entry catalog.Entry, objects *synthetic.Objects,
	w load.Workload) *queueSubject {
	s := &queueSubject{keys: objects.Keys(), waiting: w.Waiting}
	switch limited := slices.Contains(w.Ops, load.OpAddRateLimited); {
	case limited && entry.NewConfiguredQueue != nil:
		s.queue = entry.NewConfiguredQueue(
			contract.QueueConfig{Clock: clock.RealClock{}, Limiter: s.sooner()})
	case limited && entry.NewLimitedQueue != nil:
		s.queue = entry.NewLimitedQueue(s.sooner())
	default:
		s.queue = entry.NewQueue(clock.RealClock{})
	}
	if w.Ahead > 0 {
		if len(w.Groups) > 0 {
			s.lead = w.Ahead / 2
			s.settle = max(0, (w.Ahead-s.lead-w.Duration)/2)
		}
		s.ahead = offsets(w.Ahead - s.lead)
	}
	return s
}

// Fill adds the waiting items, ready or with their times. The times count from the
// beginning of Fill, however long it takes. A queue that is slow to fill therefore has as
// many items due in any second as the others.
func (s *queueSubject) Fill() {
	s.began = time.Now()
	for i, k := range s.keys[:s.waiting] {
		if s.ahead != nil {
			s.queue.AddAfter(k, time.Until(s.readyAt(i)))
		} else {
			s.queue.Add(k)
		}
	}
	// Some queues take items in asynchronously; Len makes them catch up.
	s.queue.Len()
}

// readyAt is when the i-th waiting item is due.
func (s *queueSubject) readyAt(i int) time.Time {
	return s.began.Add(s.lead + s.ahead[i%len(s.ahead)])
}

// Earliest is when the measured time may begin: items come due before it, and as long after it.
func (s *queueSubject) Earliest() time.Time { return s.began.Add(s.lead + s.settle) }

// stampWaiting lets consumers measure how late they get the waiting items.
func (s *queueSubject) stampWaiting() {
	if s.ahead == nil || s.stamped {
		return
	}
	s.stamped, s.Timed = true, true
	for i, k := range s.keys[:s.waiting] {
		s.Of(k).Offer(staleness.Moment{Since: s.At(s.readyAt(i))})
	}
}

// Stop shuts the queue down, once: controller-runtime's queue panics at a second ShutDown.
func (s *queueSubject) Stop()     { s.stop.Do(s.queue.ShutDown) }
func (s *queueSubject) Held() int { return s.waiting }

// deferred is how many delayed adds client-go's queue, and those that follow it, take in
// without doing anything yet: the room of a channel that another goroutine empties. Source:
// k8s.io/client-go@v0.37.2/util/workqueue/delaying_queue.go.
const deferred = 1000

// shrink makes the delays of an item fall from add to add: it waits already, and to add it with
// a later time would be no work.
const shrink = 0.98

// Actor makes the actor of one operation. A batch of delayed or rate-limited adds ends with
// Len: a queue may take such items in asynchronously, and that work must be measured.
func (s *queueSubject) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	w := s.walk(len(s.keys), g.Keys, who)
	if op == load.OpAddGetDone || op == load.OpAddAfter {
		var err error
		if w, err = s.ownWalk(len(s.keys), g.Keys, who, g.Goroutines); err != nil {
			return engine.Actor{}, fmt.Errorf("queue: %s: %w", op, err)
		}
	}
	if g.Name != "" {
		s.Blind = s.Blind || op == load.OpAddGetDone
		s.Timed = s.Timed || op == load.OpAddAfter
		s.Otherwise = s.Otherwise || s.waiting > 0 && s.ahead == nil || g.Requeue || op == load.OpAdd ||
			op == load.OpAddRateLimited
	}
	keys := engine.Along(w, s.key)
	switch op {
	case load.OpAdd:
		return s.adder(w, keys), nil
	case load.OpAddGetDone:
		return s.roundTripper(w, keys), nil
	case load.OpGetDone:
		return s.taker(g), nil
	case load.OpAddAfter:
		if g.Name != "" {
			return s.stampingLaterAdder(w, keys, offsets(g.Ahead)), nil
		}
		return s.laterAdder(w, keys), nil
	case load.OpAddRateLimited:
		if g.Name == "" {
			s.later()
		}
		return s.limitedAdder(w, keys)
	}
	return engine.Actor{}, fmt.Errorf("queue: %s: %w", op, engine.ErrUnsupported)
}

func (s *queueSubject) key(i int) string { return s.keys[i] }

// adder adds items that are ready at once.
func (s *queueSubject) adder(w *engine.Walk, keys []string) engine.Actor {
	queue := s.queue
	stamps, due := s.Producer(w.Order, s.key)
	return engine.Actor{Due: due, Loop: func(n int) int {
		for range n {
			i := w.Slot()
			due.Stamp(stamps[i])
			queue.Add(keys[i])
		}
		return n
	}}
}

// roundTripper adds an item, takes one out and is done with it.
func (s *queueSubject) roundTripper(w *engine.Walk, keys []string) engine.Actor {
	queue := s.queue
	return engine.Actor{Loop: func(n int) int {
		for i := range n {
			mine := &keys[w.Slot()]
			queue.Add(*mine)
			item, shutdown := queue.Get()
			if shutdown {
				return i
			}
			queue.Done(item)
			// The goroutine that called Done for an item adds it next. If another goroutine
			// added it before this one's Done, the queue would merge the two Adds, and a Get
			// would wait forever.
			*mine = item
		}
		return n
	}}
}

// taker takes items out as a worker does.
func (s *queueSubject) taker(g load.Group) engine.Actor {
	queue, seen := s.queue, s.Consumer(g.Name)
	s.stampWaiting()
	return engine.Actor{Seen: seen, Loop: func(n int) int {
		for i := range n {
			item, shutdown := queue.Get()
			if shutdown {
				return i
			}
			s.Saw(item, seen)
			if g.Work > 0 {
				time.Sleep(g.Work)
			}
			if g.Requeue {
				queue.Add(item)
			}
			queue.Done(item)
		}
		return n
	}}
}

// later lets every key wait, before delayed adds are measured alone: as the workload says, or so
// long
// that none comes due. Then each add finds its item waiting and moves it to a sooner time, in each
// actor and from the first add on.
func (s *queueSubject) later() {
	if s.delays != nil {
		return
	}
	s.delays = make([]time.Duration, len(s.keys))
	from, lead, ahead := s.waiting, s.lead, s.ahead // what is before from waits already
	if ahead == nil {
		from, lead, ahead = 0, defaultAhead, offsets(defaultAhead)
	}
	for i := range s.delays {
		s.delays[i] = lead + ahead[i%len(ahead)]
	}
	for i, k := range s.keys[from:] {
		s.queue.AddAfter(k, s.delays[from+i])
	}
	s.queue.Len()
}

// sooner is a limiter whose answers are the delays of later, each time sooner. It costs about what
// client-go's limiter per item does: a lock, and two accesses of a map. With that one's delays,
// from
// 5 ms on, items would come due in the turns of the other implementation.
func (s *queueSubject) sooner() contract.RateLimiter[string] {
	l := &soonerLimiter{of: s, index: map[string]int{}}
	for i, k := range s.keys {
		l.index[k] = i
	}
	return l
}

type soonerLimiter struct {
	of    *queueSubject
	mu    sync.Mutex
	index map[string]int
}

func (l *soonerLimiter) When(item string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.index[item]
	l.index[item] = i // as the other one's count
	return fall(&l.of.delays[i])
}

func (*soonerLimiter) Forget(string)          {}
func (*soonerLimiter) NumRequeues(string) int { return 0 }

// fall makes a delay shorter and returns it.
func fall(d *time.Duration) time.Duration {
	*d = time.Duration(float64(*d) * shrink)
	return *d
}

// limitedAdder adds items that are ready when the queue's limiter says.
func (s *queueSubject) limitedAdder(w *engine.Walk, keys []string) (engine.Actor, error) {
	limited, ok := s.queue.(contract.RateLimitingQueue[string])
	if !ok {
		return engine.Actor{}, fmt.Errorf("queue: %s: %w", load.OpAddRateLimited, engine.ErrUnsupported)
	}
	return engine.Actor{Deferred: deferred, Loop: func(n int) int {
		for range n {
			limited.AddRateLimited(keys[w.Slot()])
		}
		limited.Len()
		return n
	}}, nil
}

// falling are the delays of add-after in a group, on a walk: those of ahead, shorter from lap to
// lap.
type falling struct {
	walk   *engine.Walk
	ahead  []time.Duration
	at     uint32 // the lap for which shrink holds
	shrink float64
}

func newFalling(w *engine.Walk, ahead []time.Duration) *falling {
	return &falling{walk: w, ahead: ahead, at: w.Lap(), shrink: 1}
}

// next advances the walk and returns the slot and its delay.
func (f *falling) next() (slot uint32, wait time.Duration) {
	if now := f.walk.Lap(); now != f.at {
		f.at = now
		f.shrink *= shrink
	}
	slot = f.walk.Slot()
	return slot, time.Duration(float64(f.ahead[slot]) * f.shrink)
}

// laterAdder adds items that are ready after a delay. Each goroutine has its own keys.
func (s *queueSubject) laterAdder(w *engine.Walk, keys []string) engine.Actor {
	s.later()
	queue := s.queue
	delays := engine.Along(w, func(i int) *time.Duration { return &s.delays[i] })
	return engine.Actor{Deferred: deferred, Loop: func(n int) int {
		for range n {
			i := w.Slot()
			queue.AddAfter(keys[i], fall(delays[i]))
		}
		queue.Len()
		return n
	}}
}

// stampingLaterAdder also stamps each item with the time from which it is ready.
func (s *queueSubject) stampingLaterAdder(w *engine.Walk, keys []string,
	ahead []time.Duration) engine.Actor {
	queue, delays := s.queue, newFalling(w, ahead)
	stamps, _ := s.Producer(w.Order, s.key)
	return engine.Actor{Loop: func(n int) int {
		for range n {
			i, wait := delays.next()
			stamps[i].Offer(staleness.Moment{Since: s.At(time.Now().Add(wait))})
			queue.AddAfter(keys[i], wait)
		}
		queue.Len()
		return n
	}}
}
