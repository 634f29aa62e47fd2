package subject

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// fifoSubject is an empty FIFO whose known objects are the workload's objects.
type fifoSubject struct {
	seat
	staleness.Events[runtime.Object]
	fifo    contract.FIFO
	objects *synthetic.Objects
	items   []any
	stop    sync.Once
	seen    handled // by pop
	waiting int     // left by an actor that only adds
}

func newFIFOSubject(newFIFO func(contract.FIFOConfig) contract.FIFO,
	objects *synthetic.Objects) *fifoSubject {
	return &fifoSubject{
		fifo:    newFIFO(contract.FIFOConfig{KnownObjects: knownObjects(objects.Map())}),
		objects: objects,
		items:   objects.Items(),
	}
}

func (s *fifoSubject) Stop()     { s.stop.Do(s.fifo.Close) }
func (s *fifoSubject) Held() int { return 0 }
func (s *fifoSubject) Fill()     {} // it begins empty

func (s *fifoSubject) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	if g.Goroutines > 1 && (op != load.OpAdd || g.Name == "") {
		return engine.Actor{}, fmt.Errorf("fifo: %s on several goroutines: %w: a FIFO has one consumer",
			op, engine.ErrUnsupported)
	}
	a, err := s.actor(op, g, who)
	if g.Name == "" {
		a.Begin = s.drain // pops the items that an actor that only adds has left
	}
	return a, err
}

func (s *fifoSubject) actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	w := s.walk(s.objects.Len(), g.Keys, who)
	fifo := s.fifo
	if g.Name == "" {
		s.drain()
		if op == load.OpAdd || op == load.OpPop {
			return s.half(op, w), nil
		}
	}
	s.Blind = s.Blind || g.Name != "" && op != load.OpAdd && op != load.OpPop
	switch op {
	case load.OpAdd:
		objects := engine.Along(w, func(i int) any { return s.objects.At(i) })
		lines, due := s.Producer(w.Order, s.objects.At)
		return engine.Actor{Due: due, Loop: func(n int) int {
			for range n {
				i := w.Slot()
				lines[i].Offer(due.Moment)
				if fifo.Add(objects[i]) != nil {
					return 0
				}
			}
			return n
		}}, nil
	case load.OpAddPop:
		objects := engine.Along(w, func(i int) any { return s.objects.At(i) })
		var seen handled
		one := seen.one // made once: the harness allocates nothing per pop
		return engine.Actor{Loop: func(n int) int {
			for i := range n {
				if fifo.Add(objects[w.Slot()]) != nil {
					return i
				}
				if _, err := fifo.Pop(one); err != nil {
					return i
				}
			}
			return n
		}}, nil
	case load.OpPop:
		return s.popper(g)
	case load.OpReplace:
		return s.refill(func() error { return fifo.Replace(s.items, "1") }), nil
	case load.OpResync:
		return s.refill(fifo.Resync), nil
	}
	return engine.Actor{}, fmt.Errorf("fifo: %s: %w", op, engine.ErrUnsupported)
}

// half makes the actor that only adds, or only pops. Its preparation does the other half:
// it pops, or adds. No key is added twice between two pops.
func (s *fifoSubject) half(op load.Op, w *engine.Walk) engine.Actor {
	objects := engine.Along(w, func(i int) any { return s.objects.At(i) })
	add := func(n int) int {
		for i := range n {
			if s.fifo.Add(objects[w.Slot()]) != nil {
				return i
			}
		}
		return n
	}
	if op == load.OpPop {
		return engine.Actor{Chunk: len(objects), Prepare: func(n int) { add(n) }, Loop: s.pop}
	}
	return engine.Actor{
		Chunk:   len(objects),
		Prepare: func(n int) { s.drain(); s.waiting = n },
		Loop:    add,
	}
}

// drain pops the items that the last batch of adds left waiting.
func (s *fifoSubject) drain() {
	s.pop(s.waiting)
	s.waiting = 0
}

