package engine

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// crew does one operation on a number of goroutines, in rounds: actors do so in this process,
// a peer in another.
type crew interface {
	// begin begins a sitting: it puts the component into the state that the operation needs.
	begin() error
	// round does n operations on each goroutine and returns what they took, without the
	// preparations. A number of others comes before them; they do not count, and nothing is
	// between them and the n but their preparation. With count, it counts what the n allocate.
	round(before, n int, count bool) (spent, error)
	// goroutines is how many do the operation at once.
	goroutines() int
	// deferred is Actor.Deferred.
	deferred() int
	// wholeTurn is Actor.Turn.
	wholeTurn() int
	// end ends a sitting and returns what the operation measured itself; see Actor.Tell.
	end() (told map[string]float64, err error)
}

// spent is what operations took.
type spent struct {
	Costs          costs
	Ops            uint64 // of all goroutines
	Bytes, Objects uint64 // allocated, where that was counted
}

func (s *spent) add(o spent) {
	for i, c := range o.Costs {
		s.Costs[i] += c
	}
	s.Ops += o.Ops
	s.Bytes += o.Bytes
	s.Objects += o.Objects
}

// errStopped is the error of an operation whose time would be meaningless.
var errStopped = errors.New(
	"the operation did fewer than it was asked for: nothing to take out, or the component refused")

// actors are a crew in this process.
type actors struct {
	crew  []Actor // one for each goroutine
	gc    *collector
	meter *meter
}

func (c *actors) goroutines() int { return len(c.crew) }
func (c *actors) deferred() int   { return c.crew[0].Deferred }
func (c *actors) wholeTurn() int  { return c.crew[0].Turn }

func (c *actors) begin() error {
	for _, a := range c.crew {
		if a.Begin != nil {
			a.Begin()
		}
	}
	if c.crew[0].UsualGC {
		c.gc.release()
	}
	return nil
}

func (c *actors) end() (map[string]float64, error) {
	c.gc.hold()
	told := map[string]float64{}
	if tell := c.crew[0].Tell; tell != nil {
		tell(told)
	}
	return told, nil
}

func (c *actors) round(before, n int, count bool) (spent, error) {
	if _, err := c.do(before, false); err != nil {
		return spent{}, err
	}
	return c.do(n, count)
}

// do lets every actor do n operations.
func (c *actors) do(n int, count bool) (total spent, err error) {
	for done := 0; done < n; {
		k := n - done
		for _, a := range c.crew {
			k = a.Batch(k)
		}
		for _, a := range c.crew {
			if a.Prepare != nil {
				a.Prepare(k)
			}
		}
		c.gc.tidy()
		part, whole := together(c.crew, k, c.meter, count)
		total.add(part)
		if !whole {
			return total, errStopped
		}
		done += k
	}
	return total, nil
}

// together runs k operations on every actor at once, the first in the calling goroutine. It
// returns what they took, with count also what they allocated, and whether every actor did
// all k. The time is from when all goroutines run to when the last has done its k: making
// goroutines, and waking the processors that run them, takes as long as many operations.
func together(actors []Actor, k int, m *meter, count bool) (part spent, whole bool) {
	part.Ops = uint64(k * len(actors))
	var made, started meeting
	var done sync.WaitGroup
	ends := make([]time.Time, len(actors))
	var short atomic.Bool
	others := actors[1:]
	crowded := len(actors) > runtime.GOMAXPROCS(0)
	for i, a := range others {
		done.Go(func() {
			made.arrive(crowded)
			started.arrive(crowded)
			if a.Loop(k) < k {
				short.Store(true)
			}
			ends[i+1] = time.Now()
		})
	}
	made.await(len(others))
	var bytes, objects uint64
	if count {
		bytes, objects = allocated() // stops all: they must meet once more
	}
	made.release()
	started.await(len(others))
	before, start := m.begin()
	started.release()
	if actors[0].Loop(k) < k {
		short.Store(true)
	}
	ends[0] = time.Now()
	done.Wait()
	part.Costs = m.end(before, slices.MaxFunc(ends, time.Time.Compare).Sub(start))
	if count {
		b, o := allocated()
		part.Bytes, part.Objects = b-bytes, o-objects
	}
	return part, !short.Load()
}

// meeting is where goroutines wait for one that releases them. They keep their processors
// meanwhile, unless there are more of them than processors: so they go on at once.
type meeting struct{ arrived, released atomic.Int32 }

// arrive waits for the release.
func (m *meeting) arrive(crowded bool) {
	m.arrived.Add(1)
	for m.released.Load() == 0 {
		if crowded {
			runtime.Gosched()
		}
	}
}

// await waits until n have arrived. Meanwhile others may have the processor, which they may
// need to arrive.
func (m *meeting) await(n int) {
	for int(m.arrived.Load()) < n {
		runtime.Gosched()
	}
}

func (m *meeting) release() { m.released.Store(1) }

// empty is an operation that does only what the loops of all actors do. Its cost is the
// harness's share of every ns/op.
func empty(keys []string) Actor {
	w := NewWalk(len(keys), 0, 0)
	own := Along(w, func(i int) string { return keys[i] })
	return Actor{Loop: func(n int) int {
		length := 0
		for range n {
			length += len(own[w.Slot()])
		}
		runtime.KeepAlive(length) // or the compiler would remove the loop
		return n
	}}
}
