package ctrlqueue

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	clientgo "k8s.io/client-go/util/workqueue"
	// Its init registers the families, and runs before this package's.
	_ "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informerbench/informerbench/dropin/internal/registered"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// families are the seven families of metrics of controller-runtime's queues.
type families struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, workDuration      *prometheus.HistogramVec
}

// atStart is looked up as the program starts. If the program replaces metrics.Registry
// later, the metrics of controller-runtime and of this package stay in the first registry.
var atStart, errAtStart = lookUp(metrics.Registry)

// MetricsProvider returns the provider of controller-runtime's queue metrics, for
// workqueue.Config.MetricsProvider or client-go's queues. It fails if controller-runtime
// has not registered all seven families with the labels of v0.25, as another version of it
// might not.
func MetricsProvider() (workqueue.PriorityMetricsProvider, error) {
	if errAtStart != nil {
		return nil, errAtStart
	}
	return provider{atStart}, nil
}

// lookUp finds the families in a registry.
func lookUp(r prometheus.Registerer) (*families, error) {
	f := &families{}
	if err := errors.Join(
		find(r, metrics.DepthKey, &f.depth), find(r, metrics.UnfinishedWorkKey, &f.unfinished),
		find(r, metrics.LongestRunningProcessorKey, &f.longest), find(r, metrics.AddsKey, &f.adds),
		find(r, metrics.RetriesKey, &f.retries), find(r, metrics.QueueLatencyKey, &f.latency),
		find(r, metrics.WorkDurationKey, &f.workDuration),
	); err != nil {
		return nil, fmt.Errorf("ctrlqueue: the metrics of controller-runtime's queues: %w", err)
	}
	return f, f.checkLabels()
}

// checkLabels returns an error that names the families with other labels than a queue gives.
func (f *families) checkLabels() error {
	check := func(key string, family *prometheus.MetricVec, given prometheus.Labels) error {
		if _, err := family.GetMetricWith(given); err != nil {
			return fmt.Errorf("ctrlqueue: controller-runtime's %s has other labels than those of v0.25: %w",
				prometheus.BuildFQName("", metrics.WorkQueueSubsystem, key), err)
		}
		family.Delete(given)
		return nil
	}
	const none = ""
	return errors.Join(
		check(metrics.DepthKey, f.depth.MetricVec, priorityLabels(none, none)),
		check(metrics.UnfinishedWorkKey, f.unfinished.MetricVec, labels(none)),
		check(metrics.LongestRunningProcessorKey, f.longest.MetricVec, labels(none)),
		check(metrics.AddsKey, f.adds.MetricVec, labels(none)),
		check(metrics.RetriesKey, f.retries.MetricVec, labels(none)),
		check(metrics.QueueLatencyKey, f.latency.MetricVec, labels(none)),
		check(metrics.WorkDurationKey, f.workDuration.MetricVec, labels(none)))
}

func find[V any, C registered.Family[V]](r prometheus.Registerer, key string, to *C) error {
	return registered.Find(r, prometheus.BuildFQName("", metrics.WorkQueueSubsystem, key), to)
}

type provider struct{ f *families }

// labels are those of a queue: controller-runtime gives both the controller's name.
func labels(name string) prometheus.Labels {
	return prometheus.Labels{"name": name, "controller": name}
}

func priorityLabels(name, priority string) prometheus.Labels {
	l := labels(name)
	l["priority"] = priority
	return l
}

func (p provider) NewDepthMetric(name string) clientgo.GaugeMetric {
	return p.f.depth.With(priorityLabels(name, ""))
}

func (p provider) NewAddsMetric(name string) clientgo.CounterMetric {
	return p.f.adds.With(labels(name))
}

func (p provider) NewLatencyMetric(name string) clientgo.HistogramMetric {
	return p.f.latency.With(labels(name))
}

func (p provider) NewWorkDurationMetric(name string) clientgo.HistogramMetric {
	return p.f.workDuration.With(labels(name))
}

func (p provider) NewUnfinishedWorkSecondsMetric(name string) clientgo.SettableGaugeMetric {
	return p.f.unfinished.With(labels(name))
}

func (p provider) NewLongestRunningProcessorSecondsMetric(
	name string) clientgo.SettableGaugeMetric {
	return p.f.longest.With(labels(name))
}

func (p provider) NewRetriesMetric(name string) clientgo.CounterMetric {
	return p.f.retries.With(labels(name))
}

func (p provider) NewPriorityDepthMetric(name string) workqueue.PriorityDepthMetric {
	d := &depthByPriority{family: p.f.depth, name: name}
	d.mu.gauges = map[int]prometheus.Gauge{}
	return d
}

const (
	// maxPriorities is how many priorities of a queue have a label of their own, as in
	// controller-runtime: each is one more series.
	maxPriorities = 25
	// otherPriorities is the label of all others.
	otherPriorities = "exceeded_cardinality_limit"
)

// depthByPriority is a queue's depth, a gauge for each priority.
//
// Once a queue has more priorities than the limit, controller-runtime puts all of them under
// the label of the others, even those that had a label of their own. The gauges of those
// labels then keep their last value. Here a priority keeps the label that it had first.
type depthByPriority struct {
	family *prometheus.GaugeVec
	name   string

	mu struct {
		sync.Mutex
		gauges map[int]prometheus.Gauge
	}
}

func (d *depthByPriority) Inc(priority int) { d.of(priority).Inc() }
func (d *depthByPriority) Dec(priority int) { d.of(priority).Dec() }

func (d *depthByPriority) of(priority int) prometheus.Gauge {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, ok := d.mu.gauges[priority]
	switch {
	case ok:
	case len(d.mu.gauges) < maxPriorities:
		g = d.family.With(priorityLabels(d.name, strconv.Itoa(priority)))
		d.mu.gauges[priority] = g
	default:
		g = d.family.With(priorityLabels(d.name, otherPriorities))
	}
	return g
}
