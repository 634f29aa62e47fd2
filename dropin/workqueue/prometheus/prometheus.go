// Package prometheus publishes the metrics of dropin/workqueue's queues where
// k8s.io/component-base/metrics/prometheus/workqueue publishes those of client-go's: in the same
// seven families, with the same labels. A program imports it for that and nothing else, also
// beside component-base's package:
//
//	import _ "github.com/informerbench/informerbench/dropin/workqueue/prometheus"
//
// client-go's own queues keep their metrics. A metric that component-base hides or disables is
// hidden here too.
package prometheus

import (
	"errors"
	"sync"

	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	// Its init gives client-go component-base's provider, and runs before this package's.
	base "k8s.io/component-base/metrics/prometheus/workqueue"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/dropin/internal/registered"
	"github.com/informerbench/informerbench/dropin/workqueue"
)

func init() { workqueue.SetProvider(&provider{}) }

// provider makes metrics of component-base's families. A family that is not registered makes
// metrics that do nothing.
type provider struct {
	once                       sync.Once
	depth, unfinished, longest *metrics.GaugeVec
	adds, retries              *metrics.CounterVec
	latency, workDuration      *metrics.HistogramVec
}

// families finds the families when the first queue asks. component-base registers them when
// client-go's first queue asks, so that feature gates have been read by then; a queue of
// client-go's with the same name makes it do so now.
func (p *provider) families(name string) *provider {
	p.once.Do(func() {
		clientgo.NewTypedWithConfig(clientgo.TypedQueueConfig[string]{Name: name}).ShutDown()
		if err := errors.Join(
			find(base.DepthKey, &p.depth), find(base.UnfinishedWorkKey, &p.unfinished),
			find(base.LongestRunningProcessorKey, &p.longest), find(base.AddsKey, &p.adds),
			find(base.RetriesKey, &p.retries), find(base.QueueLatencyKey, &p.latency),
			find(base.WorkDurationKey, &p.workDuration),
		); err != nil {
			klog.Background().Error(err, "Queues lack metrics, as component-base has hidden them or "+
				"client-go had another provider first")
		}
	})
	return p
}

func find[V any, C registered.Family[V]](key string, to *C) error {
	return registered.Find(legacyregistry.Registerer(), base.WorkQueueSubsystem+"_"+key, to)
}

func (p *provider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.families(name).depth.WithLabelValues(name)
}

func (p *provider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.families(name).adds.WithLabelValues(name)
}

func (p *provider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.families(name).latency.WithLabelValues(name)
}

func (p *provider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.families(name).workDuration.WithLabelValues(name)
}

func (p *provider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.families(name).unfinished.WithLabelValues(name)
}

func (p *provider) NewLongestRunningProcessorSecondsMetric(
	name string) workqueue.SettableGaugeMetric {
	return p.families(name).longest.WithLabelValues(name)
}

func (p *provider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.families(name).retries.WithLabelValues(name)
}
