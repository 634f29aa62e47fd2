package workqueue

import (
	"sync"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/internal/inuse"
)

// The metrics of queues, by what they can do.
type (
	// MetricsProvider makes a queue's seven metrics.
	MetricsProvider = workqueue.MetricsProvider
	// GaugeMetric goes up and down by one.
	GaugeMetric = workqueue.GaugeMetric
	// SettableGaugeMetric is set to a value.
	SettableGaugeMetric = workqueue.SettableGaugeMetric
	// CounterMetric goes up by one.
	CounterMetric = workqueue.CounterMetric
	// SummaryMetric takes observations.
	SummaryMetric = workqueue.SummaryMetric
	// HistogramMetric takes observations.
	HistogramMetric = workqueue.HistogramMetric
)

// global is the provider of queues whose configuration has none.
var global struct {
	once, warned sync.Once
	provider     atomic.Pointer[MetricsProvider]
}

// SetProvider sets the provider of the metrics of all queues that are made later with a name
// and without a provider of their own. Only the first call has an effect. Client-go's own
// queues get the provider too, unless they have one.
func SetProvider(metricsProvider MetricsProvider) {
	global.once.Do(func() {
		global.provider.Store(&metricsProvider)
		workqueue.SetProvider(metricsProvider)
	})
}

// providerOr is p, or the global provider if p is nil; nil means no metrics, which is logged for
// the first queue with a name. Every queue asks it.
func providerOr(p MetricsProvider, name string) MetricsProvider {
	inuse.Log(klog.Background(), "workqueue")
	if set := global.provider.Load(); p == nil && set != nil {
		return *set
	}
	if p == nil && name != "" {
		global.warned.Do(func() {
			klog.Warningf("The queue %q and others of dropin/workqueue publish no metrics: import "+
				"dropin/workqueue/prometheus of informerbench, or call SetProvider first", name)
		})
	}
	return p
}
