package queuetest

// What a queue counts and measures.

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyCounts  = "alerts and autoscalers would read work that is not there, or none where there is"
	whySeconds = "a slow reconciler or a starved queue would be seen by no dashboard"
	whyPanic   = "where callers recover from panics, one mistake would stop every worker of a " +
		"controller for ever"
)

var metricsCases = []suite.Case[env]{
	check("QUEUE-41", "each-once", "a registry refuses the second metric of one name",
		counted(func(w *world, m *meter) {
			w.use()
			want := []string{}
			for _, kind := range []string{adds, depth, latency, longest, retries, unfinished, duration} {
				want = append(want, kind+` of "`+queueName+`"`)
			}
			if made := m.names(); !slices.Equal(made, slices.Sorted(slices.Values(want))) {
				w.t.Fatalf("the queue made the metrics %q", made)
			}
		})),
	check("QUEUE-41", "without-a-name", "queues without a name would all count into one metric",
		func(t *suite.T, e env) {
			m := newMeter()
			open(t, e.configured(t, contract.QueueConfig{MetricsProvider: m})).use()
			made := m.names()
			if len(made) > 0 {
				t.Fatalf("the queue has no name and made the metrics %q", made)
			}
		}),
	check("QUEUE-41", "without-a-provider", "a controller without metrics would not start",
		func(t *suite.T, e env) {
			open(t, e.configured(t, contract.QueueConfig{Name: queueName})).use()
		}),
	check("QUEUE-42", "any-history", whyCounts, func(t *suite.T, e env) {
		e.configured(t, contract.QueueConfig{}) // or the case is skipped
		randomHistories(t, e, history{addProcessed: true, delays: true, metered: true})
	}),
	check("QUEUE-42", "retries", whyCounts, func(t *suite.T, e env) {
		w, m := openMetered(t, e)
		w.add("a")
		w.addAfter("b", never)
		w.addAfter("b", never) // asked for twice
		w.q.AddAfter("c", 1)   // a nanosecond is a delay
		want := 3
		if q, ok := w.q.(limitedQueue); ok {
			q.AddRateLimited("d")
			want++
		}
		m.awaitCounts(w, func() map[string]int { return map[string]int{retries: want} })
		if q, ok := w.q.(priorityQueue); ok {
			q.AddAfter("e", 0)
			q.AddWithOpts(contract.AddOptions{After: -1}, "f", "g")
			q.AddWithOpts(contract.AddOptions{After: w.ticks(never)}, "h", "i")
			m.awaitCounts(w, func() map[string]int { return map[string]int{retries: want + 2} })
		}
	}),
	check("QUEUE-42", "after-shutdown", whyCounts, func(t *suite.T, e env) {
		w, m := openMetered(t, e)
		w.add("a", "b")
		w.mustGet("a")
		w.q.ShutDown()
		w.add("a", "c")
		w.addAfter("d", 0)
		w.addAfter("e", 1)
		if q, ok := w.q.(limitedQueue); ok {
			q.AddRateLimited("f")
		}
		w.done("a")
		w.advance(w.ticks(5))
		w.settle()
		m.awaitCounts(w, func() map[string]int {
			return map[string]int{adds: 2, depth: 1, retries: 0, latency: 1, duration: 1}
		})
	}),
	check("QUEUE-43", "latency-and-duration", whySeconds, counted(func(w *world, m *meter) {
		added := w.moment(func() { w.add("a") })
		w.advance(w.ticks(4))
		w.add("a") // it is ready already
		w.advance(w.ticks(3))
		got := w.moment(func() { w.mustGet("a") })
		m.mustObserve(w, latency, 1, added, got)
		w.advance(w.ticks(2))
		added = w.moment(func() { w.add("a") }) // while it is processed
		w.advance(w.ticks(4))
		done := w.moment(func() { w.done("a", "b") }) // b is not processed
		m.mustObserve(w, duration, 1, got, done)
		w.advance(w.ticks(1))
		got = w.moment(func() { w.mustGet("a") })
		m.mustObserve(w, latency, 2, added, got)
		w.advance(w.ticks(3))
		done = w.moment(func() { w.done("a") })
		m.mustObserve(w, duration, 2, got, done)

		due := w.addAfter("a", 5)
		w.advance(w.ticks(5))
		w.awaitLen(1)
		became := span{due, w.clock().Now()}
		w.advance(w.ticks(2))
		got = w.moment(func() { w.mustGet("a") })
		m.mustObserve(w, latency, 3, became, got)
	})),
	check("QUEUE-43", "what-workers-have", "a worker that hangs would be seen by no alert",
		counted(func(w *world, m *meter) {
			if !w.exact() {
				w.owner.Skipf("in real time it would take seconds")
			}
			w.add("a", "b", "c")
			first := w.moment(func() { w.mustGet("a") })
			w.advance(time.Second)
			second := w.moment(func() { w.mustGet("b") })
			w.advance(2 * time.Second)
			m.mustBeRunning(w, first, second)
			w.advance(3 * time.Second)
			m.mustBeRunning(w, first, second)
			w.done("a")
			w.add("b") // it stays with its worker
			w.advance(2 * time.Second)
			m.mustBeRunning(w, second)
			w.done("b")
			w.advance(2 * time.Second)
			m.mustBeRunning(w)
		})),
	check("QUEUE-43", "until-shutdown", whyLeak, func(t *suite.T, e env) {
		e = e.metered(t, newMeter())
		leavesNothing(t, e, func(w *world) { w.use(); w.q.ShutDown() })
	}),
	check("QUEUE-49", "of-a-metric", whyPanic, func(t *suite.T, e env) {
		m := &failingMeter{meter: newMeter()}
		w := open(t, e.metered(t, m))
		m.adds.Store(true)
		w.mustPanic("Add, whose metric panics", func() { w.q.Add("a") })
		w.finish("Add after a panic", start(func() { w.add("a", "b") }))
		w.mustGet("a", "b")
		w.finish("Done after a panic", start(func() { w.done("a", "b") }))
	}),
	check("QUEUE-49", "of-a-metric-while-workers-wait", whyPanic, func(t *suite.T, e env) {
		m := &failingMeter{meter: newMeter()}
		w := open(t, e.metered(t, m))
		one, two := w.startGet(), w.startGet()
		w.settle()
		m.latency.Store(true)
		w.add("a", "b") // the first Get panics, and its item is lost
		w.done(w.theOther(one, two))
		w.add("c")
		w.mustGet("c")
		w.done("c")
		w.finish("ShutDownWithDrain, when no worker has an item", start(w.q.ShutDownWithDrain))
	}),
	check("QUEUE-39", "counted-items", whyKept, func(t *suite.T, e env) {
		letsGo(t, e.metered(t, newMeter()), func(w *world, item string) {
			w.q.Add(item)
		}, func(*world) {})
	}),
	check("QUEUE-45", "each-priority", whyCounts, func(t *suite.T, e env) {
		m := newMeter()
		w, q := openAs[priorityQueue](t, e.metered(t, rankedMeter{m}))
		add := func(priority int, items ...string) {
			q.AddWithOpts(contract.AddOptions{Priority: &priority}, items...)
		}
		add(5, "a", "b")
		add(-2, "c")
		w.add("d")
		m.awaitDepths(w, map[int]int{5: 2, -2: 1, 0: 1})
		add(7, "c") // raised
		add(1, "a") // and not lowered
		m.awaitDepths(w, map[int]int{5: 2, 7: 1, 0: 1})
		w.mustGetWith(q, "c", 7)
		m.awaitDepths(w, map[int]int{5: 2, 0: 1})
		add(3, "c") // while it is processed
		m.awaitDepths(w, map[int]int{5: 2, 0: 1, 3: 1})
		add(2, "c")
		add(4, "c")
		m.awaitDepths(w, map[int]int{5: 2, 0: 1, 4: 1})
		w.done("c")
		m.awaitDepths(w, map[int]int{5: 2, 0: 1, 4: 1})
		w.mustGetWith(q, "a", 5)
		w.mustGetWith(q, "b", 5)
		w.mustGetWith(q, "c", 4)
		q.AddWithOpts(contract.AddOptions{Priority: new(9), After: w.ticks(1)}, "e")
		m.awaitDepths(w, map[int]int{0: 1})
		w.advance(w.ticks(1))
		m.awaitDepths(w, map[int]int{0: 1, 9: 1})
		w.mustGetWith(q, "e", 9)
		w.mustGetWith(q, "d", 0)
		m.awaitDepths(w, map[int]int{})
		n := m.of(depth)
		if n != 0 {
			t.Errorf("the depth without priorities is %v", n)
		}
	}),
	check("QUEUE-45", "without-priorities", whyCounts, func(t *suite.T, e env) {
		m := newMeter()
		w := open(t, e.metered(t, rankedMeter{m}))
		if _, ok := w.q.(priorityQueue); ok {
			t.Skipf("a queue with priorities tells them apart")
		}
		w.add("a", "b")
		m.awaitCounts(w, func() map[string]int { return map[string]int{depth: 2} })
	}),
}

