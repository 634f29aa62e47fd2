package informer

import (
	"sync"
	"sync/atomic"
)

// tracker says when a handler has returned from the last object of its initial list. It is
// a cache.DoneChecker.
//
// One counter holds the objects that the handler has not returned from, plus one until the
// informer has synced. The call that takes it to zero was therefore the last one, and
// closes done. client-go's synctrack.SingleFileTracker counts the objects alone, and reads
// whether the informer has synced in a second step. Objects that are started between the
// two steps are overlooked (clause INFORMER-36).
type tracker struct {
	upstream, handler string // names
	pending           atomic.Int64
	done              chan struct{}
	close             func() // closes done, once
}

func newTracker(upstream, handler string) *tracker {
	t := &tracker{upstream: upstream, handler: handler, done: make(chan struct{})}
	t.pending.Store(1)
	t.close = sync.OnceFunc(func() { close(t.done) })
	return t
}

// start counts objects of the initial list. It comes before the handler is told of them,
// and before upstreamHasSynced.
func (t *tracker) start(objects int) { t.pending.Add(int64(objects)) }

// finished counts an object from which the handler has returned.
func (t *tracker) finished() { t.drop() }

// upstreamHasSynced is called once, when all objects of the initial list were started.
func (t *tracker) upstreamHasSynced() { t.drop() }

func (t *tracker) drop() {
	if t.pending.Add(-1) == 0 {
		t.close()
	}
}

func (t *tracker) Name() string          { return t.upstream + " + event handler " + t.handler }
func (t *tracker) Done() <-chan struct{} { return t.done }
