package informer

// What an informer that has a name publishes of itself: the three metrics of client-go's.

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// lengther is a FIFO that knows how much waits in it. Its Len is called while no process
// function runs in the same goroutine.
type lengther interface{ Len() int }

// meter publishes how much waits in a FIFO and how long it takes to process what comes
// out. Who has no name has no meter: then nothing is counted and no clock is read.
type meter struct {
	id      cache.InformerNameAndResource
	clock   clock.PassiveClock
	latency cache.HistogramMetric
	queued  cache.GaugeMetric // nil: nobody knows

	// length asks the FIFO, or else tells what events has.
	length func() int
	events atomic.Int64
	// publishing makes of the look at the length and its publication one step: what is
	// published last is then the length after the last change, whoever made it.
	publishing sync.Mutex
}

// newMeter returns nil if there is nothing to publish. The metrics are made now, as
// client-go makes them with its FIFO.
func newMeter(config *Config) *meter {
	provider := config.InformerMetricsProvider
	if provider == nil || !config.Identifier.Reserved() {
		return nil
	}
	m := &meter{id: config.Identifier, clock: config.Clock, latency: provider.NewProcessingLatencyMetric(config.Identifier)}
	if m.clock == nil {
		m.clock = clock.RealClock{}
	}
	switch fifo := config.FIFO.(type) {
	case lengther:
		m.length = fifo.Len
	case *cache.DeltaFIFO:
		return m // it merges what comes, so no counting outside of it is right; client-go has none either
	default:
		m.length = func() int { return int(m.events.Load()) }
	}
	m.queued = provider.NewQueuedItemMetric(config.Identifier)
	return m
}

// came: an event was given to the FIFO.
func (m *meter) came() {
	m.events.Add(1)
	m.publishQueued()
}

// took: deltas were handed out. Those that a list or a resync makes of themselves were
// never counted.
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
}

// publishQueued is called after each change of the FIFO, outside of it.
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

// versionPublisher returns what publishes the resource version of a store; nil if there
// is nothing to publish. An empty store of client-go's does it: it publishes what it is
// told, as the number that all of client-go's informers publish, and there is no other
// way to the provider of cache.SetInformerMetricsProvider, which it takes for nil.
func versionPublisher(id cache.InformerNameAndResource, provider cache.InformerMetricsProvider) func(version string) {
	if !id.Reserved() {
		return nil
	}
	store := cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{}, cache.WithThreadSafeStoreMetrics(id, provider))
	return func(version string) {
		if id.Reserved() {
			store.Bookmark(version)
		}
	}
}
