package upstream

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/informerbench/informerbench/contract"
)

// itemLimiter is the limiter that every rate-limiting peer is given: per item,
// from 5 ms to 1,000 s. The overall token bucket of the default limiter would
// hide the queue behind its 10 adds a second.
func itemLimiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
}

// NewQueue returns client-go's rate-limiting workqueue.
func NewQueue(c clock.WithTicker) contract.DelayingQueue[string] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(itemLimiter(), workqueue.TypedRateLimitingQueueConfig[string]{Clock: c})
}

// NewConfiguredQueue is NewQueue with a configuration.
func NewConfiguredQueue(cfg contract.QueueConfig) contract.DelayingQueue[string] {
	if cfg.Limiter == nil {
		cfg.Limiter = itemLimiter()
	}
	return workqueue.NewTypedRateLimitingQueueWithConfig(cfg.Limiter, workqueue.TypedRateLimitingQueueConfig[string]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
			Name: cfg.Name, MetricsProvider: cfg.MetricsProvider, Clock: cfg.Clock,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{
				Name: cfg.Name, MetricsProvider: cfg.MetricsProvider, Clock: cfg.Clock, Queue: cfg.Order,
			}),
		}),
	})
}

// NewPriorityQueue returns controller-runtime's priority queue. It reads the
// system's clock whatever clock it is given.
func NewPriorityQueue(clock.WithTicker) contract.DelayingQueue[string] {
	return PriorityQueue{priorityqueue.New("", func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = itemLimiter()
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

// NewDefaultLimiter returns client-go's default limiter of controllers.
func NewDefaultLimiter() contract.RateLimiter[string] {
	return workqueue.DefaultTypedControllerRateLimiter[string]()
}

// NewExponentialLimiter returns client-go's per-item exponential limiter with
// the default limiter's bounds.
func NewExponentialLimiter() contract.RateLimiter[string] { return itemLimiter() }

// NewFastSlowLimiter returns client-go's limiter of five quick tries, then slow ones.
func NewFastSlowLimiter() contract.RateLimiter[string] {
	return workqueue.NewTypedItemFastSlowRateLimiter[string](5*time.Millisecond, 10*time.Second, 5)
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
