package bench

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// defaultAhead is how far ahead items are put where the workload says nothing:
// the delays of a controller's back-off lie within it.
const defaultAhead = 10 * time.Minute

// delaySubject is a delay heap with items waiting in it.
//
// Alone, the heap lives in a time of its own: it stands at the ready time of
// the item popped last, so no operation waits and the number of waiting items
// stays what it was (the hold model of the priority queue literature: Jones,
// "An Empirical Comparison of Priority-Queue and Event-Set Implementations",
// CACM 29(4), 1986). Under contention a mutex guards the heap, which has one
// owner by contract, and the time is the machine's.
type delaySubject struct {
	staleness[string]
	mu      sync.Mutex
	heap    contract.DelayHeap[string]
	now     time.Time
	idle    []string // items that do not wait
	offsets []time.Duration
	waiting int
	keys    []string
	stopped atomic.Bool
}

func newDelaySubject(newHeap func() contract.DelayHeap[string], objects *load.Objects, w load.Workload) *delaySubject {
	keys := objects.Keys()
	return &delaySubject{heap: newHeap(), now: time.Now(), waiting: w.Waiting, idle: keys[w.Waiting:], keys: keys, offsets: offsets(w.Ahead)}
}

// Fill has the first of the items wait.
func (s *delaySubject) Fill() {
	for i, k := range s.keys[:s.waiting] {
		s.heap.Add(k, s.filledAt(i))
	}
}

// filledAt is the time of an item that waits from the start. Items that share an offset
// are a nanosecond apart: ties by the hundred, which no queue has, are cheap to order.
func (s *delaySubject) filledAt(i int) time.Time {
	return s.now.Add(s.offsets[i%len(s.offsets)] + time.Duration(i/len(s.offsets)))
}

// offsets are random delays, even over the time up to ahead.
func offsets(ahead time.Duration) []time.Duration {
	if ahead <= 0 {
		ahead = defaultAhead
	}
	rng := rand.New(rand.NewPCG(1, uint64(ahead)))
	out := make([]time.Duration, longestWalk)
	for i := range out {
		out[i] = time.Duration(rng.Int64N(int64(ahead))) + 1
	}
	return out
}

func (s *delaySubject) Stop()     { s.stopped.Store(true) }
func (s *delaySubject) Held() int { return s.waiting }

// delayChunk and smallestShare bound how far one batch changes the number of
// waiting items: a heap of 1,000 that is emptied by each batch would not be
// measured at 1,000. leastChunk keeps reading the clock out of the numbers.
const (
	delayChunk    = 4096
	smallestShare = 16
	leastChunk    = 64
)

func (s *delaySubject) chunk() int { return min(delayChunk, max(leastChunk, s.waiting/smallestShare)) }

func (s *delaySubject) Actor(op load.Op, g load.Group, who int) (Actor, error) {
	if g.Name != "" {
		return s.contender(op, g, who)
	}
	if who > 0 {
		return Actor{}, fmt.Errorf("delay: %s on several goroutines: %w: a delay heap has one owner", op, ErrUnsupported)
	}
	heap, at := s.heap, 0
	later := func() time.Time {
		at++
		return s.now.Add(s.offsets[at%len(s.offsets)])
	}
	switch op {
	case load.OpAdd:
		return s.adder(s.waiting, nil, func(int) time.Time { return later() }), nil
	case load.OpAddFirst:
		return s.adder(s.waiting, nil, func(i int) time.Time { return s.now.Add(-time.Duration(i) * time.Microsecond) }), nil
	case load.OpAddEarlier:
		behind := s.offsets[0]
		for _, o := range s.offsets {
			behind = max(behind, o)
		}
		// They wait behind all others, so that each may move by any distance.
		last := func(i int) time.Time { return s.now.Add(behind + time.Duration(i+1)*time.Microsecond) }
		return s.adder(s.waiting-s.chunk(), last, func(int) time.Time { return later() }), nil
	case load.OpPop:
		return Actor{
			Chunk: min(s.chunk(), max(1, s.waiting)),
			Prepare: func(int) {
				for heap.Len() < s.waiting && len(s.idle) > 0 {
					last := len(s.idle) - 1
					heap.Add(s.idle[last], later())
					s.idle = s.idle[:last]
				}
			},
			Loop: func(n int) int {
				for i := range n {
					if heap.Len() == 0 {
						return i
					}
					s.idle = append(s.idle, s.popEarliest())
				}
				return n
			},
		}, nil
	case load.OpMixed:
		return Actor{Loop: func(n int) int {
			for i := range n {
				if heap.Len() == 0 {
					return i
				}
				heap.Add(s.popEarliest(), later())
			}
			return n
		}}, nil
	}
	return Actor{}, fmt.Errorf("delay: %s: %w", op, ErrUnsupported)
}

