package subject

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// queueSubject is a delaying queue filled with items: ready, or waiting for their time if
// the workload has them lie ahead.
type queueSubject struct {
	staleness.Tracker[string]
	queue   contract.DelayingQueue[string]
	keys    []string
	waiting int
	ahead   []time.Duration // of the waiting items; nil if they are ready
	began   time.Time       // the time that ahead counts from
	lead    time.Duration   // no waiting item is due earlier than this after began
	stamped bool            // the waiting items have their stamps
	stop    sync.Once
}

func newQueueSubject(newQueue func(clock.WithTicker) contract.DelayingQueue[string], objects *load.Objects, w load.Workload) *queueSubject {
	s := &queueSubject{queue: newQueue(clock.RealClock{}), keys: objects.Keys(), waiting: w.Waiting}
	if w.Ahead > 0 {
		if len(w.Groups) > 0 {
			s.lead = w.Ahead / 2
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

// stampWaiting lets consumers measure how late they get the waiting items.
func (s *queueSubject) stampWaiting() {
	if s.ahead == nil || s.stamped {
		return
	}
	s.stamped, s.Timed = true, true
	for i, k := range s.keys[:s.waiting] {
		s.Of(k).Offer(s.At(s.readyAt(i)))
	}
}

// Stop shuts the queue down, once: controller-runtime's queue panics at a second ShutDown.
func (s *queueSubject) Stop()     { s.stop.Do(s.queue.ShutDown) }
func (s *queueSubject) Held() int { return s.waiting }

// lapShrink makes the delays of add-after fall from lap to lap. From the second lap on, an
// item is waiting already, and adding it with a later time would be no work.
const lapShrink = 0.98

// Actor makes the actor of one operation. A batch of delayed or rate-limited adds ends with
// Len: a queue may take such items in asynchronously, and that work must be measured.
func (s *queueSubject) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	w := engine.NewWalk(len(s.keys), g.Keys, who)
	if op == load.OpAddGetDone || op == load.OpAddAfter {
		var err error
		if w, err = engine.OwnWalk(len(s.keys), g.Keys, who, g.Goroutines); err != nil {
			return engine.Actor{}, fmt.Errorf("queue: %s: %w", op, err)
		}
	}
	key := func(i int) string { return s.keys[i] }
	keys := engine.Along(w, key)
	queue := s.queue
	if g.Name != "" {
		s.Blind = s.Blind || op == load.OpAddGetDone
		s.Timed = s.Timed || op == load.OpAddAfter
		s.Otherwise = s.Otherwise || s.waiting > 0 && s.ahead == nil || g.Requeue || op == load.OpAdd || op == load.OpAddRateLimited
	}
	switch op {
	case load.OpAdd:
		stamps, due := s.Producer(w.Order, key)
		return engine.Actor{Due: due, Loop: func(n int) int {
			for range n {
				i := w.Slot()
				due.Stamp(stamps[i])
				queue.Add(keys[i])
			}
			return n
		}}, nil
	case load.OpAddGetDone:
		return engine.Actor{Loop: func(n int) int {
			for i := range n {
				mine := &keys[w.Slot()]
				queue.Add(*mine)
				item, shutdown := queue.Get()
				if shutdown {
					return i
				}
				queue.Done(item)
				// The goroutine that called Done for an item adds it next. If another
				// goroutine added it before this one's Done, the queue would merge the two
				// Adds, and a Get would wait forever.
				*mine = item
			}
			return n
		}}, nil
	case load.OpGetDone:
		seen := s.Consumer(g.Name)
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
		}}, nil
	case load.OpAddAfter:
		ahead, lap, shrink := offsets(g.Ahead), w.Lap(), 1.0
		if g.Name != "" {
			return s.laterAdder(w, ahead), nil
		}
		return engine.Actor{Loop: func(n int) int {
			for range n {
				if now := w.Lap(); now != lap {
					lap = now
					shrink *= lapShrink
				}
				i := w.Slot()
				queue.AddAfter(keys[i], time.Duration(float64(ahead[i])*shrink))
			}
			queue.Len()
			return n
		}}, nil
	case load.OpAddRateLimited:
		limited, ok := queue.(contract.RateLimitingQueue[string])
		if !ok {
			return engine.Actor{}, fmt.Errorf("queue: %s: %w", op, engine.ErrUnsupported)
		}
		return engine.Actor{Loop: func(n int) int {
			for range n {
				limited.AddRateLimited(keys[w.Slot()])
			}
			queue.Len()
			return n
		}}, nil
	}
	return engine.Actor{}, fmt.Errorf("queue: %s: %w", op, engine.ErrUnsupported)
}

// laterAdder is the actor of add-after in a group: as alone, but it also stamps each item
// with the time from which it is ready.
func (s *queueSubject) laterAdder(w *engine.Walk, ahead []time.Duration) engine.Actor {
	keys := engine.Along(w, func(i int) string { return s.keys[i] })
	stamps, _ := s.Producer(w.Order, func(i int) string { return s.keys[i] })
	lap, shrink := w.Lap(), 1.0
	return engine.Actor{Loop: func(n int) int {
		for range n {
			if now := w.Lap(); now != lap {
				lap = now
				shrink *= lapShrink
			}
			i := w.Slot()
			wait := time.Duration(float64(ahead[i]) * shrink)
			stamps[i].Offer(s.At(time.Now().Add(wait)))
			s.queue.AddAfter(keys[i], wait)
		}
		s.queue.Len()
		return n
	}}
}
