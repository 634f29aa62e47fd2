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
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// lengther is a FIFO that knows its length. Len must not wait for a process function that runs,
// except that of a deltafifo.DeltaFIFO.
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
	locked   bool // Len would wait for the process function that runs

	// length is the FIFO's Len, or else the value of events.
	length func() int
	events atomic.Int64
	// publishing makes reading the length and publishing it one step. So the value that is
	// published last is the length after the last change, whichever goroutine made it.
	publishing sync.Mutex
}

// unmetered is for the first informer with a name and no provider.
var unmetered sync.Once

// newMeter returns nil if there is nothing to publish. The metrics are made now, as
// client-go makes them with its FIFO.
func newMeter(config *Config) *meter {
	provider := config.InformerMetricsProvider
	if !config.Identifier.Reserved() {
		return nil
	}
	if provider == nil {
		unmetered.Do(func() {
			klog.Warningf("The informer %q and others of informerbench publish no metrics of their FIFO: "+
				"set Options.InformerMetricsProvider, or call SetInformerMetricsProvider of dropin/cache",
				config.Identifier.Name())
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
		_, m.locked = config.FIFO.(*deltafifo.DeltaFIFO)
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
	if !m.locked {
		m.publishQueued()
	}
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
// as all of client-go's informers do. If provider is nil, that store uses the provider of
// cache.SetInformerMetricsProvider, which cannot be reached in any other way.
func versionPublisher(id cache.InformerNameAndResource,
	provider cache.InformerMetricsProvider) func(version string) {
	if !id.Reserved() {
		return nil
	}
	store := cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{},
		cache.WithThreadSafeStoreMetrics(id, provider))
	return func(version string) {
		if id.Reserved() {
			store.Bookmark(version)
		}
	}
}
