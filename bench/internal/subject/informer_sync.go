package subject

import (
	"fmt"
	"runtime"
	runtimemetrics "runtime/metrics"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// syncer starts informers one after the other, each on a source of its own with the
// workload's objects. The time excludes stopping the previous informer and collecting its
// garbage.
func (s *Informer) syncer(stream bool) engine.Actor {
	var peaks, synced []float64
	var last *Live
	var next *EventSource
	check := len(s.checks)
	s.checks = append(s.checks, record.CheckResult{Name: "every initial sync is complete",
		Passed: true, Detail: "no sync"})
	meter := newHeapMeter()
	want := int64(s.Objects.Len())
	verify := func() {
		c := &s.checks[check]
		if missing := s.differs(last, s.first); missing != "" {
			c.Passed, c.Detail = false, missing
		} else if c.Passed {
			c.Detail = fmt.Sprintf("%d syncs of %d objects", len(synced), want)
		}
	}
	return engine.Actor{
		Chunk: 1, UsualGC: true,
		Prepare: func(int) {
			s.rest()
			s.verify()
			if last != nil {
				s.end(last)
				last = nil
			}
			next = s.newSource(stream)
			meter.rebase()
		},
		Loop: func(n int) int {
			start := time.Now()
			meter.begin()
			defer meter.end()
			h := newNotified()
			last = s.Start(next, h)
			if last == nil {
				return 0
			}
			select {
			case <-last.Informer.HasSyncedChecker().Done():
			case <-s.stopping:
				return 0
			}
			synced = append(synced, float64(time.Since(start)))
			if !h.adds.await(want, s.stopping) {
				return 0
			}
			peaks = append(peaks, meter.end())
			s.unverified = verify
			return n
		},
		Tell: func(values map[string]float64) {
			values[metrics.PeakHeap] = stats.MedianOf(peaks)
			values[metrics.Synced] = stats.QuantileOf(synced, engine.Undisturbed)
		},
	}
}

// heapMeter measures the peak memory of heap objects over a period, beyond their memory
// before it. It counts live objects, and dead ones not swept yet, as HeapAlloc of
// runtime.MemStats does. The collector runs at its usual settings, so the peak grows with
// the garbage made between two collections. A forced collection before the period makes it
// begin without garbage. The meter reads every heapMeterEvery and at the end; a reading
// takes some microseconds.
type heapMeter struct {
	samples    [1]runtimemetrics.Sample
	base, peak uint64
	stop, done chan struct{}
}

const heapMeterEvery = 250 * time.Microsecond

func newHeapMeter() *heapMeter {
	m := &heapMeter{}
	m.samples[0].Name = "/memory/classes/heap/objects:bytes"
	return m
}

func (m *heapMeter) read() uint64 {
	runtimemetrics.Read(m.samples[:])
	return m.samples[0].Value.Uint64()
}

// rebase collects twice, for finalizers and pools, and takes the remaining heap as the
// base.
func (m *heapMeter) rebase() {
	runtime.GC()
	runtime.GC()
	m.base = m.read()
}

func (m *heapMeter) begin() {
	m.peak = m.base
	m.stop, m.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.done)
		tick := time.NewTicker(heapMeterEvery)
		defer tick.Stop()
		for {
			m.peak = max(m.peak, m.read())
			select {
			case <-tick.C:
			case <-m.stop:
				m.peak = max(m.peak, m.read())
				return
			}
		}
	}()
}

// end returns the peak, in bytes beyond the base. A second call changes nothing.
func (m *heapMeter) end() float64 {
	if m.stop != nil {
		close(m.stop)
		<-m.done
		m.stop = nil
	}
	return float64(m.peak - m.base)
}