func (s *fifoSubject) pop(n int) int {
	one := s.seen.one
	for i := range n {
		if _, err := s.fifo.Pop(one); err != nil {
			return i
		}
	}
	return n
}

// handled is a handler that looks at every delta and object it is given, as the cheapest
// real one must. It works for the time work on what a Pop or a batch gives it.
type handled struct {
	objects int
	work    time.Duration
}

func (h *handled) one(obj any, isInInitialList bool) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok {
		return fmt.Errorf("popped a %T, want Deltas", obj)
	}
	return h.batch(deltas, isInInitialList)
}

func (h *handled) batch(deltas []contract.Delta, _ bool) error {
	for i := range deltas {
		if all, ok := deltas[i].Object.(contract.ReplacedAllInfo); ok {
			for _, o := range all.Objects {
				if o != nil {
					h.objects++
				}
			}
			continue
		}
		h.objects++
	}
	if h.work > 0 {
		time.Sleep(h.work)
	}
	return nil
}

// popper pops until the FIFO is closed. It counts events, not pops: a FIFO of class
// coalescing pops several events at once when it is behind, and so does any FIFO in
// batches. The staleness of an object ends when its handler begins.
func (s *fifoSubject) popper(g load.Group) (engine.Actor, error) {
	fifo := s.fifo
	handler, seen := handled{work: g.Work}, s.Consumer(g.Name)
	saw := func(obj any, events int) {
		if o, ok := obj.(runtime.Object); ok { // a deletion's tombstone or a whole list is not an object
			s.Saw(o, events, seen)
		}
	}
	one := func(obj any, initial bool) error {
		// All deltas that are popped at once belong to one object.
		if deltas, ok := obj.(contract.Deltas); ok && len(deltas) > 0 {
			saw(deltas[0].Object, len(deltas))
		}
		return handler.one(obj, initial)
	}
	batcher, batches := fifo.(contract.BatchPopper)
	if g.Batch > 1 && batches {
		batch := func(deltas []contract.Delta, initial bool) error {
			for i := range deltas {
				saw(deltas[i].Object, 1)
			}
			return handler.batch(deltas, initial)
		}
		return events(seen, &handler, func() error { return batcher.PopBatch(batch, one) }), nil
	}
	if g.Batch > 1 {
		return engine.Actor{}, fmt.Errorf("fifo: PopBatch: %w", engine.ErrUnsupported)
	}
	return events(seen, &handler, func() error {
		_, err := fifo.Pop(one)
		return err
	}), nil
}

// events makes an actor whose Loop(n) does n pops and returns the number of events in them.
func events(seen *staleness.Sightings, handler *handled, pop func() error) engine.Actor {
	return engine.Actor{Seen: seen, Loop: func(n int) int {
		before := handler.objects
		for range n {
			if pop() != nil {
				return 0
			}
		}
		return max(n, handler.objects-before) // an empty list is an event too
	}}
}

// refill fills the FIFO in one call and pops until it is empty again. An object that is
// added behind the others marks the end: the number of pops before it is up to the FIFO.
func (s *fifoSubject) refill(fill func() error) engine.Actor {
	fifo := s.fifo
	last := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: 1}, 1).At(0)
	var seen handled
	var end bool
	handle := func(obj any, initial bool) error {
		deltas := obj.(contract.Deltas)
		end = deltas[len(deltas)-1].Object == any(last)
		return seen.one(obj, initial)
	}
	return engine.Actor{Loop: func(n int) int {
		for i := range n {
			if fill() != nil || fifo.Add(last) != nil {
				return i
			}
			for end = false; !end; {
				if _, err := fifo.Pop(handle); err != nil {
					return i
				}
			}
		}
		return n
	}}
}

// knownObjects is a store's view that never changes.
type knownObjects map[string]any

func (k knownObjects) ListKeys() []string {
	return slices.AppendSeq(make([]string, 0, len(k)), maps.Keys(k))
}

func (k knownObjects) GetByKey(key string) (any, bool, error) {
	obj, ok := k[key]
	return obj, ok, nil
}
