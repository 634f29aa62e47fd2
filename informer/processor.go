package informer

// From the store's changes to the handlers.

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// processor hands batches of notifications to the handlers. Ordinary ones go to every
// handler, resyncs to those whose period was over at the last shouldResync.
type processor struct {
	clock   clock.Clock
	running sync.WaitGroup

	// Nobody waits under mu: a handler's buffer takes what it is given.
	mu struct {
		sync.Mutex
		handlers []*Registration
		started  bool
		synced   bool // the informer is
	}
}

// add makes r one of the handlers; what r gets first, the caller has put in its buffer
// already, so that HasSynced sees it.
func (p *processor) add(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.determineNextResyncLocked(p.clock.Now())
	p.mu.handlers = append(p.mu.handlers, r)
	if p.mu.synced {
		r.tracker.UpstreamHasSynced()
	}
	if p.mu.started {
		p.running.Go(r.run)
	}
}

// remove is idempotent. The error is about a handle that is not ours.
func (p *processor) remove(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*Registration)
	if !ok {
		return fmt.Errorf("RemoveEventHandler was given a %T: it takes what AddEventHandler of the same informer returned", handle)
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

// distribute copies a batch to every handler that is to get it.
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

// hasSynced: the informer has synced, and what its initial list brought was distributed.
func (p *processor) hasSynced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.synced = true
	for _, r := range p.mu.handlers {
		r.tracker.UpstreamHasSynced()
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

// stop drops what waits and returns when every handler has returned from its last call.
func (p *processor) stop() {
	p.mu.Lock()
	for _, r := range p.mu.handlers {
		r.close()
	}
	p.mu.handlers, p.mu.started = nil, false
	p.mu.Unlock()
	p.running.Wait()
}

// shouldResync finds the handlers whose period is over: they get the resync that the
// Reflector begins if there is one of them.
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

// resyncPeriod is the period that a handler gets if the Reflector checks every check.
func resyncPeriod(logger klog.Logger, requested, check time.Duration) time.Duration {
	switch {
	case requested == 0:
		return 0
	case check == 0:
		logger.Info("A handler asks for resyncs, but its informer was started without: it gets none", "requested", requested)
		return 0
	case requested < check:
		logger.Info("A handler asks for resyncs more often than its informer checks for them: it gets them as often as that", "requested", requested, "resyncCheckPeriod", check)
		return check
	}
	return requested
}
