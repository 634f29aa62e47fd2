package subject

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
)

// notified is a handler that counts its events. An informer calls it from one goroutine;
// another goroutine may read and await the counts.
type notified struct {
	adds, updates tally
	// of the writer, which it limits to window events ahead; nil where no writer is limited
	window   chan struct{}
	work     time.Duration
	ledger   *staleness.Ledger // nil where no event is stamped
	seen     *staleness.Sightings
	probe    *probe // these go with ledger
	version  func(obj any) any
	number   map[any]int // of each version
	taken    int64       // updates that its actor has reported
	expected int64       // updates that its actor has had sent
}

var _ cache.ResourceEventHandler = (*notified)(nil)

func newNotified() *notified {
	return &notified{adds: newTally(), updates: newTally()}
}

func (h *notified) OnAdd(any, bool) { h.adds.add() }
func (h *notified) OnDelete(any)    {}

func (h *notified) OnUpdate(_, obj any) {
	if h.ledger != nil {
		if n, ok := h.number[h.version(obj)]; ok {
			h.probe.Saw(n)
			h.ledger.Saw(n)
		}
	}
	if h.window != nil {
		select {
		case <-h.window:
		default:
		}
	}
	if h.work > 0 {
		time.Sleep(h.work)
	}
	h.updates.add()
}

// tally is a count that one goroutine raises and another waits for.
type tally struct {
	n, target atomic.Int64
	reached   chan struct{} // of capacity one
}

func newTally() tally { return tally{reached: make(chan struct{}, 1)} }

func (t *tally) add() {
	if t.n.Add(1) == t.target.Load() {
		select {
		case t.reached <- struct{}{}:
		default:
		}
	}
}

// await waits until the count is target or more; it returns false if stop came first. await
// stores the target before it reads the count, and the other goroutine raises the count
// before it reads the target: at least one of the two sees the other. A signal left from an
// earlier target only causes a needless wake-up.
func (t *tally) await(target int64, stop <-chan struct{}) bool {
	t.target.Store(target)
	for t.n.Load() < target {
		select {
		case <-t.reached:
		case <-stop:
			return t.n.Load() >= target
		}
	}
	return true
}

// window is how many events a closed loop's writer may be ahead of the first handler, as in
// client-go's benchmark.
const window = 10

// handlePoll is how often a handler's actor reads its count.
const handlePoll = 10 * time.Millisecond

// counting makes the actor of a handler: each Loop returns the events that the handler has
// had since the last.
func (h *notified) counting(stop <-chan struct{}) engine.Actor {
	poll := time.NewTimer(handlePoll)
	return engine.Actor{Seen: h.seen, Polls: true, Loop: func(int) int {
		for {
			poll.Reset(handlePoll)
			select {
			case <-stop:
				return 0
			case <-poll.C:
			}
			n := h.updates.n.Load()
			if had := n - h.taken; had > 0 {
				h.taken = n
				return int(had)
			}
		}
	}}
}
