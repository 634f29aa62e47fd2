// Package prometheus publishes the metrics of our informers, FIFOs and stores where
// k8s.io/component-base/metrics/prometheus/clientgo publishes those of client-go's: in the same
// three families, with the same labels. A program imports it for that and nothing else, also beside
// component-base's package:
//
//	import _ "github.com/informerbench/informerbench/dropin/cache/prometheus"
//
// client-go's own informers keep their metrics. As there, only what has an identifier has metrics.
package prometheus

import (
	"errors"
	"sync"

	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	// Its init gives client-go component-base's provider, and runs before this package's.
	"k8s.io/component-base/metrics/prometheus/clientgo/fifo"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/dropin/internal/registered"
	"github.com/informerbench/informerbench/informer"
)

func init() { informer.SetInformerMetricsProvider(&provider{}) }

// provider makes metrics of component-base's families. A family that is not registered makes
// metrics that do nothing.
type provider struct {
	once            sync.Once
	queued, version *metrics.GaugeVec
	latency         *metrics.HistogramVec
}

// families registers the families, as component-base does when its first informer asks, and finds
// them. By then feature gates have been read.
func (p *provider) families() *provider {
	p.once.Do(func() {
		fifo.Register()
		r := legacyregistry.Registerer()
		if err := errors.Join(
			registered.Find(r, "informer_queued_items", &p.queued),
			registered.Find(r, "informer_store_resource_version", &p.version),
			registered.Find(r, "informer_processing_latency_seconds", &p.latency),
		); err != nil {
			klog.Background().Error(err, "Informers lack metrics, as component-base has hidden them")
		}
	})
	return p
}

func labels(id cache.InformerNameAndResource) []string {
	r := id.GroupVersionResource()
	return []string{id.Name(), r.Group, r.Version, r.Resource}
}

func (p *provider) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.families().queued.WithLabelValues(labels(id)...)
}

func (p *provider) NewStoreResourceVersionMetric(
	id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.families().version.WithLabelValues(labels(id)...)
}

func (p *provider) NewProcessingLatencyMetric(
	id cache.InformerNameAndResource) cache.HistogramMetric {
	return p.families().latency.WithLabelValues(labels(id)...)
}
