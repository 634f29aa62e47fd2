package workqueue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// unfinishedPeriod is how often the two gauges of running work are set, as in
// client-go.
const unfinishedPeriod = 500 * time.Millisecond

// PriorityDepthMetric counts the ready items of each priority.
type PriorityDepthMetric = contract.PriorityDepthMetric

// PriorityMetricsProvider is a MetricsProvider that can tell priorities apart. A
// [PriorityQueue] then has the depth that NewPriorityDepthMetric makes, in place of
// NewDepthMetric's.
type PriorityMetricsProvider = contract.PriorityMetricsProvider

// oneDepth is the depth of a queue whose priorities are not told apart.
type oneDepth struct{ gauge workqueue.GaugeMetric }

func (d oneDepth) Inc(int) { d.gauge.Inc() }
func (d oneDepth) Dec(int) { d.gauge.Dec() }

// metrics keeps a queue's six metrics; the seventh, retries, is the delaying
// queue's. A nil *metrics does nothing. The queue calls added, raised, got and done
// under its lock, and a panic of theirs leaves it usable (see guard). A queue without priorities
// passes 0 as the priority. Memory: one time for each item that is ready or processed.
type metrics[T comparable] struct {
	clock clock.WithTicker

	depth        PriorityDepthMetric
	adds         workqueue.CounterMetric
	latency      workqueue.HistogramMetric
	workDuration workqueue.HistogramMetric
	unfinished   workqueue.SettableGaugeMetric
	longest      workqueue.SettableGaugeMetric

	addedAt map[T]time.Time
	gotAt   map[T]time.Time

	queue    guard // its lock guards what added, got and done write
	stopOnce sync.Once
	stopCh   chan struct{}
	loop     sync.WaitGroup
}

func newMetrics[T comparable](cfg Config[T], priorities bool) *metrics[T] {
	if !cfg.counts() {
		return nil
	}
	p := cfg.MetricsProvider
	var depth PriorityDepthMetric
	if byPriority, ok := p.(PriorityMetricsProvider); ok && priorities {
		depth = byPriority.NewPriorityDepthMetric(cfg.Name)
	} else {
		depth = oneDepth{p.NewDepthMetric(cfg.Name)}
	}
	return &metrics[T]{
		clock:        cfg.Clock,
		depth:        depth,
		adds:         p.NewAddsMetric(cfg.Name),
		latency:      p.NewLatencyMetric(cfg.Name),
		workDuration: p.NewWorkDurationMetric(cfg.Name),
		unfinished:   p.NewUnfinishedWorkSecondsMetric(cfg.Name),
		longest:      p.NewLongestRunningProcessorSecondsMetric(cfg.Name),
		addedAt:      map[T]time.Time{},
		gotAt:        map[T]time.Time{},
		stopCh:       make(chan struct{}),
	}
}

// added counts an item that is to be handed out, now or when its worker is done with it.
func (m *metrics[T]) added(item T, priority int) {
	if m == nil {
		return
	}
	m.queue.call(func() {
		m.adds.Inc()
		m.depth.Inc(priority)
		m.addedAt[item] = m.clock.Now()
	}, nil)
}

// raised moves an item, which was added and not yet got, to another priority.
func (m *metrics[T]) raised(from, to int) {
	if m == nil {
		return
	}
	m.queue.call(func() {
		m.depth.Dec(from)
		m.depth.Inc(to)
	}, nil)
}

// got counts an item that a worker gets. If a metric panics, the worker does not get it, and
// lost is called with it.
func (m *metrics[T]) got(item T, priority int, lost func(T)) {
	if m == nil {
		return
	}
	m.queue.call(func() {
		now := m.clock.Now()
		at, known := m.addedAt[item] // an item that does not equal itself is not found
		delete(m.addedAt, item)      // before a metric may panic
		m.depth.Dec(priority)
		if known {
			m.latency.Observe(now.Sub(at).Seconds())
		}
		m.gotAt[item] = now
	}, func() { lost(item) })
}

// done counts an item that its worker is done with. If a metric panics, lost is called with it.
func (m *metrics[T]) done(item T, lost func(T)) {
	if m == nil {
		return
	}
	m.queue.call(func() {
		since := m.gotAt[item]
		delete(m.gotAt, item)
		m.workDuration.Observe(m.clock.Since(since).Seconds())
	}, func() { lost(item) })
}

// start sets the gauges of running work every unfinishedPeriod, until stop.
func (m *metrics[T]) start(queue guard) {
	if m == nil {
		return
	}
	m.queue = queue
	ticker := m.clock.NewTicker(unfinishedPeriod)
	m.loop.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-m.stopCh:
				return
			case <-ticker.C():
				m.setRunning()
			}
		}
	})
}

func (m *metrics[T]) setRunning() {
	m.queue.lock.Lock()
	defer m.queue.lock.Unlock()
	now := m.clock.Now()
	var total, oldest float64 // seconds: the sum may be more than a Duration holds
	for _, since := range m.gotAt {
		age := now.Sub(since).Seconds()
		total += age
		oldest = max(oldest, age)
	}
	m.unfinished.Set(total)
	m.longest.Set(oldest)
}

// stop ends the goroutine and waits for it. It may be called again, but not with
// the queue's lock held.
func (m *metrics[T]) stop() {
	if m == nil {
		return
	}
	m.stopOnce.Do(func() { close(m.stopCh) })
	m.loop.Wait()
}
