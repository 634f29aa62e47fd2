package workqueue_test

import (
	"slices"
	"sync"

	clientgo "k8s.io/client-go/util/workqueue"
)

// provider is a MetricsProvider that remembers what its metrics are told.
type provider struct {
	mu      sync.Mutex
	made    []string
	metrics map[string]*metric
}

func newProvider() *provider { return &provider{metrics: map[string]*metric{}} }

// metric is any of the kinds: what it was last set to, and what it observed.
type metric struct {
	mu       *sync.Mutex
	value    float64
	observed []float64
}

func (m *metric) Inc() { m.change(func() { m.value++ }) }
func (m *metric) Dec() { m.change(func() { m.value-- }) }

func (m *metric) Set(v float64) { m.change(func() { m.value = v }) }

// Observe keeps the first values only: the suite counts what a queue leaves in memory.
func (m *metric) Observe(v float64) {
	m.change(func() {
		if len(m.observed) < 100 {
			m.observed = append(m.observed, v)
		}
	})
}

func (m *metric) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// value returns what a gauge or a counter stands at.
func (p *provider) value(kind string) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.metrics[kind].value
}

// observed returns what a histogram observed so far.
func (p *provider) observed(kind string) []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.metrics[kind].observed)
}

// names returns kind:name of every metric that was made, in order.
func (p *provider) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.made)
}

func (p *provider) make(kind, name string) *metric {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, kind+":"+name)
	m := &metric{mu: &p.mu}
	p.metrics[kind] = m
	return m
}

func (p *provider) NewDepthMetric(n string) clientgo.GaugeMetric  { return p.make("depth", n) }
func (p *provider) NewAddsMetric(n string) clientgo.CounterMetric { return p.make("adds", n) }
func (p *provider) NewLatencyMetric(n string) clientgo.HistogramMetric {
	return p.make("latency", n)
}
func (p *provider) NewWorkDurationMetric(n string) clientgo.HistogramMetric {
	return p.make("work", n)
}
func (p *provider) NewUnfinishedWorkSecondsMetric(n string) clientgo.SettableGaugeMetric {
	return p.make("unfinished", n)
}
func (p *provider) NewLongestRunningProcessorSecondsMetric(n string) clientgo.SettableGaugeMetric {
	return p.make("longest", n)
}
func (p *provider) NewRetriesMetric(n string) clientgo.CounterMetric { return p.make("retries", n) }
