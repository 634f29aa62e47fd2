package cache

import (
	"sync"
	"time"

	"github.com/informerbench/informerbench/informer"
)

// SetInformerMetricsProvider sets the provider of the metrics of all informers, FIFOs and
// stores that are made later with an identifier and without a provider of their own; see
// informer.SetInformerMetricsProvider, which it calls.
func SetInformerMetricsProvider(metricsProvider InformerMetricsProvider) {
	informer.SetInformerMetricsProvider(metricsProvider)
}

// meter publishes the length of a FIFO, and how long its items take to process. A nil meter
// does nothing.
type meter struct {
	id      InformerNameAndResource
	queued  GaugeMetric
	latency HistogramMetric
	length  func() int
	// publishing makes reading the length and publishing it one step, so that the length
	// published last is the FIFO's.
	publishing sync.Mutex
}

// newMeter returns nil if there is nothing to publish.
func newMeter(id InformerNameAndResource, provider InformerMetricsProvider,
	length func() int) *meter {
	if provider == nil || !id.Reserved() {
		return nil
	}
	return &meter{id: id, queued: provider.NewQueuedItemMetric(id),
		latency: provider.NewProcessingLatencyMetric(id), length: length}
}

// changed is called after each change of the FIFO.
func (m *meter) changed() {
	if m == nil || !m.id.Reserved() {
		return
	}
	m.publishing.Lock()
	defer m.publishing.Unlock()
	m.queued.Set(float64(m.length()))
}

// measure calls process, for what the FIFO has handed out already, and times it. A process
// that panics is not timed, as in client-go.
func (m *meter) measure(process func() error) error {
	if m == nil {
		return process()
	}
	m.changed()
	begun := time.Now()
	err := process()
	if m.id.Reserved() {
		m.latency.Observe(time.Since(begun).Seconds())
	}
	return err
}
