package queuetest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// The kinds of metrics that a queue makes.
const (
	depth      = "depth"
	adds       = "adds"
	latency    = "latency"
	duration   = "work duration"
	unfinished = "unfinished work"
	longest    = "longest running"
	retries    = "retries"
)

// queueName is the name of the queues that count.
const queueName = "counted"

// meter is a metrics provider that remembers everything.
type meter struct {
	mu       sync.Mutex
	made     []string // kind and name of every metric
	value    map[string]float64
	observed map[string][]float64
	depths   map[int]int // by priority; without zeros
}

func newMeter() *meter {
	return &meter{value: map[string]float64{}, observed: map[string][]float64{}, depths: map[int]int{}}
}

// metered returns e with queues that count with m.
func (e env) metered(t *suite.T, m workqueue.MetricsProvider) env {
	return e.configured(t, contract.QueueConfig{Name: queueName, MetricsProvider: m})
}

func openMetered(t *suite.T, e env) (*world, *meter) {
	m := newMeter()
	return open(t, e.metered(t, m)), m
}

// names returns kind and name of every metric that was made, sorted.
func (m *meter) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.made))
}

// of returns what a counter or a gauge stands at.
func (m *meter) of(kind string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value[kind]
}

// all returns what a histogram observed.
func (m *meter) all(kind string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.observed[kind])
}

// byPriority returns the depths that are not zero.
func (m *meter) byPriority() map[int]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.depths)
}

// awaitCounts waits until the counters are what the map says, by kind.
func (m *meter) awaitCounts(w *world, want func() map[string]int) {
	got := map[string]int{}
	if !w.await(func() bool {
		wanted := want()
		for kind := range wanted {
			got[kind] = int(m.of(kind))
			if kind == latency || kind == duration {
				got[kind] = len(m.all(kind))
			}
		}
		return maps.Equal(got, wanted)
	}) {
		w.t.Fatalf("the metrics are %v, want %v", got, want())
	}
}

// awaitDepths waits until the metrics show these numbers of ready items, by priority.
func (m *meter) awaitDepths(w *world, want map[int]int) {
	if !w.await(func() bool { return maps.Equal(m.byPriority(), want) }) {
		w.t.Fatalf("the depths by priority are %v, want %v", m.byPriority(), want)
	}
}

// span is an interval in which a moment lies.
type span struct{ from, to time.Time }

// moment calls f and returns the interval in which f ran.
func (w *world) moment(f func()) span {
	from := w.clock().Now()
	f()
	return span{from, w.clock().Now()}
}

// mustObserve asserts that the histogram has n observations, and that the last one is the
// time between the two moments.
func (m *meter) mustObserve(w *world, kind string, n int, begin, end span) {
	var all []float64
	if !w.await(func() bool { all = m.all(kind); return len(all) >= n }) || len(all) != n {
		w.t.Fatalf("%s observed %v: want %d observations", kind, all, n)
	}
	least, most := end.from.Sub(begin.to), end.to.Sub(begin.from)
	if got := seconds(all[n-1]); got < least-time.Microsecond || got > most+time.Microsecond {
		w.t.Fatalf("%s observed %v seconds at last, want %v to %v", kind, all[n-1], least.Seconds(),
			most.Seconds())
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// gauge is a metric of any kind.
type gauge struct {
	m    *meter
	kind string
}

func (g gauge) change(f func(m *meter)) {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	f(g.m)
}

func (g gauge) Inc()          { g.change(func(m *meter) { m.value[g.kind]++ }) }
func (g gauge) Dec()          { g.change(func(m *meter) { m.value[g.kind]-- }) }
func (g gauge) Set(v float64) { g.change(func(m *meter) { m.value[g.kind] = v }) }
func (g gauge) Observe(v float64) {
	g.change(func(m *meter) { m.observed[g.kind] = append(m.observed[g.kind], v) })
}

func (m *meter) make(kind, name string) gauge {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made = append(m.made, fmt.Sprintf("%s of %q", kind, name))
	return gauge{m, kind}
}

func (m *meter) NewDepthMetric(n string) workqueue.GaugeMetric       { return m.make(depth, n) }
func (m *meter) NewAddsMetric(n string) workqueue.CounterMetric      { return m.make(adds, n) }
func (m *meter) NewLatencyMetric(n string) workqueue.HistogramMetric { return m.make(latency, n) }
func (m *meter) NewRetriesMetric(n string) workqueue.CounterMetric   { return m.make(retries, n) }
func (m *meter) NewWorkDurationMetric(n string) workqueue.HistogramMetric {
	return m.make(duration, n)
}

func (m *meter) NewUnfinishedWorkSecondsMetric(n string) workqueue.SettableGaugeMetric {
	return m.make(unfinished, n)
}

func (m *meter) NewLongestRunningProcessorSecondsMetric(n string) workqueue.SettableGaugeMetric {
	return m.make(longest, n)
}

// rankedMeter tells priorities apart.
type rankedMeter struct{ *meter }

func (m rankedMeter) NewPriorityDepthMetric(name string) contract.PriorityDepthMetric {
	return depths{m.make(depth, name)}
}

// depths is the metric of the ready items of each priority.
type depths struct{ gauge }

func (d depths) Inc(priority int) { d.count(priority, 1) }
func (d depths) Dec(priority int) { d.count(priority, -1) }

func (d depths) count(priority, more int) {
	d.change(func(m *meter) {
		m.depths[priority] += more
		if m.depths[priority] == 0 {
			delete(m.depths, priority)
		}
	})
}
