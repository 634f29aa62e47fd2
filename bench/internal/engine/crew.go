package engine

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// crew does one operation on a number of goroutines, in rounds: actors do so in this process,
// a peer in another.
type crew interface {
	// begin begins a sitting: it puts the component into the state that the operation needs.
	begin() error
	// round does n operations on each goroutine and returns what they took, without the
	// preparations. A number of others comes before them; they do not count, and there is
	// nothing between them and the n. With count, it counts what the n allocate.
	round(before, n int, count bool) (spent, error)
	// goroutines is how many do the operation at once.
	goroutines() int
	// deferred is Actor.Deferred.
	deferred() int
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
var errStopped = errors.New("the operation did fewer than it was asked for: nothing to take out, or the component refused")

// actors are a crew in this process.
type actors struct {
	crew  []Actor // one for each goroutine
	gc    *collector
	meter *meter
}

func (c *actors) goroutines() int { return len(c.crew) }
func (c *actors) deferred() int   { return c.crew[0].Deferred }

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
		part := spent{Ops: uint64(k * len(c.crew))}
		var bytes, objects uint64
		if count {
			bytes, objects = allocated()
		}
		var whole bool
		part.Costs, whole = together(c.crew, k, c.meter)
		if count {
			b, o := allocated()
			part.Bytes, part.Objects = b-bytes, o-objects
		}
		total.add(part)
		if !whole {
			return total, errStopped
		}
		done += k
	}
	return total, nil
}

// together runs k operations on every actor at once. It returns the costs, and whether every
// actor did all k.
func together(actors []Actor, k int, m *meter) (costs, bool) {
	if len(actors) == 1 {
		before, start := m.begin()
		got := actors[0].Loop(k)
		return m.end(before, start), got == k
	}
	var ready, done sync.WaitGroup
	var short atomic.Bool
	gate := make(chan struct{})
	for _, a := range actors {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			if a.Loop(k) < k {
				short.Store(true)
			}
		})
	}
	ready.Wait()
	before, start := m.begin()
	close(gate)
	done.Wait()
	return m.end(before, start), !short.Load()
}

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
