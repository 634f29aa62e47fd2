package informer

// The three metrics of client-go's informers, for an informer that has a name.

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// lengther is a FIFO that knows its length. Len must not wait for a process function that runs.
type lengther interface{ Len() int }

// FailureMetricsProvider is an InformerMetricsProvider with one metric more: how many attempts to
// list or to open a watch have failed in a row, 0 while the informer follows its source.
type FailureMetricsProvider interface {
	cache.InformerMetricsProvider
	NewFailedAttemptsMetric(id cache.InformerNameAndResource) cache.GaugeMetric
}

// meter publishes the length of a FIFO and how long its items take to process. An informer
// without a name has no meter: it counts nothing and reads no clock.
type meter struct {
	id      cache.InformerNameAndResource
	clock   clock.PassiveClock
	latency cache.HistogramMetric
	queued  cache.GaugeMetric // nil: the length is not known
	// nil: the provider is no FailureMetricsProvider
	failures cache.GaugeMetric

	// length is the FIFO's Len, or else the value of events.
	length func() int
	events atomic.Int64
	// publishing makes reading the length and publishing it one step. So the value that is
	// published last is the length after the last change, whichever goroutine made it.
	publishing sync.Mutex
}

// global is the provider of informers, FIFOs and stores that are given none.
var global struct {
	once     sync.Once
	provider atomic.Pointer[cache.InformerMetricsProvider]
}

// SetInformerMetricsProvider sets the provider of the metrics of all informers here, and of the
// FIFOs and stores of dropin/cache, that are made later with an identifier and without a provider of
// their own. Only the first call has an effect. client-go's own get the provider too, unless they
// have one. Any number of goroutines may call it at once.
func SetInformerMetricsProvider(provider cache.InformerMetricsProvider) {
	global.once.Do(func() { global.provider.Store(&provider) })
	cache.SetInformerMetricsProvider(provider)
}

// MetricsProviderOr is p, or the provider of SetInformerMetricsProvider if p is nil; nil means that
// none was set. It is for the FIFOs and stores of dropin/cache.
func MetricsProviderOr(p cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	if set := global.provider.Load(); p == nil && set != nil {
		return *set
	}
	return p
}

// unmetered is for the first informer with a name and no provider.
var unmetered sync.Once

// newMeter returns nil if there is nothing to publish. The metrics are made now, as
// client-go makes them with its FIFO.
func newMeter(config *Config) *meter {
	if !config.Identifier.Reserved() {
		return nil
	}
	provider := MetricsProviderOr(config.InformerMetricsProvider)
	if provider == nil {
		unmetered.Do(func() {
			klog.Warningf("The informer %q and others of informerbench publish no metrics of their FIFO: "+
				"import dropin/cache/prometheus, call SetInformerMetricsProvider first, or set "+
				"Options.InformerMetricsProvider", config.Identifier.Name())
		})
		return nil
	}
	m := &meter{id: config.Identifier, clock: config.Clock,
		latency: provider.NewProcessingLatencyMetric(config.Identifier)}
	if m.clock == nil {
		m.clock = clock.RealClock{}
	}
	if p, ok := provider.(FailureMetricsProvider); ok {
		m.failures = p.NewFailedAttemptsMetric(m.id)
		m.failed(0)
	}
	switch fifo := config.FIFO.(type) {
	case lengther:
		m.length = fifo.Len
	case *cache.DeltaFIFO:
		return m // it merges events, so a count outside of it would be wrong; client-go has none either
	default:
		m.length = func() int { return int(m.events.Load()) }
	}
	m.queued = provider.NewQueuedItemMetric(config.Identifier)
	return m
}

func (m *meter) failed(attempts int) {
	if m.id.Reserved() {
		m.failures.Set(float64(attempts))
	}
}

// came counts an event that was given to the FIFO.
func (m *meter) came() {
	m.events.Add(1)
	m.publishQueued()
}

// took counts deltas that were handed out, and publishes what is left. The deltas that a list or
// a resync makes were never counted, and are skipped.
func (m *meter) took(deltas []contract.Delta) {
	for i := range deltas {
		switch deltas[i].Type {
		case contract.Added, contract.Updated:
			m.events.Add(-1)
		case contract.Deleted:
			if _, implied := deltas[i].Object.(contract.DeletedFinalStateUnknown); !implied {
				m.events.Add(-1)
			}
		}
	}
	m.publishQueued()
}

// publishQueued is called after each change of the FIFO.
func (m *meter) publishQueued() {
	if m.queued == nil || !m.id.Reserved() {
		return
	}
	m.publishing.Lock()
	defer m.publishing.Unlock()
	m.queued.Set(float64(m.length()))
}

// measure times what process does. A process that panics is not timed, as in client-go.
func (m *meter) measure(process contract.PopProcessFunc) contract.PopProcessFunc {
	return func(obj any, isInInitialList bool) error {
		deltas, _ := obj.(contract.Deltas)
		m.took(deltas)
		begun := m.clock.Now()
		err := process(obj, isInInitialList)
		m.observe(begun)
		return err
	}
}

func (m *meter) measureBatch(process contract.ProcessBatchFunc) contract.ProcessBatchFunc {
	return func(deltas []contract.Delta, isInInitialList bool) error {
		m.took(deltas)
		begun := m.clock.Now()
		err := process(deltas, isInInitialList)
		m.observe(begun)
		return err
	}
}

func (m *meter) observe(begun time.Time) {
	if m.id.Reserved() {
		m.latency.Observe(m.clock.Since(begun).Seconds())
	}
}

// versionPublisher returns a function that publishes a store's resource version, or nil if
// id is not reserved. It bookmarks an empty store of client-go's, which publishes versions
// as all of client-go's informers do. If there is no provider, that store uses the one of
// client-go's SetInformerMetricsProvider, which cannot be reached in any other way.
func versionPublisher(id cache.InformerNameAndResource,
	provider cache.InformerMetricsProvider) func(version string) {
	if !id.Reserved() {
		return nil
	}
	store := cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{},
		cache.WithThreadSafeStoreMetrics(id, MetricsProviderOr(provider)))
	return func(version string) {
		if id.Reserved() {
			store.Bookmark(version)
		}
	}
}
