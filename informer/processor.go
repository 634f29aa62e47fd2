package informer

// Handing notifications to all handlers.

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// processor hands batches of notifications to the handlers. Resyncs go to handlers whose
// period was over at the last shouldResync, or that were added since. All other
// notifications go to every handler.
type processor struct {
	clock   clock.Clock
	running sync.WaitGroup

	// No call under mu waits for a handler: a buffer takes whatever it is given.
	mu struct {
		sync.Mutex
		handlers []*Registration
		started  bool
		synced   bool // the informer has synced
	}
}

// add makes r one of the handlers. The caller has already put r's first notifications into
// its buffer, so that HasSynced sees them.
func (p *processor) add(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.determineNextResyncLocked(p.clock.Now())
	p.mu.handlers = append(p.mu.handlers, r)
	if p.mu.synced {
		r.tracker.upstreamHasSynced()
	}
	if p.mu.started {
		p.running.Go(r.run)
	}
}

// remove is idempotent. The error is about a handle that is no *Registration.
func (p *processor) remove(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*Registration)
	if !ok {
		return fmt.Errorf(
			"RemoveEventHandler was given a %T: it takes what AddEventHandler of the same informer returned",
			handle)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.mu.handlers, r)
	if i < 0 {
		return nil
	}
	p.mu.handlers = slices.Delete(p.mu.handlers, i, i+1)
	r.close()
	if !p.mu.started {
		close(r.finished)
	}
	return nil
}

// all returns the handlers in the order in which they were added.
func (p *processor) all() []*Registration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.mu.handlers)
}

// distribute copies a batch to every handler.
func (p *processor) distribute(batch []notification) {
	initial, resyncs := 0, 0
	for i := range batch {
		switch batch[i].kind {
		case onInitialAdd:
			initial++
		case onResync:
			resyncs++
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.mu.handlers {
		r.add(batch, initial, resyncs == 0 || r.resyncing)
	}
}

// hasSynced notes that the informer has synced and its initial list was distributed.
func (p *processor) hasSynced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.synced = true
	for _, r := range p.mu.handlers {
		r.tracker.upstreamHasSynced()
	}
}

func (p *processor) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.started = true
	for _, r := range p.mu.handlers {
		p.running.Go(r.run)
	}
}

// stop drops what waits in buffers and returns when every handler has returned from its
// last call.
func (p *processor) stop() {
	p.mu.Lock()
	for _, r := range p.mu.handlers {
		r.close()
	}
	p.mu.handlers, p.mu.started = nil, false
	p.mu.Unlock()
	p.running.Wait()
}

// shouldResync marks the handlers whose period is over, and reports whether there are any.
// If so the Reflector begins a resync, which the marked handlers get.
func (p *processor) shouldResync() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	due, now := false, p.clock.Now()
	for _, r := range p.mu.handlers {
		r.resyncing = r.period > 0 && !now.Before(r.nextResync)
		if r.resyncing {
			due = true
			r.determineNextResyncLocked(now)
		}
	}
	return due
}

// checkPeriodChanged applies a new period of the Reflector's checks.
func (p *processor) checkPeriodChanged(check time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.mu.handlers {
		r.period = resyncPeriod(r.logger, r.requested, check)
	}
}

func (r *Registration) determineNextResyncLocked(now time.Time) { r.nextResync = now.Add(r.period) }

// resyncPeriod is the period that a handler gets; check is that of the Reflector's checks. One
// that asks for less than that, below 0 too, gets check, as in client-go.
func resyncPeriod(logger klog.Logger, requested, check time.Duration) time.Duration {
	switch {
	case requested == 0 || requested < 0 && check <= 0:
		return 0
	case check <= 0:
		logger.Info("A handler asks for resyncs, but its informer was started without: it gets none",
			"requested", requested)
		return 0
	case requested < check:
		logger.Info("A handler asks for resyncs more often than its informer checks for them: it gets "+
			"them as often as that", "requested", requested, "resyncCheckPeriod", check)
		return check
	}
	return requested
}
