package subject

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// defaultAhead bounds the delays of items where the workload sets no bound. A controller's
// back-off delays lie within it.
const defaultAhead = 10 * time.Minute

// delaySubject is a delay heap with items waiting in it.
//
// Alone, the heap runs in simulated time, which stands at the ready time of the item popped
// last. No operation waits, and the number of waiting items stays constant (the hold model
// of the priority queue literature: Jones, "An Empirical Comparison of Priority-Queue and
// Event-Set Implementations", CACM 29(4), 1986). Under contention the time is real. A mutex
// guards the heap, because its contract allows one owner.
type delaySubject struct {
	seat
	staleness.Tracker[string]
	mu      sync.Mutex
	heap    contract.DelayHeap[string]
	now     time.Time
	idle    []string // items that are not in the heap
	offsets []time.Duration
	waiting int
	keys    []string
	stopped atomic.Bool
}

func newDelaySubject(newHeap func() contract.DelayHeap[string], objects *synthetic.Objects,
	w load.Workload) *delaySubject {
	keys := objects.Keys()
	return &delaySubject{heap: newHeap(), now: time.Now(), waiting: w.Waiting, idle: keys[w.Waiting:],
		keys: keys, offsets: offsets(w.Ahead)}
}

// Fill adds the first waiting items to the heap.
func (s *delaySubject) Fill() {
	for i, k := range s.keys[:s.waiting] {
		s.heap.Add(k, s.filledAt(i))
	}
}

// filledAt is the ready time of an item that Fill adds. Items that share an offset are a
// nanosecond apart. Hundreds of equal times, which no real queue has, would be cheap to
// order.
func (s *delaySubject) filledAt(i int) time.Time {
	return s.now.Add(s.offsets[i%len(s.offsets)] + time.Duration(i/len(s.offsets)))
}

// offsets are random delays, uniform up to ahead.
func offsets(ahead time.Duration) []time.Duration {
	if ahead <= 0 {
		ahead = defaultAhead
	}
	rng := rand.New(rand.NewPCG(1, uint64(ahead)))
	out := make([]time.Duration, engine.LongestWalk)
	for i := range out {
		out[i] = time.Duration(rng.Int64N(int64(ahead))) + 1
	}
	return out
}

func (s *delaySubject) Stop()     { s.stopped.Store(true) }
func (s *delaySubject) Held() int { return s.waiting }

// delayChunk and smallestShare bound how far one batch changes the number of waiting items:
// a heap that each batch empties would not be measured at its size. leastChunk makes
// batches long enough for the clock readings not to count.
const (
	delayChunk    = 4096
	smallestShare = 16
	leastChunk    = 64
)

func (s *delaySubject) chunk() int {
	return min(delayChunk, max(leastChunk, s.waiting/smallestShare))
}

func (s *delaySubject) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	if g.Name != "" {
		return s.contender(op, g, who)
	}
	if who > 0 {
		return engine.Actor{}, fmt.Errorf(
			"delay: %s on several goroutines: %w: a delay heap has one owner", op, engine.ErrUnsupported)
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
		return s.adder(s.waiting, nil, func(i int) time.Time {
			return s.now.Add(-time.Duration(i) * time.Microsecond)
		}), nil
	case load.OpAddEarlier:
		behind := s.offsets[0]
		for _, o := range s.offsets {
			behind = max(behind, o)
		}
		// They wait behind all others, so that each may move by any distance.
		last := func(i int) time.Time { return s.now.Add(behind + time.Duration(i+1)*time.Microsecond) }
		return s.adder(s.waiting-s.chunk(), last, func(int) time.Time { return later() }), nil
	case load.OpPop:
		return engine.Actor{
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
		return engine.Actor{Loop: func(n int) int {
			for i := range n {
				if heap.Len() == 0 {
					return i
				}
				heap.Add(s.popEarliest(), later())
			}
			return n
		}}, nil
	}
	return engine.Actor{}, fmt.Errorf("delay: %s: %w", op, engine.ErrUnsupported)
}

// adder adds idle items: item i of a batch gets the time at(i). The preparation first pops
// items until the heap holds at most most items. If last is not nil, the preparation also
// adds the batch's items, at the times last(i), and the loop moves them.
func (s *delaySubject) adder(most int, last, at func(i int) time.Time) engine.Actor {
	var items []string
	var times []time.Time
	return engine.Actor{
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

// popEarliest pops the earliest item and advances the simulated time to it.
func (s *delaySubject) popEarliest() string {
	t, _ := s.heap.Next()
	item, _ := s.heap.PopReady(t)
	s.now = t
	return item
}

// longestNap bounds how long a consumer sleeps before it checks whether it must stop.
const longestNap = time.Millisecond

// contender makes the actor of a group: under the mutex, in real time.
func (s *delaySubject) contender(op load.Op, g load.Group, who int) (engine.Actor, error) {
	ahead := offsets(g.Ahead)
	w := s.walk(len(s.keys), g.Keys, who)
	key := func(i int) string { return s.keys[i] }
	keys := engine.Along(w, key)
	s.Timed = true
	s.Blind = s.Blind || op == load.OpMixed
	switch op {
	case load.OpAdd:
		stamps, _ := s.Producer(w.Order, key)
		for slot, p := range w.Order {
			if p < s.waiting {
				stamps[slot].Offer(staleness.Moment{Since: s.At(s.filledAt(p))})
			}
		}
		return engine.Actor{Loop: func(n int) int {
			for range n {
				i := w.Slot()
				ready := time.Now().Add(ahead[i])
				stamps[i].Offer(staleness.Moment{Since: s.At(ready)})
				s.mu.Lock()
				s.heap.Add(keys[i], ready)
				s.mu.Unlock()
			}
			return n
		}}, nil
	case load.OpMixed:
		return engine.Actor{Loop: func(n int) int {
			for range n {
				i := w.Slot()
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
		seen := s.Consumer(g.Name)
		return engine.Actor{Seen: seen, Loop: func(n int) int {
			for i := range n {
				item, ok := s.popWhenReady()
				if !ok {
					return i
				}
				s.Saw(item, seen)
			}
			return n
		}}, nil
	}
	return engine.Actor{}, fmt.Errorf("delay: %s: %w", op, engine.ErrUnsupported)
}

// popWhenReady waits until an item is ready and pops it. ok is false once the subject is
// stopped.
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
