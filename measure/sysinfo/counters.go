package sysinfo

import (
	"math"
	runtimemetrics "runtime/metrics"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
)

// Counters is a reading of the process's resource use so far. The difference of two
// readings is the use between them.
type Counters struct {
	at              time.Time
	lockWait        float64 // seconds, summed over goroutines
	gcCPU, totalCPU float64 // seconds
	usage           usage
	pauses          *runtimemetrics.Float64Histogram
	goroutines      uint64
}

// usage is the resource use of this process so far, as the operating system reports it.
type usage struct {
	cpu               time.Duration
	counted           bool  // the system reports the fields below
	voluntary, forced int64 // context switches
	peakRSS           uint64
}

// The order is that of readCounters.
var counterNames = []string{
	"/sync/mutex/wait/total:seconds",
	"/cpu/classes/gc/total:cpu-seconds",
	"/cpu/classes/total:cpu-seconds",
	"/sched/pauses/total/gc:seconds",
	"/sched/goroutines:goroutines",
}

// ReadCounters takes a reading. It does not stop the world and costs some microseconds.
func ReadCounters() Counters {
	s := make([]runtimemetrics.Sample, len(counterNames))
	for i, n := range counterNames {
		s[i].Name = n
	}
	runtimemetrics.Read(s)
	c := Counters{
		at:         time.Now(),
		lockWait:   s[0].Value.Float64(),
		gcCPU:      s[1].Value.Float64(),
		totalCPU:   s[2].Value.Float64(),
		pauses:     s[3].Value.Float64Histogram(),
		goroutines: s[4].Value.Uint64(),
	}
	c.usage = readUsage()
	return c
}

// HeapCounter reads how much the process allocates and keeps, without allocating. One
// goroutine owns it.
type HeapCounter struct{ samples [2]runtimemetrics.Sample }

// Heap is a reading of a HeapCounter.
type Heap struct {
	Allocated uint64 // bytes, since the process began, to within some hundred small objects
	Live      uint64 // bytes in use at the last collection
}

// NewHeapCounter returns a counter to read with.
func NewHeapCounter() *HeapCounter {
	c := &HeapCounter{}
	c.samples[0].Name = "/gc/heap/allocs:bytes"
	c.samples[1].Name = "/gc/heap/live:bytes"
	return c
}

// Read costs a few microseconds.
func (c *HeapCounter) Read() Heap {
	runtimemetrics.Read(c.samples[:])
	return Heap{Allocated: c.samples[0].Value.Uint64(), Live: c.samples[1].Value.Uint64()}
}

// Since writes the differences from an earlier reading into values.
//
// The GC's share is a share of the CPU time that was available to the process. The runtime
// updates both at the end of each cycle, so a period without a cycle shows no share. The
// longest pause is the upper edge of its histogram bucket.
func (c Counters) Since(earlier Counters, values map[string]float64) {
	values[metrics.LockWait] = (c.lockWait - earlier.lockWait) * 1e9
	if total := c.totalCPU - earlier.totalCPU; total > 0 {
		values[metrics.GCShare] = 100 * (c.gcCPU - earlier.gcCPU) / total
	}
	values[metrics.GCPauseMax] = longestSince(c.pauses, earlier.pauses) * 1e9
	values[metrics.Goroutines] = float64(c.goroutines)
	values[metrics.CPUTime] = float64(c.usage.cpu - earlier.usage.cpu)
	if c.usage.counted {
		values[metrics.VoluntarySwitch] = float64(c.usage.voluntary - earlier.usage.voluntary)
		values[metrics.ForcedSwitch] = float64(c.usage.forced - earlier.usage.forced)
	}
}

// longestSince is the upper edge of the highest bucket that grew.
func longestSince(now, then *runtimemetrics.Float64Histogram) float64 {
	for i := len(now.Counts) - 1; i >= 0; i-- {
		if now.Counts[i] > then.Counts[i] {
			if upper := now.Buckets[i+1]; !math.IsInf(upper, 1) {
				return upper
			}
			return now.Buckets[i]
		}
	}
	return 0
}

// CPUTime is the CPU time that the process has used so far, in user and kernel mode; 0 where
// the system does not report it.
func CPUTime() time.Duration { return readUsage().cpu }

// PeakRSSBytes is the process's peak resident memory so far, in bytes; 0 where the system
// does not report it.
func PeakRSSBytes() float64 { return float64(readUsage().peakRSS) }
