package subject

import (
	"runtime"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/internal/staleness"
)

// probe finds out when a store shows an event, by reading it. The store's calls of an
// IndexFunc wake it: every store makes them for an object that it is about to show. It then
// reads until the object is there, as soon as a reader that wants this one object could see
// it. A handler's call for the event also ends the wait, because the store has shown the
// object before: the earlier of the two counts.
//
// Its cost is the same for every informer. A write of the source pays a lock and an entry,
// an update of the store two attempts to send on a channel, and a goroutine wakes for it.
type probe struct {
	*staleness.Ledger // nil before begin
	version           func(obj any) any
	on                atomic.Bool   // it is running
	woken             chan struct{} // of capacity one
	stop              chan struct{}
	done              chan struct{}
	mu                struct {
		sync.Mutex
		offered []probed // not yet taken by the goroutine
	}
}

type probed struct {
	key     string
	version any
	n       int // the event's number
}

// probeTries bounds how often the probe reads before it waits to be woken again.
const probeTries = 64

func newProbe() *probe {
	return &probe{woken: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// begin starts the probe, before the first write. It reports to l.
func (p *probe) begin(indexer cache.Indexer, l *staleness.Ledger) {
	p.Ledger = l
	p.on.Store(true)
	go p.run(indexer)
}

// end stops the probe, if it runs.
func (p *probe) end() {
	if p.on.Swap(false) {
		close(p.stop)
		<-p.done
	}
}

// wake is called in the store's IndexFunc.
func (p *probe) wake() {
	if !p.on.Load() {
		return
	}
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// offered is called before event e is sent.
func (p *probe) offered(e probed) {
	p.mu.Lock()
	p.mu.offered = append(p.mu.offered, e)
	p.mu.Unlock()
}

// taken appends the offered events to those waiting.
func (p *probe) taken(waiting []probed) []probed {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting = append(waiting, p.mu.offered...)
	clear(p.mu.offered)
	p.mu.offered = p.mu.offered[:0]
	return waiting
}

// run reads until it is stopped.
func (p *probe) run(indexer cache.Indexer) {
	defer close(p.done)
	var waiting []probed
	for {
		select {
		case <-p.woken:
		case <-p.stop:
			return
		}
		waiting = p.taken(waiting)
		for tries := 0; len(waiting) > 0 && tries < probeTries; {
			e := waiting[0]
			if p.Stamps[e.n].Waits() {
				if got, _, _ := indexer.GetByKey(e.key); p.version(got) != e.version {
					tries++
					runtime.Gosched()
					continue
				}
				p.Saw(e.n)
			}
			waiting = waiting[1:]
		}
	}
}
