package informer

// Adding and removing handlers.

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// AddEventHandler adds a handler with the informer's resync period; see
// AddEventHandlerWithOptions.
func (s *SharedIndexInformer) AddEventHandler(handler cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler with a resync period of its own, 0 for
// never; see AddEventHandlerWithOptions.
func (s *SharedIndexInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler,
	resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions adds a handler and returns its *[Registration]. If the
// informer runs, the handler first gets every object of the store, as of the initial list.
// The error is ErrStopped, or that there is no handler.
//
// A resync period below a second counts as a second. The informer checks periodically
// which handlers are due. Before the start, the shortest period that a handler asks for
// becomes the period of these checks. After it, no handler gets a shorter one than that. A
// handler's period is rounded up to a multiple of it.
//
// O(objects) if the informer runs: no event is applied to the store meanwhile, but
// readers go on.
func (s *SharedIndexInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, errors.New("adding a handler: it is nil")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because %w", handler,
			ErrStopped)
	}
	logger := ptr.Deref(options.Logger, klog.Background())
	r := newRegistration(handler, s.HasSyncedChecker().Name(), logger, s.options.Clock)
	r.handler = s.options.handler(handler)
	r.requested = s.requestedPeriodLocked(logger,
		ptr.Deref(options.ResyncPeriod, s.options.ResyncPeriod))
	r.period = resyncPeriod(logger, r.requested, s.mu.resyncCheckPeriod)
	if !s.mu.started {
		s.processor.add(r)
		return r, nil
	}

	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	// The objects are in the handler's buffer before the processor has the handler:
	// HasSynced could be true too early otherwise.
	batch := make([]notification, 0, chunk)
	for _, obj := range s.content.store.List() {
		if batch = append(batch, notification{obj: obj, kind: onInitialAdd}); len(batch) == chunk {
			r.add(batch, len(batch), true)
			batch = batch[:0]
		}
	}
	r.add(batch, len(batch), true)
	s.processor.add(r)
	return r, nil
}

// requestedPeriodLocked applies the lower bounds to the period that a handler asks for,
// and before the start lowers the period of the checks to it.
func (s *SharedIndexInformer) requestedPeriodLocked(logger klog.Logger,
	period time.Duration) time.Duration {
	if period <= 0 {
		return period
	}
	if period < minimumResyncPeriod {
		logger.Info("A resync period is below the minimum, which is used", "resyncPeriod", period,
			"minimum", minimumResyncPeriod)
		period = minimumResyncPeriod
	}
	switch check := s.mu.resyncCheckPeriod; {
	case period >= check:
	case s.mu.started:
		logger.Info("A resync period is shorter than that of the checks of an informer that runs, "+
			"which is used", "resyncPeriod", period, "resyncCheckPeriod", check)
		period = check
	default:
		s.mu.resyncCheckPeriod = period
		s.processor.checkPeriodChanged(period)
	}
	return period
}

// RemoveEventHandler removes a handler and drops the notifications that wait for it. It
// does not wait for a call under way (cache.ShutDownEventHandler does). Removing a handler
// again, or after the informer was stopped, does nothing. The error is about a handle that
// no informer of this package has returned.
func (s *SharedIndexInformer) RemoveEventHandler(
	handle cache.ResourceEventHandlerRegistration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	return s.processor.remove(handle)
}

// Registrations returns the handlers in the order in which they were added, to monitor
// their buffers. The slice is the caller's.
func (s *SharedIndexInformer) Registrations() []*Registration { return s.processor.all() }