// adder adds idle items, each at the time that at gives for it in its batch. Before, in
// the preparation, as many are taken out as make the heap hold most; and the batch's
// are added already, at the times that last gives, if it is not nil.
func (s *delaySubject) adder(most int, last, at func(i int) time.Time) Actor {
	var items []string
	var times []time.Time
	return Actor{
		Chunk: min(s.chunk(), len(s.keys)),
		Prepare: func(n int) {
			for s.heap.Len() > max(0, min(most, len(s.keys)-n)) {
				s.idle = append(s.idle, s.popEarliest())
			}
			items = append(items[:0], s.idle[len(s.idle)-n:]...)
			s.idle = s.idle[:len(s.idle)-n]
			times = times[:0]
			for i := range n {
				times = append(times, at(i))
				if last != nil {
					s.heap.Add(items[i], last(i))
				}
			}
		},
		Loop: func(n int) int {
			for i := range n {
				s.heap.Add(items[i], times[i])
			}
			return n
		},
	}
}

// popEarliest takes the earliest item out and moves the time to it.
func (s *delaySubject) popEarliest() string {
	t, _ := s.heap.Next()
	item, _ := s.heap.PopReady(t)
	s.now = t
	return item
}

// longestNap bounds how long a consumer sleeps before it looks again whether it
// is to stop.
const longestNap = time.Millisecond

// contender makes the actor of a group: under the mutex, in the machine's time.
func (s *delaySubject) contender(op load.Op, g load.Group, who int) (Actor, error) {
	ahead := offsets(g.Ahead)
	w := newWalk(len(s.keys), g.Keys, who)
	key := func(i int) string { return s.keys[i] }
	keys := along(w, key)
	s.timed = true
	s.blind = s.blind || op == load.OpMixed
	switch op {
	case load.OpAdd:
		stamps, _ := s.producer(w, key)
		for slot, p := range w.order {
			if p < s.waiting {
				stamps[slot].offer(s.at(s.filledAt(p)))
			}
		}
		return Actor{Loop: func(n int) int {
			for range n {
				i := w.slot()
				ready := time.Now().Add(ahead[i])
				stamps[i].offer(s.at(ready))
				s.mu.Lock()
				s.heap.Add(keys[i], ready)
				s.mu.Unlock()
			}
			return n
		}}, nil
	case load.OpMixed:
		return Actor{Loop: func(n int) int {
			for range n {
				i := w.slot()
				s.mu.Lock()
				if t, ok := s.heap.Next(); ok {
					item, _ := s.heap.PopReady(t)
					s.heap.Add(item, t.Add(ahead[i]))
				}
				s.mu.Unlock()
			}
			return n
		}}, nil
	case load.OpPop:
		seen := s.consumer(g.Name)
		return Actor{seen: seen, Loop: func(n int) int {
			for i := range n {
				item, ok := s.popWhenReady()
				if !ok {
					return i
				}
				s.saw(item, seen)
			}
			return n
		}}, nil
	}
	return Actor{}, fmt.Errorf("delay: %s: %w", op, ErrUnsupported)
}

// popWhenReady waits for an item to be ready and takes it out; false once the
// subject is stopped.
func (s *delaySubject) popWhenReady() (item string, ok bool) {
	for !s.stopped.Load() {
		now := time.Now()
		s.mu.Lock()
		item, ok = s.heap.PopReady(now)
		next, waits := s.heap.Next()
		s.mu.Unlock()
		if ok {
			return item, true
		}
		nap := longestNap
		if waits {
			nap = min(nap, next.Sub(now))
		}
		time.Sleep(nap)
	}
	return "", false
}
