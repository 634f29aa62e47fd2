package bench

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// queueSubject is a delaying queue with items in it: ready, or waiting for
// their time if the workload has them lie ahead.
type queueSubject struct {
	staleness[string]
	queue   contract.DelayingQueue[string]
	keys    []string
	waiting int
	ahead   []time.Duration // of the waiting items; nil if they are ready
	began   time.Time       // what ahead counts from
	lead    time.Duration   // how long after that none of them is due
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

// Fill has the first of the items wait for their time, or lie ready. Their times
// count from the beginning of the filling, however long it takes: a queue that is
// slow to fill has as many items due in any second as the others.
func (s *queueSubject) Fill() {
	s.began = time.Now()
	for i, k := range s.keys[:s.waiting] {
		if s.ahead != nil {
			s.queue.AddAfter(k, time.Until(s.readyAt(i)))
		} else {
			s.queue.Add(k)
		}
	}
	// Len makes a queue that takes items in behind its caller's back catch up.
	s.queue.Len()
}

// readyAt is when the i-th of the waiting items is due.
func (s *queueSubject) readyAt(i int) time.Time {
	return s.began.Add(s.lead + s.ahead[i%len(s.ahead)])
}

// stampWaiting lets consumers see how late the waiting items come.
func (s *queueSubject) stampWaiting() {
	if s.ahead == nil || s.stamped {
		return
	}
	s.stamped, s.timed = true, true
	for i, k := range s.keys[:s.waiting] {
		s.of(k).offer(s.at(s.readyAt(i)))
	}
}

// Stop shuts the queue down, once: controller-runtime's panics at a second time.
func (s *queueSubject) Stop()     { s.stop.Do(s.queue.ShutDown) }
func (s *queueSubject) Held() int { return s.waiting }

// lapShrink makes the delays of add-after fall from lap to lap: an item waits
// already from the second lap on, and a later time for it would be no work at all.
const lapShrink = 0.98

// Actor makes the actor of one operation. A batch of adds that may be taken in
// behind the caller's back ends with Len, so that the taking in is part of what
// is measured.
func (s *queueSubject) Actor(op load.Op, g load.Group, who int) (Actor, error) {
	w := newWalk(len(s.keys), g.Keys, who)
	if op == load.OpAddGetDone || op == load.OpAddAfter {
		var err error
		if w, err = ownWalk(len(s.keys), g.Keys, who, g.Goroutines); err != nil {
			return Actor{}, fmt.Errorf("queue: %s: %w", op, err)
		}
	}
	key := func(i int) string { return s.keys[i] }
	keys := along(w, key)
	queue := s.queue
	if g.Name != "" {
		s.blind = s.blind || op == load.OpAddGetDone
		s.timed = s.timed || op == load.OpAddAfter
		s.otherwise = s.otherwise || s.waiting > 0 && s.ahead == nil || g.Requeue || op == load.OpAdd || op == load.OpAddRateLimited
	}
	switch op {
	case load.OpAdd:
		stamps, due := s.producer(w, key)
		return Actor{due: due, Loop: func(n int) int {
			for range n {
				i := w.slot()
				due.stamp(stamps[i])
				queue.Add(keys[i])
			}
			return n
		}}, nil
	case load.OpAddGetDone:
		return Actor{Loop: func(n int) int {
			for i := range n {
				mine := &keys[w.slot()]
				queue.Add(*mine)
				item, shutdown := queue.Get()
				if shutdown {
					return i
				}
				queue.Done(item)
				// Who was done with an item is who adds it next. Were it added by
				// another while this goroutine stands before its Done, the queue would
				// make one of two Adds, and a Get would wait for ever.
				*mine = item
			}
			return n
		}}, nil
	case load.OpGetDone:
		seen := s.consumer(g.Name)
		s.stampWaiting()
		return Actor{seen: seen, Loop: func(n int) int {
			for i := range n {
				item, shutdown := queue.Get()
				if shutdown {
					return i
				}
				s.saw(item, seen)
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
		ahead, lap, shrink := offsets(g.Ahead), w.lap(), 1.0
		if g.Name != "" {
			return s.laterAdder(w, ahead), nil
		}
		return Actor{Loop: func(n int) int {
			for range n {
				if now := w.lap(); now != lap {
					lap = now
					shrink *= lapShrink
				}
				i := w.slot()
				queue.AddAfter(keys[i], time.Duration(float64(ahead[i])*shrink))
			}
			queue.Len()
			return n
		}}, nil
	case load.OpAddRateLimited:
		limited, ok := queue.(contract.RateLimitingQueue[string])
		if !ok {
			return Actor{}, fmt.Errorf("queue: %s: %w", op, ErrUnsupported)
		}
		return Actor{Loop: func(n int) int {
			for range n {
				limited.AddRateLimited(keys[w.slot()])
			}
			queue.Len()
			return n
		}}, nil
	}
	return Actor{}, fmt.Errorf("queue: %s: %w", op, ErrUnsupported)
}

// laterAdder is the actor of add-after in a group: what it does alone, with the
// time from which each item is ready.
func (s *queueSubject) laterAdder(w *walk, ahead []time.Duration) Actor {
	keys := along(w, func(i int) string { return s.keys[i] })
	stamps, _ := s.producer(w, func(i int) string { return s.keys[i] })
	lap, shrink := w.lap(), 1.0
	return Actor{Loop: func(n int) int {
		for range n {
			if now := w.lap(); now != lap {
				lap = now
				shrink *= lapShrink
			}
			i := w.slot()
			wait := time.Duration(float64(ahead[i]) * shrink)
			stamps[i].offer(s.at(time.Now().Add(wait)))
			s.queue.AddAfter(keys[i], wait)
		}
		s.queue.Len()
		return n
	}}
}