// failingMeter is a meter whose count of adds, or whose latency, panics the next time that it
// is told something, if that was asked for.
type failingMeter struct {
	*meter
	adds, latency atomic.Bool
}

func (m *failingMeter) NewAddsMetric(name string) workqueue.CounterMetric {
	return failingCounter{m.meter.NewAddsMetric(name), &m.adds}
}

func (m *failingMeter) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return failingHistogram{m.meter.NewLatencyMetric(name), &m.latency}
}

type failingCounter struct {
	workqueue.CounterMetric
	fails *atomic.Bool
}

func (c failingCounter) Inc() {
	panicOnce(c.fails)
	c.CounterMetric.Inc()
}

type failingHistogram struct {
	workqueue.HistogramMetric
	fails *atomic.Bool
}

func (h failingHistogram) Observe(v float64) {
	panicOnce(h.fails)
	h.HistogramMetric.Observe(v)
}

func panicOnce(fails *atomic.Bool) {
	if fails.Swap(false) {
		panic("the metric fails")
	}
}

// theOther waits for two Gets, of which one must panic. It returns the item of the other.
func (w *world) theOther(gets ...*getting) (item string) {
	panicked := 0
	for _, g := range gets {
		w.mustAwait(g.done, "each of two Gets returns or panics")
		if g.panicked != "" {
			panicked++
		} else {
			item = g.item
		}
	}
	if panicked != 1 {
		w.t.Fatalf("%d of two Gets panicked, want one", panicked)
	}
	return item
}

// mustBeRunning waits until the two gauges fit workers that got their items at the given
// moments, the earliest first. A gauge may be a second old.
func (m *meter) mustBeRunning(w *world, got ...span) {
	var all, one float64
	if !w.await(func() bool {
		now := w.clock().Now()
		all, one = m.of(unfinished), m.of(longest)
		if len(got) == 0 {
			return all == 0 && one == 0
		}
		least, most, unsure := time.Duration(0), time.Duration(0), time.Millisecond
		for _, g := range got {
			least += now.Add(-time.Second).Sub(g.to)
			most += now.Sub(g.from)
			unsure += g.to.Sub(g.from)
		}
		first := got[0]
		if seconds(all) < least || seconds(all) > most+unsure ||
			seconds(one) < now.Add(-time.Second).Sub(first.to) || seconds(one) > now.Sub(first.from)+unsure {
			return false
		}
		sum := time.Duration(0) // by the longest
		for _, g := range got {
			sum += seconds(one) - g.from.Sub(first.from)
		}
		return (seconds(all) - sum).Abs() <= 2*unsure
	}) {
		w.t.Fatalf("unfinished work %v s, longest running %v s; at %s workers have items since %v", all,
			one, w.clock().Now(), got)
	}
}

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
