// Package ctrlruntime holds controller-runtime's priority queue as it is, made by a
// constructor of the shape that the catalog and the suites use. It is not in package upstream
// because the core does not need controller-runtime.
package ctrlruntime

import (
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/peers/clientgo"
)

// Module is the path under which a build lists the version of controller-runtime.
const Module = "sigs.k8s.io/controller-runtime"

// NewPriorityQueue returns controller-runtime's priority queue. It reads the
// system's clock whatever clock it is given.
func NewPriorityQueue(clock.WithTicker) contract.DelayingQueue[string] {
	return NewLimitedPriorityQueue(clientgo.NewExponentialLimiter())
}

// NewLimitedPriorityQueue is NewPriorityQueue with another limiter than client-go's per item.
func NewLimitedPriorityQueue(limiter contract.RateLimiter[string]) contract.DelayingQueue[string] {
	return PriorityQueue{priorityqueue.New("", func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = limiter
		o.MetricProvider = noMetrics{}
	})}
}

var _ contract.PriorityQueue[string] = PriorityQueue{}

// PriorityQueue is controller-runtime's queue with the contract's type of options.
// It costs each call about two nanoseconds: a method of an embedded interface.
type PriorityQueue struct {
	priorityqueue.PriorityQueue[string]
}

// AddWithOpts implements contract.PriorityQueue.
func (p PriorityQueue) AddWithOpts(o contract.AddOptions, items ...string) {
	p.PriorityQueue.AddWithOpts(priorityqueue.AddOpts(o), items...)
}

// noMetrics keeps controller-runtime's queue off the process-wide Prometheus
// registry, where a second queue of one name would panic.
type noMetrics struct{}

type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Dec()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

func (noMetrics) NewDepthMetric(string) workqueue.GaugeMetric            { return noMetric{} }
func (noMetrics) NewAddsMetric(string) workqueue.CounterMetric           { return noMetric{} }
func (noMetrics) NewLatencyMetric(string) workqueue.HistogramMetric      { return noMetric{} }
func (noMetrics) NewWorkDurationMetric(string) workqueue.HistogramMetric { return noMetric{} }
func (noMetrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return noMetric{}
}
func (noMetrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return noMetric{}
}
func (noMetrics) NewRetriesMetric(string) workqueue.CounterMetric { return noMetric{} }
